import * as v from "valibot"
import { OUTCOMES } from "../../core/observation/attempt.ts"
import { type Context, nothing, operation } from "../../core/operation.ts"
import { popularityBand } from "../../keywords/formulas/popularity.ts"
import { READ_PARTS } from "../../keywords/read/keyword-standing.ts"
import { type MetricRecord, readMetricRecords } from "../../keywords/read/metric-records.ts"
import { cursorOf, placeIn } from "../../lib/cursor.ts"
import { addDays, type Days, dayOf } from "../../lib/days.ts"
import { Fault } from "../../lib/faults.ts"
import { Term, wholeNumber } from "../../lib/fields.ts"
import { coded, described, named } from "../../lib/schema.ts"
import { isRealDay } from "../../lib/time.ts"
import { Day, Rank, Source, Store, Storefront, Time } from "../../tracking/shapes.ts"
import { dayPrice, MAX_DAYS } from "./day-prices.ts"
import { AppStoreAlone, MarketCountry } from "./inputs.ts"

const DAYS = 30
/** Maximum number of records per series and page. */
const PAGE = 200
const LONGEST_CURSOR = 1_000

const MetricDay = named(
  "MetricRecord",
  v.strictObject({
    day: described(Day, "UTC day of the record; for a published popularity, the first of its month."),
    state: described(
      v.picklist(["measured", "absent", "failed", "incomplete"]),
      "measured: a figure; absent: all required data was read and gave none; failed: a required reading failed; " +
        "incomplete: a required reading was interrupted. The last two do not describe the keyword.",
    ),
    value: described(
      v.nullable(v.pipe(v.number(), v.integer())),
      "Null unless measured, and for an estimate, which is a band.",
    ),
    low: described(v.nullable(v.number()), "Low end of the estimated band. Null if not an estimate."),
    high: described(v.nullable(v.number()), "High end of the band, inclusive. Null if not an estimate."),
    basis: described(
      v.nullable(v.picklist(["published", "estimate", "calculated"])),
      "published: by the store, for a month; estimate: a calculated band of popularity; calculated: a difficulty. " +
        "Null if failed or incomplete.",
    ),
    formula: described(
      v.nullable(v.pipe(v.number(), v.integer())),
      "Version of the formula. Compare figures of one version only. Null if none was used.",
    ),
    at: described(Time, "Time of the newest reading or attempt behind it."),
    of: described(v.nullable(v.picklist(READ_PARTS)), "What was requested. Null if measured or absent."),
    outcome: described(v.nullable(v.picklist(OUTCOMES)), "How the reading failed. Null unless failed."),
    source: described(
      v.nullable(Source),
      "Publisher of the figure or source of the reading. Null if calculated here or not stored.",
    ),
  }),
)

