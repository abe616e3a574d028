import type { Side } from "../../core/observation/provenance.ts"
import type { ListKey } from "../../core/observation/subjects.ts"
import { json } from "../../database/json.ts"
import type { Db, Sql, Tx } from "../../database/types.ts"
import { addDays, dayOf } from "../../lib/days.ts"
import { holdIdentities, listIds, lockLists } from "../../measuring/record/identities.ts"
import { figures, figuresOf, type KeywordMetrics, type MetricsRow, metricsOf } from "./keyword-figures.ts"
import { readInputs, YOUNG_DAYS } from "./keyword-inputs.ts"
import { CALCULATED, type MetricRow, metricRows } from "./keyword-rows.ts"
import { deriveKeywordNow } from "./now.ts"

/**
 * Calculates demand, difficulty, hint count and popularity of keywords anew, from what is stored by `now`, and keeps them
 * under its UTC day, with the parts they were made of and the readings they rest on. Seven statements, however many keywords.
 *
 * A figure that lacks what it needs is not written: not measured. One whose inputs were read and give nothing is written
 * with score null. Repeating it changes nothing: a figure is kept anew on another day only where it rests on something
 * younger, and one of older readings or an older formula never replaces another.
 * Comes after what was recorded in the same transaction, and before rows of `due` are touched.
 */
export async function deriveKeywordMetrics(tx: Tx, subjects: readonly ListKey[], now: Date): Promise<void> {
  if (subjects.length === 0) return
  await holdIdentities(tx)
  const ids = await listIds(tx, subjects)
  const lists = [...new Map(subjects.map((key, place) => [ids[place], { ...key, id: ids[place] as number }])).values()]
  // a measurement of another part of the same keyword waits here, and then sees what this one stored
  await lockLists(tx, ids)
  const platforms = new Map(lists.map(({ id, platform }) => [id, platform]))
  const inputs = await readInputs(tx, lists, now)
  const rows = inputs.flatMap((input) => metricRows({ ...input, platform: platforms.get(input.listId)! }, now))
  if (rows.length > 0) await deriveKeywordNow(tx, await store(tx, rows, dayOf(now)))
}

/** Gives the lists of which figures were written. */
async function store(tx: Tx, rows: readonly MetricRow[], day: string): Promise<number[]> {
  const written = await tx<{ listId: number }[]>`
    insert into keyword_metric as held (list_id, metric, day, source, seen_at, score, formula, parts)
    select list_id, metric, ${day}::date, source, seen_at, score, formula, parts
    from jsonb_to_recordset(${json(tx, rows.map(stored))}) r (
      list_id int, metric text, source text, seen_at timestamptz, score real, formula smallint, parts jsonb
    )
    where not exists (
      select from keyword_metric k
      where (k.list_id, k.metric, k.source) = (r.list_id, r.metric, r.source) and k.day between ${addDays(day, -YOUNG_DAYS)} and ${addDays(day, -1)}
        and (k.formula, k.seen_at) >= (r.formula, r.seen_at)
    )
    order by list_id, metric, source
    on conflict (list_id, metric, day, source) do update
    set seen_at = excluded.seen_at, score = excluded.score, formula = excluded.formula, parts = excluded.parts
    where (excluded.formula, excluded.seen_at) >= (held.formula, held.seen_at)
      and (excluded.formula, excluded.seen_at, excluded.score, excluded.parts)
        is distinct from (held.formula, held.seen_at, held.score, held.parts)
    returning list_id as "listId"`
  return [...new Set(written.map(({ listId }) => listId))]
}

function stored({ listId, metric, source, seenAt, score, formula, parts }: MetricRow) {
  return { list_id: listId, metric, source, seen_at: seenAt.toISOString(), score, formula, parts }
}

/** Every term has an entry. A popularity that the store publishes, of whatever month, comes before any estimate. */
export async function readKeywordMetrics(
  sql: Db,
  { platform, storefront, terms, today }: Side & { terms: readonly string[]; today: string },
): Promise<Map<string, KeywordMetrics>> {
  if (terms.length === 0) return new Map()
  const rows = await sql<(MetricsRow & { term: string })[]>`
    select k.term, ${figures(sql)}
    from unnest(${terms as string[]}::text[]) with ordinality k (term, place)
    left join lateral (
      select id
      from list
      where (platform, storefront, term) = (${platform}, ${storefront}, k.term)
      offset 0
    ) l on true
    left join lateral (${figuresOf(sql, sql`l.id`)}) n on true
    order by k.place
    limit ${terms.length}`
  return new Map(rows.map((row) => [row.term, metricsOf(row, platform, today)]))
}

/** Terms by how much they may be searched for, the most first; those of which nothing is known last. */
export function bySearches(metrics: ReadonlyMap<string, KeywordMetrics>): (a: string, b: string) => number {
  const orderOf = (term: string) => metrics.get(term)?.popularityOrder ?? -1
  return (a, b) => orderOf(b) - orderOf(a)
}

/** As one row "seenAt". None = none was made, or its ratings are older than its results: the apps must be looked up. */
export function latestDifficulty(sql: Sql, { platform, storefront, subject }: Side & { subject: string }, since: Date) {
  return sql`
    select n.difficulty_at as "seenAt"
    from list l
    join keyword_now n on n.list_id = l.id
    join keyword_metric m
      on (m.list_id, m.metric, m.day, m.source) = (l.id, 'difficulty', n.difficulty_day, ${CALCULATED})
    where (l.platform, l.storefront, l.term) = (${platform}, ${storefront}, ${subject}) and n.difficulty_at >= ${since}
      and coalesce((m.parts #>> '{ratings,from}')::timestamptz, n.difficulty_at) >= ${since}`
}
