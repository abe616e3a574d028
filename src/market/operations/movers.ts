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
  name: described(
    v.string(),
    "As that storefront shows it, else as another does; the id until a name was seen anywhere.",
  ),
}
const Climber = named("MarketMove", v.strictObject({ ...fields, rank: Rank, was: Rank }))
const list = <S extends Parameters<typeof v.array>[0]>(row: S, text: string) =>
  described(v.nullable(v.array(row)), `${text} Null = there is nothing to compare with (measured).`)

const Reading = named(
  "MarketReading",
  v.strictObject({
    day: Day,
    measuredAt: described(Time, "When it was seen."),
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
  summary: "What climbed, fell, came and went on a top chart of the App Store.",
  description:
    "The latest reading against the day so many days before it, or the last that was read before that. Readings of two sources are never compared, an app counts as new or gone only as far down as the other day was read, and on the first day of a list nobody is new. A list that nobody follows is read when it is asked for: it can be compared from the next day on that it is read.",
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
        v.pipe(
          v.picklist(KINDS),
          v.description("Which list of the iPhone, free when left out; ipad = the iPad's of free apps."),
        ),
        "bad_kind",
      ),
    ),
    genre: v.optional(genreId("The App Store's id of a genre; all apps when left out.")),
    days: v.optional(wholeNumber(1, 90, "Compare with so many days before the latest; 7 when left out.", "bad_days")),
    limit: v.optional(wholeNumber(1, 100, "The most of each of the four; 25 when left out.", "invalid_arguments")),
  }),
  output: v.strictObject({
    country: Storefront,
    platform: ChartStore,
    kind: described(v.picklist(KINDS), "Which list."),
    genre: Genre,
    days: described(Rank, "How many days back were asked for."),
    measured: described(
      v.boolean(),
      "There is a day to compare with. False = none was read so far back (measuredSince), or another source read it.",
    ),
    latest: Reading,
    against: described(v.nullable(Reading), "Null = no day was read so far back."),
    measuredSince: described(Day, "The first day on which this list was read."),
    climbed: list(Climber, "The most places first."),
    fell: list(Climber, "The most places first."),
    entered: list(v.strictObject({ ...fields, rank: Rank }), "On the list now and not then, by rank."),
    left: list(
      v.strictObject({ ...fields, was: described(Rank, "The last rank.") }),
      "On the list then and not now, by last rank.",
    ),
    counts: described(
      v.nullable(v.strictObject({ climbed: Count, fell: Count, entered: Count, left: Count })),
      "How many there are of each, whatever the limit.",
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
      ...{ country: storefront, platform: key.platform, kind, genre: await readGenre(sql, key), days },
      ...{ measured: found.movers !== null, measuredSince: found.day.firstDay },
      ...{ latest: readingOf(found.day), against: found.against && readingOf(found.against) },
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
