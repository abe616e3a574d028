import type { Side } from "../../core/observation/provenance.ts"
import type { RankedApp } from "../../core/ranked-app.ts"
import type { Sql } from "../../database/types.ts"
import { dayTerms, sideOf } from "../../keywords/read/day-answers.ts"
import { SHOWN_DAYS, UNMEASURED } from "../../keywords/store/keyword-figures.ts"
import { readKeywordMetrics } from "../../keywords/store/keyword-metrics.ts"
import { popularityOrderOf } from "../../keywords/store/popularity-order.ts"
import { addDays, dayOf } from "../../lib/days.ts"
import { TEXT_SOURCES } from "../../listings/read/listing-texts.ts"
import { preferredRating } from "../../stores/read/rating-days.ts"
import { type NamePlace, nameIn } from "../../stores/store/app-names.ts"
import type { PlanKeyword, RankedPeer } from "../formulas/plan-tasks.ts"

interface PageTexts {
  name: string
  /** Empty if the page shows none. */
  subtitle: string
  seenAt: Date
  /** Time at which a change of name or subtitle was last seen. Null if none was seen since the first reading. */
  changedAt: Date | null
}

/** Returns name and subtitle of an app's page in a storefront. Null if it was not read there. */
export async function readPageTexts(sql: Sql, app: number, { platform, storefront }: Side): Promise<PageTexts | null> {
  const source = TEXT_SOURCES[platform]
  const [row] = await sql<PageTexts[]>`
    select c.content ->> 'name' as name, coalesce(c.content ->> 'subtitle', '') as subtitle, r.seen_at as "seenAt", (
      select max(at)
      from listing_change
      where (app_id, storefront, source) = (${app}, ${storefront}, ${source}) and kind in ('name', 'subtitle')
    ) as "changedAt"
    from (
      select seen_at, digest
      from listing_run
      where (app_id, storefront, source, section) = (${app}, ${storefront}, ${source}, 'page')
      order by first_seen_at desc
      limit 1
    ) r
    join listing_content c
      on (c.app_id, c.storefront, c.source, c.section, c.digest) = (${app}, ${storefront}, ${source}, 'page', r.digest)`
  return row ?? null
}

/** Limits of the search: the number of most popular keywords, and the number of first places read of each. */
const KEYWORDS = 40
const PLACES = 50
/** Results older than this say too little about today's. */
export const YOUNG_DAYS = 7

/** Returns the most popular keywords, at most KEYWORDS, with the apps in their first places. */
export async function planKeywords(sql: Sql, app: RankedApp, side: Side, now: Date): Promise<PlanKeyword[]> {
  const answers = await readAnswers(sql, app, side, dayOf(now))
  const metrics = await readKeywordMetrics(sql, { ...side, terms: answers.map(({ term }) => term), today: dayOf(now) })
  const popular = answers.flatMap((answer) => {
    const { popularity, popularityLow, popularityHigh, popularitySource, popularityAt, popularityOrder } =
      metrics.get(answer.term) ?? UNMEASURED
    const searched = { popularity, popularityLow, popularityHigh, popularitySource, popularityAt }
    return popularityOrder ? [{ ...answer, ...searched, weight: popularityOrder }] : []
  })
  const chosen = popular.sort((a, b) => b.weight - a.weight || (a.term < b.term ? -1 : 1)).slice(0, KEYWORDS)
  const peers = await readPeers(
    sql,
    chosen.flatMap(({ ids }) => ids),
    { storefront: side.storefront, countries: app.countries },
  )
  const ownApp = sideOf(app, side).storeAppId
  return chosen.map(({ ids, ...keyword }) => ({
    ...keyword,
    peers: ids.flatMap((id, at): RankedPeer[] => {
      const peer = peers.get(id)
      return id === ownApp || !peer ? [] : [{ rank: at + 1, ...peer }]
    }),
  }))
}

interface Answer {
  term: string
  day: string
  rank: number | null
  ids: number[]
}

/** Reads only the most popular keywords: parsing the results of a thousand would block the thread. */
async function readAnswers(sql: Sql, app: RankedApp, side: Side, today: string): Promise<Answer[]> {
  return await sql<Answer[]>`
    with ${dayTerms(sql, [sideOf(app, side)])}, chosen as (
      select t.*, n.weight
      from term t
      cross join lateral (
        select ${popularityOrderOf(sql, {
          published: sql`published`,
          estimate: sql`case when estimate_day >= ${addDays(today, -SHOWN_DAYS)}::date then estimate end`,
          platform: sql`${side.platform}`,
        })} as weight
        from keyword_now
        where list_id = t.list_id
        offset 0
      ) n
      where t.last_day = t.day and t.day >= ${addDays(today, -YOUNG_DAYS)}::date and n.weight > 0
      order by n.weight desc, t.term collate "C"
      limit ${KEYWORDS}
    )
    select c.term, c.day, array_position(r.app_ids, c.store_app_id) as rank, r.app_ids[1:${PLACES}] as ids
    from chosen c
    join list_now r on r.list_id = c.list_id
    order by c.weight desc, c.term collate "C"`
}

async function readPeers(sql: Sql, ids: readonly number[], place: NamePlace) {
  const rows = await sql<{ id: number; name: string | null; ratings: number | null }[]>`
    select a.id, ${nameIn(sql, sql`a.id`, place)} as name, c.ratings
    from unnest(${[...new Set(ids)]}::int[]) a (id)
    left join lateral (
      select ratings
      from rating_count
      where app_id = a.id and storefront = ${place.storefront as string} and ratings is not null
      order by day desc, ${preferredRating(sql)}
      limit 1
    ) c on true
    order by a.id
    limit ${KEYWORDS * PLACES}`
  return new Map(rows.map(({ id, ...peer }) => [id, peer]))
}
