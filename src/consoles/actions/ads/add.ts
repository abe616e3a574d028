import * as v from "valibot"
import { action } from "../../../core/action.ts"
import type { Port, Proof, SendPort } from "../../../jobs/outside.ts"
import type { PlatformWay } from "../../../lib/accounts/platform.ts"
import { Fault } from "../../../lib/faults.ts"
import { described, named } from "../../../lib/schema.ts"
import { normaliseTerm } from "../../../lib/term.ts"
import { CLOCKS_MS, thingsIn, timeOf } from "../../writing/ads-changes.ts"
import { AdGroupId, Amount, AppOfCampaign, CampaignId, Currency, KeywordText, OF_ADS, outsideOf } from "./declared.ts"
import { refuseBid, refuseCurrency } from "./guardrails.ts"
import type { AdsPlace } from "./things.ts"
import { amountIn, codeOf, equals, idOf, openCampaign, readAll, readGroup } from "./things.ts"

const MATCHES = ["EXACT", "BROAD"] as const

const State = named(
  "AdsAddedKeyword",
  v.strictObject({
    isThere: described(v.boolean(), "True if the keyword exists, even if paused."),
    bid: described(v.nullable(v.string()), "Bid of the keyword. Null if it does not exist or uses the ad group's bid."),
  }),
)
const Result = v.strictObject({ id: v.string(), text: v.string(), matchType: v.string() })

const NegativeArgs = v.strictObject({
  appId: AppOfCampaign,
  campaignId: CampaignId,
  adGroupId: v.optional(AdGroupId),
  text: KeywordText,
  matchType: v.optional(v.pipe(v.picklist(MATCHES), v.description("Match type of the excluded searches.")), "EXACT"),
})
type NegativeArguments = v.InferOutput<typeof NegativeArgs>

const ExactArgs = v.strictObject({
  appId: AppOfCampaign,
  campaignId: CampaignId,
  adGroupId: AdGroupId,
  text: KeywordText,
  amount: v.optional(Amount),
  currency: Currency,
})
type ExactArguments = v.InferOutput<typeof ExactArgs>

/** The target place before the write. `ids` are the keywords there with the same text and match type. */
interface SeenPlace {
  ids: string[]
  status: string | null
  groupBid: string | null
}

interface Keyword {
  list: "keywords" | "negative-keywords"
  campaignId: string
  adGroupId: string | undefined
  text: string
  matchType: string
}

const NEGATIVE = (args: NegativeArguments): Keyword => ({
  list: "negative-keywords",
  ...args,
  adGroupId: args.adGroupId,
})
const EXACT = (args: ExactArguments): Keyword => ({ list: "keywords", ...args, matchType: "EXACT" })

export const addNegativeKeyword = action({
  ...OF_ADS,
  name: "add_negative_keyword",
  summary: "Excludes a campaign or one of its ad groups from searches for a keyword.",
  description: "Applies to the whole campaign unless adGroupId is given.",
  destructive: true,
  args: NegativeArgs,
  example: { appId: "app_4fD0Zs81hQbK", campaignId: "444555666", text: "free" },
  state: State,
  result: Result,
  target: (args) => targetOf(NEGATIVE(args)),
  diff(_, args, seen) {
    const { text, matchType, campaignId, adGroupId } = args
    const place = adGroupId === undefined ? `campaign ${campaignId}` : `ad group ${adGroupId}`
    return {
      summary: `Exclude ${place} from searches for ${JSON.stringify(text)} (${matchType}).`,
      target: { kind: "negative_keyword", id: adGroupId ?? campaignId, name: `${text}, ${matchType}` },
      ...stateOf(seen as SeenPlace, null),
    }
  },
  outside: outsideOf({
    read: (args: NegativeArguments, port: Port) => readPlace(NEGATIVE(args), args, port),
    send: (args: NegativeArguments, port: SendPort) => sendNew(NEGATIVE(args), args, null, port),
    proof: proofOfNew((args) => NEGATIVE(args as NegativeArguments)),
  }),
})

export const addExactKeyword = action({
  ...OF_ADS,
  name: "add_exact_keyword",
  summary: "Adds an exact-match keyword to an ad group.",
  description: "Uses its own bid within the account's limits, or the ad group's bid.",
  destructive: false,
  args: ExactArgs,
  example: { appId: "app_4fD0Zs81hQbK", campaignId: "444555666", adGroupId: "555666777", text: "tide times" },
  state: State,
  result: Result,
  target: (args) => targetOf(EXACT(args)),
  diff({ writer }, { adGroupId, text, amount, currency }, seen) {
    refuseCurrency(currency, writer.currency)
    const { groupBid } = seen as SeenPlace
    if (amount !== undefined) refuseBid(amount, groupBid === null ? null : Number(groupBid), writer.limits)
    const bid = amount?.toFixed(2) ?? null
    const bidText = bid ?? (groupBid === null ? "the ad group's" : `the ad group's, ${groupBid}`)
    return {
      summary: `Add ${JSON.stringify(text)} (EXACT) to ad group ${adGroupId}. Its bid: ${bidText}.`,
      target: { kind: "ads_keyword", id: adGroupId, name: `${text}, EXACT` },
      ...stateOf(seen as SeenPlace, bid),
    }
  },
  outside: outsideOf({
    read: (args: ExactArguments, port: Port) => readPlace(EXACT(args), args, port),
    send: (args: ExactArguments, port: SendPort) => sendNew(EXACT(args), args, args.amount?.toFixed(2) ?? null, port),
    proof: proofOfNew((args) => EXACT(args as ExactArguments)),
  }),
})

