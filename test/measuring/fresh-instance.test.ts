import { expect, setDefaultTimeout } from "bun:test"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { openStoreReading, type StoreReading } from "../../src/commands/process/store-reading.ts"
import type { Sql } from "../../src/database/types.ts"
import { silentLog } from "../../src/lib/log.ts"
import { UPSTREAMS, type Upstream } from "../../src/lib/upstreams.ts"
import { freshDatabase } from "../database.ts"
import { until } from "../jobs/platform.ts"
import { afterSlow, beforeSlow, cases, slow } from "../long.ts"
import { openService, type Service } from "../service.ts"
import { type ReplayServer, replayServer } from "../stores/parsing/replay.ts"
import { slowness } from "../unit.ts"
import { captchaPage, hintsAnswer, lookupAnswer, searchPage, someApps, storeSearchAnswer } from "./store-pages.ts"

setDefaultTimeout(240_000)

const GAP_MS = 15
const OWN_APP = "1234567890"
const COUNT = cases(8, 30)
const TERMS = Array.from({ length: COUNT }, (_, i) => `tide ${i}`)
const YESTERDAY = new Date(Date.now() - 86_400_000)
let folder: string

let sql: Sql
let stores: ReplayServer
let now = YESTERDAY
let service: Service
let key: string
let app: string

/** The app's rank for the nth term; absent for every tenth. */
let rankOf = (n: number): number | null => (n % 10 === 9 ? null : n + 1)

beforeSlow(async () => {
  folder = mkdtempSync(join(tmpdir(), "appmeter-raw-"))
  sql = await freshDatabase()
  stores = replayServer()
  stores.on("apps.apple.com", "/us/iphone/search", ({ url }) => {
    const term = url.searchParams.get("term")!
    const [rank, otherApps] = [rankOf(TERMS.indexOf(term)), someApps(60)]
    const ownApp = { id: OWN_APP, name: "Tide Times", ratings: 5_000 }
    return searchPage("us", term, rank === null ? otherApps : otherApps.toSpliced(rank - 1, 0, ownApp))
  })
  stores.on("itunes.apple.com", "/lookup", ({ url }) => {
    const ids = url.searchParams.get("id")!.split(",")
    const storeApps = [...someApps(60), { id: OWN_APP, name: "Tide Times", ratings: 5_000 }]
    return lookupAnswer(storeApps.filter(({ id }) => ids.includes(id)))
  })
  stores.on("search.itunes.apple.com", "/WebObjects/MZSearchHints.woa", ({ url }) => {
    const typed = url.searchParams.get("term")!
    return hintsAnswer(TERMS.filter((term) => term.startsWith(typed)).slice(0, 10), url)
  })
  stores.on("search.itunes.apple.com", "/WebObjects/MZStore.woa", () => storeSearchAnswer(someApps(60)))
  service = openService({ sql, now: () => now })
  key = await service.key(await service.workspace())
})
afterSlow(async () => {
  await stores.stop()
  rmSync(folder, { recursive: true })
})

slow("a fresh instance measures ranks, metrics, name and icon after add_app, within its rate limits", async () => {
  const args = { iosId: OWN_APP, countries: ["us"], keywords: TERMS }
  const preview = await service.call("/v1/actions", { key, method: "POST", body: { action: "add_app", args } })
  const body = { confirmToken: preview.body.confirmToken }
  const added = await service.call("/v1/actions/confirm", { key, method: "POST", body })
  expect(added.status).toBe(200)
  app = (await service.call("/v1/apps", { key })).body.apps[0].id
  const unread = { measured: false, rank: null, measuring: false, notMeasuring: "no_worker" }
  for (const row of await keywords()) expect(row).toMatchObject(unread)

  await reading(async () => await until(async () => (await overdue()) === 0, 120_000))

  const rows = await keywords()
  expect(rows.map(({ term, measured, rank }) => ({ term, measured, rank }))).toEqual(
    TERMS.map((term, n) => ({ term, measured: true, rank: rankOf(n) })),
  )
  for (const row of rows) {
    expect(row).toMatchObject({
      measuring: false,
      popularitySource: "estimate",
      popularityNone: false,
      searchDepth: 60 + (row.rank === null ? 0 : 1),
    })
    for (const figure of [row.demand, row.popularityLow, row.difficulty, row.hintCount]) expect(figure).toBeNumber()
  }
  const trackedApp = (await service.call("/v1/apps", { key })).body.apps[0]
  expect([trackedApp.name, trackedApp.icon]).toEqual([
    "Tide Times",
    `https://is1-ssl.mzstatic.com/image/${OWN_APP}/512x512bb.jpg`,
  ])
  // the canary adds one search
  expect(requestsTo("apps.apple.com")).toHaveLength(COUNT + 1)
  // the first ten apps of five keywords fit one look-up if they are due together; on a slow machine fewer keywords are
  // due together
  expect(requestsTo("itunes.apple.com").length).toBeLessThan(1 + Math.min(COUNT - 1, (COUNT / 2) * (await slowness())))
  for (const upstream of UPSTREAMS) expect([upstream, tooSoon(upstream)]).toEqual([upstream, []])
})

