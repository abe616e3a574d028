import type { Db, Sql } from "../database/types.ts"
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
  // a number a keyword: as rows, or as JSON of rows, it took the thread and the database longer
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

/** How what is due of a keyword stands, as one number `code`: of search, hints and difficulty a digit each, 0 where nothing is due. */
export function dueCodeOf(sql: Db, { platform, storefront }: Side, term: ReturnType<Db>) {
  // found by the index of that number
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

/** What is being measured, by the code of what is due (dueCodeOf). */
export function underWayBy(side: Side, reading: Reading): (code: number) => KeywordUnderWay {
  const [searched, hinted, read] = (["search", "hints", "difficulty"] as const).map((kind) => {
    const notRead = reading({ kind, ...side })
    return (digit: number) => whyNot(STATES[digit] ?? null, () => notRead)
  }) as [(digit: number) => Idle, (digit: number) => Idle, (digit: number) => Idle]
  // of 200 keywords nearly all stand alike
  const known = new Map<number, KeywordUnderWay>()
  return (code) => {
    const held = known.get(code)
    if (held) return held
    const search = searched(code % 6)
    const own = read(Math.floor(code / 36))
    const difficulty = own === "not_scheduled" ? difficultyWithout(search, side) : own
    const found = keywordOf({ search, hints: hinted(Math.floor(code / 6) % 6), difficulty })
    known.set(code, found)
    return found
  }
}

type Idle = IdleReason | null

/** Keywords of one storefront whose results of a UTC day were not read. */
interface UnreadTerms extends Side {
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
  const others = [...whys, { why: "not_scheduled" as const, count: terms.length - scheduled }]
    .filter(({ why, count }) => why !== null && count > 0)
    .sort((a, b) => b.count - a.count)
  const missed = others.reduce((sum, { count }) => sum + count, 0)
  return { expected: terms.length - missed, notMeasuring: others[0]?.why ?? null }
}

/** How a row of what is due stands: held by who reads it, at its turn, or why neither. */
type State = "held" | "turn" | "overdue" | "read_failed" | "not_due"

/** By the digits of stateOf. */
const STATES: readonly (State | null)[] = [null, "held", "turn", "overdue", "read_failed", "not_due"]

/** Of the row `d`. A search that was answered today is not due again, whatever put it forward. */
function stateOf(sql: Db) {
  // times that are asked for in a statement of their own are calculated once: for each row they take half of all the time
  return sql`
    case
      when d.lease_until > now() then 1
      when d.next_at > now() then case when d.failures > 0 then 4 else 5 end
      when d.kind = 'search' and d.measured_at >= (select date_trunc('day', now(), 'UTC')) then 5
      when d.next_at <= (select now() - interval '1 day') then 3
      else 2
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
