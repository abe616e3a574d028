import { OWN } from "../../core/observation/origins.ts"
import { hexOf } from "../../core/observation/precedence.ts"
import type { ShownApps } from "../../core/observation/shown-apps.ts"
import type { SurrogateIds } from "../../core/observation/subjects.ts"
import type { Tx } from "../../database/types.ts"
import { dayOf } from "../../lib/days.ts"
import { SOURCE_CODES } from "../../lib/rank-sources.ts"
import { wavesOf } from "../../measuring/record/best-rows.ts"
import type { SearchObservation } from "../kinds/search-shape.ts"

/** A stored reading of search results. */
interface StoredSearch extends ShownApps {
  from: SearchObservation
  listId: number
}

/**
 * Stores the readings that are new or better than the stored ones and returns them. The caller must hold the locks of
 * the lists.
 */
export async function storeSearches(
  tx: Tx,
  readings: readonly SearchObservation[],
  ids: SurrogateIds,
): Promise<StoredSearch[]> {
  const rows = readings.map((reading) => rowOf(reading, ids))
  const changed: SearchRow[] = []
  for (const wave of wavesOf(rows)) changed.push(...(await upsert(tx, wave)))
  const lists = [...new Set(changed.map(({ listId }) => listId))]
  if (lists.length > 0) await recountDays(tx, lists)
  return changed
}

/** Sets the first and last day on which lists have complete readings. The caller must hold the locks of the lists. */
export async function recountDays(tx: Tx, lists: readonly number[]): Promise<void> {
  await tx`
    update list l
    set first_day = d.first_day, last_day = d.last_day
    from (
      select id,
        (select min(day) from search_results where list_id = id and complete) as first_day,
        (select max(day) from search_results where list_id = id and complete) as last_day
      from unnest(${lists as number[]}::int[]) id
    ) d
    where l.id = d.id and (l.first_day, l.last_day) is distinct from (d.first_day, d.last_day)`
}

interface SearchRow extends StoredSearch {
  key: string
}

function rowOf(reading: SearchObservation, ids: SurrogateIds): SearchRow {
  const { platform, results, source, seenAt } = reading
  const listId = ids.listOf(reading)
  return {
    from: reading,
    apps: results,
    appIds: results.map(({ id }) => ids.appOf(platform, id)),
    placed: true,
    listId,
    key: keyOf(listId, SOURCE_CODES[source], seenAt),
  }
}

function keyOf(listId: number, source: number, seenAt: Date): string {
  return `${listId} ${source} ${seenAt.getTime()}`
}

/**
 * Returns SQL for whether the reading `excluded` takes precedence over the reading `held`, which has the same time and
 * source.
 */
function isBetter(tx: Tx) {
  return tx`
    (excluded.origin = ${OWN}, excluded.parser, excluded.complete, excluded.depth, excluded.sha256)
      > (held.origin = ${OWN}, held.parser, held.complete, held.depth, held.sha256)`
}

async function upsert(tx: Tx, rows: readonly SearchRow[]): Promise<SearchRow[]> {
  const written = await tx<{ listId: number; source: number; seenAt: Date }[]>`
    insert into search_results as held
      (list_id, day, source, seen_at, depth, complete, parser, origin, egress, sha256, app_ids)
    select list_id, day, source, seen_at, depth, complete, parser, origin, egress, decode(sha256, 'hex'), app_ids
    from jsonb_to_recordset(${tx.json(rows.map(stored))}) r (
      list_id int, day date, source smallint, seen_at timestamptz, depth smallint, complete boolean, parser smallint,
      origin text, egress text, sha256 text, app_ids int[]
    )
    order by list_id, day, source, seen_at
    on conflict (list_id, day, source, seen_at) do update
    set depth = excluded.depth, complete = excluded.complete, parser = excluded.parser, origin = excluded.origin,
      egress = excluded.egress, sha256 = excluded.sha256, app_ids = excluded.app_ids
    where ${isBetter(tx)}
    returning list_id as "listId", source, seen_at as "seenAt"`
  const keys = new Set(written.map(({ listId, source, seenAt }) => keyOf(listId, source, seenAt)))
  return rows.filter(({ key }) => keys.has(key))
}

function stored({ from, listId, appIds }: SearchRow) {
  const { source, seenAt, depth, complete, parser, origin, egress = null, sha256 } = from
  return {
    list_id: listId,
    day: dayOf(seenAt),
    source: SOURCE_CODES[source],
    seen_at: seenAt.toISOString(),
    depth,
    complete,
    parser,
    origin,
    egress,
    sha256: hexOf(sha256),
    app_ids: appIds as number[],
  }
}
