import type { Platform } from "../../core/observation/provenance.ts"
import type { RankedApp } from "../../core/ranked-app.ts"
import type { Db } from "../../database/types.ts"
import { latestAnswer } from "../../keywords/read/latest-answer.ts"
import { parseRival } from "../../lib/store-ids.ts"
import { nameIn } from "../../stores/store/app-names.ts"
import { type NamedApp, shortName } from "../formulas/app-names.ts"

interface StoreApp {
  platform: Platform
  storeId: string
  /**
   * The name in the storefront comes first. For the app itself and its rivals, the names in other storefronts follow.
   */
  names: string[]
  role: "own" | "rival" | "other"
}

export interface NeighbourApp extends NamedApp {
  role: StoreApp["role"]
  storeIds: { platform: Platform; id: string }[]
}

/** Maximum rank on one of the keywords at which an app is included. */
const PLACES = 10
const MAX_APPS = 3_000

/** Returns the app first, then its rivals, then the top-ranked apps of these keywords. */
export async function readNamedApps(
  sql: Db,
  app: Pick<RankedApp, "id" | "countries" | "iosApp" | "androidApp"> & { name: string; manualRivals: string[] | null },
  { storefront, terms }: { storefront: string; terms: readonly string[] },
): Promise<NeighbourApp[]> {
  const manual = (app.manualRivals ?? []).flatMap((rival) => parseRival(rival) ?? [])
  const place = { storefront, countries: app.countries }
  const keyword = { platform: sql`p.platform`, storefront: sql`${storefront}`, term: sql`t.term` }
  const apps = await sql<StoreApp[]>`
    with own as (
      select id
      from unnest(array[${app.iosApp}, ${app.androidApp}]::int[]) o (id)
      where id is not null
    ), rival as materialized (
      select rival as id
      from app_rival
      where app_id = ${app.id} and storefront = ${storefront}
      union
      select s.id
      from unnest(
        ${manual.map(({ platform }) => platform)}::text[], ${manual.map(({ id }) => id)}::text[]
      ) m (platform, store_id)
      join store_app s on (s.platform, s.store_id) = (m.platform, m.store_id)
    ), ranked as materialized (
      select distinct u.id
      from unnest(array['ios', 'android']) p (platform)
      cross join unnest(${terms as string[]}::text[]) t (term)
      cross join lateral (${latestAnswer(sql, sql`app_ids`, keyword)}) n
      cross join lateral unnest(n.app_ids[1:${PLACES}::int]) u (id)
    ), known as materialized (
      select id, min(place) as place
      from (
        select id, 1 as place from own
        union all
        select id, 2 from rival
        union all
        select id, 3 from ranked
      ) k
      group by id
    )
    select s.platform, s.store_id as "storeId", (array['own', 'rival', 'other'])[k.place] as role,
      array_remove(${nameIn(sql, sql`s.id`, place)} || array(
        select name
        from store_app_name
        where app_id = s.id and k.place < 3 and name is not null
        order by storefront
        limit 200
      ), null) as names
    from known k
    join store_app s on s.id = k.id
    order by k.place, s.platform desc, s.store_id collate "C"
    limit ${MAX_APPS}`
  const ownApp = { ...OWN, names: [app.name], platform: "ios" as const, storeId: "" }
  return joined([ownApp, ...apps])
}

const OWN = { role: "own" as const }

/** Merges apps that have the same name in both stores. If several apps have a name, the first one keeps it. */
function joined(apps: readonly StoreApp[]): NeighbourApp[] {
  const merged: NeighbourApp[] = []
  for (const { platform, storeId, names, role } of apps) {
    const [name] = names
    if (name === undefined) continue
    const twin = merged.find((item) => isTwin(item, { platform, names, role }))
    const ids = storeId === "" ? [] : [storeId]
    const storeIds = ids.map((id) => ({ platform, id }))
    if (!twin) merged.push({ name: shortName(name), names, ids, role, storeIds })
    else {
      twin.names = [...twin.names, ...names]
      twin.ids = [...twin.ids, ...ids]
      twin.storeIds.push(...storeIds)
    }
  }
  return merged
}

function isTwin(one: NeighbourApp, { platform, names, role }: Pick<StoreApp, "platform" | "names" | "role">): boolean {
  if (one.role === "own" && role === "own") return true
  return one.storeIds.every((storeId) => storeId.platform !== platform) && one.name === shortName(names[0]!)
}
