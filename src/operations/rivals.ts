import * as v from "valibot"
import type { Sql } from "../database/types.ts"
import { parseRival } from "../formulas/store-ids.ts"
import { AppCountry, Platform } from "../inputs.ts"
import { nameIn } from "../names.ts"
import { dayAnswers, type SideApp, sideOf } from "../observations/day-answers.ts"
import { preferredRating } from "../observations/rating-days.ts"
import { heldPlaces, type RivalsAsked } from "../observations/rivals.ts"
import { RANK_SOURCES, sourceOf } from "../observations/types.ts"
import { ofApp, operation } from "../operation.ts"
import { described } from "../schema.ts"
import { Count, Day, Rank, Store, Storefront, Time } from "./shapes.ts"

export const RivalTerm = v.strictObject({
  term: described(v.string(), "The tracked keyword."),
  theirRank: described(Rank, "The rival's."),
  ourRank: described(v.nullable(Rank), "Null = the tracked app was not among the results read."),
})

const Rival = v.strictObject({
  id: described(v.string(), "Store id."),
  name: described(v.string(), "The name the store showed, or the store id until one was seen."),
  ratings: described(v.nullable(Count), "The latest rating count known of that storefront; null = none yet."),
  ratingsDay: described(v.nullable(Day), "The UTC day they were read; null where ratings is."),
  ratingsSource: described(v.nullable(v.string()), "Who read them; null where ratings is."),
  terms: described(
    v.array(RivalTerm),
    "Tracked keywords where it stands above the app; of a manual rival all it holds.",
  ),
  manual: described(v.boolean(), "Named by hand: listed wherever it stands."),
})

export const listRivals = operation({
  id: "list_rivals",
  method: "GET",
  path: "/apps/:appId/rivals",
  group: "Your apps",
  toolset: "rivals",
  summary: "The apps that rank above the app on its tracked keywords.",
  description:
    "From the results of the latest measured day, as list_keyword_ranks shows it. The most keywords first, then the best rank; at most 50, rivals named by hand among them. add_rivals names rivals, remove_rivals hides them.",
  effect: "reads",
  scope: "apps:read",
  plan: "free",
  price: 1,
  faults: [],
  input: ofApp({ country: AppCountry, platform: Platform }),
  output: v.strictObject({
    country: Storefront,
    platform: Store,
    day: described(
      v.nullable(Day),
      "The UTC day of the results; null = never measured. Each keyword's moment and source stand in list_keyword_ranks.",
    ),
    measuredAt: described(v.nullable(Time), "When the latest of that day's results was seen; null = never measured."),
    sources: described(v.array(v.picklist(RANK_SOURCES)), "Who read them, the preferred first."),
    rivals: described(v.array(Rival), "The most keywords first, then the best rank."),
  }),
}).run(async ({ app, storefront, platform }, { sql }) => {
  const named = (app.manualRivals ?? []).map(parseRival)
  const manual = named.flatMap((rival) => (rival?.platform === platform ? [rival.id] : []))
  const side = sideOf(app, { storefront, platform })
  const rivals = await readRivals(sql, { side, manual }, app.countries)
  return { country: storefront, platform, ...(await readMoment(sql, side)), rivals }
})

async function readRivals(sql: Sql, asked: RivalsAsked, countries: readonly string[]) {
  const name = nameIn(sql, sql`l.app_id`, { storefront: asked.side.storefront, countries })
  return await sql<v.InferOutput<typeof Rival>[]>`
    with ${heldPlaces(sql, asked)}, listed as materialized (
      select coalesce(n.store_id, a.store_id) as id, coalesce(n.app_id, r.app_id) as app_id, r.best,
        coalesce(r.terms, 0) as terms, n.store_id is not null as manual
      from (
        select app_id, count(*) as terms, min(their_rank) as best
        from held
        group by app_id
      ) r
      full join named n on n.app_id = r.app_id
      left join store_app a on a.id = coalesce(n.app_id, r.app_id)
      order by manual desc, terms desc, r.best, coalesce(n.store_id, a.store_id) collate "C"
      limit 50
    ), shown as (
      select app_id,
        json_agg(
          json_build_object('term', term, 'theirRank', their_rank, 'ourRank', our_rank) order by position, term
        ) as terms
      from held
      where app_id in (select app_id from listed)
      group by app_id
    )
    select l.id, coalesce(${name}, l.id) as name, c.ratings, c.day as "ratingsDay", c.source as "ratingsSource", coalesce(s.terms, '[]') as terms, l.manual
    from listed l
    left join shown s on s.app_id = l.app_id
    left join lateral (
      select ratings, day, source
      from rating_count
      where app_id = l.app_id and storefront = ${asked.side.storefront} and ratings is not null
      order by day desc, ${preferredRating(sql)}
      limit 1
    ) c on true
    order by l.terms desc, l.best, l.id collate "C"`
}

/** When and by whom the results were read that the rivals come from. */
async function readMoment(sql: Sql, side: SideApp) {
  const [row] = await sql<{ day: string | null; seenAt: Date | null; sources: number[] }[]>`
    with ${dayAnswers(sql, [side])}
    select max(day) as day, max(seen_at) as "seenAt",
      coalesce(array_agg(distinct source::int order by source::int), '{}') as sources
    from answer`
  const { day, seenAt, sources } = row!
  return { day, measuredAt: seenAt?.toISOString() ?? null, sources: sources.map(sourceOf) }
}