function targetOf({ list, campaignId, adGroupId, text, matchType }: Keyword): string {
  return `${list} ${adGroupId ?? campaignId} ${normaliseTerm(text)} ${matchType}`
}

function stateOf({ ids, status }: SeenPlace, bid: string | null) {
  const there = ids.length > 0
  return {
    before: { isThere: there, bid: null },
    after: { isThere: true, bid: there ? null : bid },
    notes: there ? [`It already exists${status === "PAUSED" ? ", paused" : ""}; nothing is added.`] : [],
  }
}

async function readPlace(keyword: Keyword, place: AdsPlace, port: Port): Promise<SeenPlace> {
  const { way } = await openCampaign(place, port)
  const { campaignId, adGroupId } = keyword
  const group = adGroupId === undefined ? null : await readGroup(way, { campaignId, adGroupId }, port.signal)
  const same = await listSame(way, keyword, port.signal)
  return {
    ids: same.map(({ id }) => idOf(id)).sort(),
    status: same[0] ? codeOf(same[0].status) : null,
    groupBid: group?.bid ?? null,
  }
}

/** Returns the keywords with this text and match type in the place. Case is ignored. */
async function listSame(way: PlatformWay, keyword: Keyword, signal: AbortSignal): Promise<Record<string, unknown>[]> {
  const { list, campaignId, adGroupId, text, matchType } = keyword
  const ofCampaign = [equals("campaignId", campaignId), { field: "adGroupId", operator: "IS_NULL" }]
  const filters = adGroupId === undefined ? ofCampaign : [equals("adGroupId", adGroupId)]
  const found = await readAll(way, list, filters, signal)
  const wanted = normaliseTerm(text)
  return found.filter(
    (item) => normaliseTerm(String(item.text)) === wanted && item.matchType === matchType && item.deleted !== true,
  )
}

async function sendNew(keyword: Keyword, place: AdsPlace, bid: string | null, port: SendPort) {
  const { way } = await openCampaign(place, port)
  const { list, campaignId, adGroupId, text, matchType } = keyword
  const owner = adGroupId === undefined ? { campaignId: Number(campaignId) } : { adGroupId: Number(adGroupId) }
  const money = bid === null ? {} : { bid: { amount: bid, currency: way.currency } }
  const body = { ...owner, text, matchType, status: "ENABLED", ...money }
  const entity = list === "keywords" ? "Keyword" : "NegativeKeyword"
  const change = { text: { from: null, to: text }, ...(bid !== null && { bid: { from: null, to: bid } }) }
  return await port.step({ what: "add keyword", entity, id: null, change }, async () => {
    const missing = () => new Fault("not_found")
    const answer = await way.send({ method: "POST", path: `/v1/${list}`, body, missing }, port.signal)
    const [made] = thingsIn(answer)
    const isMade = made && normaliseTerm(String(made.text)) === normaliseTerm(text) && made.matchType === matchType
    if (!isMade || (bid !== null && Number(amountIn(made.bid)) !== Number(bid)))
      throw new Error("the platform accepted the keyword but returned another one")
    return { id: idOf(made.id), text, matchType }
  })
}

/**
 * Returns the proof of whether a keyword was added. Applied: exactly one keyword has the text, and it was created after
 * the write was sent. Not applied: no keyword has the text, neither after an hour nor after a day.
 */
function proofOfNew(keywordOf: (args: unknown) => Keyword): Proof {
  return {
    absentAt: [60, 1_440],
    absence: () => new Fault("unavailable", { detail: "Not applied: a day later the keyword does not exist." }),
    async look(args, { platforms, workspaceId, appId, signal }, { sentAt }) {
      const keyword = keywordOf(args)
      const way = await platforms.open("apple-ads", { workspaceId, appId: appId as string })
      const same = await listSame(way, keyword, signal)
      if (same.length === 0) return { verdict: "absent", text: "The keyword does not exist." }
      const made = same.filter((one) => timeOf(one.creationTime) >= sentAt.getTime() - CLOCKS_MS)
      if (same.length !== 1 || made.length !== 1)
        return { verdict: "unclear", text: "The keyword exists, but it is not certain that this write added it." }
      const { text, matchType } = keyword
      return {
        verdict: "applied",
        text: "The keyword exists and was added after the write was sent.",
        result: { id: idOf(made[0]!.id), text, matchType },
      }
    },
  }
}
