import { hash } from "node:crypto"
import * as v from "valibot"
import { action, type LookContext, type MadeWrite } from "../../core/action.ts"
import type { Db, Tx } from "../../database/types.ts"
import { AppId } from "../../lib/fields.ts"
import { described, named } from "../../lib/schema.ts"
import { Count, Time } from "../../lib/shapes.ts"
import { holdAccount } from "../../tracking/limits.ts"
import { findApp, shownName } from "../../tracking/tracked-app.ts"
import { endOf, Moment } from "../feed-times.ts"

/** At most 5,000 alerts per write, because a write blocks an embedded database: 10,000 alerts take it 0.7 s. */
const MAX_ALERTS = 5_000
/** At most 500 alerts per statement, because each update changes every index: 10,000 alerts take 0.4 s. */
const CHUNK = 500

const entries = {
  appId: described(
    v.optional(AppId),
    "Only alerts about this app. Default: alerts about every app that the key can see and about the workspace.",
  ),
  until: Moment(
    "Only alerts whose `at` is not later than this: an ISO 8601 time with its zone, or YYYY-MM-DD for the end of " +
      "that UTC day. Default: all alerts at the time of the preview.",
  ),
  read: v.optional(described(v.boolean(), "False marks them as unread."), true),
}

/** The number of alerts of each app; the app with the newest alert comes first. */
const AlertsByApp = v.array(
  named(
    "MarkedAlerts",
    v.strictObject({
      appId: described(v.nullable(v.string()), "Null for the whole workspace."),
      name: v.nullable(v.string()),
      count: Count,
      newest: Time,
      oldest: Time,
    }),
  ),
)

/** The arguments, plus the highest alert id at the preview. */
type Args = v.InferOutput<v.StrictObjectSchema<typeof entries, undefined>> & { newest?: number }

export const markAlertsRead = action({
  name: "mark_alerts_read",
  summary: "Marks alerts as read or unread.",
  description:
    `Covers alerts that exist at the preview; later ones are unaffected, whatever \`until\` is. At most ` +
    `${MAX_ALERTS.toLocaleString("en")} at once, newest first. A key limited to some apps marks only their alerts.`,
  scope: "track:write",
  plan: "free",
  credits: 0,
  destructive: false,
  args: v.strictObject(entries),
  example: { until: "2025-11-01" },
  state: v.strictObject({
    alerts: AlertsByApp,
    digest: v.exactOptional(described(v.string(), "Digest of the alerts. It differs if the set of alerts differs.")),
    read: v.boolean(),
  }),
  result: v.strictObject({ read: v.boolean(), marked: Count, alerts: AlertsByApp }),
  async settle(args: Args, { sql }): Promise<Args> {
    const [found] = await sql<[{ newest: number }]>`select coalesce(max(id), 0) as newest from alert`
    return { ...args, newest: found.newest }
  },
  // one target for the workspace, because writes for one app and for all apps overlap
  target: () => "alerts",
  async look(args: Args, looking) {
    const { appId } = args
    const { sql, caller, lock } = looking
    if (lock) await holdApps(sql, looking)
    const app = appId === undefined ? null : await findApp(sql, caller, appId)
    const read = await readAlerts(sql, args, looking)
    const found = read.slice(0, MAX_ALERTS)
    const alerts = lock ? await holdAlerts(sql, found, args) : found
    return { app, alerts, more: read.length > MAX_ALERTS, names: await readNames(sql, alerts) }
  },
  diff({ app, alerts, more, names }, { read, until }) {
    const state = alerts.length === 0 ? { alerts: [] } : { alerts: byApp(alerts, names), digest: digestOf(alerts) }
    const name = app?.name ?? "every app"
    const left = `Only the newest ${MAX_ALERTS.toLocaleString("en")} are included. Repeat the write for the others.`
    return {
      summary:
        `Mark ${counted(alerts.length)} of ${app ? JSON.stringify(name) : name}${until ? ` until ${until}` : ""} as ` +
        `${read ? "read" : "unread"}.`,
      target: { kind: "alerts", id: app?.id ?? "all", name },
      before: { ...state, read: alerts.length === 0 ? read : !read },
      after: { ...state, read },
      notes: more ? [left] : [],
    }
  },
  async write({ read }, { alerts, names }, { tx }) {
    const ids = alerts.map(({ id }) => id)
    for (let at = 0; at < ids.length; at += CHUNK)
      await tx`
        update alert
        set read_at = ${read ? tx`now()` : null}
        where id = any(${ids.slice(at, at + CHUNK)}::bigint[])`
    return { read, marked: alerts.length, alerts: byApp(alerts, names) }
  },
  // alerts that were found after the write do not prevent the undo
  undo: { needsSameState: false, restore },
})

