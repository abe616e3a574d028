import { expect, setDefaultTimeout } from "bun:test"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { readChartMovers } from "../../src/charts/read/chart-movers.ts"
import { openStoreReading } from "../../src/commands/process/store-reading.ts"
import type { Sql } from "../../src/database/types.ts"
import { addDays, dayOf } from "../../src/lib/days.ts"
import type { Log } from "../../src/lib/log.ts"
import { CHART_GENRES } from "../../src/lib/storefronts.ts"
import { UPSTREAMS } from "../../src/lib/upstreams.ts"
import { followMarket } from "../../src/market/followed-storefronts.ts"
import { OutboundProblem } from "../../src/outbound/problem.ts"
import { freshDatabase } from "../database.ts"
import { until } from "../jobs/platform.ts"
import { afterSlow, beforeSlow, cases, slow } from "../long.ts"
import { openService } from "../service.ts"
import { fixture } from "../stores/parsing/parsed.ts"
import { type ReplayRequest, type ReplayServer, replayServer } from "../stores/parsing/replay.ts"
import { chartFeed } from "./public-pages.ts"
import { lookupAnswer, type ShownApp } from "./store-pages.ts"

setDefaultTimeout(600_000)

const MARKET = ["gb", "jp", "us"]
const GENRES = CHART_GENRES.slice(0, cases(1, 3))
const PLACES = cases(30, 50)
/** A week in the long run, three days in the short run. */
const DAYS = Array.from({ length: cases(2, 7) }, (_, at) => addDays(dayOf(new Date()), at - 7))
const FEEDS = {
  topfreeapplications: ["iphone", "free"],
  toppaidapplications: ["iphone", "paid"],
  topgrossingapplications: ["iphone", "grossing"],
  topfreeipadapplications: ["ipad", "free"],
} as const

let folder: string
const logged: string[] = []
const log: Log = (level, event, fields) => {
  if (level === "error" || level === "warn") logged.push(`${event} ${fields?.reason ?? ""}`)
}

let sql: Sql
let stores: ReplayServer
/** The day of the stores' content and of the clock. */
let today = DAYS[0] as string

beforeSlow(async () => {
  folder = mkdtempSync(join(tmpdir(), "appmeter-raw-"))
  sql = await freshDatabase()
  stores = replayServer()
  stores.on("itunes.apple.com", "/", ({ url }) => {
    const place = url.searchParams.get("country") ?? url.searchParams.get("cc") ?? url.pathname.split("/")[1]
    if (url.pathname.endsWith("/ws/genres")) return new Response(genresOf(place as string))
    if (url.pathname === "/lookup") return lookupAnswer((url.searchParams.get("id") ?? "").split(",").map(toApp))
    return chartFeed(url, rankedApps(nameOf(url), today).map(String).map(toApp))
  })
})
afterSlow(async () => {
  await stores.stop()
  rmSync(folder, { recursive: true })
})

const genresOf = (storefront: string) => fixture("apple-genres-us.json").replaceAll("/us/", `/${storefront}/`)

const toApp = (id: string): ShownApp => ({ id, name: `App ${id}`, ratings: Number(id) % 10_000 })

/** Returns the name of a list from the feed's URL, for example "us iphone free 6014". */
function nameOf(url: URL): string {
  const [, storefront, , feed] = url.pathname.split("/")
  const genre = /\/genre=(\d+)/.exec(url.pathname)?.[1] ?? "36"
  return [storefront, ...FEEDS[feed as keyof typeof FEEDS], genre].join(" ")
}

const NAMES = MARKET.flatMap((storefront) =>
  Object.values(FEEDS).flatMap(([device, chart]) => GENRES.map((genre) => `${storefront} ${device} ${chart} ${genre}`)),
)

/** Returns a pseudo-random number that is the same for the same words. */
function chance(...words: (string | number)[]): number {
  let state = 2_166_136_261
  for (const letter of words.join(" ")) state = Math.imul(state ^ letter.charCodeAt(0), 16_777_619) >>> 0
  state = Math.imul(state ^ (state >>> 15), 2_246_822_519) >>> 0
  return (state ^ (state >>> 13)) >>> 0
}

/**
 * Returns the ranked apps of a list on a day: some apps leave, some of them return, and most change places. Lists and
 * storefronts share apps.
 */
function rankedApps(name: string, day: string): number[] {
  const at = DAYS.indexOf(day)
  const first = 1_000_000 + (chance(name) % cases(20, 30)) * Math.floor(PLACES / 2)
  const isAway = (id: number) => [at, at - 1].some((step) => chance(name, id, step) % 25 === 0)
  return Array.from({ length: Math.ceil(PLACES * 1.3) }, (_, i) => first + i)
    .filter((id) => !isAway(id))
    .slice(0, PLACES)
    .toSorted((a, b) => chance(a, name, Math.floor((at + a) / 3)) - chance(b, name, Math.floor((at + b) / 3)) || a - b)
}

