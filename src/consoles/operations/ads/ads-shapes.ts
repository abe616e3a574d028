import * as v from "valibot"
import type { Context } from "../../../core/operation.ts"
import type { TrackedApp } from "../../../core/tracked-app.ts"
import type { OrganicRank } from "../../../keywords/read/organic.ts"
import { addDays } from "../../../lib/days.ts"
import { Fault } from "../../../lib/faults.ts"
import { described, named } from "../../../lib/schema.ts"
import { Count, Rank, Time } from "../../../tracking/shapes.ts"
import { WINDOW_DAYS } from "../../ads/days.ts"
import type { AdsMetrics } from "../../ads/read/metrics.ts"
import { type AdsAccount, type AdsScope, type AdsStanding, adsScope, findAdsAccount } from "../../ads/read/standing.ts"
import { type AppAccount, isConnected } from "../../read/app-accounts.ts"
import { ANSWERED_STATES } from "../../state.ts"
import type { AdsTask } from "../../tasks.ts"
import { type AdsTrouble, adsTroubleText, troubledState } from "../../troubles.ts"
import { Money } from "../account-shapes.ts"

const AdsDay = v.pipe(v.string(), v.isoDate(), v.description("A day of the ad account (dayZone), YYYY-MM-DD."))

export const CampaignId = v.pipe(
  v.string(),
  v.maxLength(20),
  v.regex(/^[0-9]{1,20}$/),
  v.description("Campaign id from list_campaigns. Default: all."),
)

const metricFields = {
  impressions: Count,
  taps: Count,
  installs: described(Count, "Installs attributed to taps and views. Those of the last 30 days still grow."),
  newDownloads: Count,
  spend: Money,
  ttr: described(v.nullable(v.number()), "Taps divided by impressions. Null without impressions."),
  cpt: described(v.nullable(Money), "Spend divided by taps. Null without taps."),
  cpi: described(v.nullable(Money), "Spend divided by installs. Null without installs."),
}

export const Metrics = named("AdsMetrics", v.strictObject(metricFields))

export const AdsSource = named(
  "AdsSource",
  v.strictObject({
    id: described(v.string(), "The connected ads account, as in `appmeter account list`."),
    kind: v.literal("apple-ads"),
    state: described(
      v.picklist(ANSWERED_STATES),
      "limited: a permission is missing; revoked: the key is refused; unavailable: the latest request failed and " +
        "is retried automatically; demo: invented sample data. asOf dates earlier readings.",
    ),
    why: described(
      v.nullable(v.string()),
      "Who must do what, or which requests failed or have unreadable rows, and why. Null if there is no problem.",
    ),
    asOf: described(v.nullable(Time), "Time of the oldest reading used. Null if a reading is missing."),
  }),
)

/** Describes the period and which of its days are known. */
export const windowFields = {
  dayZone: described(v.string(), "Time zone of the ads account, which defines the days."),
  from: described(AdsDay, `First of the ${WINDOW_DAYS} days.`),
  to: described(AdsDay, "Last day with complete figures."),
  sources: described(v.array(AdsSource), "Sources of the figures and how completely they were read."),
}

export const dayFields = {
  reportedDays: described(Count, `Those of the ${WINDOW_DAYS} days on which every campaign is known.`),
  lateDays: described(v.array(AdsDay), "The other days of the period: unknown, not zero."),
  installsSettleBy: described(AdsDay, "From this day on, the installs of the last day are final."),
}

export const Organic = named(
  "OrganicStanding",
  v.strictObject({
    country: described(v.string(), "The storefront."),
    rank: described(
      v.nullable(Rank),
      "Organic rank. Null if the app is not in the results that were read, or if they were not measured.",
    ),
    measured: described(v.boolean(), "False if no results were read there; the rank is then unknown."),
    tracked: described(v.boolean(), "True if the term is tracked for the app there."),
    day: described(v.nullable(v.string()), "UTC day of the results. Null if measured is false."),
  }),
)

const SETTLED_DAYS = 31

