import * as v from "valibot"
import type { Context } from "../../../core/operation.ts"
import type { TrackedApp } from "../../../core/tracked-app.ts"
import { addDays, type Days } from "../../../lib/days.ts"
import { described, named } from "../../../lib/schema.ts"
import { DAY_MS } from "../../../lib/time.ts"
import { Count } from "../../../tracking/shapes.ts"
import { type AdsDaySum, readDailySpend } from "../../ads/read/spend.ts"
import { ANSWERED_STATES } from "../../state.ts"
import type { OutcomeSpan } from "./outcome.ts"

/** Minimum relative change of the spend that moves downloads by itself. */
const SWING = 0.3
/** Minimum share of the days before the change, and of those after it, whose spend must be known. */
const KNOWN_SHARE = 0.7

const Mean = v.nullable(v.pipe(v.number(), v.minValue(0)))

export const AdsSpend = v.nullable(
  named(
    "ImpactAdsSpend",
    v.strictObject({
      account: described(v.string(), "The ads account, as in `appmeter account list`."),
      state: v.picklist(ANSWERED_STATES),
      dayZone: described(v.string(), "Time zone of the account, which defines the days."),
      currency: described(v.nullable(v.string()), "Null if the currency is unknown."),
      before: described(Mean, "Spend per day over the known days before. Null if too few are known."),
      after: described(Mean, "Spend per day over the known days of the window. Null if too few are known."),
      boughtBefore: described(
        Mean,
        "First downloads per day from ads, over the known days before. They are included in downloads and not " +
          "subtracted, because they use another time zone and cover only recent months. Null if before is null.",
      ),
      boughtAfter: described(
        Mean,
        "First downloads per day from ads, over the known days of the window. Null if after is null.",
      ),
      knownBefore: Count,
      knownAfter: Count,
      changePercent: described(
        v.nullable(v.number()),
        "Change of the spend. Null if before or after is null, or if nothing was spent before.",
      ),
      confounds: described(
        v.boolean(),
        "True if the spend began, or changed by 30 % or more, which makes the verdict confounded. False if " +
          "unknown.",
      ),
    }),
  ),
)

export type AdsSpendAnswer = v.InferOutput<typeof AdsSpend>

/** Returns the ad spend in the storefronts that changed. */
export async function readAdsSpend(
  app: TrackedApp,
  { treated, span: { before, after } }: { treated: readonly string[]; span: Pick<OutcomeSpan, "before" | "after"> },
  { sql, caller }: Pick<Context, "sql" | "caller">,
): Promise<AdsSpendAnswer> {
  const owner = { workspaceId: caller.workspaceId, app }
  const spent = await readDailySpend(sql, owner, { from: before.from, to: after.to, countries: treated })
  if (!spent) return null
  const [one, other] = [before, after].map((stretch) => meanOf(spent.days, stretch)) as [StretchMean, StretchMean]
  const change = one.mean === null || other.mean === null || one.mean === 0 ? null : other.mean / one.mean - 1
  const began = one.mean === 0 && (other.mean ?? 0) > 0
  return {
    account: spent.account.id,
    state: spent.account.state,
    dayZone: spent.zone,
    currency: spent.currency,
    before: rounded(one.mean),
    after: rounded(other.mean),
    knownBefore: one.knownDays,
    knownAfter: other.knownDays,
    boughtBefore: rounded(one.bought),
    boughtAfter: rounded(other.bought),
    changePercent: change === null ? null : Math.round(1_000 * change) / 10,
    confounds: began || (change !== null && Math.abs(change) >= SWING),
  }
}

interface StretchMean {
  knownDays: number
  mean: number | null
  bought: number | null
}

function meanOf(days: readonly AdsDaySum[], { from, to }: Days): StretchMean {
  const spendDays = days.filter(({ day }) => day >= from && day <= to)
  const all = (Date.parse(addDays(to, 1)) - Date.parse(from)) / DAY_MS
  if (spendDays.length < KNOWN_SHARE * all) return { knownDays: spendDays.length, mean: null, bought: null }
  const mean = (of: (day: AdsDaySum) => number) => spendDays.reduce((sum, day) => sum + of(day), 0) / spendDays.length
  return {
    knownDays: spendDays.length,
    mean: mean(({ spend }) => spend),
    bought: mean(({ newDownloads }) => newDownloads),
  }
}

function rounded(mean: number | null): number | null {
  return mean === null ? null : Math.round(100 * mean) / 100
}
