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
 * Recalculates demand, difficulty, hint count and popularity of keywords from what is stored by `now`. Stores them
 * under the UTC day of `now`, with their parts and the readings used. Takes seven statements for any number of
 * keywords.
 *
 * A figure that lacks an input is not written (not measured). A figure whose inputs were read but give no value has a
 * null score. Idempotent: another day gets a new row only if it uses a later reading, and neither older readings nor an
 * older formula ever replace a figure. Call it after recording in the same transaction, and before touching rows of
 * `due`.
 */
export async function deriveKeywordMetrics(tx: Tx, subjects: readonly ListKey[], now: Date): Promise<void> {
  if (subjects.length === 0) return
  await holdIdentities(tx)
  const ids = await listIds(tx, subjects)
  const lists = [...new Map(subjects.map((key, place) => [ids[place], { ...key, id: ids[place] as number }])).values()]
  // A concurrent reading of another part of the same keyword waits here and then sees these rows.
  await lockLists(tx, ids)
  const platforms = new Map(lists.map(({ id, platform }) => [id, platform]))
  const inputs = await readInputs(tx, lists, now)
  const rows = inputs.flatMap((input) => metricRows({ ...input, platform: platforms.get(input.listId)! }, now))
  if (rows.length > 0) await deriveKeywordNow(tx, await store(tx, rows, dayOf(now)))
}

/** Returns the lists whose figures were written. */
async function store(tx: Tx, rows: readonly MetricRow[], day: string): Promise<number[]> {
  const written = await tx<{ listId: number }[]>`
    insert into keyword_metric as held (list_id, metric, day, source, seen_at, score, formula, parts)
    select list_id, metric, ${day}::date, source, seen_at, score, formula, parts
    from jsonb_to_recordset(${json(tx, rows.map(stored))}) r (
      list_id int, metric text, source text, seen_at timestamptz, score real, formula smallint, parts jsonb
    )
    where not exists (
      select from keyword_metric k
      where (k.list_id, k.metric, k.source) = (r.list_id, r.metric, r.source)
        and k.day between ${addDays(day, -YOUNG_DAYS)} and ${addDays(day, -1)}
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

/** Returns an entry for every term. A published popularity of any month takes precedence over an estimate. */
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

/** Orders terms by estimated searches, the most first. Terms without figures come last. */
export function bySearches(metrics: ReadonlyMap<string, KeywordMetrics>): (a: string, b: string) => number {
  const orderOf = (term: string) => metrics.get(term)?.popularityOrder ?? -1
  return (a, b) => orderOf(b) - orderOf(a)
}

/**
 * Returns a query of one row "seenAt". No row if there is no difficulty, or if its ratings are older than its results
 * and the apps must be looked up.
 */
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
