import type { Sql } from "../database/types.ts"
import { bestFirst } from "./answers.ts"
import type { SideApp } from "./day-answers.ts"

/** A tracked keyword's results on the day shown. */
export interface TermPlaces {
  term: string
  day: string
  source: number
  seenAt: Date
  ourRank: number | null
  /** store_app ids in their order, the first of all. */
  apps: Int32Array
}

/** Keywords whose results one statement reads: some 10 ms on the embedded database. */
const PIECE = 150

/**
 * The results of the day shown of every keyword measured on it, in pieces and in the keywords' order: only those above the
 * app itself, or else all of them.
 */
export async function* readPlaces(
  sql: Sql,
  { appId, platform, storefront, own }: SideApp,
  { onlyAbove }: { onlyAbove: boolean },
): AsyncGenerator<TermPlaces[]> {
  if (own === null) return
  const answer = (where: ReturnType<Sql>) => sql`
    select source, seen_at, array_position(app_ids, ${own}) as our_rank, app_ids
    from search_results
    where ${where} and list_id = t.list_id and day = t.day and complete
    order by ${bestFirst(sql)}
    limit 1`
  const shown = sql`
    r.source, r.seen_at as "seenAt", r.our_rank as "ourRank",
    array_to_string(r.app_ids[1:case when ${onlyAbove} then coalesce(r.our_rank - 1, 250) else 250 end], ' ') as apps`
  const rows = await sql<Row[]>`
    with term as materialized (
      select k.term, l.id as list_id, max(l.last_day) over () as day, row_number() over (order by k.position, k.term) as n
      from (
        select term, position
        from tracked_term
        where (app_id, country) = (${appId}, ${storefront})
      ) k
      left join lateral (
        select id, last_day
        from list
        where (platform, storefront, term) = (${platform}, ${storefront}, k.term)
        offset 0
      ) l on true
    )
    select t.term, t.day, t.list_id as "listId", ${shown}
    from term t
    left join lateral (${answer(sql`t.n <= ${PIECE}`)}) r on true
    order by t.n
    limit 100000`
  yield placesOf(rows.slice(0, PIECE))
  for (let from = PIECE; from < rows.length; from += PIECE) {
    const piece = rows.slice(from, from + PIECE)
    const answers = await sql<Pick<Row, "source" | "seenAt" | "ourRank" | "apps">[]>`
      select ${shown}
      from unnest(
        ${piece.map(({ listId }) => listId)}::int[],
        ${piece.map(({ day }) => day)}::date[]
      ) with ordinality t (list_id, day, n)
      left join lateral (${answer(sql`true`)}) r on true
      order by t.n
      limit ${PIECE}`
    yield placesOf(piece.map((row, at) => ({ ...row, ...answers[at] })))
  }
}

interface Row {
  term: string
  day: string | null
  listId: number | null
  /** Null, as what follows, = not measured that day. */
  source: number | null
  seenAt: Date | null
  ourRank: number | null
  apps: string | null
}

function placesOf(rows: readonly Row[]): TermPlaces[] {
  return rows.flatMap(({ term, day, source, seenAt, ourRank, apps }) => {
    if (day === null || source === null || seenAt === null || apps === null) return []
    return [{ term, day, source, seenAt, ourRank, apps: numbersIn(apps) }]
  })
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
