import type { Sql } from "../database/types.ts"
import type { Upstream } from "../lib/upstreams.ts"
import type { Lane } from "./pace.ts"

/**
 * Number of an upstream's responses to one egress address, per requested country and country that the response named.
 */
export interface CountryAnswers {
  upstream: Upstream
  asked: string
  answered: string
  reads: number
  firstAt: Date
  lastAt: Date
}

/**
 * `followed`: at least two countries were requested and answered as requested. `ignored`: one country was answered
 * whatever was requested. `mixed`: neither. `unknown`: only one country was requested and answered, which shows nothing
 * about others.
 */
export type CountryEffect = "followed" | "ignored" | "mixed" | "unknown"

export async function noteCountry(
  sql: Sql,
  { upstream, egress }: Lane,
  { asked, answered }: Pick<CountryAnswers, "asked" | "answered">,
  now: Date,
): Promise<void> {
  await sql`
    insert into answered_country as a (upstream, egress, asked, answered, first_at, last_at)
    values (${upstream}, ${egress}, ${asked}, ${answered}, ${now}, ${now})
    on conflict (upstream, egress, asked, answered) do update
    set reads = a.reads + 1, last_at = greatest(a.last_at, excluded.last_at)`
}

/** Returns the countries requested from an egress address, each with the countries that the answers named. */
export async function readCountries(sql: Sql, egress: string): Promise<CountryAnswers[]> {
  return await sql<CountryAnswers[]>`
    select upstream, asked, answered, reads::float8 as reads, first_at as "firstAt", last_at as "lastAt"
    from answered_country
    where egress = ${egress}
    order by upstream, asked, answered`
}

/** Returns the country named by the latest answer to a request for this country. Null if no answer named one yet. */
export async function readLatestCountry(sql: Sql, { upstream, egress }: Lane, country: string): Promise<string | null> {
  const [row] = await sql<{ answered: string }[]>`
    select answered
    from answered_country
    where upstream = ${upstream} and egress = ${egress} and asked = ${country}
    order by last_at desc, answered
    limit 1`
  return row?.answered ?? null
}

export function effectOf(answers: readonly Pick<CountryAnswers, "asked" | "answered">[]): CountryEffect {
  const mismatches = answers.filter(({ asked, answered }) => asked !== answered)
  const answered = new Set(answers.map((answer) => answer.answered))
  if (mismatches.length === 0) return answered.size > 1 ? "followed" : "unknown"
  return answered.size === 1 ? "ignored" : "mixed"
}
