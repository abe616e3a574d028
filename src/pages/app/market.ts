import * as v from "valibot"
import { planCovers } from "../../access/plans.ts"
import { Genre } from "../../charts/operations/chart-genres.ts"
import {
  findFirstChart,
  findNearDays,
  listChartedStorefronts,
  readAppPlaces,
  readFirstSeen,
} from "../../charts/read/chart-index.ts"
import { readChartMovers } from "../../charts/read/chart-movers.ts"
import { type ChartAnswer, readChart, readChartSeries } from "../../charts/read/charts.ts"
import type { ChartKey } from "../../core/observation/subjects.ts"
import { type Context, operation } from "../../core/operation.ts"
import { READING_DEADLINE_MS, READING_FAULTS } from "../../core/read-on-request.ts"
import { ALL_APPS, CHART_SOURCES } from "../../lib/charts.ts"
import { addDays, dayOf } from "../../lib/days.ts"
import { described, extending } from "../../lib/schema.ts"
import { Count, Day, Rank, Storefront, Time } from "../../lib/shapes.ts"
import { sourceRuns } from "../../lib/source-runs.ts"
import { PAGE_CHANGES } from "../../listings/changes.ts"
import { ChangeShape, changeFields, changeShape, PageChangeKind } from "../../listings/operations/listing-shapes.ts"
import { readChanges } from "../../listings/read/changes.ts"
import { readChosenMarket } from "../../market/followed-storefronts.ts"
import { readGenre, wantedChart } from "../../market/operations/chart.ts"
import { foundIn, hiveFindApps } from "../../market/operations/find.ts"
import { checkFilters, FindInput, KINDS } from "../../market/operations/find-filters.ts"
import { FOUND_ORDERS } from "../../market/operations/found-apps.ts"
import { MarketCountry, platformOfChecked, StoreAppId } from "../../market/operations/inputs.ts"
import { findMarketApps, findStoreApp, marketAppFields, readMarketApps } from "../../market/operations/market-apps.ts"
import { readNow } from "../../market/operations/read-now.ts"
import { readFollowedMarket } from "../../market/read/followed.ts"
import { Origin } from "../../tracking/shapes.ts"

const shared = {
  method: "GET",
  group: "Hive",
  toolset: "hive",
  scope: "hive:read",
} as const

const Kind = v.picklist(KINDS)
const ChartName = v.strictObject({ country: Storefront, kind: Kind, genre: v.string() })

export const getMarket = operation({
  ...shared,
  id: "get_market",
  path: "/page/market",
  summary: "Which storefronts are followed, and which charts were read.",
  effect: "reads",
  price: 0,
  faults: [],
  input: v.strictObject({}),
  output: v.strictObject({
    followed: v.array(
      v.strictObject({
        country: Storefront,
        genres: v.array(v.string()),
        chosen: described(
          v.array(v.string()),
          "Those of genres that were chosen on this page. The setting MARKET has the others.",
        ),
        since: Day,
      }),
    ),
    charted: v.array(v.strictObject({ country: Storefront, lists: Count, genres: v.array(v.string()), lastDay: Day })),
    first: described(v.nullable(ChartName), "The chart to show first. Null if none was read."),
  }),
}).run(async (_, { sql }) => {
  const [followed, chosen, charted] = await Promise.all([
    readFollowedMarket(sql),
    readChosenMarket(sql),
    listChartedStorefronts(sql),
  ])
  const first = await findFirstChart(
    sql,
    followed.map(({ storefront }) => storefront),
  )
  return {
    followed: followed.map(({ storefront, genres, since }) => ({
      country: storefront,
      genres: [...genres],
      chosen: [...(chosen.find((one) => one.storefront === storefront)?.genres ?? [])],
      since,
    })),
    charted,
    first: first && {
      country: first.storefront,
      kind: first.device === "ipad" ? ("ipad" as const) : first.chart,
      genre: first.genre,
    },
  }
})

