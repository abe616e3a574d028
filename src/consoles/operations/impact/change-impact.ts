import * as v from "valibot"
import { unread } from "../../../access/plan-days.ts"
import { planDays } from "../../../core/day-range.ts"
import { type Context, ofApp, operation } from "../../../core/operation.ts"
import type { TrackedApp } from "../../../core/tracked-app.ts"
import { addDays, earlier } from "../../../lib/days.ts"
import { Fault } from "../../../lib/faults.ts"
import { Country, wholeNumber } from "../../../lib/fields.ts"
import { coded, described, named } from "../../../lib/schema.ts"
import { isRealDay } from "../../../lib/time.ts"
import { ANALYTICS_REPORTS } from "../../../lib/upstreams.ts"
import { Day, Rank, Storefront, Time } from "../../../tracking/shapes.ts"
import { pacificDay } from "../../pacific.ts"
import { type AppAccount, type ReportStanding, readStanding } from "../../read/app-accounts.ts"
import { AccountSource, findReportingAccount, ReportStore, requestedStore, sourceShape } from "../account-shapes.ts"
import { AdsSpend, readAdsSpend } from "./ads-spend.ts"
import { type ChangedPage, readChangedPage, TREATMENTS } from "./changed-day.ts"
import { readFunnelImpact } from "./funnel-outcomes.ts"
import { judgedOutcomes, leadingKind, standingOf } from "./judged.ts"
import { Missing, missingOf, missingOnPlay } from "./missing.ts"
import { daysBack, type OutcomeFigures } from "./outcome.ts"
import { readPlayImpact } from "./play-outcomes.ts"
import { readRankOutcome } from "./rank-outcome.ts"
import { readSalesOutcomes, salesSpan } from "./sales-outcomes.ts"
import { sentenceOf } from "./sentence.ts"
import { Outcome, Overlap, outcomeShape, Verdict } from "./shapes.ts"

/** The window to suggest if the requested one is shorter: two weeks can show effects that one week cannot. */
const LONGER_WINDOW = 14

const ChangedDayInput = v.optional(
  coded(
    v.pipe(
      v.string(),
      v.isoDate(),
      v.check(isRealDay),
      v.description("UTC day of the change, YYYY-MM-DD, at most yesterday. Default: the latest change."),
    ),
    "bad_day",
  ),
)

export const getChangeImpact = operation({
  id: "get_change_impact",
  method: "GET",
  path: "/apps/:appId/change-impact",
  group: "Revenue and ads",
  toolset: "revenue",
  summary: "Estimates, with an interval, how funnel, ranks and sales changed after a store page change.",
  description:
    "Compares storefronts that changed with those that did not (for ranks: keywords), weighted so that both match " +
    "before the change (difference in differences, synthetic controls). The 90 % interval is from earlier days. " +
    "not_enough_data: fewer than twenty earlier windows.",
  effect: "reads",
  scope: "revenue:read",
  price: 1,
  faults: ["not_connected", "not_measured", "unsupported_platform", "bad_day"],
  input: ofApp({
    country: described(v.optional(Country), "Two-letter storefront code. Default: every storefront that changed."),
    platform: ReportStore,
    day: ChangedDayInput,
    window: v.optional(wholeNumber(3, 30, "Days of the window after the change.", "invalid_arguments"), 7),
  }),
  output: v.strictObject({
    country: described(v.nullable(Storefront), "The requested storefront. Null for every storefront that changed."),
    window: described(Rank, "Length in days of the window after the change."),
    day: described(Day, "UTC day of the first reading with the change."),
    notYetAt: described(Time, "Time of the last reading without the change. Days from then on are excluded."),
    at: described(Time, "Time of the last of the first readings with the change."),
    changed: described(
      v.array(named("ImpactChange", v.strictObject({ kind: v.picklist(TREATMENTS), countries: v.array(Storefront) }))),
      "What changed that day, and where. The first kind determines the primary outcome.",
    ),
    complete: described(v.boolean(), "True if the window of the primary outcome is over and known."),
    verdict: described(Verdict, "Verdict of the primary outcome."),
    sentence: described(v.string(), "The verdict in one English sentence."),
    standing: described(
      v.nullable(v.picklist(["association", "holds_against_placebos"])),
      "For improved and worse. A movement after a change does not prove that the change caused it. " +
        "holds_against_placebos: the movement is larger than on nine of ten earlier days and than that of every " +
        "control. In simulations, 60 to 100 % of chance findings pass this test too.",
    ),
    outcomes: described(v.array(Outcome), "The outcomes, the primary one first."),
    missing: Missing,
    overlaps: described(
      v.array(Overlap),
      "Other changes, from one window length before the change to the end of the window. At most 50.",
    ),
    adsSpend: described(
      AdsSpend,
      "Apple Ads spend in the storefronts that changed, before the change and in the window. Null if no ads " +
        "account has the app, and on Google Play.",
    ),
    tryWindow: described(v.nullable(Rank), "A longer window that may detect more. Null if none is proposed."),
    sources: described(v.array(AccountSource), "Sources of sales and analytics and how completely they were read."),
  }),
}).run(async ({ app, country, platform, day, window }, ctx) => {
  const { sql, now, caller } = ctx
  const store = requestedStore(app, platform)
  const account = await findReportingAccount(app, ctx, store)
  const plan = planDays("history", now(), caller)
  checkDay(day, ctx)
  const query = { platform: store, day, country: country ?? null, window, back: daysBack(window), plan }
  const changed = await readChangedPage(sql, app, query)
  const storefront = query.country ?? (changed.treated[0] as string)
  const ranks = await readRankOutcome(sql, app, { platform: store, changed, storefront, window, plan, now: now() })
  const kind = leadingKind(changed.changes.map((change) => change.kind))
  const read = store === "ios" ? readAppStoreFigures : readPlayFigures
  const { outcomes, missing, spend, sources } = await read(app, account, { changed, window, ranks }, ctx)
  const isConfounded = changed.overlaps.some(({ confounds }) => confounds) || spend?.confounds === true
  const judged = judgedOutcomes(outcomes, kind, isConfounded)
  const primary = judged.find(({ isPrimary }) => isPrimary)
  const verdict = primary?.verdict ?? "not_enough_data"
  return {
    country: query.country,
    window,
    day: changed.day,
    notYetAt: changed.notYetAt.toISOString(),
    at: changed.at.toISOString(),
    changed: changedKinds(changed.changes),
    complete: primary?.isComplete ?? false,
    verdict,
    sentence: sentenceOf(primary),
    standing: standingOf(primary),
    outcomes: judged.map(outcomeShape),
    missing,
    overlaps: changed.overlaps,
    adsSpend: spend,
    tryWindow: verdict === "no_clear_change" && window < LONGER_WINDOW ? LONGER_WINDOW : null,
    sources,
  }
})

