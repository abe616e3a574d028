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
  requestedSites: string[]
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
  const scene = {} as PublicScene
  const outbound: SafeFetch = async (url) => {
    const { hostname } = new URL(url)
    scene.requestedSites.push(hostname)
    const answer = scene.sites.get(hostname) ?? new OutboundProblem("no_such_host")
    if (answer instanceof OutboundProblem) throw answer
    const [status, text] = typeof answer === "number" ? [answer, ""] : [200, answer]
    return { url, status, headers: new Headers(), bytes: new TextEncoder().encode(text) }
  }

  scene.track = async (app = { iosId: HARBOR.id }) => {
    const workspaceId = await newWorkspace(scene.sql)
    const all = { workspaceId, countries: ["us"], origin: "own", keywords: [], ...app }
    return await trackOwn(scene.sql, all)
  }
  scene.read = async (name, { days = 0, isDue = false, ...options } = {}) => {
    scene.now = new Date(scene.now.getTime() + days * DAY_MS)
    if (!isDue)
      await scene.sql`update due set next_at = now() - interval '1 second' where kind = ${name} and lease is null`
    const measuring = createMeasuring({
      recording,
      sql: scene.sql,
      kinds: kindsOf({ egressCountry }).filter((kind) => kind.name === name),
      reach: reachOf(scene.stores, { now: () => scene.now }),
      egress: EGRESS,
      gapsMs: gaps(),
      log: silentLog,
      random: () => 1,
      now: () => scene.now,
      outbound,
      ...options,
    })
    const readings = await measuring.runOnce()
    await measuring.stop()
    return readings
  }
  scene.due = async (kind) => [
    ...(await scene.sql`
      select storefront, subject, failures, failure, measured_at is not null as measured,
        round(extract(epoch from next_at - now()) / 3600)::int as hours
      from due
      where kind = ${kind}
      order by platform, storefront, subject`),
  ]
  scene.count = async (table) =>
    (await scene.sql<{ n: number }[]>`select count(*)::int as n from ${scene.sql(table)}`)[0]!.n
  scene.facts = () => rowsOf(scene.sql, FACTS)

  beforeEach(async () => {
    scene.sql = await freshDatabase()
    scene.stores = replayServer()
    scene.sites = new Map([["northlight.example", APP_ADS]])
    scene.requestedSites = []
    scene.now = new Date()
    answersPublic(scene.stores)
  })

  afterEach(async () => {
    await scene.stores.stop()
    expect(await stuck(scene.sql)).toEqual([])
  })

  return scene
}
