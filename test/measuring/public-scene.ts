import { afterEach, beforeEach, expect, setDefaultTimeout } from "bun:test"
import type { Sql } from "../../src/database/types.ts"
import { kindsOf } from "../../src/due-kinds.ts"
import { silentLog } from "../../src/lib/log.ts"
import type { KindName } from "../../src/measuring/due-kind.ts"
import { createMeasuring, type MeasuringOptions } from "../../src/measuring/worker.ts"
import { OutboundProblem } from "../../src/outbound/problem.ts"
import type { SafeFetch } from "../../src/outbound/safe-fetch.ts"
import { recording } from "../../src/recording.ts"
import { freshDatabase } from "../database.ts"
import { rowsOf } from "../every-row.ts"
import { type ReplayServer, reachOf, replayServer } from "../stores/parsing/replay.ts"
import { trackOwn } from "../world/tracked.ts"
import { APP_ADS, answersPublic, HARBOR } from "./public-pages.ts"
import { newWorkspace } from "./record/measured.ts"
import { EGRESS, gaps, stuck } from "./scene.ts"

/** For each test a database, and stores that answer every request about one app. */
export interface PublicScene {
  sql: Sql
  stores: ReplayServer
  /** Responses of developers' sites by host. Other hosts do not exist. */
  sites: Map<string, number | string | OutboundProblem>
  /** Hosts of requested sites. */
  sitesAsked: string[]
  now: Date
  track(app?: Partial<{ iosId: string; androidPkg: string; countries: string[]; keywords: string[] }>): Promise<string>
  /**
   * Reads everything of a kind as if that many days had passed, or with `isDue` only what is due. Returns the number of
   * readings.
   */
  read(kind: KindName, options?: Partial<MeasuringOptions> & { days?: number; isDue?: boolean }): Promise<number>
  due(kind: KindName): Promise<Record<string, unknown>[]>
  count(table: string): Promise<number>
  /** Returns everything measured, by table. */
  facts(): Promise<string[]>
}

const DAY_MS = 86_400_000

const FACTS = [
  "store_app",
  "app_storefront",
  "rating_count",
  "market_fact",
  "listing_content",
  "listing_run",
  "listing_item",
  "listing_version",
  "listing_change",
  "review_version",
  "review_read",
  "review_day",
  "review_feed",
  "chart",
  "chart_results",
  "chart_place",
  "chart_first_seen",
  "app_first_seen",
  "chart_now",
  "genre",
  "developer_shelf",
  "app_ads",
  "search_results",
]

export function publicScene({ egressCountry }: { egressCountry?: string } = {}): PublicScene {
  setDefaultTimeout(30_000)
  const on = {} as PublicScene
  const outbound: SafeFetch = async (url) => {
    const { hostname } = new URL(url)
    on.sitesAsked.push(hostname)
    const answer = on.sites.get(hostname) ?? new OutboundProblem("no_such_host")
    if (answer instanceof OutboundProblem) throw answer
    const [status, text] = typeof answer === "number" ? [answer, ""] : [200, answer]
    return { url, status, headers: new Headers(), bytes: new TextEncoder().encode(text) }
  }

  on.track = async (app = { iosId: HARBOR.id }) => {
    const workspaceId = await newWorkspace(on.sql)
    const all = { workspaceId, countries: ["us"], origin: "own", keywords: [], ...app }
    return await trackOwn(on.sql, all)
  }
  on.read = async (name, { days = 0, isDue = false, ...options } = {}) => {
    on.now = new Date(on.now.getTime() + days * DAY_MS)
    if (!isDue)
      await on.sql`update due set next_at = now() - interval '1 second' where kind = ${name} and lease is null`
    const measuring = createMeasuring({
      recording,
      sql: on.sql,
      kinds: kindsOf({ egressCountry }).filter((kind) => kind.name === name),
      reach: reachOf(on.stores, { now: () => on.now }),
      egress: EGRESS,
      gapsMs: gaps(),
      log: silentLog,
      random: () => 1,
      now: () => on.now,
      outbound,
      ...options,
    })
    const readings = await measuring.runOnce()
    await measuring.stop()
    return readings
  }
  on.due = async (kind) => [
    ...(await on.sql`
      select storefront, subject, failures, failure, measured_at is not null as measured,
        round(extract(epoch from next_at - now()) / 3600)::int as hours
      from due
      where kind = ${kind}
      order by platform, storefront, subject`),
  ]
  on.count = async (table) => (await on.sql<{ n: number }[]>`select count(*)::int as n from ${on.sql(table)}`)[0]!.n
  on.facts = () => rowsOf(on.sql, FACTS)

  beforeEach(async () => {
    on.sql = await freshDatabase()
    on.stores = replayServer()
    on.sites = new Map([["northlight.example", APP_ADS]])
    on.sitesAsked = []
    on.now = new Date()
    answersPublic(on.stores)
  })

  afterEach(async () => {
    await on.stores.stop()
    expect(await stuck(on.sql)).toEqual([])
  })

  return on
}
