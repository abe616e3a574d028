import * as v from "valibot"
import { landscapeOf, PLACES } from "../../charts/formulas/landscape.ts"
import { Genre, readGenreNames, refuseUnknownGenre } from "../../charts/operations/chart-genres.ts"
import { Source as ChartSource, ChartStore, Depth } from "../../charts/operations/charts.ts"
import { type ChartAnswer, readChart } from "../../charts/read/charts.ts"
import {
  type ListedFacts,
  LOOKED_UP,
  listChartGenres,
  NEAR_DAYS,
  readListedFacts,
} from "../../charts/read/listed-apps.ts"
import type { ChartKey } from "../../core/observation/subjects.ts"
import { type Context, nothing, operation } from "../../core/operation.ts"
import { READING_DEADLINE_MS, READING_FAULTS, readOnRequest } from "../../core/read-on-request.ts"
import { ALL_APPS } from "../../lib/charts.ts"
import { Fault } from "../../lib/faults.ts"
import { FIRST } from "../../lib/figure.ts"
import { keysOf } from "../../lib/objects.ts"
import { bounded, coded, described, named } from "../../lib/schema.ts"
import { Count, Day, Origin, ReadingSpan, Storefront, Time } from "../../tracking/shapes.ts"
import { wantedChart } from "./chart.ts"
import { MarketCountry } from "./inputs.ts"
import { readNow } from "./read-now.ts"

const CHART_KEPT_DAYS = 1
/** Look-ups become stale more slowly than charts. */
const APPS_KEPT_DAYS = 7

/** Apple's genre ids, by the names used in this API. */
const KEYS = {
  all: ALL_APPS,
  games: "6014",
  entertainment: "6016",
  "photo-video": "6008",
  productivity: "6007",
  "health-fitness": "6013",
  education: "6017",
  lifestyle: "6012",
  finance: "6015",
  "social-networking": "6005",
} as const
type FilterKey = keyof typeof KEYS
const NAMES = keysOf(KEYS)
const KEY_OF = new Map(NAMES.map((key) => [KEYS[key] as string, key]))

const GenreOrKey = coded(
  v.pipe(
    bounded(v.string(), { maxLength: 20 }),
    v.regex(new RegExp(`^(?:[1-9]\\d{0,5}|${NAMES.join("|")})$`)),
    v.description(
      `The category: the App Store's genre id, or one of ${NAMES.join(", ")}. Default: every measured category, ` +
        "without reading any.",
    ),
  ),
  "bad_genre",
)

const figure = <const Fields extends v.ObjectEntries>(fields: Fields, text: string) =>
  described(
    v.strictObject({
      ...fields,
      n: described(Count, "Apps for which the figure's input is known."),
      of: described(Count, "Number of apps."),
    }),
    text,
  )
const Median = v.nullable(v.number())
const Share = described(v.nullable(v.pipe(v.number(), v.minValue(0), v.maxValue(1))), "0 to 1.")
const basis = (text: string) => described(v.nullable(ReadingSpan), text)

const Category = named(
  "CategoryLandscape",
  v.strictObject({
    genre: Genre,
    key: described(v.nullable(v.picklist(NAMES)), "Its name as a value of genre. Null if it has only an id."),
    day: Day,
    measuredAt: described(Time, "Time of the chart's reading."),
    source: ChartSource,
    origin: Origin,
    depth: Depth,
    listed: described(Count, `Number of apps behind the figures: the first ${PLACES}, or all if there are fewer.`),
    ratingsWall: figure(
      { least: v.nullable(Count), median: Median },
      `Lowest and median rating count of the chart's first ${FIRST} apps.`,
    ),
    rating: figure({ median: Median }, "Median of the average ratings. Apps without a rating are left out."),
    nameLength: figure({ median: Median }, "Characters of the name in that storefront."),
    releasedWithinYear: figure({ share: Share }, "Apps released in the 365 days before the chart's day."),
    updatedWithin90Days: figure({ share: Share }, "Apps updated in the 90 days before the chart's day."),
    languages: figure({ median: Median }, "Number of languages of an app in the store."),
    sizeBytes: figure({ median: Median }, "Size of an app."),
    publishers: figure(
      { count: v.nullable(Count), apps: v.nullable(Count) },
      "Publishers with two or more apps on this chart, and the number of their apps.",
    ),
    restsOn: v.strictObject({
      ratings: basis(`Rating counts from the ${NEAR_DAYS} days around the chart's day. Null if none is known.`),
      lookUps: basis("Look-ups of the apps for releases, updates, languages and sizes. Null if none is known."),
    }),
  }),
)

