import type { Fragment } from "postgres"
import type { Sql } from "../../database/types.ts"
import { type KeywordMetrics, type MetricsRow, metricsOf } from "../../observations/derived/keyword-figures.ts"
import { PART } from "../../observations/derived/keyword-lines.ts"
import { DEMO, sourceOf } from "../../observations/types.ts"
import type { PopularitySource } from "../../vocabulary/upstreams.ts"
import type { MarketAnswer, MarketLists } from "./lists-holding.ts"
import { NOT_READ } from "./shown-figures.ts"

/** A keyword whose latest answer holds at least one of several apps. */
export interface GapKeyword extends Omit<MarketAnswer, "listId"> {
  /** How many of them it holds. */
  held: number
  /** Of each in the order asked; null = not among the results read. */
  ranks: (number | null)[]
  /** By which it stands in the order; null = none is known. */
  popularity: number | null
  /** Popularity and difficulty as answers say them. */
  metrics: KeywordMetrics
}

/** The place of a keyword in the order of a gap. */
export type GapPlace = Pick<GapKeyword, "held" | "term" | "popularity">

export interface GapPage {
  after: GapPlace | null
  limit: number
  /** The UTC day. */
  today: string
}

export interface Gap {
  /** Of how many keywords each app stands among the answers, in the order asked. */
  totals: number[]
  total: number
  keywords: GapKeyword[]
}

/** Parts of a line before the ranks. */
const FIGURES = 13
/** Bits that say which of the apps an answer holds: above them is its popularity. */
const MOST_APPS = 30

/**
 * Those that the most of the apps hold first, then the most popular, then by term. Each app's answers are read once, by the
 * index of apps in what stands now; where in them it stands, and what the keyword's figures are, is looked up of what is shown.
 */
export async function findGap(
  sql: Sql,
  lists: Omit<MarketLists, "withDemo">,
  /** Up to 30. */
  apps: readonly number[],
  page: GapPage,
): Promise<Gap> {
  const rows = await sql<GapRow[]>`
    with keyword as materialized (${keywordsHolding(sql, lists, apps, page.today)}),
      best as materialized (${bestOf(sql, page)}),
      page as materialized (${shownOf(sql, apps, page)})
    -- said once: the driver takes as long for it in each row as for all else
    select case when row_number() over in_order = 1 then t.total end as total,
      case when row_number() over in_order = 1 then t.totals end as totals, p.line
    from (
      select count(*)::int as total, concat_ws(',', ${totalsOf(sql, apps)}) as totals
      from keyword
    ) t
    left join page p on true
    window in_order as (order by p.held desc, p.popularity desc, p.term)
    order by p.held desc, p.popularity desc, p.term
    limit ${page.limit}`
  const { total, totals } = rows[0]!
  return {
    total: total!,
    totals: totals!.split(",").map(Number),
    keywords: rows.flatMap(({ line }) => (line === null ? [] : keywordIn(line, apps.length, lists, page.today))),
  }
}

/** `held`: who stands in a keyword's answer, a bit each, and above them its popularity (0 = none is known). */
function keywordsHolding(
  sql: Sql,
  { platform, storefront, since }: Omit<MarketLists, "withDemo">,
  apps: readonly number[],
  today: string,
) {
  return sql`
    select list_id, bit_or(held) as held
    from (
      select n.list_id, (n.popularity << ${MOST_APPS}::int) | (1 << (a.place::int - 1)) as held
      from unnest(${apps as number[]}::int[]) with ordinality a (app, place)
      cross join lateral (
        select list_id, case when popular_until < ${today}::date then 0 else coalesce(popularity, 0) end::bigint as popularity
        from list_now
        where app_ids @> array[a.app] and day >= ${since}::date and origin <> ${DEMO} and storefront = ${storefront}
          and platform = ${platform}
        offset 0
      ) n
    ) n
    group by list_id`
}

