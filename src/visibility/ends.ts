import { giveBackUnit } from "../access/allowances.ts"
import type { Sql, Tx } from "../database/types.ts"
import { purposeOf } from "./purpose.ts"

interface EndedCheck {
  id: string
  outcome: "measured" | "failed"
}

/**
 * Ends those checks that have no due turns left. A check fails if no assistant answered at least half of its runs. Call
 * this function last in the transaction that ends a turn: of two concurrent calls, the second then sees the turn that
 * the first ended.
 */
export async function endChecks(tx: Tx, ids: readonly string[]): Promise<EndedCheck[]> {
  if (ids.length === 0) return []
  await tx`
    select
    from ai_check
    where id = any(${ids as string[]}::text[]) and ended_at is null
    order by id
    for update`
  return await tx<EndedCheck[]>`
    update ai_check k
    set ended_at = clock_timestamp(), outcome = case when exists (
        select
        from ai_check_turn c
        join assistant_turn t on t.id = c.turn_id
        where c.check_id = k.id
        group by t.assistant
        having 2 * count(*) filter (where t.state = 'answered') >= count(*)
      ) then 'measured' else 'failed' end
    where k.id = any(${ids as string[]}::text[]) and k.ended_at is null and not exists (
        select
        from ai_check_turn c
        join assistant_turn t on t.id = c.turn_id
        where c.check_id = k.id and t.state = 'due'
      )
    returning k.id, k.outcome`
}

/** Ends the running checks that contain one of these turns and have no other due turn. */
export async function endChecksAfter(tx: Tx, turns: readonly number[]): Promise<EndedCheck[]> {
  const rows = await tx<{ id: string }[]>`
    select distinct k.id
    from ai_check_turn c
    join ai_check k on k.id = c.check_id
    where c.turn_id = any(${turns as number[]}::bigint[]) and k.ended_at is null
    order by k.id`
  return await endChecks(
    tx,
    rows.map(({ id }) => id),
  )
}

/**
 * Gives back the allowance units of failed checks, each once. Must run outside a transaction, because the lock of the
 * allowance must be taken before other locks.
 */
export async function giveBackUnits(sql: Sql): Promise<void> {
  const failed = await sql<{ id: string; workspaceId: number; requestId: string }[]>`
    select id, workspace_id as "workspaceId", request_id as "requestId"
    from ai_check
    where outcome = 'failed' and returned_at is null
    order by began_at, id
    limit 100`
  for (const { id, workspaceId, requestId } of failed) {
    await giveBackUnit(sql, { workspaceId, allowance: "aiVisibility", about: purposeOf(id), requestId })
    await sql`
      update ai_check
      set returned_at = now()
      where id = ${id}`
  }
}