export const hiveGetLandscape = operation({
  id: "hive_get_landscape",
  method: "GET",
  path: "/hive/landscape",
  group: "Hive",
  toolset: "hive",
  summary: "Returns what a new app faces in a category of the App Store.",
  description:
    `Figures of the first ${PLACES} apps of the free iPhone chart; null if known for less than half. A requested ` +
    `category is read during the call, with look-ups of its first ${LOOKED_UP} apps, and cached for ` +
    `${CHART_KEPT_DAYS} day (look-ups for ${APPS_KEPT_DAYS}). Without ratingsWall the answer costs as much as an ` +
    "empty one.",
  effect: "measures",
  scope: "hive:read",
  hive: "pack",
  price: 10,
  faults: READING_FAULTS,
  deadlineMs: READING_DEADLINE_MS,
  narrow: { rows: ["categories"] },
  input: v.strictObject({ genre: v.optional(GenreOrKey), country: MarketCountry }),
  table: "categories",
  output: v.strictObject({
    country: Storefront,
    platform: ChartStore,
    device: described(v.picklist(["iphone"]), "Device of the charts: always iPhone."),
    kind: described(v.picklist(["free"]), "Kind of the charts: always free."),
    categories: described(
      v.array(Category),
      "All apps first, then by id; or the requested category. Empty if none was read.",
    ),
    readingForS: described(
      v.nullable(Count),
      "While apps of the requested category are being looked up: seconds after which to call again. Null otherwise.",
    ),
  }),
}).run(async ({ genre, country }, ctx) => {
  if (genre === undefined) return await measuredCategories(ctx, country)
  const key = keyOf(country, genre)
  await refuseUnknownGenre(ctx.sql, key)
  return await readNow(ctx, { wanted: wantedChart(key), keptDays: CHART_KEPT_DAYS }, async () => {
    if (!(await readChart(ctx.sql, key))) return null
    const readingForS = await readApps(ctx, key)
    return answered(country, [await readCategory(ctx, key)], readingForS)
  })
})

async function measuredCategories(ctx: Context, country: string) {
  const genres = await listChartGenres(ctx.sql, country)
  const categories: Awaited<ReturnType<typeof readCategory>>[] = []
  // in sequence: each category reads a hundred apps, and other requests also need the database
  for (const genre of genres) categories.push(await readCategory(ctx, keyOf(country, genre)))
  return answered(country, categories, null)
}

/** An answer in which no category has a ratings wall costs the price of an empty answer. */
function answered(country: string, categories: Awaited<ReturnType<typeof readCategory>>[], readingForS: number | null) {
  const place = { country, platform: "ios" as const, device: "iphone" as const, kind: "free" as const }
  const answer = { ...place, categories, readingForS }
  return categories.some(({ ratingsWall }) => ratingsWall.median !== null) ? answer : nothing(answer)
}

/**
 * Requests look-ups of a chart's first apps that have none. Returns the seconds until the look-ups are done, or null if
 * none is missing. Apps that cannot be looked up are left out; each figure includes the number of apps it covers.
 */
async function readApps(ctx: Context, key: ChartKey): Promise<number | null> {
  const wanted = { ...wantedChart(key), kind: "chart_apps" } as const
  try {
    return await readOnRequest(ctx, wanted, { keptDays: APPS_KEPT_DAYS })
  } catch (error) {
    if (error instanceof Fault) return null
    throw error
  }
}

function keyOf(storefront: string, genre: string): ChartKey {
  const id = KEYS[genre as FilterKey] ?? genre
  return { platform: "ios", storefront, device: "iphone", chart: "free", genre: id }
}

async function readCategory({ sql }: Context, key: ChartKey) {
  const { storefront, genre } = key
  const { day, seenAt, source, origin, depth, appIds } = (await readChart(sql, key)) as ChartAnswer
  const apps = await readListedFacts(sql, appIds.slice(0, PLACES), { storefront, day })
  const { wall, released, updated, publishers, ...medians } = landscapeOf(apps, day)
  const names = await readGenreNames(sql, storefront, [genre])
  return {
    genre: { id: genre, name: names.get(genre) ?? null },
    key: KEY_OF.get(genre) ?? null,
    day,
    measuredAt: seenAt.toISOString(),
    source,
    origin,
    depth,
    listed: apps.length,
    ratingsWall: wall,
    ...medians,
    releasedWithinYear: released,
    updatedWithin90Days: updated,
    publishers,
    restsOn: {
      ratings: basisOf(apps, ({ ratingsAt, ratingsSource }) => [ratingsAt, ratingsSource]),
      lookUps: basisOf(apps, ({ lookedAt, lookedSource }) => [lookedAt, lookedSource]),
    },
  }
}

function basisOf<S extends string>(
  apps: readonly ListedFacts[],
  readOf: (app: ListedFacts) => [Date | null, S | null],
): { from: string; to: string; sources: S[] } | null {
  const read = apps.map(readOf).filter((item): item is [Date, S] => item[0] !== null && item[1] !== null)
  if (read.length === 0) return null
  const at = read.map(([moment]) => moment.toISOString()).sort()
  return { from: at[0]!, to: at.at(-1)!, sources: [...new Set(read.map(([, source]) => source))].sort() }
}
