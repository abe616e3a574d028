import type { Sql, Tx } from "../database/types.ts"
import type { Assistant } from "../lib/upstreams.ts"
import { endChecks } from "./ends.ts"
import { isShared, type PlannedTurn, plannedRows } from "./plan.ts"

interface NewCheck {
  id: string
  workspaceId: number
  appId: string
  storefronts: readonly string[]
  requestId: string
}

export async function makeCheckId(sql: Sql): Promise<string> {
  const [row] = await sql<[{ id: string }]>`
    select gen_random_uuid()::text as id`
  return row.id
}

export async function isMeasuring(sql: Sql, appId: string): Promise<boolean> {
  const rows = await sql`
    select
    from ai_check
    where app_id = ${appId} and ended_at is null`
  return rows.length > 0
}

/**
 * Starts a check and schedules its runs `spreadMs` apart. Runs that another check already covers are shared and not
 * scheduled. A check whose runs are all shared ends at once. Null if a check of the app is already running.
 */
export async function beginCheck(
  sql: Sql,
  { id, workspaceId, appId, storefronts, requestId }: NewCheck,
  { turns, spreadMs }: { turns: readonly PlannedTurn[]; spreadMs: number },
): Promise<{ asked: number; shared: number; ended: boolean } | null> {
  return await sql.begin(async (tx) => {
    const made = await tx`
      insert into ai_check (id, workspace_id, app_id, storefronts, request_id)
      values (${id}, ${workspaceId}, ${appId}, ${storefronts as string[]}::text[], ${requestId})
      on conflict (app_id) where ended_at is null do nothing
      returning id`
    if (made.length === 0) return null
    const created = await tx<{ id: number }[]>`
      insert into assistant_turn (storefront, term, language, assistant, model, phrasing, run, next_at)
      select storefront, term, language, assistant, model, phrasing, run,
        now() + run * ${spreadMs}::float8 * interval '1 millisecond'
      from ${plannedRows(tx, turns)}
      where not exists (select from assistant_turn t where ${isShared(tx)})
      order by storefront, term, assistant, model, phrasing, run
      on conflict (storefront, term, assistant, model, phrasing, run) where state = 'due' do nothing
      returning id`
    const [{ shared }] = await addTurns(tx, id, { turns, createdIds: created.map((item) => item.id) })
    const ended = await endChecks(tx, [id])
    return { asked: created.length, shared, ended: ended.length > 0 }
  })
}

async function addTurns(
  tx: Tx,
  checkId: string,
  { turns, createdIds }: { turns: readonly PlannedTurn[]; createdIds: readonly number[] },
): Promise<[{ shared: number }]> {
  return await tx<[{ shared: number }]>`
    with joined as (
      insert into ai_check_turn (check_id, turn_id, shared)
      select ${checkId}, t.id, not t.id = any(${createdIds as number[]}::bigint[])
      from ${plannedRows(tx, turns)}
      cross join lateral (
        select t.id
        from assistant_turn t
        where ${isShared(tx)}
        order by t.id desc
        limit 1
      ) t
      order by t.id
      returning shared
    )
    select count(*) filter (where shared)::int as shared
    from joined`
}

interface EngineRuns {
  assistant: Assistant
  requested: number
  answered: number
  failed: number
}

export interface CheckState {
  id: string
  state: "measuring" | "measured" | "failed"
  startedAt: Date
  endedAt: Date | null
  /** The assistants' runs in the storefront of the query. */
  engines: EngineRuns[]
}

/** Returns the app's latest check in a storefront. Null if there is none. */
export async function readLatestCheck(sql: Sql, appId: string, storefront: string): Promise<CheckState | null> {
  const [check] = await sql<CheckState[]>`
    select k.id, coalesce(k.outcome, 'measuring') as state, k.began_at as "startedAt", k.ended_at as "endedAt", (
        select coalesce(json_agg(e order by e.assistant), '[]')
        from (
          select t.assistant, count(*)::int as requested,
            (count(*) filter (where t.state = 'answered'))::int as answered,
            (count(*) filter (where t.state = 'failed'))::int as failed
          from ai_check_turn c
          join assistant_turn t on t.id = c.turn_id
          where c.check_id = k.id and t.storefront = ${storefront}
          group by t.assistant
        ) e
      ) as engines
    from ai_check k
    where k.app_id = ${appId} and ${storefront} = any(k.storefronts)
    order by k.began_at desc, k.id
    limit 1`
  return check ?? null
}

interface UsageRow {
  assistant: Assistant
  inputTokens: number | null
  outputTokens: number | null
  searches: number
}

/**
 * Sums the usage of the answers that a check requested itself. A sum of tokens is null if one of the answers lacks the
 * figure.
 */
export async function readCheckUsage(sql: Sql, checkId: string): Promise<UsageRow[]> {
  return await sql<UsageRow[]>`
    select t.assistant,
      case when count(a.input_tokens) = count(*) then sum(a.input_tokens)::float8 end as "inputTokens",
      case when count(a.output_tokens) = count(*) then sum(a.output_tokens)::float8 end as "outputTokens",
      coalesce(sum(a.searches), 0)::float8 as searches
    from ai_check_turn c
    join assistant_turn t on t.id = c.turn_id and t.state = 'answered'
    join assistant_answer a on (a.storefront, a.term, a.source, a.model, a.phrasing, a.run, a.seen_at)
      = (t.storefront, t.term, t.assistant, t.model, t.phrasing, t.run, t.answered_at)
    where c.check_id = ${checkId} and not c.shared
    group by t.assistant
    order by t.assistant
    limit 10`
}