const onLists = (storefront: string, day: string): Set<number> =>
  new Set(NAMES.filter((name) => name.startsWith(storefront)).flatMap((name) => rankedApps(name, day)))

async function readDay(): Promise<ReplayRequest[]> {
  const before = stores.requests.length
  const reading = openStoreReading({
    sql,
    log,
    now: () => new Date(`${today}T12:00:00Z`),
    outbound: async () => {
      throw new OutboundProblem("no_such_host")
    },
    settings: {
      on: true,
      // one by one, so that the number of look-ups is exact
      atOnce: 1,
      egress: "main",
      egressCountry: undefined,
      sourcesOff: [],
      gapsMs: new Map(UPSTREAMS.map((upstream) => [upstream, 1])),
      addresses: new Map(UPSTREAMS.map((upstream) => [upstream, stores.address(upstream)])),
      raw: { accountDays: 0, folder, days: 14, megabytes: 100 },
    },
  })
  reading.start()
  try {
    await until(async () => (await countUnread()) === 0, 120_000)
  } finally {
    await reading.stop()
  }
  return stores.requests.slice(before)
}

async function countUnread(): Promise<number> {
  const [row] = await sql<{ n: number }[]>`
    select count(*)::int as n
    from due
    where next_at <= now() or lease is not null or measured_at is null`
  return row!.n
}

/** Sorts the requests into lists by name, and look-ups by storefront with their ids. */
function sorted(requests: readonly ReplayRequest[]) {
  const lookUps = requests.filter(({ url }) => url.pathname === "/lookup")
  return {
    lists: requests
      .filter(({ url }) => url.pathname.includes("/rss/"))
      .map(({ url }) => nameOf(url))
      .sort(),
    trees: requests.filter(({ url }) => url.pathname.endsWith("/ws/genres")).length,
    lookUps: (storefront: string) =>
      lookUps
        .filter(({ url }) => url.searchParams.get("country") === storefront)
        .map(({ url }) => (url.searchParams.get("id") as string).split(",").map(Number)),
    hosts: [...new Set(requests.map(({ url }) => url.host))],
  }
}

slow("a fresh instance reads every chart once and looks up every app on them once, fifty per request", async () => {
  await followMarket(
    sql,
    MARKET.map((storefront) => ({ storefront, genres: GENRES })),
  )
  const requests = sorted(await readDay())
  expect(requests.lists).toEqual(NAMES.toSorted())
  expect([requests.trees, requests.hosts]).toEqual([MARKET.length, ["itunes.apple.com"]])
  for (const storefront of MARKET) {
    const [lookUps, apps] = [requests.lookUps(storefront), onLists(storefront, today)]
    expect(lookUps.flat().toSorted((a, b) => a - b)).toEqual([...apps].sort((a, b) => a - b))
    expect(lookUps).toHaveLength(Math.ceil(apps.size / 50))
  }
  const lookedUp = await sql<{ storefront: string; apps: number }[]>`
    select storefront, count(*)::int as apps
    from app_storefront
    where source = 'itunes-lookup' and available
    group by storefront
    order by storefront`
  expect([...lookedUp]).toEqual(MARKET.map((storefront) => ({ storefront, apps: onLists(storefront, today).size })))
})

slow("on each later day every request is made once, and apps that left the charts are not looked up", async () => {
  for (const [at, day] of DAYS.entries()) {
    if (at === 0) continue
    today = day
    // moves everything back one day, so that times of day stay different and readings before and after midnight stay a
    // day apart
    const earlier = at % 3 === 0 ? null : at % 3 === 1 ? "app" : "chart"
    await sql`
      update due
      set next_at = next_at - interval '29 hours' - case when kind = ${earlier} then 24 else 0 end * interval '1 hour'`
    const requests = sorted(await readDay())
    expect(requests.lists).toEqual(NAMES.toSorted())
    expect([requests.trees, requests.hosts]).toEqual([0, ["itunes.apple.com"]])
    for (const storefront of MARKET) {
      const [previous, apps] = [onLists(storefront, DAYS[at - 1] as string), onLists(storefront, day)]
      expect([previous.difference(apps).size > 0, apps.difference(previous).size > 0]).toEqual([true, true])
      const lookUps = requests.lookUps(storefront)
      expect(lookUps.flat().toSorted((a, b) => a - b)).toEqual([...apps].sort((a, b) => a - b))
      expect(lookUps).toHaveLength(Math.ceil(apps.size / 50))
    }
  }
  expect([...(await sql`select kind, failure from due where failures > 0`)]).toEqual([])
  expect(logged).toEqual([])
})

