import * as v from "valibot"
import { markSeen as markSeenUntil, noteVisit, type SeenMark, unmarkSeen } from "../../access/people/visits.ts"
import type { Right } from "../../access/scopes.ts"
import { type FeedAlert, readFeed, readFound } from "../../alerts/feed.ts"
import { FeedRow, feedRow } from "../../alerts/operations/alerts.ts"
import { operation } from "../../core/operation.ts"
import type { Sql } from "../../database/types.ts"
import { dayOf } from "../../lib/days.ts"
import { described } from "../../lib/schema.ts"
import { Time } from "../../lib/shapes.ts"
import { shared } from "./workspace.ts"

/**
 * Maximum number of alerts. A morning brings a few dozen; after a long absence only the newest are listed here, and the
 * feed lists the rest.
 */
const MAX_NEWS = 200

export const listNews = operation({
  ...shared,
  id: "list_news",
  path: "/page/news",
  summary: "The alerts found since the person's last visit, and where the next visit begins.",
  scope: "apps:read",
  output: v.strictObject({
    since: described(v.nullable(Time), "Null if the grant belongs to nobody."),
    isFirst: described(
      v.boolean(),
      "True on the person's first visit. The alerts are then those about the last seven days.",
    ),
    canUndo: described(v.boolean(), "True if the person marked everything as seen in this visit."),
    readAt: described(Time, "Alerts found later are not listed."),
    alerts: v.array(FeedRow),
    hasMore: v.boolean(),
  }),
}).run(async (_, { sql, caller, visibleApps }) => {
  const mark = await noteVisit(sql, caller.keyId)
  const apps = await visibleApps()
  const names = new Map(apps.map(({ id, name }) => [id, name]))
  const [clock] = await sql<[{ readAt: Date }]>`select now() as "readAt"`
  const readAt = clock.readAt.toISOString()
  if (mark === null) return { since: null, isFirst: false, canUndo: false, readAt, alerts: [], hasMore: false }
  const appIds = caller.appList === null ? null : [...names.keys()]
  const found = await readNews(sql, { workspaceId: caller.workspaceId, rights: caller.scopes, appIds }, mark)
  return {
    since: mark.since.toISOString(),
    isFirst: mark.isFirst,
    canUndo: mark.canUndo,
    readAt,
    alerts: found.slice(0, MAX_NEWS).map((alert) => feedRow(alert, names)),
    hasMore: found.length > MAX_NEWS,
  }
})

/**
 * Returns the alerts to show. On a first visit these are the alerts about the last seven days, by the day of the event:
 * an import or the demo also finds older events on the same day, and a reading of today may show a wave of reviews two
 * weeks ago.
 */
async function readNews(
  sql: Sql,
  of: { workspaceId: number; rights: readonly Right[]; appIds: string[] | null },
  { since, isFirst }: SeenMark,
): Promise<FeedAlert[]> {
  if (!isFirst) return await readFound(sql, { ...of, since, limit: MAX_NEWS })
  const { alerts } = await readFeed(sql, { ...of, limit: MAX_NEWS, only: { from: dayOf(since) } })
  return alerts.filter(({ withdrawnAt }) => withdrawnAt === null)
}

/** Stores which changes one person has seen. It modifies no alert. */
export const markSeen = operation({
  ...shared,
  method: "POST",
  id: "mark_seen",
  path: "/page/news",
  summary: "Marks the alerts found until a time as seen, or undoes the last mark.",
  effect: "writes",
  scope: "apps:read",
  input: v.strictObject({ until: described(v.optional(Time), "Omit it to undo the last mark.") }),
  output: v.strictObject({}),
}).run(async ({ until }, { sql, caller }) => {
  if (until === undefined) await unmarkSeen(sql, caller.keyId)
  else await markSeenUntil(sql, caller.keyId, new Date(until))
  return {}
})
