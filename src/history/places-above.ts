import type { PendingQuery, Row } from "postgres"
import type { Sql } from "../database/types.ts"
import { bestFirst } from "../observations/best-first.ts"
import type { SideApp } from "./day-answers.ts"
import { readStandings, type TermStanding } from "./keywords/standings.ts"

export interface TermPlaces {
  term: string
  day: string
  source: number
  seenAt: Date
  ourRank: number | null
  /** store_app ids in their order, the first of all. */
  apps: Int32Array
}

/** Keywords whose results one statement reads: some 5 ms on the embedded database. */
const PIECE = 250

interface Reading {
  /** Only places above the app itself, where it has one. */
  onlyAbove: boolean
  pause(): Promise<void>
}

/** The results of the day shown of every keyword measured on it, in pieces and in the keywords' order. */
export async function* readPlaces(
  sql: Sql,
  side: SideApp,
  { onlyAbove, pause }: Reading,
): AsyncGenerator<TermPlaces[]> {
  const { day, terms } = await readStandings(sql, side, null)
  if (day === null) return
  const measured = terms.filter((term) => term.measured)
  for (let from = 0; from < measured.length; from += PIECE) {
    await pause()
    const piece = measured.slice(from, from + PIECE)
    const latest = sql`
          select source, seen_at, app_ids
          from list_now
          where list_id = t.list_id and day = ${day}
          offset 0`
    const rows = await readPiece(sql, side, piece, { answer: latest, onlyAbove })
    // what was read meanwhile of a day that came has taken the place of the day shown
    const isWhole = rows.length === piece.length
    const all = isWhole ? rows : await readPiece(sql, side, piece, { answer: dayAnswer(sql, day), onlyAbove })
    yield all.map(({ apps, ...row }) => ({ ...row, day, apps: numbersIn(apps) }))
  }
}

function dayAnswer(sql: Sql, day: string) {
  return sql`
          select source, seen_at, app_ids
          from search_readings(t.list_id, ${day}, ${day})
          where complete
          order by ${bestFirst(sql)}
          limit 1`
}

interface PieceQuery {
  /** One row of source, seen_at and app_ids for the list of `t`. */
  answer: PendingQuery<Row[]>
  onlyAbove: boolean
}

async function readPiece(
  sql: Sql,
  { own }: SideApp,
  piece: readonly TermStanding[],
  { answer, onlyAbove }: PieceQuery,
): Promise<(Omit<TermPlaces, "day" | "apps"> & { apps: string })[]> {
  return await sql`
    select t.term, r.source, r.seen_at as "seenAt", p.our_rank as "ourRank",
      array_to_string(r.app_ids[1:case when ${onlyAbove} then coalesce(p.our_rank - 1, 250) else 250 end], ' ') as apps
    from unnest(
      ${piece.map(({ term }) => term)}::text[],
      ${piece.map(({ listId }) => listId)}::int[]
    ) with ordinality t (term, list_id, n)
    cross join lateral (${answer}) r
    cross join lateral (select array_position(r.app_ids, ${own}) as our_rank offset 0) p
    order by t.n
    limit ${PIECE}`
}

const SPACE = 32
const ZERO = 48

/** Of a million places, split and read one by one, the strings alone took a quarter of a second. */
function numbersIn(text: string): Int32Array {
  const numbers: number[] = []
  let number = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === SPACE) {
      numbers.push(number)
      number = 0
    } else number = number * 10 + code - ZERO
  }
  if (text !== "") numbers.push(number)
  return Int32Array.from(numbers)
}
