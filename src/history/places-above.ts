import type { Sql } from "../database/types.ts"
import { bestFirst } from "../observations/best-first.ts"
import type { SideApp } from "./day-answers.ts"

export interface TermPlaces {
  term: string
  day: string
  source: number
  seenAt: Date
  ourRank: number | null
  /** store_app ids in their order, the first of all. */
  apps: Int32Array
}

/** Keywords that one statement looks up, and whose results it reads: each some 5 ms on the embedded database. */
const PAGE = 500
const PIECE = 75

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
  const { own } = side
  if (own === null) return
  const terms = await readTerms(sql, side, pause)
  const day = terms.reduce<string | null>((last, { lastDay }) => (lastDay && (!last || lastDay > last) ? lastDay : last), null) // biome-ignore format: one line
  if (day === null) return
  const measured = terms.filter(({ lastDay }) => lastDay === day)
  for (let from = 0; from < measured.length; from += PIECE) {
    const piece = measured.slice(from, from + PIECE)
    const rows = await sql<(Omit<TermPlaces, "day" | "apps"> & { apps: string })[]>`
      select t.term, r.source, r.seen_at as "seenAt", r.our_rank as "ourRank",
        array_to_string(r.app_ids[1:case when ${onlyAbove} then coalesce(r.our_rank - 1, 250) else 250 end], ' ') as apps
      from unnest(
        ${piece.map(({ term }) => term)}::text[],
        ${piece.map(({ listId }) => listId)}::int[]
      ) with ordinality t (term, list_id, n)
      cross join lateral (
        select source, seen_at, array_position(app_ids, ${own}) as our_rank, app_ids
        from search_readings(t.list_id, ${day}, ${day})
        where complete
        order by ${bestFirst(sql)}
        limit 1
      ) r
      order by t.n
      limit ${PIECE}`
    yield rows.map(({ apps, ...row }) => ({ ...row, day, apps: numbersIn(apps) }))
    await pause()
  }
}

interface SideTerm {
  term: string
  position: number
  listId: number | null
  lastDay: string | null
}

/** Every tracked keyword, in its order. */
async function readTerms(
  sql: Sql,
  { appId, platform, storefront }: SideApp,
  pause: () => Promise<void>,
): Promise<SideTerm[]> {
  const terms: SideTerm[] = []
  for (let more = true; more; ) {
    const page = await sql<SideTerm[]>`
      select k.term, k.position, l.id as "listId", l.last_day as "lastDay"
      from (
        select term, position
        from tracked_term
        where (app_id, country) = (${appId}, ${storefront}) and term > ${terms.at(-1)?.term ?? ""}
        order by term
        limit ${PAGE}
      ) k
      left join lateral (
        select id, last_day
        from list
        where (platform, storefront, term) = (${platform}, ${storefront}, k.term)
        offset 0
      ) l on true
      order by k.term
      limit ${PAGE}`
    terms.push(...page)
    more = page.length === PAGE
    if (more) await pause()
  }
  // those of one position stay in the order of their terms
  return terms.sort((a, b) => a.position - b.position)
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
