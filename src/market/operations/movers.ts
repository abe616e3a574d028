import * as v from "valibot"
import { Genre, genreId, refuseUnknownGenre } from "../../charts/operations/chart-genres.ts"
import { ChartStore, Depth, Source } from "../../charts/operations/charts.ts"
import { readMoverNames } from "../../charts/operations/shown-movers.ts"
import { type ChartMovers, type MeasuredDay, readChartMovers } from "../../charts/read/chart-movers.ts"
import { nothing, operation } from "../../core/operation.ts"
import { READING_DEADLINE_MS, READING_FAULTS } from "../../core/read-on-request.ts"
import { ALL_APPS, CHARTS } from "../../lib/charts.ts"
import { wholeNumber } from "../../lib/fields.ts"
import { coded, described, named } from "../../lib/schema.ts"
import { Count, Day, Origin, Rank, Storefront, Time } from "../../tracking/shapes.ts"
import { readGenre, wantedChart } from "./chart.ts"
import { MarketCountry } from "./inputs.ts"
import { readNow } from "./read-now.ts"

const KEPT_DAYS = 1
const KINDS = [...CHARTS, "ipad"] as const

const fields = {
  id: described(v.string(), "App Store id."),
  name: described(v.string(), "Name in that storefront, else elsewhere, else the id."),
}
const Climber = named("MarketMove", v.strictObject({ ...fields, rank: Rank, was: Rank }))
const list = <S extends Parameters<typeof v.array>[0]>(row: S, text: string) =>
  described(v.nullable(v.array(row)), `${text} Null if nothing can be compared (see measured).`)

const Reading = named(
  "MarketReading",
  v.strictObject({
    day: Day,
    measuredAt: described(Time, "Time of that reading."),
    source: Source,
    origin: Origin,
    depth: Depth,
  }),
)

export const hiveGetChartMovers = operation({
  id: "hive_get_chart_movers",
  method: "GET",
  path: "/hive/movers",
  group: "Hive",
  toolset: "hive",
  summary: "Returns what rose, fell, entered and left on a top chart of the App Store.",
  description:
    "Compares the latest reading with the day the given number of days earlier, or the last reading before that. " +
    "Readings from different sources are never compared. An app counts as new or gone only down to the depth read " +
    "on the other day; on the first day of a chart no app is new. A chart that is not tracked is read on request " +
    "and can be compared from its next day of reading on.",
  effect: "measures",
  scope: "hive:read",
  hive: "pack",
  price: 10,
  faults: READING_FAULTS,
  deadlineMs: READING_DEADLINE_MS,
  input: v.strictObject({
    country: MarketCountry,
    kind: v.optional(
      coded(
        v.pipe(v.picklist(KINDS), v.description("The iPhone chart. Default: free. ipad: the free iPad chart.")),
        "bad_kind",
      ),
    ),
    genre: v.optional(genreId("The App Store's genre id. Default: all apps.")),
    days: v.optional(
      wholeNumber(1, 90, "Days between the latest day and the day to compare with. Default: 7.", "bad_days"),
    ),
    limit: v.optional(
      wholeNumber(1, 100, "Maximum number of apps in each of the four lists. Default: 25.", "invalid_arguments"),
    ),
  }),
  output: v.strictObject({
    country: Storefront,
    platform: ChartStore,
    kind: described(v.picklist(KINDS), "The chart."),
    genre: Genre,
    days: described(Rank, "The requested number of days."),
    measured: described(
      v.boolean(),
      "True if there is a day to compare with. False if none was read that early (see measuredSince), or another " +
        "source read it.",
    ),
    latest: Reading,
    against: described(v.nullable(Reading), "Null if no day was read that early."),
    measuredSince: described(Day, "First measured day of this chart."),
    climbed: list(Climber, "Biggest movement first."),
    fell: list(Climber, "Biggest movement first."),
    entered: list(v.strictObject({ ...fields, rank: Rank }), "Apps on the chart now but not then, by rank."),
    left: list(
      v.strictObject({ ...fields, was: described(Rank, "Last rank.") }),
      "Apps on the chart then but not now, by last rank.",
    ),
    counts: described(
      v.nullable(v.strictObject({ climbed: Count, fell: Count, entered: Count, left: Count })),
      "Number of apps that climbed, fell, entered and left, regardless of the limit.",
    ),
  }),
}).run(async ({ country: storefront, kind = "free", genre = ALL_APPS, days = 7, limit = 25 }, ctx) => {
  const { sql } = ctx
  const [device, chart] = kind === "ipad" ? (["ipad", "free"] as const) : (["iphone", kind] as const)
  const key = { platform: "ios", storefront, device, chart, genre } as const
  await refuseUnknownGenre(sql, key)
  return await readNow(ctx, { wanted: wantedChart(key), keptDays: KEPT_DAYS }, async () => {
    const found = await readChartMovers(sql, key, { days })
    if (!found) return null
    const answer = {
      country: storefront,
      platform: key.platform,
      kind,
      genre: await readGenre(sql, key),
      days,
      measured: found.movers !== null,
      measuredSince: found.day.firstDay,
      latest: readingOf(found.day),
      against: found.against && readingOf(found.against),
    }
    if (!found.movers) return nothing({ ...answer, ...UNKNOWN })
    return { ...answer, ...(await readMoves(ctx.sql, found.movers, limit, storefront)) }
  })
})

const UNKNOWN = { climbed: null, fell: null, entered: null, left: null, counts: null }

async function readMoves(
  sql: Parameters<typeof readMoverNames>[0],
  movers: NonNullable<ChartMovers["movers"]>,
  limit: number,
  storefront: string,
) {
  const { risers, fallers, entrants, dropouts, counts } = await readMoverNames(sql, movers, limit, {
    storefront,
    countries: [],
  })
  return {
    climbed: risers,
    fell: fallers,
    entered: entrants,
    left: dropouts,
    counts: { climbed: counts.risers, fell: counts.fallers, entered: counts.entrants, left: counts.dropouts },
  }
}

function readingOf({ day, seenAt, source, origin, depth }: MeasuredDay) {
  return { day, measuredAt: seenAt.toISOString(), source, origin, depth }
}
