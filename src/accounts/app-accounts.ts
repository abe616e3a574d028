import { json } from "../database/json.ts"
import { createReadGroups } from "../database/shared-reads.ts"
import type { Db } from "../database/types.ts"
import { addDays } from "../vocabulary/days.ts"
import type { Report } from "../vocabulary/upstreams.ts"
import type { AccountKindName } from "./kind.ts"
import { accountKind } from "./kinds.ts"
import { type AnsweredState, answeredState } from "./state.ts"

/** The account that a tracked app's figures come from. */
export interface AppAccount {
  id: string
  kind: AccountKindName
  state: AnsweredState
  why: string | null
  createdAt: Date
  /** The store's id of the app, and the seller's: reports name it by either. */
  outsideId: string
  sku: string
  /** Who must do what, where the key may not read reports; null = it may, or nobody knows. */
  denied: string | null
}

interface OwnApp {
  id: string
  iosId: string | null
}

/**
 * Of several accounts with the app the first that still has a key, else the first: two of one seller say the same twice. `more`:
 * further columns of the account `c`.
 */
export async function findAppAccount<More = unknown>(
  sql: Db,
  { workspaceId, kind }: { workspaceId: number; kind: AccountKindName },
  app: OwnApp,
  more = sql``,
): Promise<(AppAccount & More) | null> {
  const [account] = await sql<(AppAccount & More)[]>`
    select c.id, c.kind, ${answeredState(sql)}, c.created_at as "createdAt", a.outside_id as "outsideId", a.sku, (
      select r.why
      from account_right r
      where r.account_id = c.id and r.name = any(${accountKind(kind).needs as string[]}::text[]) and r.state = 'denied'
      order by r.name
      limit 1
    ) as denied${more}
    from connected_account c
    join account_app a on a.account_id = c.id
    where c.workspace_id = ${workspaceId} and c.kind = ${kind} and (
      a.app_id = ${app.id} or (a.app_id is null and not a.by_hand and a.outside_id = ${app.iosId})
    )
    order by c.sealed is null, c.created_at, c.id
    limit 1`
  return account ?? null
}

/** As findAppAccount, of several apps at once: what reports name each by. Those without an account are missing. */
export async function findReportNames(
  sql: Db,
  { workspaceId, kind }: { workspaceId: number; kind: AccountKindName },
  apps: readonly OwnApp[],
): Promise<Map<string, Pick<AppAccount, "id" | "sku">>> {
  const rows = await sql<{ app: string; id: string; sku: string }[]>`
    select distinct on (o.id) o.id as app, c.id, a.sku
    from jsonb_to_recordset(${json(
      sql,
      apps.map(({ id, iosId }) => ({ id, iosId })),
    )}) o (id text, "iosId" text)
    join connected_account c on c.workspace_id = ${workspaceId} and c.kind = ${kind}
    join account_app a on a.account_id = c.id and (
      a.app_id = o.id or (a.app_id is null and not a.by_hand and a.outside_id = o."iosId")
    )
    order by o.id, c.sealed is null, c.created_at, c.id
    limit ${apps.length}`
  return new Map(rows.map(({ app, ...name }) => [app, name]))
}

/** The workspace's account of a kind, whatever apps it has: the first that still has a key, else the first. */
export async function findKindAccount(
  sql: Db,
  workspaceId: number,
  kind: AccountKindName,
): Promise<Omit<AppAccount, "outsideId" | "sku"> | null> {
  const [account] = await sql<Omit<AppAccount, "outsideId" | "sku">[]>`
    select c.id, c.kind, ${answeredState(sql)}, c.created_at as "createdAt", (
      select r.why
      from account_right r
      where r.account_id = c.id and r.name = any(${accountKind(kind).needs as string[]}::text[]) and r.state = 'denied'
      order by r.name
      limit 1
    ) as denied
    from connected_account c
    where c.workspace_id = ${workspaceId} and c.kind = ${kind}
    order by c.sealed is null, c.created_at, c.id
    limit 1`
  return account ?? null
}

/** Whether the workspace has connected an account of the kind at all, be it paused or without that app. */
export const isConnected = createReadGroups<{ workspaceId: number; kind: AccountKindName }, boolean>(
  ({ workspaceId, kind }) => `${workspaceId} ${kind}`,
  async (sql, asked) => {
    const rows = await sql<{ at: number }[]>`
      select u.place::int - 1 as at
      from unnest(${asked.map(({ workspaceId }) => workspaceId)}::int[], ${asked.map(({ kind }) => kind)}::text[])
        with ordinality u (workspace_id, kind, place)
      where exists (
        select
        from connected_account
        where workspace_id = u.workspace_id and kind = u.kind
      )
      order by u.place
      limit ${asked.length}`
    const found = new Set(rows.map(({ at }) => at))
    return asked.map((_, at) => found.has(at))
  },
)

/** How a report of the days asked for stands. */
export interface ReportStanding {
  /** Days that were said, with rows or without, in order. */
  reported: string[]
  /** Days that the console is late with, in order; those that it will hardly say any more among them. */
  late: string[]
  /** When one of them was last read; null = none was. */
  asOf: Date | null
  /** Whether any day at all was said, also outside of those asked for. */
  isKnown: boolean
}

export async function readStanding(
  sql: Db,
  account: string,
  report: Report,
  { from, to }: { from: string; to: string },
): Promise<ReportStanding> {
  const rows = await sql<{ day: string; said: boolean; state: string | null; readAt: Date | null }[]>`
    select d.day, s.seen_at is not null as said, t.state, greatest(t.read_at, s.seen_at) as "readAt"
    from (
      select g::date as day
      from generate_series(${from}::date, ${to}::date, interval '1 day') g
    ) d
    left join report_turn t on t.account_id = ${account} and t.report = ${report} and t.day = d.day
    left join (
      select day, max(seen_at) as seen_at
      from report_day
      where account_id = ${account} and report = ${report} and day between ${from} and ${to}
      group by day
    ) s on s.day = d.day
    order by d.day
    limit 1000`
  const [any] = await sql`
    select
    from report_day
    where account_id = ${account} and report = ${report}
    limit 1`
  const times = rows.flatMap(({ said, readAt }) => (said && readAt ? [readAt.getTime()] : []))
  return {
    reported: rows.filter(({ said }) => said).map(({ day }) => day),
    late: rows
      .filter(({ said, state }) => !said && ["late", "unavailable"].includes(state ?? ""))
      .map(({ day }) => day),
    asOf: times.length > 0 ? new Date(Math.max(...times)) : null,
    isKnown: any !== undefined,
  }
}

/** So many days up to the last, each once. */
export function daysUpTo(to: string, count: number): string[] {
  return Array.from({ length: count }, (_, place) => addDays(to, place - count + 1))
}