/** Those that may stand on the page: all that are as good as its last, as `page` alone knows their terms. */
function bestOf(sql: Sql, { after, limit }: GapPage) {
  const ordered = sql`
    select list_id, bit_count(held::bit(30))::int as held, (held >> ${MOST_APPS}::int)::int as popularity,
      (held & ${2 ** MOST_APPS - 1}::int)::int as places
    from keyword`
  if (after === null)
    return sql`
      select *
      from (${ordered}) k
      order by held desc, popularity desc
      fetch first (${limit}::int) rows with ties`
  const place = sql`(${-after.held}::int, ${-(after.popularity ?? 0)}::int)`
  return sql`
    select *
    from (${ordered}) k
    where (-held, -popularity) >= ${place}
    order by held desc, popularity desc
    fetch first (
      ${limit}::int + (
        select count(*)
        from (${ordered}) k
        where (-held, -popularity) = ${place}
      )
    ) rows with ties`
}

/** `line`: what `keywordIn` takes apart; the driver reads one text sooner than its parts. */
function shownOf(sql: Sql, apps: readonly number[], { after, limit }: GapPage) {
  // empty = not in it
  const ranks = apps.map(
    (app, at) => sql`case when b.places & ${2 ** at}::int > 0 then array_position(app_ids, ${app}::int) end`,
  )
  return sql`
    select n.term, b.held, b.popularity,
      concat(
        b.held, ${PART}::text, b.popularity, ${PART}::text, n.depth, ${PART}::text, n.day, ${PART}::text, n.source, ${PART}::text,
        n.origin, ${PART}::text, k.difficulty, ${PART}::text, k.difficulty_day, ${PART}::text, k.estimate, ${PART}::text,
        k.estimate_day, ${PART}::text, k.published, ${PART}::text, k.published_day, ${PART}::text, k.published_by, ${PART}::text,
        n.ranks, ${PART}::text, n.term
      ) as line
    from best b
    cross join lateral (
      select term, depth, day, source, origin,
        -- not left for after the sort, which would take all of an answer's apps along
        concat(${ranks.reduce((all, rank) => sql`${all}, ${PART}::text, ${rank}`)}) as ranks
      from list_now
      where list_id = b.list_id
      offset 0
    ) n
    left join lateral (
      select difficulty, difficulty_day, estimate, estimate_day, published, published_day, published_by
      from keyword_now
      where list_id = b.list_id
      offset 0
    ) k on true
    where ${after === null}::boolean
      or (-b.held, -b.popularity, n.term)
        > (${-(after?.held ?? 0)}::int, ${-(after?.popularity ?? 0)}::int, ${after?.term ?? ""}::text)
    order by b.held desc, b.popularity desc, n.term
    limit ${limit}`
}

function totalsOf(sql: Sql, apps: readonly number[]): Fragment {
  const totals = apps.map((_, at) => sql`count(*) filter (where held & ${2 ** at}::int > 0)`)
  return totals.reduce((all, one) => sql`${all}, ${one}`)
}

/** The first says of all, and is alone where the page is empty. */
interface GapRow {
  total: number | null
  totals: string | null
  line: string | null
}

function keywordIn(line: string, apps: number, { platform }: Pick<MarketLists, "platform">, today: string): GapKeyword {
  const parts = line.split(PART)
  const ranks = parts.slice(FIGURES, FIGURES + apps).map((rank) => Number(rank) || null)
  // a term may hold what stands between parts
  const term = parts.slice(FIGURES + apps).join(PART)
  const [held, popularity, depth, day, code, origin, ...figures] = parts as [
    string,
    string,
    string,
    string,
    string,
    string,
  ]
  const [difficulty, difficultyDay, estimate, estimateDay, published, publishedDay, publishedBy] = figures as string[]
  const row: MetricsRow = {
    ...NOT_READ,
    ...{ difficulty: figureIn(difficulty), difficultyDay: difficultyDay || null },
    ...{ estimate: figureIn(estimate), estimateDay: estimateDay || null },
    ...{ published: figureIn(published), publishedDay: publishedDay || null },
    publishedBy: (publishedBy || null) as PopularitySource | null,
  }
  return {
    ...{ term, held: Number(held), popularity: Number(popularity) || null, ranks },
    ...{ depth: Number(depth), day, source: sourceOf(Number(code)), origin },
    metrics: metricsOf(row, platform, today),
  }
}

function figureIn(text: string | undefined): number | null {
  return text ? Number(text) : null
}
