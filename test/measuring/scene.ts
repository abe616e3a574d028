import { afterEach, beforeAll, beforeEach, expect, setDefaultTimeout } from "bun:test"
import type { Sql } from "../../src/database/types.ts"
import { silentLog } from "../../src/lib/log.ts"
import { UPSTREAMS, type Upstream } from "../../src/lib/upstreams.ts"
import type { Lane } from "../../src/measuring/pace.ts"
import { createMeasuring, type MeasuringOptions, type MeasuringWorker } from "../../src/measuring/worker.ts"
import { recording } from "../../src/recording.ts"
import { someWorkspace } from "../access/registered.ts"
import { freshDatabase } from "../database.ts"
import { type ReplayServer, reachOf, replayServer } from "../stores/parsing/replay.ts"
import { trackOwn } from "../world/tracked.ts"
import { answersSearches, searches } from "./stand-in.ts"

export const EGRESS = "here"
export const APPS: Lane = { upstream: "apps.apple.com", egress: EGRESS }
export const ITUNES: Lane = { upstream: "itunes.apple.com", egress: EGRESS }

/** Gaps of 0 ms, or one gap for all upstreams. */
export const gaps = (ms = 0): Map<Upstream, number> => new Map(UPSTREAMS.map((upstream) => [upstream, ms]))

/** A database for the file. For each test an empty due table, no pace, a workspace, and stores that answer. */
export interface Scene {
  sql: Sql
  workspaceId: number
  stores: ReplayServer
  measuring(options?: Partial<MeasuringOptions>): MeasuringWorker
  /** Tracks an app with these terms in the US and makes them due; by default only their searches. */
  track(terms: readonly string[], options?: Partial<Tracked>): Promise<string>
  due(subject: string): Promise<DueRow>
}

export interface Tracked {
  workspaceId: number
  iosId: string
  countries: string[]
  origin: string
  only: string | null
}

export interface DueRow {
  kind: string
  priority: number
  next_at: Date
  failures: number
  failure: string | null
  failed_at: Date | null
  measured_at: Date | null
  lease: string | null
  lease_until: Date | null
}

let count = 0

export function prepareScene(): Scene {
  setDefaultTimeout(30_000)
  const scene = {} as Scene

  scene.measuring = (options = {}) =>
    createMeasuring({
      recording,
      sql: scene.sql,
      kinds: [searches],
      reach: reachOf(scene.stores),
      egress: EGRESS,
      gapsMs: gaps(),
      log: silentLog,
      random: () => 1,
      ...options,
    })
  scene.track = async (keywords, { only = "search", ...rest } = {}) => {
    const app = {
      workspaceId: scene.workspaceId,
      iosId: String(200_000 + ++count),
      countries: ["us"],
      origin: "own",
      ...rest,
    }
    const id = await trackOwn(scene.sql, { ...app, keywords })
    await scene.sql`delete from due where ${only}::text is not null and kind <> ${only}`
    return id as string
  }
  scene.due = async (subject) => {
    const [row] = await scene.sql<DueRow[]>`select * from due where subject = ${subject} order by kind limit 1`
    return row!
  }

  beforeAll(async () => {
    scene.sql = await freshDatabase()
  })

  beforeEach(async () => {
    for (const table of ["due", "pace", "tracked_app", "search_results", "attempt", "source_state", "source_hour"])
      await scene.sql`delete from ${scene.sql(table)}`
    scene.workspaceId = (await someWorkspace(scene.sql, { name: `measuring ${process.pid} ${++count}` })).id
    scene.stores = replayServer()
    answersSearches(scene.stores)
  })

  afterEach(async () => {
    await scene.stores.stop()
    expect(await stuck(scene.sql)).toEqual([])
  })

  return scene
}

/** Returns the subjects that would stay leased forever. Tests expect none. */
export async function stuck(sql: Sql): Promise<string[]> {
  const rows = await sql<{ subject: string }[]>`
    select subject
    from due
    where lease_until < now() - interval '1 minute'
    order by subject
    limit 100`
  return rows.map(({ subject }) => subject)
}

/** Makes the reader look dead: lets its lease run out, as if it had been suspended. */
export async function letLeaseRunOut(sql: Sql, subject: string): Promise<void> {
  await sql`update due set lease_until = now() - interval '1 ms' where subject = ${subject} and lease is not null`
}

/** Returns the number of stored readings, of one term or of all. */
export async function stored(sql: Sql, term: string | null = null): Promise<number> {
  const [row] = await sql<{ n: number }[]>`
    select count(*) as n
    from search_results r
    join list l on l.id = r.list_id
    where ${term}::text is null or l.term = ${term}`
  return row!.n
}
