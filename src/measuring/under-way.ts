import type { Side } from "../core/observation/provenance.ts"
import type { Db, Sql } from "../database/types.ts"
import { type IdleReason, type Reader, type Reading, readersQuery, readingBy, readReaders } from "./readers.ts"

/** Whether the metrics of a keyword are being measured: a process reads them now, or they are next in line. */
export interface KeywordUnderWay {
  popularityMeasuring: boolean
  /** The reason why the metrics are not being measured. Null if they are. */
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
  // one string with all codes: a row per keyword, or JSON, is slower in the process and in the database
  const [row] = await sql<[{ readers: Reader[] | null; codes: string }]>`
    select r.readers, w.codes
    from (
      select json_agg(r) as readers
      from (${readersQuery(sql)}) r
    ) r
    cross join (
      select string_agg(d.code::text, ',' order by k.place) as codes
      from unnest(${terms as string[]}::text[]) with ordinality k (term, place)
      cross join lateral (${dueCodeOf(sql, side, sql`k.term`)}) d
    ) w`
  const codes = row.codes.split(",")
  const underWay = underWayBy(side, readingBy(row.readers ?? []))
  return new Map(terms.map((term, at) => [term, underWay(Number(codes[at]))]))
}

/**
 * Returns SQL for the state of a keyword's scheduled readings as one number `code`, which has one base-6 digit for each
 * of search, hints and difficulty.
 */
export function dueCodeOf(sql: Db, { platform, storefront }: Side, term: ReturnType<Db>) {
  // the hash uses the index due_keyword
  return sql`
    select coalesce(sum(${digitOf(sql)}), 0)::int as code
    from due d
    where d.kind in ('search', 'hints', 'difficulty')
      and hashtextextended(d.subject, hashtextextended(d.storefront, 0))
        = hashtextextended(${term}, hashtextextended(${storefront}, 0))
      and (d.platform, d.storefront, d.subject) = (${platform}, ${storefront}, ${term})`
}

function digitOf(sql: Db) {
  return sql`case d.kind when 'search' then 1 when 'hints' then 6 else 36 end * ${stateOf(sql)}`
}

/** Returns what is being measured for a code of dueCodeOf. */
export function underWayBy(side: Side, reading: Reading): (code: number) => KeywordUnderWay {
  const [searched, hinted, read] = (["search", "hints", "difficulty"] as const).map((kind) => {
    const notRead = reading({ kind, ...side })
    return (digit: number) => whyNot(STATES[digit] ?? null, () => notRead)
  }) as [(digit: number) => Idle, (digit: number) => Idle, (digit: number) => Idle]
  // cached: nearly all keywords of an app have the same code
  const cache = new Map<number, KeywordUnderWay>()
  return (code) => {
    const cached = cache.get(code)
    if (cached) return cached
    const search = searched(code % 6)
    const scheduled = read(Math.floor(code / 36))
    const difficulty = scheduled === "not_scheduled" ? difficultyWithout(search, side) : scheduled
    const found = keywordOf({ search, hints: hinted(Math.floor(code / 6) % 6), difficulty })
    cache.set(code, found)
    return found
  }
}

type Idle = IdleReason | null

/** Keywords of one storefront that were not measured on a UTC day. */
interface UnreadTerms extends Side {
  terms: readonly string[]
}

export interface Expectation {
  /** Number of keywords that will still be measured that day. */
  expected: number
  /** The most frequent reason why the remaining keywords will not be measured. Null if all will be measured. */
  notMeasuring: IdleReason | null
}

/**
 * Maximum keywords per statement, so that it does not block the event loop. A storefront with more keywords gets a
 * statement of its own.
 */
const TERMS_AT_ONCE = 2_000

/** Returns, for each place, how many keywords will still be measured on a day. */
export async function readExpectations(sql: Sql, places: readonly UnreadTerms[], day: string): Promise<Expectation[]> {
  if (places.length === 0) return []
  const reading = await readReaders(sql)
  const all: Expectation[] = []
  while (all.length < places.length) {
    const together = firstFew(places.slice(all.length))
    const byPlace = Map.groupBy(await readTurns(sql, together, day), ({ place }) => place)
    all.push(...together.map((side, place) => expectationOf(side, byPlace.get(place) ?? [], reading)))
  }
  return all
}

/** Returns the first places that fit one statement, at least one. */
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
  /** See STATES. */
  state: number
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
  rows: readonly TurnCount[],
  reading: Reading,
): Expectation {
  const scheduled = rows.reduce((sum, row) => sum + row.terms, 0)
  const whys = rows.map((row) => {
    const why = whyNot(STATES[row.state] ?? null, () => reading({ kind: "search", platform, storefront }))
    const waits = row.comes && (why === "not_due" || why === "read_failed")
    return { why: waits ? null : why, count: row.terms }
  })
  const missing = [...whys, { why: "not_scheduled" as const, count: terms.length - scheduled }]
    .filter(({ why, count }) => why !== null && count > 0)
    .sort((a, b) => b.count - a.count)
  const missed = missing.reduce((sum, { count }) => sum + count, 0)
  return { expected: terms.length - missed, notMeasuring: missing[0]?.why ?? null }
}

/** The state of a row of `due`: leased by a reader, next in line, or the reason why it is neither. */
type State = "held" | "turn" | "overdue" | "read_failed" | "not_due"

/** The states in the order of the digits of stateOf. */
const STATES: readonly (State | null)[] = [null, "held", "turn", "overdue", "read_failed", "not_due"]

/** Returns SQL for the state of the row `d`. A search answered today is not due again, even if it was rescheduled. */
function stateOf(sql: Db) {
  // a time in a subquery is computed once; computed per row it takes half of the total time
  return sql`
    case
      when d.lease_until > now() then 1
      when d.next_at > now() then case when d.failures > 0 then 4 else 5 end
      when d.kind = 'search' and d.measured_at >= (select date_trunc('day', now(), 'UTC')) then 5
      when d.next_at <= (select now() - interval '1 day') then 3
      else 2
    end`
}

/** Returns why a state is not measured. Null if it is. */
function whyNot(state: State | null, notRead: () => IdleReason | null): IdleReason | null {
  if (state === null) return "not_scheduled"
  if (state === "held") return null
  return notRead() ?? (state === "turn" ? null : state)
}

/**
 * Returns the reason why a difficulty without a row of `due` is not measured. A difficulty on the App Store becomes due
 * with the first search results; one on Google Play is never read on its own.
 */
function difficultyWithout(search: IdleReason | null, { platform }: Side): IdleReason {
  if (platform !== "ios") return "not_scheduled"
  return search ?? "awaits_results"
}

type IdleReasons = Record<"search" | "hints" | "difficulty", Idle>

/**
 * Combines the states of a keyword's readings. A popularity needs the hints and the readings of the difficulty. A
 * reason that blocks the popularity takes precedence over a harmless one.
 */
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