export function shownDays({ to }: AdsScope, { reported, late }: AdsStanding) {
  return { reportedDays: reported.length, lateDays: late, installsSettleBy: addDays(to, SETTLED_DAYS) }
}

export function shownOrganic(
  country: string,
  { rank, measured, tracked, day }: OrganicRank,
): v.InferOutput<typeof Organic> {
  return { country, rank, measured, tracked, day }
}

/**
 * Returns the ad account that advertises the app, with the time of the task's last read. Throws unsupported_platform or
 * not_connected.
 */
export async function findAdvertiser(
  app: TrackedApp,
  task: AdsTask,
  { sql, caller }: Pick<Context, "sql" | "caller">,
): Promise<AdsAccount> {
  if (app.iosId === null)
    throw new Fault("unsupported_platform", {
      detail: "The app is only on Google Play. Apple Ads advertises only App Store apps.",
    })
  const { workspaceId } = caller
  const account = await findAdsAccount(sql, workspaceId, app, task)
  if (account) return account
  const detail = (await isConnected(sql, { workspaceId, kind: "apple-ads" }))
    ? `The connected ads account has no campaign for ${app.iosId}. See: appmeter account list, appmeter account map.`
    : "Connect the ads account with: appmeter account add apple-ads."
  throw new Fault("not_connected", { detail })
}

/**
 * Returns the scope of the query, for an account that has data. Throws unsupported_platform, not_connected or
 * not_measured.
 */
export async function findAdsScope(
  app: TrackedApp,
  filters: { country?: string | undefined; campaign?: string | undefined },
  ctx: Pick<Context, "sql" | "caller" | "now">,
): Promise<{ account: AdsAccount; scope: AdsScope }> {
  const account = await findAdvertiser(app, "campaigns", ctx)
  if (account.readAt === null) throw unread(account, ["campaigns"])
  const { country, campaign } = filters
  const filter = { country: country?.toLowerCase() ?? null, campaign: campaign ?? null }
  return { account, scope: adsScope(account, filter, ctx.now()) }
}

/** Returns the fault for a request whose data was never read. */
export function unread(
  { createdAt, state, why, denied, troubles }: TroubledAccount & Pick<AppAccount, "createdAt" | "denied">,
  tasks: readonly AdsTask[],
  missing = "its figures",
): Fault {
  const since = `Connected since ${createdAt.toISOString().slice(0, 16)}Z`
  if (denied !== null)
    return new Fault("not_measured", { detail: `${since}, but its key cannot read it: it ${denied}.` })
  if (why !== null) return new Fault("not_measured", { detail: `${since}; ${state}: ${why}.` })
  const failed = adsTroubleText(troubles.filter(({ task, isFailed }) => isFailed && tasks.includes(task)))
  if (failed !== null)
    return new Fault("not_measured", {
      detail: `${since}, but the data was not read: ${failed}. The request is retried automatically.`,
    })
  return new Fault("not_measured", { detail: `${since}; a running server reads ${missing} within the hour.` })
}

type TroubledAccount = Pick<AppAccount, "id" | "state" | "why"> & { troubles: readonly AdsTrouble[] }

/** Returns the source entry of an answer. `tasks` are the tasks that read the data shown. */
export function adsSource(
  { id, state, why, troubles }: TroubledAccount,
  tasks: readonly AdsTask[],
  asOf: Date | null,
): v.InferOutput<typeof AdsSource> {
  const relevant = troubles.filter(({ task }) => tasks.includes(task))
  return {
    id,
    kind: "apple-ads",
    state: troubledState(state, relevant, { isRead: asOf !== null }),
    why: why ?? adsTroubleText(relevant),
    asOf: asOf?.toISOString() ?? null,
  }
}

/** Returns the share of the total spend. Null if nothing was spent. */
export function shareOf({ spend }: AdsMetrics, whole: AdsMetrics): number | null {
  const all = Number(whole.spend.amount)
  return all > 0 ? Math.round((Number(spend.amount) / all) * 10_000) / 10_000 : null
}
