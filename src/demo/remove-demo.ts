import { DEMO } from "../core/observation/provenance.ts"
import type { Sql, Tx } from "../database/types.ts"
import { deriveFigures } from "../keywords/store/figures.ts"
import { lockRemoval } from "../measuring/record/identities.ts"
import { nameIn } from "../stores/store/app-names.ts"
import { DEMO_APPS, DEMO_STOREFRONT } from "./demo.ts"
import { INVENTED_APP } from "./invented/world.ts"
import { removeOrigin, type Subjects } from "./remove-origin.ts"

export interface RemovedDemo {
  /** Apps that are no longer tracked. */
  apps: number
  readings: number
  /** Apps that somebody edited. They stay as the workspace's own. */
  kept: { id: string; name: string }[]
}

/**
 * Removes the demo's apps from every workspace, and its readings (removeOrigin). An app with a keyword, tag, burial,
 * rival or goal that somebody added is kept as the workspace's own, without the demo's keywords unless it has no
 * others. The app that is in no store is always removed.
 */
export async function removeDemo(sql: Sql, now: () => Date = () => new Date()): Promise<RemovedDemo> {
  const removed = await sql.begin(async (tx) => {
    await lockRemoval(tx)
    const used = await readDemoIds(tx)
    const ownApps = await keepOwn(tx)
    const { count: apps } = await tx`
      delete from tracked_app
      where origin = ${DEMO}`
    const readings = await removeOrigin(tx, DEMO, { used, now: now() })
    return { apps, readings, kept: ownApps }
  })
  await deriveFigures(sql, { now, pause: async () => {} })
  return removed
}

/** Returns the lists and store apps of the demo's tracked apps. */
async function readDemoIds(tx: Tx): Promise<Subjects> {
  // a simultaneous change of a goal or tag waits here, or is visible below
  await tx`
    select id
    from tracked_app
    where origin = ${DEMO}
    order by id
    for update`
  const apps = await tx<{ id: number }[]>`
    select distinct unnest(array[ios_app, android_app]) as id
    from tracked_app
    where origin = ${DEMO}
    order by 1`
  const lists = await tx<{ id: number }[]>`
    select distinct l.id
    from tracked_app a
    join tracked_term t on t.app_id = a.id
    join list l on (l.storefront, l.term) = (t.country, t.term)
    where a.origin = ${DEMO}
    order by 1`
  return { apps: apps.flatMap(({ id }) => id ?? []), lists: lists.map(({ id }) => id) }
}

/** Makes edited demo apps the workspace's own. Keeps a keyword of the demo if it has a tag. */
async function keepOwn(tx: Tx): Promise<RemovedDemo["kept"]> {
  const brought = DEMO_APPS.flatMap(({ iosId, keywords }) => keywords.map((term) => ({ iosId, term })))
  const ownApps = await tx<RemovedDemo["kept"]>`
    with added as materialized (
      select t.app_id, t.country, t.term
      from tracked_app a
      join tracked_term t on t.app_id = a.id
      left join store_app i on i.id = a.ios_app
      where a.origin = ${DEMO}
        and (
          a.keyword_tags -> t.term is not null
          or t.country <> ${DEMO_STOREFRONT}
          or not exists (
            select
            from unnest(${brought.map(({ iosId }) => iosId)}::text[], ${brought.map(({ term }) => term)}::text[])
              b (store_id, term)
            where (b.store_id, b.term) = (i.store_id, t.term)
          )
        )
    ), kept as (
      update tracked_app
      set origin = 'own', name = coalesce(name, (
        select coalesce(
          ${nameIn(tx, tx`s.id`, { storefront: DEMO_STOREFRONT, countries: tx`tracked_app.countries` })},
          s.store_id
        )
        from store_app s
        where s.id in (ios_app, android_app)
        order by s.platform desc
        limit 1
      ))
      where origin = ${DEMO} and ios_app is distinct from (
          select id
          from store_app
          where platform = 'ios' and store_id = ${INVENTED_APP.id}
        )
        and (
          goal is not null
          or keyword_tags is not null
          or cardinality(buried_keywords) > 0
          or cardinality(manual_rivals) > 0
          or cardinality(hidden_rivals) > 0
          or id in (select app_id from added)
        )
      returning id, name
    ), dropped as (
      delete from tracked_term
      where app_id in (select id from kept)
        and app_id in (select app_id from added)
        and (app_id, country, term) not in (select app_id, country, term from added)
    )
    select id, name
    from kept
    order by id`
  return [...ownApps]
}