export const hiveGetKeywordMetricsHistory = operation({
  id: "hive_get_keyword_metrics_history",
  method: "GET",
  path: "/hive/keywords/:term/metrics/history",
  group: "Hive",
  toolset: "hive",
  summary: "Returns the stored popularity and difficulty of any keyword over time.",
  description:
    "Never sends a request to a store. A day without a record was not measured, which does not mean zero. Each " +
    `series has its own pages of ${PAGE} records. hive_get_keyword_metrics has the latest.`,
  effect: "reads",
  scope: "hive:read",
  hive: "explorer",
  price: dayPrice(DAYS),
  faults: [],
  input: v.strictObject({
    term: Term,
    platform: AppStoreAlone,
    days: v.optional(wholeNumber(1, MAX_DAYS, `Number of UTC days up to today. Default: ${DAYS}.`, "bad_days")),
    cursor: v.optional(
      coded(
        v.pipe(
          v.string(),
          v.minLength(1),
          v.maxLength(LONGEST_CURSOR),
          v.description("pagination.nextCursor, with the same term, country and days."),
        ),
        "bad_cursor",
      ),
    ),
    country: MarketCountry,
  }),
  narrow: { rows: ["difficulty", "popularity"] },
  output: v.strictObject({
    term: described(v.string(), "The normalised keyword."),
    country: Storefront,
    platform: described(Store, "Always ios."),
    days: described(Rank, "The requested number of days."),
    from: described(Day, "First day of the period."),
    to: described(Day, "Last day: the day of the first page."),
    difficulty: described(v.array(MetricDay), "Latest first."),
    popularity: described(
      v.array(MetricDay),
      "Latest first. A published month is listed if any of its days is requested.",
    ),
    pagination: v.strictObject({
      nextCursor: described(v.nullable(v.string()), "Cursor of the next page. Null if this is the last page."),
    }),
  }),
}).run(async ({ term, country: storefront, platform, days = DAYS, cursor }, ctx) => {
  const list = { platform, storefront, term }
  const called = ["keyword metrics history", term, storefront, days]
  const page = cursor === undefined ? firstPage(ctx, days) : pageIn(called, cursor)
  const read = async (metric: "difficulty" | "popularity") => {
    const after = page[metric]
    if (after === undefined) return { shown: [], next: null }
    // one row more than a page shows whether there is a next page
    const records = await readMetricRecords(ctx.sql, list, metric, { ...page.window, after, limit: PAGE + 1 })
    const rows = records.slice(0, PAGE)
    return { shown: rows, next: records.length > PAGE ? (rows.at(-1)?.place ?? null) : null }
  }
  const [difficulty, popularity] = [await read("difficulty"), await read("popularity")]
  const { from, to } = page.window
  const isOver = difficulty.next === null && popularity.next === null
  const answer = {
    term,
    country: storefront,
    platform,
    days,
    from,
    to,
    difficulty: difficulty.shown.map((record) => shownRecord(record, "calculated")),
    popularity: popularity.shown.map((record) => shownRecord(record, "estimate")),
    pagination: { nextCursor: isOver ? null : cursorOf(called, [from, to, difficulty.next, popularity.next]) },
  }
  const records = [...difficulty.shown, ...popularity.shown]
  if (records.length === 0 && cursor === undefined)
    return nothing(new Fault("not_measured", { detail: NOTHING_STORED }))
  return records.some(({ result }) => result !== null) ? answer : nothing(answer)
})

const NOTHING_STORED = "Nothing is stored for these days, and no reading failed on them."

/**
 * The position at which each series continues: after the given record, at the start (null), or not at all (missing).
 */
interface MetricPage {
  window: Days
  difficulty?: string | null
  popularity?: string | null
}

function firstPage({ now }: Context, days: number): MetricPage {
  const to = dayOf(now())
  return { window: { from: addDays(to, 1 - days), to }, difficulty: null, popularity: null }
}

const PlaceDay = v.pipe(v.string(), v.isoDate(), v.check(isRealDay))
const SeriesPlace = v.nullable(v.pipe(v.string(), v.regex(/^[\x20-\x7e]{1,200}$/)))
const CursorPlace = v.strictTuple([PlaceDay, PlaceDay, SeriesPlace, SeriesPlace])

/** Throws bad_cursor if the cursor is not from a call with the same parameters. */
function pageIn(called: unknown, cursor: string): MetricPage {
  const place = v.safeParse(CursorPlace, placeIn(called, cursor))
  if (!place.success) throw new Fault("bad_cursor", { field: "cursor", detail: NO_CURSOR })
  const [from, to, difficulty, popularity] = place.output
  return {
    window: { from, to },
    ...(difficulty !== null && { difficulty }),
    ...(popularity !== null && { popularity }),
  }
}

const NO_CURSOR =
  "cursor must be the nextCursor of a page with the same term, country and days; only fields may differ. Omit it " +
  "for the first page."

function shownRecord(
  { day, at, result, of, outcome, source }: MetricRecord,
  made: "estimate" | "calculated",
): v.InferInput<typeof MetricDay> {
  const shared = { day, at: at.toISOString(), of, source }
  if (result === null) {
    const failure = outcome === "incomplete" ? null : outcome
    const state = failure === null ? ("incomplete" as const) : ("failed" as const)
    return { ...shared, state, ...NO_VALUE, basis: null, formula: null, outcome: failure }
  }
  const { score, formula } = result
  const state = score === null ? ("absent" as const) : ("measured" as const)
  const basis = formula === 0 ? ("published" as const) : made
  const band = basis === "estimate" && score !== null ? popularityBand("ios", score) : null
  const value = band ? { ...NO_VALUE, ...band } : { ...NO_VALUE, value: score }
  return { ...shared, state, ...value, basis, formula: formula === 0 ? null : formula, outcome: null }
}

const NO_VALUE = { value: null, low: null, high: null }
