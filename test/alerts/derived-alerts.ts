import { deriveFindings, type Subject } from "../../src/alerts/findings.ts"
import type { Sql } from "../../src/database/types.ts"
import type { Observation } from "../../src/kinds.ts"
import type { trackApp } from "../../src/tracking/apps.ts"
import { newWorkspace } from "../measuring/record/measured.ts"
import { record } from "../record.ts"
import { trackOwn } from "../world/tracked.ts"

/** Default time: noon of the last recent day. The recent days are 18, 19 and 20 November. */
export const TODAY = new Date("2025-11-20T12:00:00Z")
export const OWN = "10001"

export interface StoredAlert {
  type: string
  storefront: string | null
  subject: string
  day: string
  at: Date
  // biome-ignore lint/suspicious/noExplicitAny: tests read facts of every type
  facts: any
}

/** Tracks an app in the US, by default since long ago. */
export async function trackNew(
  sql: Sql,
  keywords: readonly string[],
  { since = "2025-01-01", ...overrides }: Partial<Parameters<typeof trackApp>[1]> & { since?: string } = {},
): Promise<string> {
  const workspaceId = overrides.workspaceId ?? (await newWorkspace(sql))
  const appId = await trackOwn(sql, { iosId: OWN, ...overrides, workspaceId, keywords })
  await sql`
    update tracked_app
    set created_at = ${`${since}T23:59:59Z`}
    where id = ${appId}`
  await sql`
    update tracked_term
    set added_at = ${`${since}T23:59:59Z`}
    where app_id = ${appId}`
  return appId
}

export async function storeAll(sql: Sql, observations: readonly Observation[]): Promise<void> {
  const { refused } = await record(sql, observations, () => TODAY)
  if (refused[0]) throw refused[0].problem
}

/** Derives the alerts of the app, by default in the US. */
export async function deriveFor(sql: Sql, rest: Partial<Subject> = {}, now = TODAY): Promise<void> {
  await sql.begin((tx) => deriveFindings(tx, [{ platform: "ios", storefront: "us", subject: OWN, ...rest }], now))
}

/** Returns all alerts, ordered by day, type and subject. */
export async function readAlerts(sql: Sql, ...types: string[]): Promise<StoredAlert[]> {
  const rows = await sql<StoredAlert[]>`
    select type, storefront, subject, day, at, facts
    from alert
    where ${types.length === 0} or type = any(${types}::text[])
    order by day, type, subject collate "C", storefront, app_id`
  return [...rows]
}

export const RANKS = ["dropped_out", "rank_drop", "rank_rise", "entered"]

export const lines = (rows: readonly StoredAlert[]) => rows.map(({ type, subject, day }) => `${day} ${type} ${subject}`)

/** Returns store ids of other apps. */
export const otherIds = (count: number, from = 20_001) => Array.from({ length: count }, (_, at) => String(from + at))

/** Returns a list of that length with the app at `rank`. Null if the app is absent. */
export function listOf(rank: number | null, length: number): string[] {
  const ids = otherIds(length)
  if (rank !== null) ids.splice(rank - 1, 1, OWN)
  return ids
}
