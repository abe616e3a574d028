import type { ListKey } from "../../core/observation/subjects.ts"
import type { Db, Tx } from "../../database/types.ts"
import { addDays, dayOf, quarterOf } from "../../lib/days.ts"
import { FIRST } from "../../lib/figure.ts"
import { sourceOf } from "../../lib/rank-sources.ts"
import type { RankSource } from "../../lib/upstreams.ts"
import { bestFirst } from "../../measuring/record/best-first.ts"
import { nameIn } from "../../stores/store/app-names.ts"
import { ladder } from "../formulas/hint-ladder.ts"

interface Evidence {
  source: string
  seenAt: Date
  /** SHA-256 of its raw body, in hexadecimal digits. */
  sha256: string
}

/** The inputs of a keyword's figures. Null or empty if nothing recent was read. */
export interface KeywordInputs {
  listId: number
  term: string
  results: Results | null
  hints: HintAnswer[]
}

export interface Results extends Evidence {
  source: RankSource
  slots: ResultSlot[]
}

interface ResultSlot {
  /** Its name in the storefront, else in any. */
  title: string | null
  ratings: number | null
  ratedBy: string | null
  ratedAt: Date | null
  updatedAt: Date | null
}

export interface HintAnswer extends Evidence {
  prefix: string
  terms: string[]
}

/** Figures use no reading older than this. */
export const YOUNG_DAYS = 30

/** Reads ten places with their latest rating counts, and suggestions, up to the day of `now`. */
export async function readInputs(
  tx: Tx,
  lists: readonly (ListKey & { id: number })[],
  now: Date,
): Promise<KeywordInputs[]> {
  const slots = Map.groupBy(await readSlots(tx, lists, now), ({ listId }) => listId)
  const answers = Map.groupBy(await readAnswers(tx, lists, now), ({ listId }) => listId)
  return lists.map(({ id, term }) => ({
    listId: id,
    term,
    results: resultsOf(slots.get(id) ?? []),
    hints: (answers.get(id) ?? []).map(({ listId: _, ...answer }) => answer),
  }))
}

interface SlotRow extends ResultSlot {
  listId: number
  source: number
  seenAt: Date
  sha256: string
  /** Null in the only row of a reading without results. */
  slot: number | null
}

/**
 * Returns a query of the results of the latest recent day that was read ten places deep or to its end: places after a
 * shallower reading are unknown, not empty.
 */
export function latestTen(sql: Db, now: Date) {
  return latestTenBetween(sql, young(now))
}

/**
 * Returns a query with the result of latestTen if the results of the list's last day qualify: one row, without planning
 * over search_results.
 */
export function currentTen(sql: Db, now: Date) {
  const { from, to } = young(now)
  return sql`
    select day, source, depth, cardinality(app_ids) as results, seen_at, origin, app_ids[1:${FIRST}::int] as app_ids
    from list_now
    where list_id = l.id and day between ${from} and ${to}
      and (depth >= ${FIRST}::int or cardinality(app_ids) < depth)
    offset 0`
}

export function latestTenBetween(sql: Db, { from, to }: { from: string; to: string }) {
  return sql`
    select day, source, depth, cardinality(app_ids) as results, seen_at, origin, sha256,
      app_ids[1:${FIRST}::int] as app_ids
    from search_results
    where list_id = l.id and day between ${from} and ${to}
      and complete and (depth >= ${FIRST}::int or cardinality(app_ids) < depth)
    order by day desc, ${bestFirst(sql)}
    limit 1`
}

function young(now: Date): { from: string; to: string } {
  const to = dayOf(now)
  return { from: addDays(to, -YOUNG_DAYS), to }
}

async function readSlots(tx: Tx, lists: readonly { id: number }[], now: Date): Promise<SlotRow[]> {
  const { from, to } = young(now)
  return await tx<SlotRow[]>`
    select l.id as "listId", r.source, r.seen_at as "seenAt", encode(r.sha256, 'hex') as sha256, p.slot,
      ${nameIn(tx, tx`p.app_id`, { storefront: tx`l.storefront`, countries: [] })} as title, c.ratings,
        c.source as "ratedBy", c.seen_at as "ratedAt",
      f.updated_at as "updatedAt"
    from list l
    cross join lateral (${latestTen(tx, now)}) r
    left join lateral unnest(r.app_ids) with ordinality p (app_id, slot) on true
    left join lateral (
      select ratings, source, seen_at
      from rating_day
      where app_id = p.app_id and storefront = l.storefront and day between ${from} and ${to}
        and quarter between ${quarterOf(from)} and ${quarterOf(to)}
        and until >= ${from}
        and ratings is not null
      order by day desc, seen_at desc, source
      limit 1
    ) c on true
    left join lateral (
      select updated_at
      from app_storefront
      where app_id = p.app_id and storefront = l.storefront and available
      order by seen_at desc, source
      limit 1
    ) f on true
    where l.id = any(${lists.map(({ id }) => id)}::int[])
    order by l.id, p.slot
    limit ${lists.length * FIRST}`
}

function resultsOf(rows: readonly SlotRow[]): Results | null {
  const [first] = rows
  if (!first) return null
  const slots = rows.filter(({ slot }) => slot !== null)
  return {
    source: sourceOf(first.source),
    seenAt: first.seenAt,
    sha256: first.sha256,
    slots: slots.map(({ title, ratings, ratedBy, ratedAt, updatedAt }) => ({
      title,
      ratings,
      ratedBy,
      ratedAt,
      updatedAt,
    })),
  }
}

async function readAnswers(
  tx: Tx,
  lists: readonly (ListKey & { id: number })[],
  now: Date,
): Promise<(HintAnswer & { listId: number })[]> {
  const { from, to } = young(now)
  const rungs = lists.flatMap((list) => ladder(list.term).map((prefix) => ({ ...list, prefix })))
  return await tx<(HintAnswer & { listId: number })[]>`
    select k.id as "listId", k.prefix, h.source, h.seen_at as "seenAt", encode(h.sha256, 'hex') as sha256, h.terms
    from unnest(
      ${rungs.map(({ id }) => id)}::int[],
      ${rungs.map(({ platform }) => platform)}::text[],
      ${rungs.map(({ storefront }) => storefront)}::text[],
      ${rungs.map(({ prefix }) => prefix)}::text[]
    ) with ordinality k (id, platform, storefront, prefix, rung)
    cross join lateral (
      select source, seen_at, sha256, terms
      from hint_answer
      where (platform, storefront, prefix) = (k.platform, k.storefront, k.prefix)
        and day between ${from} and ${to}
      order by day desc, seen_at desc, source
      limit 1
    ) h
    order by k.rung
    limit ${rungs.length}`
}
