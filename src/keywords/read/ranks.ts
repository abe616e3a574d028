import type { Side } from "../../core/observation/provenance.ts"
import { ownId, type RankedApp } from "../../core/ranked-app.ts"
import type { Db } from "../../database/types.ts"
import { sourceOf } from "../../lib/rank-sources.ts"
import type { RankSource } from "../../lib/upstreams.ts"
import { dueCodeOf } from "../../measuring/under-way.ts"
import { figures, figuresOf, type MetricsRow } from "../store/keyword-figures.ts"
import { termsIn, termsTogether } from "./columns.ts"
import type { SideApp } from "./day-answers.ts"
import { trackedLists } from "./tracked-lists.ts"

/**
 * A term on the day shown. Not measured: rank, source, depth and seenAt are null. Measured and absent: only rank is
 * null.
 */
export interface TermRank {
  term: string
  measured: boolean
  rank: number | null
  source: RankSource | null
  depth: number | null
  seenAt: Date | null
}

/**
 * A tracked keyword: its rank on the day shown, its latest figures and the state of its scheduled readings
 * (underWayBy).
 */
export interface TrackedKeyword extends TermRank {
  /** Null if the app has no store app there or does not track the storefront. */
  figures: MetricsRow | null
  dueCode: number
}

interface KeywordsNow {
  /** The latest day on which any of the keywords was measured. Null if none ever was. */
  day: string | null
  /** Time of the latest reading of that day. Null if there is none. */
  measuredAt: Date | null
  /** Ordered as in the app. */
  keywords: TrackedKeyword[]
}

/**
 * Returns every keyword of an app in a storefront. If the app does not track the storefront, returns all its terms as
 * unmeasured.
 */
export async function readKeywordsNow(sql: Db, app: RankedApp, side: Side): Promise<KeywordsNow> {
  const storeAppId = ownId(app, side)
  if (storeAppId === null) {
    const terms = await readTrackedTerms(sql, app, side.storefront, MAX_KEYWORDS)
    return { day: null, measuredAt: null, keywords: terms.map((term) => ({ term, ...UNMEASURED })) }
  }
  const rows = await readRows(sql, { ...side, appId: app.id, storeAppId })
  const day = latest(rows.map(({ lastDay }) => lastDay))
  const keywords = rows.map((row) => keywordOf(row, day))
  return { day, measuredAt: latest(keywords.map(({ seenAt }) => seenAt)), keywords }
}

/** More keywords than any workspace may track. */
const MAX_KEYWORDS = 100_000

const NOT_MEASURED = { measured: false, rank: null, source: null, depth: null, seenAt: null }
const UNMEASURED = { ...NOT_MEASURED, figures: null, dueCode: 0 }

interface KeywordRow extends MetricsRow {
  term: string
  position: number
  /** The last day on which it was measured. Null if it never was, as are the four fields below. */
  lastDay: string | null
  source: number | null
  depth: number | null
  seenAt: Date | null
  /** 0 if the app was absent. */
  rank: number | null
  dueCode: number
}

function keywordOf(row: KeywordRow, day: string | null): TrackedKeyword {
  const { term, lastDay, source, depth, seenAt, rank, dueCode } = row
  if (source === null || lastDay !== day) return { term, ...NOT_MEASURED, figures: row, dueCode }
  return { term, measured: true, rank: rank || null, source: sourceOf(source), depth, seenAt, figures: row, dueCode }
}

/**
 * Number of keywords that one statement reads: the embedded database, which cannot cancel a statement, takes some 20 ms
 * for them.
 */
const BATCH = 500

async function readRows(sql: Db, side: SideApp): Promise<KeywordRow[]> {
  const rows: KeywordRow[] = []
  let batch: KeywordRow[]
  do {
    batch = await readBatch(sql, side, rows.at(-1))
    rows.push(...batch)
  } while (batch.length === BATCH)
  return rows
}

/** Reads the keywords after `last` in the app's order. */
async function readBatch(sql: Db, side: SideApp, last = { position: -1, term: "" }): Promise<KeywordRow[]> {
  const part = sql`
          and (position, term) > (${last.position}, ${last.term})
        order by position, term
        limit ${BATCH}`
  return await sql<KeywordRow[]>`
    select t.term, t.position, t.last_day as "lastDay", t.source, t.depth, t.seen_at as "seenAt", t.rank,
      ${figures(sql)}, d.code as "dueCode"
    from (${trackedLists(sql, side, part)}) t
    left join lateral (${figuresOf(sql, sql`t.list_id`)}) n on true
    cross join lateral (${dueCodeOf(sql, side, sql`t.term`)}) d
    order by t.position, t.term
    limit ${BATCH}`
}

function latest<T extends string | Date>(times: readonly (T | null)[]): T | null {
  return times.reduce((last, time) => (time !== null && (last === null || time > last) ? time : last), null)
}

export async function readAllTerms(sql: Db, app: RankedApp): Promise<string[]> {
  const rows = await sql<{ term: string }[]>`
    select term
    from tracked_term
    where app_id = ${app.id}
    order by array_position(${app.countries}::text[], country), position, term`
  return [...new Set(rows.map(({ term }) => term))]
}

/**
 * Returns the first `most` terms tracked in a storefront, in their order. If the app does not track it, all terms of
 * the app.
 */
export async function readTrackedTerms(
  sql: Db,
  app: RankedApp,
  storefront: string,
  most: number | null = null,
): Promise<string[]> {
  if (!app.countries.includes(storefront)) return await readAllTerms(sql, app)
  const [row] = await sql<{ terms: string | null }[]>`
    select ${termsTogether(sql, sql`term`)} as terms
    from (
      select term
      from tracked_term
      where app_id = ${app.id} and country = ${storefront}
      order by position, term
      limit ${most}::int
    ) t`
  return termsIn(row?.terms ?? null)
}
