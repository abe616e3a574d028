import * as v from "valibot"
import type { LookContext } from "../../../core/action.ts"
import type { OutsideWrite, Port, Proof, ProofFinding, SendPort, SentWrite } from "../../../jobs/outside.ts"
import type { PlatformDocument } from "../../../lib/accounts/platform.ts"
import { Fault, type FaultCode } from "../../../lib/faults.ts"
import { AppId, textUpTo } from "../../../lib/fields.ts"
import { bounded } from "../../../lib/schema.ts"
import { findApp } from "../../../tracking/tracked-app.ts"
import { isInHistory } from "../../writing/ads-changes.ts"
import { findWriter, type Writer } from "../../writing/writers.ts"

const id = (what: string) => v.pipe(bounded(v.string(), { maxLength: 20 }), v.regex(/^\d{1,20}$/), v.description(what))

export const AppOfCampaign = AppId
export const CampaignId = id("Campaign id from list_campaigns.")
export const AdGroupId = id("Ad group id from list_ads_keywords.")
export const KeywordId = id("Keyword id from list_ads_keywords.")
export const Amount = v.pipe(
  v.number(),
  v.minValue(0.01),
  v.maxValue(1_000_000),
  v.description("In the account's currency, with at most two decimals."),
)
export const Currency = v.optional(
  v.pipe(
    bounded(v.string(), { maxLength: 3 }),
    v.regex(/^[A-Za-z]{3}$/),
    v.description("ISO 4217 code, such as EUR. Rejected if the account uses another currency."),
  ),
)
/** The platform accepts keywords of at most 80 characters. */
export const KeywordText = v.pipe(textUpTo(80), v.description("Text of the keyword. Case is ignored."))

const ADS_FAULTS: readonly FaultCode[] = ["not_connected", "ios_only"]

/** Reads what every ads write needs from our database. Throws ios_only, not_connected and write_limit_reached. */
async function lookAtWriter(
  { appId }: { appId: string },
  { sql, caller, lock }: LookContext,
): Promise<{ writer: Writer }> {
  const app = await findApp(sql, caller, appId)
  if (app.iosApp === null) throw new Fault("ios_only")
  return { writer: await findWriter(sql, "apple-ads", { workspaceId: caller.workspaceId, appId }, { lock }) }
}

const accountOf = ({ writer }: { writer: Writer }) => writer.id

/** Properties shared by every ads write. */
export const OF_ADS = {
  scope: "ads:write",
  plan: "studio",
  credits: 2,
  faults: ADS_FAULTS,
  account: accountOf,
  look: lookAtWriter,
} as const

/** A change of one field of a campaign or keyword. */
interface FieldChange {
  thing: "campaigns" | "keywords"
  id: string
  field: "status" | "dailyBudget" | "bid"
  from: string | null
  to: string
  currency: string | null
}

const ENTITIES = { campaigns: "Campaign", keywords: "Keyword" } as const

/** Sends a partial update (PUT) exactly once, although repeating it would do no harm. */
export async function sendChange(change: FieldChange, way: Way, port: SendPort): Promise<PlatformDocument> {
  const { thing, id, field, from, to } = change
  const step = { what: `set ${field}`, entity: ENTITIES[thing], id, change: { [field]: { from, to } } }
  return await port.step(step, async () => {
    const path = `/v1/${thing}/${id}`
    const missing = () => new Fault("not_found")
    const answer = await way.send({ method: "PUT", path, body: { [field]: wireValueOf(change) }, missing }, port.signal)
    const applied = (answer.result as Record<string, unknown> | undefined)?.[field]
    if (!isSame(textOf(applied), to)) throw new Error(`the platform accepted the change but returned another ${field}`)
    return answer
  })
}

type Way = Awaited<ReturnType<Port["platforms"]["open"]>>

function wireValueOf({ field, to, currency }: FieldChange): unknown {
  const money = { amount: to, currency }
  return field === "status" ? to : field === "bid" ? money : { value: money }
}

/** A field of a change: a status, or an amount of money at any depth. */
function textOf(raw: unknown): string | null {
  if (typeof raw === "string") return raw
  const { amount, value } = (raw ?? {}) as { amount?: unknown; value?: { amount?: unknown } }
  const found = amount ?? value?.amount
  return found === undefined ? null : String(found)
}

/** "20" and "20.00" are the same money. */
function isSame(one: string | null, other: string | null): boolean {
  if (one === null || other === null) return one === other
  return one === other || (one.trim() !== "" && Number(one) === Number(other))
}

/**
 * Returns the proof of whether a change was made. Applied: the platform's history has an entry for it; nothing else
 * proves it. Not applied: the value is unchanged, and after a day the history still has no entry.
 */
export function proofOf<Args>(changeOf: (args: Args, before: unknown) => Omit<FieldChange, "currency">): Proof {
  return {
    absentAt: [1_440],
    absence: () =>
      new Fault("unavailable", {
        detail: "Not applied: a day later the platform's history does not list it.",
      }),
    async look(args, port, { before, sentAt }: SentWrite): Promise<ProofFinding> {
      const change = changeOf(args as Args, before)
      const { thing, id, field, from, to } = change
      const way = await port.platforms.open("apple-ads", { workspaceId: port.workspaceId, appId: port.appId as string })
      const api = { entityType: ENTITIES[thing], entityId: id, field, to }
      if (await isInHistory(way, api, sentAt, port.signal))
        return { verdict: "applied", text: "The platform's history lists it.", result: { id, [field]: to } }
      const answer = await way.ask({ path: `/v1/${thing}/${id}` }, port.signal)
      const now = textOf((answer?.result as Record<string, unknown> | undefined)?.[field])
      return isSame(now, from)
        ? { verdict: "absent", text: "The value is unchanged, and the platform's history does not list the write." }
        : {
            verdict: "unclear",
            text: "The value has changed, but the platform's history does not list this write.",
          }
    },
  }
}

/** Casts to the type that the protocol of outside writes expects. */
export function outsideOf(write: object): OutsideWrite {
  return write as OutsideWrite
}
