import type { Sql } from "../database/types.ts"
import type { Upstream } from "../lib/upstreams.ts"
import type { Lane } from "./pace.ts"

/** How often a host that was asked for one country from one address answered for which. */
export interface CountryAnswers {
  upstream: Upstream
  asked: string
  answered: string
  reads: number
  firstAt: Date
  lastAt: Date
}

/**
 * `followed`: two countries asked for and answered; `ignored`: one answered whatever was asked; `mixed`: neither;
 * `unknown`: one asked for and answered, which tells nothing.
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

/** The countries that were asked for from an address, with those that were answered. */
export async function readCountries(sql: Sql, egress: string): Promise<CountryAnswers[]> {
  return await sql<CountryAnswers[]>`
    select upstream, asked, answered, reads::float8 as reads, first_at as "firstAt", last_at as "lastAt"
    from answered_country
    where egress = ${egress}
    order by upstream, asked, answered`
}

/** The country that the latest answer named when this one was asked for; null where none has named any yet. */
export async function readLatestCountry(sql: Sql, { upstream, egress }: Lane, asked: string): Promise<string | null> {
  const [row] = await sql<{ answered: string }[]>`
    select answered
    from answered_country
    where upstream = ${upstream} and egress = ${egress} and asked = ${asked}
    order by last_at desc, answered
    limit 1`
  return row?.answered ?? null
}

export function effectOf(answers: readonly Pick<CountryAnswers, "asked" | "answered">[]): CountryEffect {
  const others = answers.filter(({ asked, answered }) => asked !== answered)
  const answered = new Set(answers.map((one) => one.answered))
  if (others.length === 0) return answered.size > 1 ? "followed" : "unknown"
  return answered.size === 1 ? "ignored" : "mixed"
}
