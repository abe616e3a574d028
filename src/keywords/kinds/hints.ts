import * as v from "valibot"
import { kind, type ObservationOf, type StoredRange } from "../../core/kind.ts"
import { checkTerm } from "../../core/observation/invariants.ts"
import { list, Text } from "../../core/observation/line-parts.ts"
import { most, rule, ruleBy } from "../../core/observation/shape.ts"
import type { Sql } from "../../database/types.ts"
import { dayOf } from "../../lib/days.ts"
import { normaliseTerm } from "../../lib/term.ts"
import { type BestOptions, pagesOf, provenanceOf, storeBest } from "../../measuring/record/best-rows.ts"
import { differenceOf } from "../../measuring/record/differences.ts"

const SOURCES = ["apple-hints", "play-suggest"] as const

const shape = v.strictObject({
  /** The requested prefix, normalised like a term. */
  prefix: v.pipe(
    Text,
    v.transform(normaliseTerm),
    ruleBy((prefix) => checkTerm(prefix, "beginning")),
  ),
  /** Terms in the order shown. If several terms are equal once normalised, only the first is kept. */
  terms: v.pipe(
    list(
      v.pipe(
        Text,
        v.transform(normaliseTerm),
        ruleBy((term) => checkTerm(term, "suggested term")),
      ),
    ),
    v.transform((terms) => [...new Set(terms)]),
    most(100, "terms"),
    rule("duplicate_term", "a term is suggested twice", (terms) => new Set(terms).size === terms.length),
  ),
})

export type HintsObservation = ObservationOf<"hints", (typeof SOURCES)[number], typeof shape>

export interface HintsQuestion {
  storefront: string
  prefix: string
}

/** Suggestions of a store for a prefix. The last answer of each day and source is kept. */
export const hints = kind<HintsObservation, HintsQuestion>({
  name: "hints",
  sources: SOURCES,
  private: false,
  figures: ({ prefix }) => ({ kind: "hint", subject: prefix }),
  shape,
  question: { about: ({ prefix }) => prefix, checkSubject: (subject) => checkTerm(subject, "beginning") },
  async store(tx, answers) {
    const rows = answers.map((from) => {
      const { platform, storefront, prefix, seenAt, terms } = from
      return { from, row: { platform, storefront, prefix, day: dayOf(seenAt), terms, ...provenanceOf(from) } }
    })
    return { placed: await storeBest(tx, TABLE, rows) }
  },
  stored: readAnswers,
  replay: {
    subjects: ({ prefix }) => [prefix],
    toQuestion: ({ storefront }, prefix) => ({ storefront, prefix }),
    compare: (previous, now) => [differenceOf("terms", previous.terms, now.terms)],
    isStored: (sql) => sql`
      select
      from hint_answer h
      where (h.platform, h.storefront, h.prefix) = (a.platform, a.storefront, a.subject)
        and h.day = (a.at at time zone 'utc')::date and h.source = a.source and h.seen_at >= a.at`,
  },
  latest: (sql, { platform, storefront, subject }, since) => sql`
    select max(seen_at) as "seenAt"
    from hint_answer
    where (platform, storefront, prefix) = (${platform}, ${storefront}, ${subject})
      and day >= (${since}::timestamptz at time zone 'utc')::date and seen_at >= ${since}`,
  // Figures use the answers of the last weeks only; older ones are kept for comparisons over a month or a year.
  keep: { table: "hint_answer", day: "day", keep: 400 },
  example: {
    source: "apple-hints",
    platform: "ios",
    storefront: "us",
    prefix: "photo e",
    seenAt: "2025-10-25T03:25:01Z",
    terms: ["photo editor", "photo enhancer"],
  },
})

const TABLE: BestOptions = { table: "hint_answer", key: ["platform", "storefront", "prefix", "day", "source"] }
const PAGE = 200

type StoredAnswerRow = HintsObservation & { day: string }

async function* readAnswers(sql: Sql, { since, sources }: StoredRange): AsyncGenerator<HintsObservation[]> {
  const pages = pagesOf(
    (after: StoredAnswerRow | null) => sql<StoredAnswerRow[]>`
      select 'hints' as kind, platform, storefront, prefix, day, source, seen_at as "seenAt", terms, parser, origin,
        sha256
      from hint_answer
      where day >= ${since ?? "0001-01-01"} and source = any(${sources as string[]}::text[])
        and (platform, storefront, prefix, day, source) > (
          ${after?.platform ?? ""}, ${after?.storefront ?? ""}, ${after?.prefix ?? ""},
          ${after?.day ?? "0001-01-01"}::date, ${after?.source ?? ""}
        )
      order by platform, storefront, prefix, day, source
      limit ${PAGE}`,
  )
  for await (const rows of pages) yield rows.map(({ day: _day, ...answer }) => answer)
}

/** Returns the latest suggestions for a prefix since a day. Null if there are none. */
export async function readLatestHints(
  sql: Sql,
  { platform, storefront, prefix }: Pick<HintsObservation, "platform" | "storefront" | "prefix">,
  since: string,
): Promise<{ seenAt: Date; terms: string[] } | null> {
  const [row] = await sql<{ seenAt: Date; terms: string[] }[]>`
    select seen_at as "seenAt", terms
    from hint_answer
    where (platform, storefront, prefix) = (${platform}, ${storefront}, ${prefix}) and day >= ${since}::date
    order by day desc, seen_at desc, source
    limit 1`
  return row ?? null
}
