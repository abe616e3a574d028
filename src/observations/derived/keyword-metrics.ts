import { json } from "../../database/json.ts"
import type { Db, Tx } from "../../database/types.ts"
import { type Band, bandOf } from "../../formulas/difficulty.ts"
import { addDays, dayOf } from "../../vocabulary/days.ts"
import type { Side } from "../provenance.ts"
import { holdIdentities, type ListKey, listIds, lockLists } from "../rows/identities.ts"
import { readInputs, YOUNG_DAYS } from "./keyword-inputs.ts"
import { ESTIMATE, type MetricRow, metricRows } from "./keyword-rows.ts"

/**
 * Calculates demand, difficulty, hint count and popularity of keywords anew, from what is stored by `now`, and keeps them
 * under its UTC day, with the parts they were made of and the readings they rest on. Six statements, however many keywords.
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
  // whoever measures another part of the same keyword waits here, and then sees what this one has stored
  await lockLists(tx, ids)
  const platforms = new Map(lists.map(({ id, platform }) => [id, platform]))
  const inputs = await readInputs(tx, lists, now)
  const rows = inputs.flatMap((input) => metricRows({ ...input, platform: platforms.get(input.listId)! }, now))
  if (rows.length > 0) await store(tx, rows, dayOf(now))
}

async function store(tx: Tx, rows: readonly MetricRow[], day: string): Promise<void> {
  await tx`
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
        is distinct from (held.formula, held.seen_at, held.score, held.parts)`
}

function stored({ listId, metric, source, seenAt, score, formula, parts }: MetricRow) {
  return { list_id: listId, metric, source, seen_at: seenAt.toISOString(), score, formula, parts }
}

/** What is known of a keyword beside ranks. Null = not measured, or none can be given where the flag says so. */
export interface KeywordMetrics {
  demand: number | null
  /** Each …At: when the youngest reading behind the figure was seen, ISO 8601; also where it was read and gives none. */
  demandAt: string | null
  hintCount: number | null
  hintCountAt: string | null
  popularity: number | null
  popularitySource: string | null
  /** The month that a published popularity stands for, "YYYY-MM". */
  popularityWeek: string | null
  popularityNone: boolean
  popularityAt: string | null
  difficulty: number | null
  difficultyBand: Band | null
  difficultyNone: boolean
  difficultyAt: string | null
}

/** A keyword of which nothing is known. */
export const UNMEASURED: KeywordMetrics = {
  demand: null,
  demandAt: null,
  hintCount: null,
  hintCountAt: null,
  popularity: null,
  popularitySource: null,
  popularityWeek: null,
  popularityNone: false,
  popularityAt: null,
  difficulty: null,
  difficultyBand: null,
  difficultyNone: false,
  difficultyAt: null,
}

/** A calculated figure that is older on `today` says nothing of today. */
export const SHOWN_DAYS = 90

/**
 * The latest figures of keywords in one storefront of one store; every term asked for has an entry. A popularity that the
 * store publishes, of whatever month, comes before any estimate.
 */
export async function keywordMetricsOf(
  sql: Db,
  { platform, storefront, terms, today }: Side & { terms: readonly string[]; today: string },
): Promise<Map<string, KeywordMetrics>> {
  if (terms.length === 0) return new Map()
  const since = addDays(today, -SHOWN_DAYS)
  const latest = (metric: MetricRow["metric"]) => sql`
    select score, seen_at
    from keyword_metric
    where list_id = l.id and metric = ${metric} and formula > 0 and day >= ${since}
    order by day desc, seen_at desc, source
    limit 1`
  const rows = await sql<Row[]>`
    select k.term, demand.score as demand, demand.seen_at as "demandAt", hints.score as "hintCount",
      hints.seen_at as "hintsAt", difficulty.score as difficulty, difficulty.seen_at as "difficultyAt",
      published.score as published, published.source as "publishedBy", published.day as "publishedFor",
      published.seen_at as "publishedAt", estimate.score as estimate, estimate.seen_at as "estimateAt"
    from unnest(${terms as string[]}::text[]) with ordinality k (term, place)
    left join lateral (
      select id
      from list
      where (platform, storefront, term) = (${platform}, ${storefront}, k.term)
      offset 0
    ) l on true
    left join lateral (${latest("demand")}) demand on true
    left join lateral (${latest("hints")}) hints on true
    left join lateral (${latest("difficulty")}) difficulty on true
    left join lateral (
      select score, source, day, seen_at
      from keyword_metric
      where list_id = l.id and metric = 'popularity' and formula = 0
      order by day desc, seen_at desc, source
      limit 1
    ) published on true
    left join lateral (${latest("popularity")}) estimate on true
    order by k.place
    limit ${terms.length}`
  return new Map(rows.map((row) => [row.term, metricsOf(row)]))
}

interface Row {
  term: string
  demand: number | null
  demandAt: Date | null
  hintCount: number | null
  hintsAt: Date | null
  difficulty: number | null
  difficultyAt: Date | null
  published: number | null
  publishedBy: string | null
  publishedFor: string | null
  publishedAt: Date | null
  estimate: number | null
  estimateAt: Date | null
}

function metricsOf(row: Row): KeywordMetrics {
  const { demand, hintCount, difficulty } = row
  return {
    demand,
    demandAt: iso(row.demandAt),
    hintCount,
    hintCountAt: iso(row.hintsAt),
    ...popularityOf(row),
    difficulty,
    difficultyBand: difficulty === null ? null : bandOf(difficulty),
    difficultyNone: difficulty === null && row.difficultyAt !== null,
    difficultyAt: iso(row.difficultyAt),
  }
}

function popularityOf({ published, publishedBy, publishedFor, publishedAt, estimate, estimateAt }: Row) {
  const none = { popularity: null, popularitySource: null, popularityWeek: null, popularityNone: false }
  if (published !== null) {
    const popularityWeek = publishedFor?.slice(0, 7) ?? null
    const popularityAt = iso(publishedAt)
    return { ...none, popularity: published, popularitySource: publishedBy, popularityWeek, popularityAt }
  }
  const popularityAt = iso(estimateAt)
  if (estimate !== null) return { ...none, popularity: estimate, popularitySource: ESTIMATE, popularityAt }
  return { ...none, popularityNone: estimateAt !== null, popularityAt }
}

function iso(at: Date | null): string | null {
  return at?.toISOString() ?? null
}