/** Finds apps like hive_find_apps, but can also sort them in other orders than by rank. */
export const listFoundApps = operation({
  ...shared,
  id: "list_found_apps",
  path: "/page/market/find",
  summary: "Apps of the charts by the filters of hive_find_apps, in an order over all matches.",
  effect: "reads",
  hive: "pack",
  price: 0,
  faults: [...hiveFindApps.faults],
  input: v.strictObject({ ...FindInput.entries, order: v.picklist(FOUND_ORDERS) }),
  output: hiveFindApps.output,
}).run(async ({ order, ...query }, ctx) => await foundIn(checkFilters(query), order, ctx))

const CHANGE_DAYS = 90
const MAX_CHANGES = 20

const Change = extending(ChangeShape, v.strictObject({ kind: PageChangeKind, ...changeFields }))

export const getMarketApp = operation({
  ...shared,
  id: "get_market_app",
  path: "/page/market/app",
  summary: "The charts that show an app, and what changed on its store page.",
  effect: "reads",
  price: 0,
  faults: [],
  names: "id",
  input: v.strictObject({ id: StoreAppId, country: MarketCountry }),
  output: v.strictObject({
    charts: described(v.array(v.strictObject({ ...ChartName.entries, rank: Rank, day: Day })), "Best rank first."),
    changes: described(v.array(Change), "Newest first, as far as its page was read."),
  }),
}).run(async ({ id, country }, { sql, now, caller }) => {
  const app = await findStoreApp(sql, { platform: platformOfChecked(id), id })
  if (app === null) return { charts: [], changes: [] }
  const today = dayOf(now())
  const days = { from: addDays(today, 1 - CHANGE_DAYS), to: today }
  const changes = await readChanges(sql, {
    apps: [app],
    storefront: country,
    ...days,
    kinds: PAGE_CHANGES,
    limit: MAX_CHANGES,
  })
  const options = { promotional: planCovers(caller.plan, "pro"), names: true }
  return {
    charts: (await readAppPlaces(sql, app)).map(({ storefront, device, chart, genre, rank, day }) => ({
      country: storefront,
      kind: device === "ipad" ? ("ipad" as const) : chart,
      genre,
      rank,
      day,
    })),
    changes: changes.map((change) => ({
      kind: change.kind as (typeof PAGE_CHANGES)[number],
      ...changeShape(change, options),
    })),
  }
})

/** The periods over which ranks are compared, in days. */
const PERIODS = [1, 7, 30] as const
const HISTORY_DAYS = 90
const KEPT_DAYS = 1

const Was = described(
  v.array(v.nullable(v.union([Rank, v.literal("absent")]))),
  "Rank 1, 7 and 30 days before. Null if unknown.",
)

