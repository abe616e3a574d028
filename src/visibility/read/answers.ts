import type { Db } from "../../database/types.ts"
import type { Assistant } from "../../lib/upstreams.ts"
import type { Citation } from "../kinds/assistant-answer.ts"

export interface StoredAnswer {
  assistant: Assistant
  term: string
  model: string
  phrasing: string
  run: number
  language: string
  seenAt: Date
  text: string
  searched: boolean
  cited: Citation[]
}

/** Length of a sample in hours. A check takes minutes, and no question is repeated within a day. */
const SAMPLE_HOURS = 36
const MAX_ANSWERS = 1_200

/**
 * Returns each assistant's latest sample for these keywords: the assistant's last answer, and the answers in the hours
 * before it by the same model and to the same version of the question, from checks of any workspace. Ordered by
 * assistant and keyword.
 */
export async function readSamples(
  sql: Db,
  { storefront, terms }: { storefront: string; terms: readonly string[] },
): Promise<StoredAnswer[]> {
  return await sql<StoredAnswer[]>`
    with asked as materialized (
      select a.*, first_value(a.seen_at) over latest as last_at, first_value(a.model) over latest as last_model,
        first_value(${versionIn(sql)}) over latest as last_version
      from assistant_answer a
      where a.storefront = ${storefront} and a.term = any(${terms as string[]}::text[])
      window latest as (partition by a.source order by a.seen_at desc, a.term, a.model, a.phrasing, a.run)
    )
    select ${columns(sql)}
    from asked a
    where seen_at > last_at - ${SAMPLE_HOURS}::int * interval '1 hour' and model = last_model
      and ${versionIn(sql)} = last_version
    order by source, term, phrasing, run, seen_at
    limit ${MAX_ANSWERS}`
}

/**
 * Returns the answers to these keywords from the given days and the COMPARED_DAYS before them, in order of time. Only
 * includes assistants that answered the keyword within the given days.
 */
export async function readComparable(
  sql: Db,
  { storefront, terms, from, to }: { storefront: string; terms: readonly string[]; from: string; to: string },
): Promise<StoredAnswer[]> {
  return await sql<StoredAnswer[]>`
    with fresh as materialized (
      select distinct term, source
      from assistant_answer
      where storefront = ${storefront} and term = any(${terms as string[]}::text[])
        and day between ${from}::date and ${to}::date
    )
    select ${columns(sql)}
    from fresh f
    join assistant_answer a on a.storefront = ${storefront} and a.term = f.term and a.source = f.source
    where a.day between ${from}::date - ${COMPARED_DAYS}::int and ${to}::date
    order by a.seen_at, a.source, a.term, a.model, a.phrasing, a.run`
}

/** Maximum number of days between answers that are compared. */
const COMPARED_DAYS = 120

function versionIn(sql: Db) {
  return sql`substring(a.phrasing from '^\\d+')`
}

function columns(sql: Db) {
  return sql`
    a.source as assistant, a.term, a.model, a.phrasing, a.run, a.language, a.seen_at as "seenAt", a.text, a.searched,
    a.cited`
}