/**
 * Marks the alerts of a write as unread again. Finds them by the time at which they were marked, which equals the time
 * of the write because both are the time of its transaction. Only marking as read can be undone.
 */
async function restore({ at }: MadeWrite, { tx, caller }: { tx: Tx; caller: LookContext["caller"] }): Promise<void> {
  await tx`
    update alert
    set read_at = null
    where workspace_id = ${caller.workspaceId} and read_at = ${at}::text::timestamptz
      and (${caller.appList === null} or app_id = any(${caller.appList ?? []}::text[]))`
}

interface MarkableAlert {
  id: number
  /** Null for an alert of the whole workspace. */
  appId: string | null
  at: Date
}

/**
 * Locks the apps first, so that a simultaneous deletion of an app waits: it locks that app's alerts in another order.
 */
async function holdApps(tx: Tx, { caller }: LookContext): Promise<void> {
  await holdAccount(tx, caller)
  await tx`
    select id
    from tracked_app
    where workspace_id = ${caller.workspaceId}
    order by id
    for key share`
}

/** Returns the matching alerts, newest first. Reads one more than the limit, to detect that there are more. */
async function readAlerts(sql: Db, { appId, read, ...args }: Args, { caller }: LookContext): Promise<MarkableAlert[]> {
  const appIds = appId === undefined ? caller.appList : [appId]
  const before = args.until === undefined ? Number.POSITIVE_INFINITY : endOf(args.until).getTime()
  const picked = (of: ReturnType<Db>) => sql`
    select id, app_id as "appId", at
    from alert
    where ${of} and read_at is ${read ? sql`null` : sql`not null`} and id <= ${args.newest ?? 0}
      and at < to_timestamp(${before / 1000}::float8)
    order by at desc, id desc
    limit ${MAX_ALERTS + 1}`
  if (appIds === null) return await sql<MarkableAlert[]>`${picked(sql`workspace_id = ${caller.workspaceId}`)}`
  return await sql<MarkableAlert[]>`
    select f.*
    from (select distinct unnest(${appIds as string[]}::text[]) as app_id) k
    cross join lateral (
      ${picked(sql`app_id = k.app_id and workspace_id = ${caller.workspaceId}`)}
    ) f
    order by f.at desc, f.id desc
    limit ${MAX_ALERTS + 1}`
}

/** Locks the alerts and returns those that are still unmarked. */
async function holdAlerts(tx: Tx, found: readonly MarkableAlert[], { read }: Args): Promise<MarkableAlert[]> {
  const rows = await tx<{ id: number }[]>`
    select id
    from alert
    where id = any(${found.map(({ id }) => id)}::bigint[]) and read_at is ${read ? tx`null` : tx`not null`}
    order by id
    for no key update`
  const lockedIds = new Set(rows.map(({ id }) => id))
  return found.filter(({ id }) => lockedIds.has(id))
}

type Names = ReadonlyMap<string | null, string>

async function readNames(sql: Db, alerts: readonly MarkableAlert[]): Promise<Names> {
  const ids = [...new Set(alerts.map(({ appId }) => appId))]
  const rows = await sql<{ id: string; name: string }[]>`
    select a.id, ${shownName(sql)} as name
    from tracked_app a
    left join store_app i on i.id = a.ios_app
    left join store_app g on g.id = a.android_app
    where a.id = any(${ids.filter((id) => id !== null)}::text[])
    order by a.id
    limit 1000`
  return new Map(rows.map(({ id, name }) => [id, name]))
}

/** Counts the alerts by app, the app with the newest alert first. `appId` is null for alerts of the whole workspace. */
function byApp(alerts: readonly MarkableAlert[], names: Names) {
  return [...Map.groupBy(alerts, ({ appId }) => appId)].map(([appId, of]) => ({
    appId,
    name: names.get(appId) ?? null,
    count: of.length,
    newest: of[0]!.at.toISOString(),
    oldest: of.at(-1)!.at.toISOString(),
  }))
}

/** Returns a hash of the ids, so that the confirm marks exactly the alerts that the preview counted. */
function digestOf(alerts: readonly MarkableAlert[]): string {
  const ids = alerts.map(({ id }) => id).sort((a, b) => a - b)
  return hash("sha256", ids.join(), "base64url").slice(0, 22)
}

const counted = (count: number) => `${count.toLocaleString("en")} ${count === 1 ? "alert" : "alerts"}`
