import type { Sql } from "../../database/types.ts"
import { bestFirst } from "../../observations/best-first.ts"
import { DamagedRow, NO_APP } from "../../observations/damaged.ts"
import type { ListKey } from "../../observations/rows/identities.ts"
import { DEMO, type RankSource, sourceOf } from "../../observations/types.ts"

export interface DayResults {
  day: string
  source: RankSource
  /** Who brought it: "own", or the name of another instance. */
  origin: string
  depth: number
  seenAt: Date
  appIds: number[]
}

interface Window {
  from: string
  to: string
  top: number
}

/** A term's measured days, the latest first; the demo's are none. Each is read by its key. */
export async function readDays(
  sql: Sql,
  { platform, storefront, term }: ListKey,
  { from, to, top }: Window,
): Promise<DayResults[]> {
  const rows = await sql<DayRow[]>`
    select r.day, r.source, r.origin, r.depth, r.seen_at as "seenAt", r.app_ids::text as "appIds", r.apps::text as apps, r.places
    from list l
    cross join lateral (
      select distinct on (day) day, source, origin, depth, seen_at, app_ids[1:${top}::int] as app_ids, apps,
        substr(places, 1, ${top}) as places
      from search_places(l.id, ${from}, ${to})
      where complete and origin <> ${DEMO}
      order by day desc, ${bestFirst(sql)}
    ) r
    where (l.platform, l.storefront, l.term) = (${platform}, ${storefront}, ${term})
    order by r.day desc
    limit 366`
  return rows.map(({ source, appIds, apps, places, ...row }) => ({
    ...row,
    source: sourceOf(source),
    appIds: appIds === null ? unpackedPlaces(apps!, places!) : numbersIn(appIds),
  }))
}

interface DayRow extends Omit<DayResults, "source" | "appIds"> {
  source: number
  /** As text, which is taken apart here in half the time: 31 days of 200 are 6,200 numbers. */
  appIds: string | null
  apps: string | null
  places: Uint8Array | null
}

function unpackedPlaces(apps: string, places: Uint8Array): number[] {
  const ids = numbersIn(apps)
  return Array.from(places, (place) => {
    const id = ids[place]
    if (id === undefined) throw new DamagedRow(NO_APP)
    return id
  })
}

/** Of an array without nulls as PostgreSQL writes it. */
function numbersIn(array: string): number[] {
  return JSON.parse(`[${array.slice(1, -1)}]`) as number[]
}

/** The latest day on which a term was measured, up to this one; null = it was not. */
export async function readLastDayBy(
  sql: Sql,
  { platform, storefront, term }: ListKey,
  to: string,
): Promise<string | null> {
  const [row] = await sql<{ day: string | null }[]>`
    select d.day
    from list l
    cross join lateral last_search_day(l.id, ${to}, false) d
    where (l.platform, l.storefront, l.term) = (${platform}, ${storefront}, ${term})`
  return row?.day ?? null
}