slow("the pages of /v1/hive/find list each app of the charts exactly once", async () => {
  const service = openService({ sql })
  const key = await service.key(
    await service.workspace({ plan: "enterprise", explorer: true, overrides: { credits: 1e6 } }),
  )
  for (const countries of [["gb"], ["jp"], ["us"], MARKET]) {
    const served: number[] = []
    for (let page = 1, total = 1; served.length < total; page++) {
      const { body } = await service.call(`/v1/hive/find?country=${countries}&rankMin=1&limit=200&page=${page}`, {
        key,
      })
      expect(body.apps.length).toBeGreaterThan(0)
      served.push(...body.apps.map(({ id }: { id: string }) => Number(id)))
      total = body.total
    }
    const ranked = new Set(countries.flatMap((country) => [...onLists(country, today)]))
    expect(served.toSorted((a, b) => a - b)).toEqual([...ranked].sort((a, b) => a - b))
  }
})

interface Listed {
  id: number
  storefront: string
  device: "iphone" | "ipad"
  chart: "free" | "paid" | "grossing"
  genre: string
}

slow("the stored chart history, first days and movers match the charts of the replayed days", async () => {
  const results = await sql<{ name: string; days: string[] }[]>`
    select concat_ws(' ', c.storefront, c.device, c.chart, c.genre) as name,
      array_agg(r.day::text order by r.day) as days
    from chart c
    join chart_results r on r.chart_id = c.id
    group by c.id
    order by c.id`
  expect(new Map(results.map(({ name, days }) => [name, days]))).toEqual(new Map(NAMES.map((name) => [name, DAYS])))
  expect(results).toHaveLength(NAMES.length)
  const storeIds = new Map(
    (await sql<{ id: number; storeId: number }[]>`select id, store_id::int as "storeId" from store_app`).map(
      ({ id, storeId }) => [id, storeId],
    ),
  )
  const idOf = (app: number) => storeIds.get(app) as number
  const charts = await sql<Listed[]>`select id, storefront, device, chart, genre from chart order by id`
  let newcomers = 0
  for (const { id, ...key } of charts) {
    const name = [key.storefront, key.device, key.chart, key.genre].join(" ")
    const firstSeen = await sql<{ app: number; day: string }[]>`
      select app_id as app, day::text from chart_first_seen where chart_id = ${id}`
    const firsts = new Map<number, string>()
    for (const day of DAYS) for (const app of rankedApps(name, day)) if (!firsts.has(app)) firsts.set(app, day)
    expect(new Map(firstSeen.map(({ app, day }) => [idOf(app), day]))).toEqual(firsts)
    newcomers += [...firsts.values()].filter((day) => day !== DAYS[0]).length
    for (const [at, day] of DAYS.entries()) {
      const found = await readChartMovers(sql, { platform: "ios", ...key }, { day })
      if (at === 0) expect([found?.against, found?.movers]).toEqual([null, null])
      else
        expect(namedMoves(found?.movers, idOf)).toEqual(movesOf(rankedApps(name, DAYS[at - 1]!), rankedApps(name, day)))
    }
  }
  expect(newcomers).toBeGreaterThan(NAMES.length)
})

type Moves = Record<"climbed" | "fell" | "entered" | "left", string[]>

function namedMoves(movers: unknown, idOf: (app: number) => number): Moves {
  const lines = (rows: { app: number; rank?: number; was?: number }[]) =>
    rows.map(({ app, rank = 0, was = 0 }) => `${idOf(app)} ${was} ${rank}`).sort()
  const { climbed, fell, entered, left } = movers as Record<keyof Moves, { app: number }[]>
  return { climbed: lines(climbed), fell: lines(fell), entered: lines(entered), left: lines(left) }
}

/** Returns the moves between two days, computed app by app: "app was rank", 0 for none. */
function movesOf(before: readonly number[], after: readonly number[]): Moves {
  const moves: Moves = { climbed: [], fell: [], entered: [], left: [] }
  for (const app of new Set([...before, ...after])) {
    const [previousRank, rank] = [before.indexOf(app) + 1, after.indexOf(app) + 1]
    if (previousRank === rank) continue
    const what = previousRank === 0 ? "entered" : rank === 0 ? "left" : rank < previousRank ? "climbed" : "fell"
    // both days have the same number of places, so an app missing on one of them ranked below all of them
    moves[what].push(`${app} ${previousRank} ${rank}`)
  }
  for (const lines of Object.values(moves)) lines.sort()
  return moves
}
