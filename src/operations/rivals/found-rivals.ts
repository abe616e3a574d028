import type { Sql } from "../../database/types.ts"
import { uncut } from "../../database/uncut.ts"
import { dayAnswers, sidesOf } from "../../history/day-answers.ts"
import { nameIn } from "../../observations/app-names.ts"
import type { Platform } from "../../observations/types.ts"
import type { TrackedApp } from "../../tracking/tracked-app.ts"
import { gradeOf, type SearchText } from "../../vocabulary/matching.ts"
import { rivalRecordId } from "../../vocabulary/record-ids.ts"
import { parseRival } from "../../vocabulary/store-ids.ts"
import { appPage } from "../../vocabulary/store-pages.ts"
import { folded, patternsOf, type RecordMatch } from "../account/records.ts"

/** So many lists of results, and so many places of them all, are looked at in one search: a small read everywhere. */
export const LISTS = 500
export const PLACES = 5_000

/** Rivals of the apps: those above them but for the hidden, the one on the most keywords first, and those named by hand. */
export async function findRivals(sql: Sql, apps: readonly TrackedApp[], sought: SearchText): Promise<RecordMatch[]> {
  const [above, named] = await Promise.all([readAbove(sql, apps, sought), readNamed(sql, apps)])
  const found = new Map<string, RecordMatch & { terms: number }>()
  for (const { app, platform, storeId, name, country, terms } of [...above, ...named]) {
    const id = rivalRecordId(app.id, storeId)
    const grade = gradeOf(sought, [storeId], name === null ? [] : [name])
    if (grade === null || found.has(id)) continue
    const url = appPage(platform, storeId, country)
    found.set(id, { grade, id, title: name ?? storeId, url, kind: "rival", terms })
  }
  const sorted = [...found.values()].sort((a, b) => b.terms - a.terms || (a.id < b.id ? -1 : 1))
  return sorted.map(({ terms: _, ...rival }) => rival)
}

interface Rival {
  app: TrackedApp
  platform: Platform
  storeId: string
  /** Null until one was seen. */
  name: string | null
  /** A storefront where it stands above the app, or else the app's first. */
  country: string
  /** Keywords on which it stands above the app. */
  terms: number
}

async function readAbove(sql: Sql, apps: readonly TrackedApp[], sought: SearchText): Promise<Rival[]> {
  const sides = apps.flatMap((app) => sidesOf(app).map((side) => ({ ...side, app })))
  const hidden = sides.flatMap(({ app, platform }, at) => {
    const taken = (app.hiddenRivals ?? []).map(parseRival)
    return taken.flatMap((rival) => (rival?.platform === platform ? [{ ...rival, side: at + 1 }] : []))
  })
  const place = {
    storefront: sql`(${sides.map(({ storefront }) => storefront)}::text[])[a.side]`,
    countries: sql`(select countries from tracked_app where id = a.tracked)`,
  }
  const rows = await sql<{ side: number; terms: number; storeId: string; name: string | null }[]>`
    with ${dayAnswers(sql, sides, { lists: LISTS })}, hidden as materialized (
      select h.side, s.id as app_id
      from unnest(
        ${hidden.map(({ side }) => side)}::int[],
        ${hidden.map(({ platform }) => platform)}::text[],
        ${hidden.map(({ id }) => id)}::text[]
      ) h (side, platform, store_id)
      join store_app s on (s.platform, s.store_id) = (h.platform, h.store_id)
    ), above as materialized (
      select u.app_id, a.tracked, min(a.side)::int as side, count(*) as terms
      from answer a
      cross join lateral unnest(
        a.app_ids[1:least(coalesce(a.our_rank - 1, 250), ${PLACES}::int / (select count(*) from answer))]
      ) u (app_id)
      where (a.side, u.app_id) not in (select side, app_id from hidden)
      group by u.app_id, a.tracked
    )
    select a.side, a.terms, s.store_id as "storeId", n.name
    from above a
    join store_app s on s.id = a.app_id
    cross join lateral (
      select ${nameIn(sql, sql`a.app_id`, place)} as name
      offset 0
    ) n
    cross join lateral (
      select ${folded(sql, sql`coalesce(n.name, '') || ' ' || s.store_id`, sought)} as shown
      offset 0
    ) f
    where f.shown like all(${patternsOf(sought)}::text[])
    order by lower(s.store_id) <> ${sought.text} and f.shown <> ${sought.text} || ' ' || lower(s.store_id),
      strpos(f.shown, ${sought.text}) <> 1, strpos(' ' || f.shown, ${` ${sought.text}`}) = 0,
      a.terms desc, s.store_id collate "C", a.side
    limit 200`
  return rows.map(({ side, ...rival }) => {
    const { app, platform, storefront: country } = sides[side - 1] as (typeof sides)[number]
    return { app, platform, country, ...rival }
  })
}

async function readNamed(sql: Sql, apps: readonly TrackedApp[]): Promise<Rival[]> {
  const named = apps.flatMap((app) => {
    const rivals = (app.manualRivals ?? []).map(parseRival).filter((rival) => rival !== null)
    return rivals.map(({ platform, id }) => ({
      app,
      platform,
      storeId: id,
      country: app.countries[0] as string,
      terms: 0,
    }))
  })
  if (named.length === 0) return []
  const place = {
    storefront: sql`n.country`,
    countries: sql`(select countries from tracked_app where id = n.tracked)`,
  }
  const rows = await sql<{ name: string | null }[]>`
    select ${nameIn(sql, sql`s.id`, place)} as name
    from unnest(
      ${named.map(({ app }) => app.id)}::text[],
      ${named.map(({ country }) => country)}::text[],
      ${named.map(({ platform }) => platform)}::text[],
      ${named.map(({ storeId }) => storeId)}::text[]
    ) with ordinality n (tracked, country, platform, store_id, place)
    left join store_app s on (s.platform, s.store_id) = (n.platform, n.store_id)
    order by n.place
    limit 100000`.then(uncut(100_000))
  return named.map((rival, at) => ({ ...rival, name: rows[at]?.name ?? null }))
}