slow("the responses of the second day give the expected rank history", async () => {
  const before = new Map<string, number | null>((await keywords()).map(({ term, rank }) => [term, rank]))
  now = new Date()
  rankOf = (n) => (n === 9 ? 4 : n === 0 ? null : n % 10 === 9 ? null : n + 3)
  await sql`update due set next_at = now()`
  await reading(async () => await until(async () => (await overdue()) === 0, 120_000))
  expect((await keywords()).map(({ rank }) => rank)).toEqual(TERMS.map((_, n) => rankOf(n)))
  const days = [YESTERDAY, now].map((at) => at.toISOString().slice(0, 10))
  const history = (await service.call(`/v1/apps/${app}/history`, { key })).body
  const found = new Map<string, [string, number | null][]>(
    history.keywords.map((row: { term: string; series: [string, number | null][] }) => [row.term, row.series]),
  )
  TERMS.forEach((term, n) => {
    expect([term, found.get(term)]).toEqual([
      term,
      [
        [days[0]!, before.get(term) ?? null],
        [days[1]!, rankOf(n)],
      ],
    ])
  })
})

slow("a search answered with a CAPTCHA page fails as blocked, stays unmeasured and is retried later", async () => {
  const term = "a new term"
  const token = await service.call("/v1/actions", {
    key,
    method: "POST",
    body: { action: "add_keywords", args: { appId: app, keywords: [term] } },
  })
  await service.call("/v1/actions/confirm", { key, method: "POST", body: { confirmToken: token.body.confirmToken } })
  stores.on("apps.apple.com", "/", () => captchaPage())
  stores.on("search.itunes.apple.com", "/WebObjects/MZStore.woa", () => captchaPage())
  await reading(async () => {
    await until(async () => (await attempts(term)).length === 2)
  })
  expect(await attempts(term)).toEqual(["apple-store-search blocked", "apple-web-search blocked"])
  const row = (await keywords()).find((keyword) => keyword.term === term)
  expect(row).toMatchObject({ measured: false, rank: null, searchDepth: null })
  const [due] =
    await sql`select failures, failure, next_at > now() as later from due where kind = 'search' and subject = ${term}`
  expect(due).toEqual({ failures: 1, failure: "blocked", later: true })
})

type Row = Record<string, unknown> & { term: string; rank: number | null }

async function keywords() {
  return (await service.call(`/v1/apps/${app}/keywords`, { key })).body.keywords as Row[]
}

async function reading(work: () => Promise<void>): Promise<void> {
  const reading: StoreReading = openStoreReading({
    sql,
    log: silentLog,
    now: () => now,
    settings: {
      on: true,
      atOnce: 6,
      egress: "main",
      egressCountry: undefined,
      // fresh-public.test.ts covers what these sources read
      sourcesOff: [
        "apple-app-page",
        "apple-reviews",
        "apple-charts",
        "apple-genres",
        "itunes-developer",
        "app-ads-txt",
      ],
      gapsMs: new Map(UPSTREAMS.map((upstream) => [upstream, GAP_MS])),
      addresses: new Map(UPSTREAMS.map((upstream) => [upstream, stores.address(upstream)])),
      raw: { accountDays: 0, folder, days: 14, megabytes: 10 },
    },
  })
  reading.start()
  try {
    await work()
  } finally {
    await reading.stop()
  }
}

async function overdue(): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)
    from due
    where (next_at <= now() or lease is not null or measured_at is null)
      and kind in ('app', 'canary', 'difficulty', 'findings', 'hints', 'search')`
  return row!.count
}

async function attempts(subject: string): Promise<string[]> {
  const rows = await sql<{ line: string }[]>`
    select source || ' ' || outcome as line
    from attempt
    where subject = ${subject}
    order by 1`
  return rows.map(({ line }) => line)
}

function requestsTo(upstream: Upstream) {
  return stores.requests.filter(({ url }) => url.hostname === upstream)
}

/** Returns the requests sent before the gap was over, except those delayed by a busy machine. */
function tooSoon(upstream: Upstream): number[] {
  const at = requestsTo(upstream).map((request) => request.at)
  const whole = (at.at(-1) ?? 0) - (at[0] ?? 0)
  return whole >= (at.length - 1) * GAP_MS * 0.9 ? [] : [whole, at.length]
}
