import * as v from "valibot"
import { kind, type ObservationOf, type StoredRange } from "../../core/kind.ts"
import { checkTerm, hold, isText } from "../../core/observation/invariants.ts"
import { list, Moment, Text, Whole } from "../../core/observation/line-parts.ts"
import { hexOf, latestOf } from "../../core/observation/precedence.ts"
import type { AnyObservation } from "../../core/observation/provenance.ts"
import { most, rule, ruleBy } from "../../core/observation/shape.ts"
import type { Sql } from "../../database/types.ts"
import { monthOf } from "../../lib/days.ts"
import { normaliseTerm } from "../../lib/term.ts"
import { pagesOf } from "../../measuring/record/best-rows.ts"
import { deriveKeywordNow } from "../store/now.ts"

const Popularity = v.pipe(
  Whole,
  rule("bad_figure", "the popularity must be a whole number from 1 to 100", isPopularity),
)
const InGenre = v.pipe(
  v.strictObject({ genre: Text, rank: Whole, popularity: Whole }),
  ruleBy(({ rank, popularity }) => {
    hold(Number.isSafeInteger(rank) && rank >= 1, "bad_figure", "a rank in a genre must be a whole number from 1")
    hold(isPopularity(popularity), "bad_figure", "a popularity in a genre must be a whole number from 1 to 100")
  }),
)

const shape = v.strictObject({
  term: v.pipe(
    Text,
    v.transform(normaliseTerm),
    ruleBy((term) => checkTerm(term)),
  ),
  /** First day of the month that the figure is for. An imported line gives only the month. */
  month: v.pipe(
    Text,
    v.regex(/^\d{4}-(0[1-9]|1[0-2])$/, "must be a month, YYYY-MM"),
    v.transform((month) => `${month}-01`),
    ruleBy(checkMonth),
  ),
  /** 1 to 100, over all genres. */
  popularity: Popularity,
  /** The genres whose list contains the term, with its rank and popularity in each. Empty if unknown. */
  genres: v.pipe(
    v.optional(list(InGenre), () => []),
    most(100, "genres"),
    rule("bad_text", "each genre must have a name and occur only once", (genres) => {
      return new Set(genres.map(({ genre }) => genre)).size === genres.length && genres.every(isNamed)
    }),
  ),
})

function isPopularity(figure: number): boolean {
  return Number.isInteger(figure) && figure >= 1 && figure <= 100
}

function isNamed({ genre }: { genre: string }): boolean {
  return isText(genre, 100)
}

function checkMonth(month: string, { seenAt }: AnyObservation): void {
  const first = /^\d{4}-\d\d-\d\d$/.test(month) && !Number.isNaN(Date.parse(month)) && monthOf(month) === month
  hold(first, "bad_month", "the month must be given by its first day")
  hold(endOf(month) <= seenAt, "bad_month", "the month was not over when the figure was seen")
}

/** Returns the earliest time at which a figure of the month can exist. */
function endOf(month: string): Date {
  const [year, number] = month.split("-").map(Number) as [number, number]
  return new Date(Date.UTC(year, number))
}

export type PopularityObservation = ObservationOf<"popularity", "apple-ads-report", typeof shape> & { platform: "ios" }

/** Keeps the last figure of each month. Formula 0 means published, not calculated; `parts` holds what has no column. */
export const popularity = kind<PopularityObservation>({
  name: "popularity",
  sources: ["apple-ads-report"],
  private: false,
  demo: "invented",
  shape,
  line: {
    entries: { source: null, platform: null, seenAt: v.optional(Moment) },
    read: ({ seenAt, ...rest }: PopularityObservation) => ({
      ...rest,
      source: "apple-ads-report",
      platform: "ios",
      seenAt: seenAt ?? endOf(rest.month),
    }),
  },
  names: (seen) => ({ list: seen }),
  async store(tx, figures, { listOf }) {
    const keyOf = (list: number, day: string) => `${list} ${day}`
    const rows = latestOf(figures.map((from) => ({ from, key: keyOf(listOf(from), from.month) })))
    const written = await tx<{ list: number; day: string }[]>`
      insert into keyword_metric as held (list_id, metric, day, source, seen_at, score, formula, parts)
      select list_id, 'popularity', day, source, seen_at, score, 0, parts
      from jsonb_populate_recordset(null::keyword_metric, ${tx.json(rows.map(({ from }) => rowOf(from, listOf(from))))})
      order by list_id, day, source
      on conflict (list_id, metric, day, source) do update
      set seen_at = excluded.seen_at, score = excluded.score, formula = excluded.formula, parts = excluded.parts
      where (excluded.seen_at, (excluded.parts ->> 'parser')::int, excluded.parts ->> 'sha256')
        > (held.seen_at, (held.parts ->> 'parser')::int, held.parts ->> 'sha256')
      returning list_id as list, day`
    const keys = new Set(written.map(({ list, day }) => keyOf(list, day)))
    return { placed: rows.filter(({ key }) => keys.has(key)).map(({ from }) => from) }
  },
  async derive(tx, { placed }, { listOf }) {
    await deriveKeywordNow(tx, placed.map(listOf))
  },
  stored: readFigures,
  example: {
    storefront: "us",
    term: "photo editor",
    month: "2025-09",
    popularity: 71,
    genres: [{ genre: "Photo & Video", rank: 3, popularity: 97 }],
  },
})

function rowOf(from: PopularityObservation, list_id: number) {
  const { month, source, seenAt, popularity, genres, parser, origin, sha256 } = from
  const parts = { month, genres, sha256: hexOf(sha256), parser, origin }
  return { list_id, day: month, source, seen_at: seenAt.toISOString(), score: popularity, parts }
}

const PAGE = 200

type StoredFigureRow = PopularityObservation & { list: number }

async function* readFigures(sql: Sql, { since, sources }: StoredRange): AsyncGenerator<PopularityObservation[]> {
  const pages = pagesOf(
    (after: StoredFigureRow | null) => sql<StoredFigureRow[]>`
      select 'popularity' as kind, m.list_id as list, l.platform, l.storefront, l.term, m.day as month, m.source,
        m.seen_at as "seenAt", m.score as popularity, m.parts -> 'genres' as genres,
        (m.parts ->> 'parser')::int as parser,
        m.parts ->> 'origin' as origin, decode(m.parts ->> 'sha256', 'hex') as sha256
      from keyword_metric m
      join list l on l.id = m.list_id
      where m.metric = 'popularity' and m.formula = 0 and m.day >= ${since ?? "0001-01-01"}
        and m.source = any(${sources as string[]}::text[])
        and (m.list_id, m.day, m.source)
          > (${after?.list ?? 0}, ${after?.month ?? "0001-01-01"}::date, ${after?.source ?? ""})
      order by m.list_id, m.day, m.source
      limit ${PAGE}`,
  )
  for await (const rows of pages) yield rows.map(({ list: _list, ...figure }) => figure)
}
