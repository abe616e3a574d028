import type { Sql } from "../database/types.ts"
import type { Side } from "../observations/provenance.ts"
import { type NotMeasuring, type Reading, readReaders } from "./readers.ts"

/** Whether a keyword's figures are being measured: somebody reads them, or something that reads them will be next. */
export interface KeywordUnderWay {
  popularityMeasuring: boolean
  /** Why not; null where it is. */
  popularityNotMeasuring: NotMeasuring | null
  difficultyMeasuring: boolean
  difficultyNotMeasuring: NotMeasuring | null
  measuring: boolean
  notMeasuring: NotMeasuring | null
}

/** Of a keyword that nobody tracks there. */
export const NOT_SCHEDULED: KeywordUnderWay = {
  popularityMeasuring: false,
  popularityNotMeasuring: "not_scheduled",
  difficultyMeasuring: false,
  difficultyNotMeasuring: "not_scheduled",
  measuring: false,
  notMeasuring: "not_scheduled",
}

/** Every term asked for has an entry. */
export async function keywordsUnderWay(
  sql: Sql,
  { terms, ...side }: Side & { terms: readonly string[] },
): Promise<Map<string, KeywordUnderWay>> {
  if (terms.length === 0) return new Map()
  const reading = await readReaders(sql)
  const rows = await sql<StateRow[]>`
    select k.term, d.kind, d.state
    from unnest(${terms as string[]}::text[]) with ordinality k (term, place)
    cross join lateral (
      select d.kind, ${stateOf(sql)} as state
      from due d
      where d.kind in ('search', 'hints', 'difficulty')
        and (d.platform, d.storefront, d.subject) = (${side.platform}, ${side.storefront}, k.term)
      -- looked up for each: joined, all that is due was read for every 200 keywords
      offset 0
    ) d
    order by k.place, d.kind
    limit ${3 * terms.length}`
  const byTerm = Map.groupBy(rows, ({ term }) => term)
  return new Map(terms.map((term) => [term, underWayOf(byTerm.get(term) ?? [], side, reading)]))
}

/** Keywords of one storefront whose results of a UTC day were not read. */
export interface UnreadTerms extends Side {
  terms: readonly string[]
}

export interface Expectation {
  /** Of the keywords, those that will still be read that day. */
  expected: number
  /** Why most of the others will not; null = all will. */
  notMeasuring: NotMeasuring | null
}

/** What can still come of a day, place by place. One statement, however many keywords. */
export async function expectedOn(sql: Sql, places: readonly UnreadTerms[], day: string): Promise<Expectation[]> {
  const reading = await readReaders(sql)
  const terms = places.flatMap(({ platform, storefront, terms }, place) =>
    terms.map((term) => ({ place, platform, storefront, term })),
  )
  const rows = await sql<{ place: number; state: State; comes: boolean; terms: number }[]>`
    select k.place, d.state, d.comes, count(*)::int as terms
    from unnest(
      ${terms.map(({ place }) => place)}::int[],
      ${terms.map(({ platform }) => platform)}::text[],
      ${terms.map(({ storefront }) => storefront)}::text[],
      ${terms.map(({ term }) => term)}::text[]
    ) k (place, platform, storefront, term)
    cross join lateral (
      select ${stateOf(sql)} as state, d.next_at < (${day}::date + 1)::timestamp at time zone 'utc' as comes
      from due d
      where d.kind = 'search' and (d.platform, d.storefront, d.subject) = (k.platform, k.storefront, k.term)
      offset 0
    ) d
    group by k.place, d.state, d.comes
    order by k.place, d.state, d.comes
    limit ${10 * places.length}`
  const byPlace = Map.groupBy(rows, ({ place }) => place)
  return places.map((side, place) => expectationOf(side, byPlace.get(place) ?? [], reading))
}

function expectationOf(
  { terms, platform, storefront }: UnreadTerms,
  rows: readonly { state: State; comes: boolean; terms: number }[],
  reading: Reading,
): Expectation {
  const scheduled = rows.reduce((sum, row) => sum + row.terms, 0)
  const whys = rows.map((row) => {
    const why = whyNot(row.state, () => reading({ kind: "search", platform, storefront }))
    const waits = row.comes && (why === "not_due" || why === "read_failed")
    return { why: waits ? null : why, count: row.terms }
  })
  const others = [...whys, { why: "not_scheduled" as const, count: terms.length - scheduled }]
    .filter(({ why, count }) => why !== null && count > 0)
    .sort((a, b) => b.count - a.count)
  const missed = others.reduce((sum, { count }) => sum + count, 0)
  return { expected: terms.length - missed, notMeasuring: others[0]?.why ?? null }
}

/** How a row of what is due stands: held by who reads it, at its turn, or why neither. */
type State = "held" | "turn" | "overdue" | "read_failed" | "not_due"

interface StateRow {
  term: string
  kind: "search" | "hints" | "difficulty"
  state: State
}

/** Of the row `d`. A search that was answered today is not due again, whatever put it forward. */
function stateOf(sql: Sql) {
  return sql`
    case
      when d.lease_until > now() then 'held'
      when d.next_at > now() then case when d.failures > 0 then 'read_failed' else 'not_due' end
      when d.kind = 'search' and d.measured_at >= date_trunc('day', now(), 'UTC') then 'not_due'
      when d.next_at <= now() - interval '1 day' then 'overdue'
      else 'turn'
    end`
}

function underWayOf(rows: readonly StateRow[], side: Side, reading: Reading): KeywordUnderWay {
  const whyOf = (kind: StateRow["kind"]) =>
    whyNot(rows.find((row) => row.kind === kind)?.state ?? null, () => reading({ kind, ...side }))
  const [search, hints, read] = [whyOf("search"), whyOf("hints"), whyOf("difficulty")]
  return keywordOf({ search, hints, difficulty: read === "not_scheduled" ? difficultyWithout(search, side) : read })
}

/** Null = it is measured. */
function whyNot(state: State | null, notRead: () => NotMeasuring | null): NotMeasuring | null {
  if (state === null) return "not_scheduled"
  if (state === "held") return null
  return notRead() ?? (state === "turn" ? null : state)
}

/** The App Store's difficulty becomes due with the first reading of the results; Google Play's is not read for itself. */
function difficultyWithout(search: NotMeasuring | null, { platform }: Side): NotMeasuring {
  if (platform !== "ios") return "not_scheduled"
  return search ?? "awaits_results"
}

type Whys = Record<StateRow["kind"], NotMeasuring | null>

/** A popularity is made of suggestions and of what the difficulty reads: what stands in its way is told before what does not. */
function keywordOf({ search, hints, difficulty }: Whys): KeywordUnderWay {
  const popularity =
    hints === null || difficulty === null
      ? null
      : (([hints, difficulty].find((why) => !CALM.includes(why)) ?? hints) as NotMeasuring)
  return {
    popularityMeasuring: popularity === null,
    popularityNotMeasuring: popularity,
    difficultyMeasuring: difficulty === null,
    difficultyNotMeasuring: difficulty,
    measuring: search === null,
    notMeasuring: search,
  }
}

const CALM: readonly (NotMeasuring | null)[] = ["not_due", "not_scheduled", "awaits_results"]
