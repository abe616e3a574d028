import type { Tx } from "../../database/types.ts"

interface FoldStep {
  days: number
  chunk: number
  /** The lowest workspace id to look at. */
  from: number
}

/** Moves old charges into monthly sums in one statement. Charges that an unfinished job may still refund stay. */
export async function foldLedger(
  tx: Tx,
  { days, chunk, from }: FoldStep,
): Promise<{ removed: number; next: number | null }> {
  const [row] = await tx<[{ removed: number; next: number | null }]>`
    with bounds as materialized (
      select kept_month, least(
        kept_month::timestamp at time zone 'utc',
        now() - ${days}::int * interval '1 day',
        (select min(created_at) from job where status in ('queued', 'running') or proof_at is not null)
      ) as until
      from (select (date_trunc('month', now() at time zone 'utc') - interval '1 month')::date as kept_month) m
    ), near as materialized (
      select id
      from workspace
      where id >= ${from}
      order by id
      limit 1000
    ), own as materialized (
      select n.id
      from near n
      cross join lateral (
        select
        from ledger
        where workspace_id = n.id and at < (select until from bounds) and month < (select kept_month from bounds)
        order by at, id
        limit 1
      ) l
      order by n.id
      limit 1
    ), old as materialized (
      select l.id
      from own
      cross join lateral (
        select id
        from ledger
        where workspace_id = own.id and at < (select until from bounds) and month < (select kept_month from bounds)
        order by at, id
        limit ${chunk}
      ) l
    ), gone as (
      delete from ledger
      where id in (select id from old)
      returning workspace_id, month, operation, cost, from_pack
    ), folded as (
      insert into ledger_month as m (workspace_id, month, operation, cost, from_pack, entries)
      select workspace_id, month, operation, sum(cost), sum(from_pack), count(*)
      from gone
      group by workspace_id, month, operation
      order by workspace_id, month, operation
      on conflict (workspace_id, month, operation) do update
      set cost = m.cost + excluded.cost, from_pack = m.from_pack + excluded.from_pack,
        entries = m.entries + excluded.entries
    )
    select (select count(*) from gone) as removed,
      coalesce((select id from own), (select max(id) + 1 from near)) as next`
  return row
}
