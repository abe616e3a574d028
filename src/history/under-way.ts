import type { Sql } from "../database/types.ts"
import type { Side } from "../observations/provenance.ts"
import { type IdleReason, type Reader, type Reading, readersQuery, readingBy, readReaders } from "./readers.ts"

/** Whether a keyword's figures are being measured: somebody reads them, or something that reads them will be next. */
export interface KeywordUnderWay {
  popularityMeasuring: boolean
  /** Why not; null where it is. */
  popularityNotMeasuring: IdleReason | null
  difficultyMeasuring: boolean
  difficultyNotMeasuring: IdleReason | null
  measuring: boolean
  notMeasuring: IdleReason | null
}

export const NOT_SCHEDULED: KeywordUnderWay = {
  popularityMeasuring: false,
  popularityNotMeasuring: "not_scheduled",
  difficultyMeasuring: false,
  difficultyNotMeasuring: "not_scheduled",
  measuring: false,
  notMeasuring: "not_scheduled",
}

export async function findKeywordsUnderWay(
  sql: Sql,
  { terms, ...side }: Side & { terms: readonly string[] },
): Promise<Map<string, KeywordUnderWay>> {
  if (terms.length === 0) return new Map()
  // a letter a keyword and kind: as rows, or as JSON of rows, it took the thread and the database longer
  const [row] = await sql<[{ readers: Reader[] | null; search: string; hints: string; difficulty: string }]>`
    select r.readers, w.search, w.hints, w.difficulty
    from (
      select json_agg(r) as readers
      from (${readersQuery(sql)}) r
    ) r
    cross join (
      select string_agg(coalesce(d.search, '-'), '' order by k.place) as search,
        string_agg(coalesce(d.hints, '-'), '' order by k.place) as hints,
        string_agg(coalesce(d.difficulty, '-'), '' order by k.place) as difficulty
      from unnest(${terms as string[]}::text[]) with ordinality k (term, place)
      cross join lateral (
        ${statesOf(sql, side, sql`k.term`)}
      ) d
    ) w`
  const { search, hints, difficulty } = row
  const underWay = underWayBy(side, readingBy(row.readers ?? []))
  return new Map(terms.map((term, at) => [term, underWay([search[at], hints[at], difficulty[at]])]))
}

/** How what is due of a keyword stands, a letter each: search, hints and difficulty; null where nothing is due. */
export function statesOf(sql: Sql, { platform, storefront }: Side, term: ReturnType<Sql>) {
  return sql`
    select max(state) filter (where kind = 'search') as search, max(state) filter (where kind = 'hints') as hints,
      max(state) filter (where kind = 'difficulty') as difficulty
    from (
      select d.kind, left(${stateOf(sql)}, 1) as state
      from due d
      where (d.platform, d.storefront, d.subject) = (${platform}, ${storefront}, ${term})
      -- looked up for each, whatever its kinds: joined, all that is due was read for every 200 keywords
      offset 0
    ) d`
}

type Letter = string | undefined

/** What is being measured, by the letters of search, hints and difficulty. */
export function underWayBy(
  side: Side,
  reading: Reading,
): (states: readonly [Letter, Letter, Letter]) => KeywordUnderWay {
  const [searched, hinted, read] = (["search", "hints", "difficulty"] as const).map((kind) => {
    const notRead = reading({ kind, ...side })
    return (letter: Letter) => whyNot(STATES[letter ?? "-"] ?? null, () => notRead)
  }) as [(letter: Letter) => Idle, (letter: Letter) => Idle, (letter: Letter) => Idle]
  return ([searchState, hintsState, difficultyState]) => {
    const search = searched(searchState)
    const own = read(difficultyState)
    const difficulty = own === "not_scheduled" ? difficultyWithout(search, side) : own
    return keywordOf({ search, hints: hinted(hintsState), difficulty })
  }
}

type Idle = IdleReason | null

/** Keywords of one storefront whose results of a UTC day were not read. */
export interface UnreadTerms extends Side {
  terms: readonly string[]
}

export interface Expectation {
  /** Of the keywords, those that will still be read that day. */
  expected: number
  /** Why most of the others will not; null = all will. */
  notMeasuring: IdleReason | null
}

/** So many keywords are looked up by one statement, unless they are of one place: 20,000 held the thread for 30 ms. */
const TERMS_AT_ONCE = 2_000

/** What can still come of a day, place by place. */
export async function readExpectations(sql: Sql, places: readonly UnreadTerms[], day: string): Promise<Expectation[]> {
  const reading = await readReaders(sql)
  const all: Expectation[] = []
  while (all.length < places.length) {
    const together = firstFew(places.slice(all.length))
    const byPlace = Map.groupBy(await readTurns(sql, together, day), ({ place }) => place)
    all.push(...together.map((side, place) => expectationOf(side, byPlace.get(place) ?? [], reading)))
  }
  return all
}

/** At least one. */
function firstFew(places: readonly UnreadTerms[]): readonly UnreadTerms[] {
  let count = 0
  const more = places.findIndex(({ terms }, at) => {
    count += terms.length
    return at > 0 && count > TERMS_AT_ONCE
  })
  return more === -1 ? places : places.slice(0, more)
}

interface TurnCount {
  place: number
  state: State
  comes: boolean
  terms: number
}

async function readTurns(sql: Sql, places: readonly UnreadTerms[], day: string): Promise<TurnCount[]> {
  const terms = places.flatMap(({ platform, storefront, terms }, place) =>
    terms.map((term) => ({ place, platform, storefront, term })),
  )
  return await sql<TurnCount[]>`
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

/** By their first letters. */
const STATES: Readonly<Record<string, State>> = {
  h: "held",
  t: "turn",
  o: "overdue",
  r: "read_failed",
  n: "not_due",
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

/** Null = it is measured. */
function whyNot(state: State | null, notRead: () => IdleReason | null): IdleReason | null {
  if (state === null) return "not_scheduled"
  if (state === "held") return null
  return notRead() ?? (state === "turn" ? null : state)
}

/** The App Store's difficulty becomes due with the first reading of the results; Google Play's is not read for itself. */
function difficultyWithout(search: IdleReason | null, { platform }: Side): IdleReason {
  if (platform !== "ios") return "not_scheduled"
  return search ?? "awaits_results"
}

type IdleReasons = Record<"search" | "hints" | "difficulty", Idle>

/** A popularity is made of suggestions and of what the difficulty reads: what stands in its way is told before what does not. */
function keywordOf({ search, hints, difficulty }: IdleReasons): KeywordUnderWay {
  const popularity =
    hints === null || difficulty === null
      ? null
      : (([hints, difficulty].find((why) => !CALM.includes(why)) ?? hints) as IdleReason)
  return {
    popularityMeasuring: popularity === null,
    popularityNotMeasuring: popularity,
    difficultyMeasuring: difficulty === null,
    difficultyNotMeasuring: difficulty,
    measuring: search === null,
    notMeasuring: search,
  }
}

const CALM: readonly (IdleReason | null)[] = ["not_due", "not_scheduled", "awaits_results"]