interface FiguresQuery {
  changed: ChangedPage
  window: number
  ranks: OutcomeFigures | null
}

type FiguresContext = Pick<Context, "sql" | "now" | "caller">

async function readAppStoreFigures(
  app: TrackedApp,
  account: AppAccount,
  { changed, window, ranks }: FiguresQuery,
  ctx: FiguresContext,
) {
  const sales = await readSales(account, { changed, window }, ctx)
  const spend = await readAdsSpend(app, { treated: changed.treated, span: sales.span }, ctx)
  const funnel = await readFunnelImpact(ctx.sql, account, { changed, window, now: ctx.now() })
  return {
    outcomes: [...funnel.outcomes, ...(ranks ? [ranks] : []), ...sales.outcomes],
    missing: missingOf({ funnel, hasRanks: ranks !== null, hasSales: sales.standing.isKnown, spend }),
    spend,
    sources: [
      sourceShape(account, "sales", sales.standing, sales.days),
      ...ANALYTICS_REPORTS.filter((report) => funnel.standing[report].isKnown).map((report) =>
        sourceShape(account, report, sinceFirst(funnel.standing[report]), funnel.days),
      ),
    ],
  }
}

/** Apple Ads never advertises an app on Google Play, so no spend is compared. */
async function readPlayFigures(
  _: TrackedApp,
  account: AppAccount,
  { changed, window, ranks }: FiguresQuery,
  { sql, now }: FiguresContext,
) {
  const { page, sales, standings, days } = await readPlayImpact(sql, account, { changed, window, now: now() })
  const outcomes = [...page, ...(ranks ? [ranks] : []), ...sales]
  return {
    outcomes,
    missing: missingOnPlay(outcomes),
    spend: null,
    sources: standings.map((standing) => sourceShape(account, standing.report, standing, days)),
  }
}

/**
 * Returns the requested day of change. Throws bad_day for a day that is not over, and plan_required or bad_day for one
 * before the plan's history.
 */
function checkDay(day: string | undefined, { now, caller }: Pick<Context, "now" | "caller">): void {
  if (day === undefined) return
  const plan = planDays("history", now(), caller)
  if (day >= plan.to)
    throw new Fault("bad_day", {
      field: "day",
      detail: `${day} is not over. The latest possible day is ${addDays(plan.to, -1)}.`,
    })
  if (day < plan.from)
    throw unread(caller, { what: "history", day, today: plan.to, otherwise: "bad_day", field: "day" })
}

async function readSales(
  account: AppAccount,
  { changed, window }: { changed: ChangedPage; window: number },
  { sql, now }: Pick<Context, "sql" | "now">,
) {
  const span = salesSpan(changed, window)
  const to = earlier(span.after.to, addDays(pacificDay(now()), -1))
  const standing: ReportStanding = await readStanding(sql, account.id, "sales", { from: span.first, to })
  const outcomes = standing.isKnown
    ? await readSalesOutcomes(sql, account, { changed, span, standing, now: now() })
    : []
  return { standing, outcomes, days: span.days, span }
}

/** Days before the first report are not late, because no report was requested for them. */
function sinceFirst({ late, ...standing }: ReportStanding): ReportStanding {
  const first = standing.reported[0] ?? ""
  return { ...standing, late: late.filter((day) => day > first) }
}

function changedKinds(changes: ChangedPage["changes"]) {
  const kinds = TREATMENTS.filter((kind) => changes.some((change) => change.kind === kind))
  return kinds.map((kind) => ({
    kind,
    countries: [
      ...new Set(changes.filter((change) => change.kind === kind).map(({ storefront }) => storefront)),
    ].sort(),
  }))
}
