import type { Db } from "../database/types.ts"
import { uncut } from "../database/uncut.ts"
import type { Side } from "../observations/provenance.ts"
import { ownId, type RankedApp, type RankSource, sourceOf } from "../observations/types.ts"
import { termsIn, termsTogether } from "./keywords/columns.ts"

/** A term on the day shown. Not measured: source, depth and seenAt are null; measured and absent: only rank is. */
export interface TermRank {
  term: string
  measured: boolean
  rank: number | null
  source: RankSource | null
  depth: number | null
  seenAt: Date | null
  /** By which the keyword's figures are looked up; null where nothing of it was ever stored, or the storefront is not tracked. */
  listId: number | null
}

export interface SideRanks extends Side {
  /** The latest day on which any of the app's terms was measured there; null = never. */
  day: string | null
  /** When the latest of that day's answers was seen. */
  measuredAt: Date | null
  terms: TermRank[]
}

/** In three states, side by side; an untracked storefront answers all terms as unmeasured. Read in pieces. */
export async function readRanksOn(sql: Db, app: RankedApp, sides: readonly Side[]): Promise<SideRanks[]> {
  const rows = await readRanks(sql, app, sides)
  const bySide = Map.groupBy(rows, ({ place }) => place)
  const untracked = sides.some(({ storefront }) => !app.countries.includes(storefront))
    ? await readAllTerms(sql, app)
    : []
  return sides.map((side, place) => {
    if (!app.countries.includes(side.storefront)) {
      return { ...side, day: null, measuredAt: null, terms: untracked.map(unmeasured) }
    }
    const found = bySide.get(place + 1) ?? []
    return { ...side, day: found[0]?.day ?? null, measuredAt: latest(found), terms: found.map(termRank) }
  })
}

export async function readAllTerms(sql: Db, app: RankedApp): Promise<string[]> {
  const rows = await sql<{ term: string }[]>`
    select term
    from tracked_term
    where app_id = ${app.id}
    order by array_position(${app.countries}::text[], country), position, term
    limit 100000`.then(uncut(100_000))
  return [...new Set(rows.map(({ term }) => term))]
}

/** The first terms tracked in a storefront, in their order; all terms of the app where it is none of its own. */
export async function readTrackedTerms(sql: Db, app: RankedApp, storefront: string, most: number): Promise<string[]> {
  if (!app.countries.includes(storefront)) return await readAllTerms(sql, app)
  const [row] = await sql<{ terms: string | null }[]>`
    select ${termsTogether(sql, sql`term`)} as terms
    from (
      select term
      from tracked_term
      where app_id = ${app.id} and country = ${storefront}
      order by position, term
      limit ${most}
    ) t`
  return termsIn(row?.terms ?? null)
}

export interface RankRow {
  place: number
  term: string
  day: string | null
  source: number | null
  depth: number | null
  seenAt: Date | null
  rank: number | null
  listId: number | null
}

/** Terms whose results one statement looks up: some 5 ms on the embedded database. */
const PIECE = 300

async function readRanks(sql: Db, app: RankedApp, sides: readonly Side[]): Promise<RankRow[]> {
  const rows = await sql<(RankRow & { ownId: number | null })[]>`
    with term as materialized (
      select s.place, s.own_id, k.term, k.position, l.id as list_id, max(l.last_day) over (partition by s.place) as day,
        row_number() over (order by s.place, k.position, k.term) as n
      from unnest(
        ${sides.map(({ platform }) => platform)}::text[],
        ${sides.map(({ storefront }) => storefront)}::text[],
        ${sides.map((side) => ownId(app, side))}::int[]
      ) with ordinality s (platform, storefront, own_id, place)
      join tracked_term k on k.app_id = ${app.id} and k.country = s.storefront
      left join lateral (
        select id, last_day
        from list
        where s.own_id is not null and (platform, storefront, term) = (s.platform, s.storefront, k.term)
        offset 0
      ) l on true
    )
    select t.place, t.term, t.day, t.list_id as "listId", t.own_id as "ownId", r.source, r.depth, r.seen_at as "seenAt",
      r.rank
    from term t
    left join lateral (${answerOf(sql, sql`t.n <= ${PIECE}`)}) r on true
    order by t.place, t.position, t.term
    limit 100000`.then(uncut(100_000))
  for (let from = PIECE; from < rows.length; from += PIECE) await readAnswers(sql, rows.slice(from, from + PIECE))
  return rows
}

/** Puts into each row what was answered on its day, if anything was. */
async function readAnswers(sql: Db, rows: (RankRow & { ownId: number | null })[]): Promise<void> {
  const answers = await sql<Pick<RankRow, "source" | "depth" | "seenAt" | "rank">[]>`
    select r.source, r.depth, r.seen_at as "seenAt", r.rank
    from unnest(
      ${rows.map(({ listId }) => listId)}::int[],
      ${rows.map(({ day }) => day)}::date[],
      ${rows.map(({ ownId }) => ownId)}::int[]
    ) with ordinality t (list_id, day, own_id, n)
    left join lateral (${answerOf(sql, sql`true`)}) r on true
    order by t.n
    limit ${rows.length}`
  for (const [at, answer] of answers.entries()) Object.assign(rows[at]!, answer)
}

/** The answer for the term `t`, where its last day is the day shown. */
function answerOf(sql: Db, where: ReturnType<Db>) {
  return sql`
    select source, depth, seen_at, coalesce(array_position(app_ids, t.own_id), 0) as rank
    from list_now
    where ${where} and list_id = t.list_id and day = t.day
    offset 0`
}

export function termRank({ term, source, depth, seenAt, rank, listId }: RankRow): TermRank {
  if (source === null) return { ...unmeasured(term), listId }
  return { term, measured: true, rank: rank || null, source: sourceOf(source), depth, seenAt, listId }
}

function unmeasured(term: string): TermRank {
  return { term, measured: false, rank: null, source: null, depth: null, seenAt: null, listId: null }
}

export function latest(rows: readonly RankRow[]): Date | null {
  return rows.reduce<Date | null>((last, { seenAt }) => (seenAt && (!last || seenAt > last) ? seenAt : last), null)
}
