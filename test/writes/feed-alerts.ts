import type { Sql } from "../../src/database/types.ts"

/** An alert of the feed. `app` is null if the alert is about the whole workspace. */
export interface SomeAlert {
  workspace: number
  app: string | null
  /** ISO 8601, including microseconds. */
  at?: string
  read?: boolean
}

let subjects = 0
const FACTS = { term: "tea", rank: 8, was: null, source: "import", against: "2025-10-31", depth: 200, wasDepth: 100 }

/** Stores these alerts in order. Returns their ids. */
export async function tellAlerts(sql: Sql, alerts: readonly SomeAlert[]): Promise<number[]> {
  const ids: number[] = []
  for (const { workspace, app, at = "2025-11-01T10:00:00Z", read = false } of alerts) {
    const [row] = await sql<{ id: number }[]>`
      insert into alert (workspace_id, app_id, type, platform, storefront, subject, day, at, facts, read_at)
      values (
        ${workspace}, ${app}, ${app === null ? "weekly" : "entered"}, 'ios', 'us', ${`tea ${++subjects}`},
        ${at.slice(0, 10)}, ${at}, ${sql.json(FACTS)}, ${read ? sql`now()` : null}
      )
      returning id`
    ids.push(row!.id)
  }
  return ids
}

/** Returns the ids of a workspace's unread alerts, in order. */
export async function unreadOf(sql: Sql, workspace: number): Promise<number[]> {
  const rows = await sql<{ id: number }[]>`
    select id
    from alert
    where workspace_id = ${workspace} and read_at is null
    order by id`
  return rows.map(({ id }) => id)
}