export const getMarketChart = operation({
  ...shared,
  id: "get_market_chart",
  path: "/page/market/chart",
  summary: "A top chart of any measured day, with the changes of each app and the history of one.",
  effect: "measures",
  hive: "pack",
  price: 10,
  faults: READING_FAULTS,
  deadlineMs: READING_DEADLINE_MS,
  input: v.strictObject({
    country: MarketCountry,
    kind: v.optional(Kind, "free"),
    genre: v.optional(v.pipe(v.string(), v.regex(/^[1-9]\d{0,5}$/)), ALL_APPS),
    day: v.optional(Day),
    since: v.optional(v.picklist(PERIODS), 1),
    app: v.optional(v.pipe(v.string(), v.regex(/^\d{5,12}$/))),
  }),
  output: v.strictObject({
    ...ChartName.entries,
    genre: Genre,
    day: Day,
    measuredAt: Time,
    source: v.picklist(CHART_SOURCES),
    origin: Origin,
    depth: Count,
    firstDay: Day,
    previous: v.nullable(Day),
    next: v.nullable(Day),
    against: described(v.array(v.nullable(Day)), "The days compared with. Null if nothing can be compared."),
    apps: v.array(
      v.strictObject({
        rank: Rank,
        ...marketAppFields,
        firstSeen: described(
          v.nullable(Day),
          "Null if the app was in the first reading, so that it may have been in the chart before.",
        ),
        was: Was,
      }),
    ),
    entered: v.nullable(v.array(v.strictObject({ ...marketAppFields, rank: Rank }))),
    left: v.nullable(v.array(v.strictObject({ ...marketAppFields, was: Rank }))),
    history: v.nullable(
      v.strictObject({
        id: v.string(),
        name: v.string(),
        points: v.array(v.strictTuple([Day, v.nullable(Rank)])),
        sources: v.array(v.strictObject({ source: v.string(), from: Day, to: Day })),
      }),
    ),
  }),
}).run(async ({ country: storefront, kind, genre, day, since, app }, ctx) => {
  const [device, chart] = kind === "ipad" ? (["ipad", "free"] as const) : (["iphone", kind] as const)
  const key = { platform: "ios", storefront, device, chart, genre } as const
  return await readNow(ctx, { wanted: wantedChart(key), keptDays: KEPT_DAYS }, async () => {
    const found = await readChart(ctx.sql, key, day ?? null)
    if (!found) return null
    const { source, origin, depth, firstDay, seenAt, appIds } = found
    return {
      country: storefront,
      kind,
      genre: await readGenre(ctx.sql, key),
      day: found.day,
      measuredAt: seenAt.toISOString(),
      source,
      origin,
      depth,
      firstDay,
      ...(await findNearDays(ctx.sql, key, found.day)),
      ...(await readRows(ctx, key, found)),
      ...(await readMoves(ctx, key, { day: found.day, since })),
      history: app === undefined ? null : await readHistory(ctx, key, { id: app, appIds, to: found.day }),
    }
  })
})

async function readRows({ sql }: Context, key: ChartKey, { day, source, appIds }: ChartAnswer) {
  const earlier = await Promise.all(PERIODS.map((days) => readChart(sql, key, addDays(day, -days))))
  // ranks of different sources cannot be compared
  const comparable = earlier.map((one) => (one?.source === source ? one : null))
  const places = comparable.map((one) => new Map(one?.appIds.map((app, at) => [app, at + 1])))
  const [named, seen] = await Promise.all([
    readMarketApps(sql, appIds, key.storefront),
    readFirstSeen(sql, appIds, key.storefront),
  ])
  const apps = appIds.flatMap((app, at) => {
    const rank = at + 1
    const about = named.get(app)
    const was = comparable.map((one, nth) => {
      if (one === null) return null
      return places[nth]?.get(app) ?? (one.depth >= rank ? ("absent" as const) : null)
    })
    return about ? [{ rank, ...about, firstSeen: seen.get(app) ?? null, was }] : []
  })
  return { against: comparable.map((one) => one?.day ?? null), apps }
}

async function readMoves({ sql }: Context, key: ChartKey, { day, since }: { day: string; since: number }) {
  const movers = (await readChartMovers(sql, key, { day, days: since }))?.movers ?? null
  if (movers === null) return { entered: null, left: null }
  const ids = [...movers.entered, ...movers.left].map(({ app }) => app)
  const named = await readMarketApps(sql, ids, key.storefront)
  const withNames = <Row extends { app: number }>(rows: readonly Row[]) =>
    rows.flatMap(({ app, ...row }) => {
      const about = named.get(app)
      return about ? [{ ...about, ...row }] : []
    })
  return { entered: withNames(movers.entered), left: withNames(movers.left) }
}

async function readHistory({ sql }: Context, key: ChartKey, query: { id: string; appIds: number[]; to: string }) {
  const app = (await findMarketApps(sql, key, [query.id])).get(query.id)
  if (!app) return null
  const days = { from: addDays(query.to, 1 - HISTORY_DAYS), to: query.to }
  const [series] = await readChartSeries(sql, app.app, [key], days)
  const points = series?.points ?? []
  return {
    id: query.id,
    name: app.name,
    points: points.map(({ day, rank }): [string, number | null] => [day, rank]),
    sources: sourceRuns(points),
  }
}
