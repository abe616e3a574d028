import type { PendingQuery, Row } from "postgres"
import type { Sql } from "../../database/types.ts"
import { bestFirst } from "../../measuring/record/best-first.ts"
import { numbersIn, numbersTogether } from "./columns.ts"
import type { SideApp } from "./day-answers.ts"
import { readStandings, type TermStanding } from "./standings.ts"

export interface TermPlaces {
  term: string
  day: string
  source: number
  seenAt: Date
  ourRank: number | null
  /** store_app ids in the order of the results, from the first place on. */
  apps: Int32Array
}

/** Number of keywords whose results one statement reads, which takes some 5 ms on the embedded database. */
const MAX_TERMS_PER_STATEMENT = 250
/** The maximum number of places read per reading. */
const MAX_PLACES = 250

interface Reading {
  /** Reads only the places above the app itself, if the app is among the results. */
  onlyAbove: boolean
}

/** Yields the results on the day shown of every keyword measured on it, in batches and in the keywords' order. */
export async function* readPlaces(sql: Sql, side: SideApp, { onlyAbove }: Reading): AsyncGenerator<TermPlaces[]> {
  const { day, terms } = await readStandings(sql, side, null)
  if (day === null) return
  const measured = terms.filter((term) => term.measured)
  for (let from = 0; from < measured.length; from += MAX_TERMS_PER_STATEMENT) {
    const piece = measured.slice(from, from + MAX_TERMS_PER_STATEMENT)
    const latest = sql`
          select source, seen_at, app_ids
          from list_now
          where list_id = t.list_id and day = ${day}
          offset 0`
    const row = await readPiece(sql, side, piece, { answer: latest, onlyAbove })
    // If some keywords are missing, a newer day's reading was stored in the meantime and has replaced the results of
    // the day shown.
    const isWhole = row.count === piece.length
    const whole = isWhole ? row : await readPiece(sql, side, piece, { answer: dayAnswer(sql, day), onlyAbove })
    yield placesIn(whole, piece, day)
  }
}

function dayAnswer(sql: Sql, day: string) {
  return sql`
          select source, seen_at, app_ids
          from search_results
          where list_id = t.list_id and day = ${day} and complete
          order by ${bestFirst(sql)}
          limit 1`
}

interface PieceQuery {
  /** A query of one row with the source, seen_at and app_ids of the list of `t`. */
  answer: PendingQuery<Row[]>
  onlyAbove: boolean
}

/** Each text has one part per keyword. Null if there are none. */
interface PieceRow {
  count: number
  /** The indexes of the keywords in the batch, from 1. */
  keywords: string | null
  sources: string | null
  /** Milliseconds since 1970. */
  seenAt: string | null
  ourRanks: string | null
  apps: string | null
}

async function readPiece(
  sql: Sql,
  { storeAppId }: SideApp,
  piece: readonly TermStanding[],
  { answer, onlyAbove }: PieceQuery,
): Promise<PieceRow> {
  const each = (column: PendingQuery<Row[]>) => numbersTogether(sql, column)
  const [row] = await sql<[PieceRow]>`
    select count(*)::int as count, ${each(sql`t.n`)} as keywords, ${each(sql`r.source`)} as sources,
      ${each(sql`floor(extract(epoch from r.seen_at) * 1000)::bigint`)} as "seenAt",
        ${each(sql`p.our_rank`)} as "ourRanks",
      string_agg(
        array_to_string(r.app_ids[1:case when ${onlyAbove} then coalesce(p.our_rank - 1,
          ${MAX_PLACES}) else ${MAX_PLACES} end], ' '), ';'
      ) as apps
    from unnest(${piece.map(({ listId }) => listId)}::int[]) with ordinality t (list_id, n)
    cross join lateral (${answer}) r
    cross join lateral (select array_position(r.app_ids, ${storeAppId}) as our_rank offset 0) p`
  return row
}

function placesIn(row: PieceRow, piece: readonly TermStanding[], day: string): TermPlaces[] {
  const [keywords, sources, seenAt, ourRanks] = [row.keywords, row.sources, row.seenAt, row.ourRanks].map((text) =>
    numbersIn(text ?? ""),
  )
  return appsIn(row.apps ?? "", row.count).map((apps, at) => ({
    term: piece[keywords![at]! - 1]!.term,
    day,
    source: sources![at] as number,
    seenAt: new Date(seenAt![at] as number),
    ourRank: ourRanks![at] as number | null,
    apps,
  }))
}

const SPACE = 32
const ZERO = 48
const NINE = 57

/** Parses a text of up to a million numbers without splitting it into strings: these alone would take 250 ms. */
function appsIn(text: string, count: number): Int32Array[] {
  const all: Int32Array[] = []
  const numbers = new Int32Array(MAX_PLACES)
  let [found, number, at] = [0, -1, 0]
  while (all.length < count) {
    const code = text.charCodeAt(at++)
    if (code >= ZERO && code <= NINE) {
      number = (number < 0 ? 0 : number * 10) + code - ZERO
      continue
    }
    if (number >= 0) numbers[found++] = number
    number = -1
    if (code === SPACE) continue
    all.push(numbers.slice(0, found))
    found = 0
  }
  return all
}
