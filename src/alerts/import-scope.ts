import { isDeepStrictEqual } from "node:util"
import { json } from "../database/json.ts"
import type { Sql } from "../database/types.ts"
import { dayOf } from "../lib/days.ts"
import { withdraw } from "./feed-changes.ts"
import { type ConcernedPlace, readScope, type Scope } from "./import-concerns.ts"
import { deriveDays, deriveSpan, findersOf, OF_CHARTS, OF_PAGES, type PlaceImport } from "./import-derive.ts"
import type { SideNotes } from "./import-notes.ts"
import { daysBetween } from "./import-spans.ts"

/** Stores the imported days for all apps tracked there, since the affected apps are determined later. */
export async function noteImportedDays(
  sql: Sql,
  { platform, storefront, days }: SideNotes,
  keptFrom: string,
): Promise<void> {
  const retained = [...days].filter((day) => day >= keptFrom).sort()
  const from = retained[0]
  const to = retained.at(-1)
  if (from === undefined || to === undefined) return
  await sql`
    insert into imported_days as held (app_id, platform, storefront, from_day, to_day)
    select a.id, ${platform}, ${storefront}, ${from}, ${to}
    from measured_app a
    where ${storefront} = any(a.countries)
      and case ${platform} when 'ios' then a.ios_app else a.android_app end is not null
      and not exists (
        -- "on conflict" would lock every unchanged row
        select
        from imported_days d
        where (d.app_id, d.platform, d.storefront) = (a.id, ${platform}, ${storefront})
          and d.from_day <= ${from}::date and d.to_day >= ${to}::date
      )
    order by a.id
    on conflict (app_id, platform, storefront) do update
    set from_day = least(held.from_day, excluded.from_day), to_day = greatest(held.to_day, excluded.to_day)
    where (held.from_day, held.to_day)
      is distinct from (least(held.from_day, excluded.from_day), greatest(held.to_day, excluded.to_day))`
}

export interface ImportedDays {
  from: string
  to: string
  derivedWith: Scope | null
}

/** Returns the imported days for which alerts are kept. Undefined if there are none. */
export async function readImportedDays(
  sql: Sql,
  { appId, platform, storefront }: ConcernedPlace,
  keptFrom: string,
): Promise<ImportedDays | undefined> {
  const [row] = await sql<ImportedDays[]>`
    select greatest(from_day, ${keptFrom}::date) as from, to_day as to, derived_with as "derivedWith"
    from imported_days
    where (app_id, platform, storefront) = (${appId}, ${platform}, ${storefront}) and to_day >= ${keptFrom}::date`
  return row
}

/** Derives the imported days again where the rivals or categories have changed since the last time. */
export async function deriveChangedScope(imported: PlaceImport, row: ImportedDays): Promise<void> {
  const { sql, place, side, isCategorised, now } = imported
  const scope = await readScope(sql, place)
  const before = row.derivedWith
  if (before !== null) {
    const days = daysBetween(row.from, row.to)
    const isOther = (rival: string) => before.rivals[rival]?.manual !== scope.rivals[rival]?.manual
    const rivals = new Set(Object.keys(scope.rivals).filter(isOther))
    if (rivals.size > 0) await deriveDays(imported, days, { finders: findersOf("rival_passed"), rivals })
    if (rivals.size > 0 && !side) await deriveSpan(imported, { from: row.from, to: dayOf(now), finders: OF_PAGES })
    const gone = Object.keys(before.rivals).filter((rival) => !scope.rivals[rival])
    if (gone.length > 0) await forgetRivals(imported, gone)
    const isRenamed = scope.genre !== before.genre || scope.genreName !== before.genreName
    if (isRenamed) await deriveDays(imported, days, { finders: OF_CHARTS })
    if (isRenamed || isCategorised || !isDeepStrictEqual(scope.categories, before.categories))
      await deriveDays(imported, days, { finders: findersOf("off_topic") })
  }
  await updateNames(imported, scope.rivals)
  if (isDeepStrictEqual(scope, before)) return
  await sql`
    update imported_days
    set derived_with = ${json(sql, scope)}
    where (app_id, platform, storefront) = (${place.appId}, ${place.platform}, ${place.storefront})`
}

/** Withdraws alerts of past days about rivals that are no longer followed. Alerts that are news stay. */
async function forgetRivals({ sql, place, pause }: PlaceImport, rivals: readonly string[]): Promise<void> {
  await pause()
  await sql.begin(async (tx) => {
    const rows = await tx<{ id: number }[]>`
      select id
      from alert
      where app_id = ${place.appId} and (platform, storefront) = (${place.platform}, ${place.storefront}) and history
        and facts ->> 'rival' = any(${rivals as string[]}::text[])
      order by id`
    await withdraw(
      tx,
      rows.map(({ id }) => id),
    )
  })
}

/** Renames rivals in history to their current names. */
async function updateNames({ sql, place, pause }: PlaceImport, rivals: Scope["rivals"]): Promise<void> {
  const named = Object.entries(rivals).flatMap(([rival, { name }]) => (name === null ? [] : [{ rival, name }]))
  if (named.length === 0) return
  await pause()
  await sql`
    update alert a
    set facts = jsonb_set(facts, '{name}', to_jsonb(r.name))
    from unnest(${named.map(({ rival }) => rival)}::text[], ${named.map(({ name }) => name)}::text[]) r (rival, name)
    where a.app_id = ${place.appId} and (a.platform, a.storefront) = (${place.platform}, ${place.storefront})
      and a.history and a.facts ->> 'rival' = r.rival and a.facts ->> 'name' is distinct from r.name`
}
