import type { Tx } from "../../database/types.ts"

/**
 * What rows of the market show of apps (store_app ids), after a name, a developer or its id was written. Needs the apps' lock
 * (lockApps). Idempotent; returns those that changed.
 */
export async function deriveAppShown(tx: Tx, apps: readonly number[]): Promise<number[]> {
  const rows = await tx<{ id: number }[]>`
    with told as materialized (
      select s.id, n.name, s.developer, s.developer_id,
        -- a row stays when nothing is known any more: whoever keeps what it said finds it by when it was written
        n.name is not null or s.developer is not null or s.developer_id is not null
          or exists (select from app_shown where app_id = s.id) as known
      from unnest(${apps as number[]}::int[]) a (id)
      join store_app s on s.id = a.id
      left join lateral (
        select name
        from store_app_name
        where app_id = s.id and name is not null
        order by storefront <> 'us', storefront
        limit 1
      ) n on true
    ), written as (
      insert into app_shown as held (app_id, name, publisher, others)
      select t.id, coalesce(to_json(t.name)::text, 'null'),
        coalesce(to_json(t.developer)::text, 'null') || chr(9) || coalesce(to_json(t.developer_id)::text, 'null'), (
          select jsonb_object_agg(storefront, name)
          from store_app_name
          where app_id = t.id and name <> t.name
        )
      from told t
      where t.known
      order by t.id
      on conflict (app_id) do update
      set name = excluded.name, publisher = excluded.publisher, others = excluded.others
      where (held.name, held.publisher, held.others) is distinct from (excluded.name, excluded.publisher, excluded.others)
      returning app_id
    )
    select app_id as id
    from written
    order by id
    limit ${apps.length}`
  return rows.map(({ id }) => id)
}
