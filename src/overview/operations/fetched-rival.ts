import * as v from "valibot"
import type { Platform } from "../../core/observation/provenance.ts"
import type { Context } from "../../core/operation.ts"
import type { TrackedApp } from "../../core/tracked-app.ts"
import type { Sql } from "../../database/types.ts"
import { RivalTerm } from "../../keywords/operations/list-rivals.ts"
import { dayAnswers, sideOf } from "../../keywords/read/day-answers.ts"
import { type RecordId, rivalRecordId } from "../../lib/record-ids.ts"
import { described, named } from "../../lib/schema.ts"
import { appPage, STORES } from "../../lib/store-pages.ts"
import { preferredRating } from "../../stores/read/rating-days.ts"
import { iconIn, type NamePlace, nameIn } from "../../stores/store/app-names.ts"
import type { RecordAnswer } from "../../tracking/records.ts"
import { Count, Day, Source, Store, Storefront } from "../../tracking/shapes.ts"

/** Maximum number of keywords read, so that the read stays small for an app with many storefronts. */
const LISTS = 1_000

const Ratings = v.strictObject({
  count: described(Count, "Number of ratings."),
  day: described(Day, "UTC day of the reading."),
  source: described(Source, "Source of the reading."),
})

const Standing = v.strictObject({
  country: Storefront,
  day: described(v.nullable(Day), "The latest UTC day on which any keyword of the app was measured. Null if never."),
  ratings: described(v.nullable(Ratings), "Latest rating count in that storefront. Null if unknown."),
  terms: described(
    v.array(RivalTerm),
    "Keywords where it ranks above the app on that day; for a rival added by hand, all keywords it ranks for. " +
      `Covers the first ${LISTS} keywords of the app over all storefronts.`,
  ),
})

export const RivalRecord = named(
  "RivalRecord",
  v.strictObject({
    platform: Store,
    storeId: described(v.string(), "Store id."),
    name: described(
      v.nullable(v.string()),
      "Name in the first storefront where it ranks above the app, else in the app's first storefront. Null if unknown.",
    ),
    developer: described(v.nullable(v.string()), "Null if unknown."),
    icon: described(v.nullable(v.string()), "URL of the store icon. Null if unknown."),
    manual: described(v.boolean(), "True if added by hand. Such an app is a rival at any rank."),
    app: described(
      v.strictObject({
        id: described(v.string(), "Id of the app, as in list_apps."),
        name: described(v.string(), "Name of the app, as in list_apps."),
      }),
      "The tracked app whose rival it is.",
    ),
    storefronts: described(v.array(Standing), "Storefronts tracked for the app, in order."),
  }),
)

type FetchedRival = RecordAnswer<v.InferOutput<typeof RivalRecord>>
type RivalRecordId = RecordId & { kind: "rival" }

/**
 * Returns the record of a rival. Null if it is hidden, or if it was neither added manually nor is in the latest results
 * of the app's keywords.
 */
export async function fetchRival({ sql }: Context, app: TrackedApp, id: RivalRecordId): Promise<FetchedRival | null> {
  const { platform, storeId } = id
  if (app.hiddenRivals?.includes(`${platform}:${storeId}`)) return null
  const manual = app.manualRivals?.includes(`${platform}:${storeId}`) ?? false
  const rivalId = await readId(sql, id)
  const isRival = rivalId === null ? manual : rivalId !== (platform === "ios" ? app.iosApp : app.androidApp)
  if (!isRival) return null
  const standings = await readStandings(sql, app, platform, rivalId)
  if (!manual && standings.every(({ terms }) => terms.length === 0)) return null
  const storefronts = standings.map(({ terms, ...rest }) => ({
    ...rest,
    terms: manual ? terms : terms.filter(isAbove),
  }))
  const first = standings.find(({ terms }) => terms.some(isAbove)) ?? { country: app.countries[0] }
  const place = { storefront: first.country, countries: app.countries }
  const { name, developer, icon } = (rivalId !== null && (await readFacts(sql, rivalId, place))) || UNSEEN
  return {
    id: rivalRecordId(app.id, storeId),
    title: name ?? storeId,
    url: appPage(platform, storeId, first.country),
    text: `${name ?? storeId}, a rival of ${app.name} on ${STORES[platform]}: ${inWords(standings)}.`,
    metadata: { platform, storeId, name, developer, icon, manual, app: { id: app.id, name: app.name }, storefronts },
  }
}

async function readId(sql: Sql, { platform, storeId }: RivalRecordId): Promise<number | null> {
  const [row] = await sql<{ id: number }[]>`
    select id
    from store_app
    where (platform, store_id) = (${platform}, ${storeId})`
  return row?.id ?? null
}

interface Facts {
  name: string | null
  developer: string | null
  icon: string | null
}

const UNSEEN: Facts = { name: null, developer: null, icon: null }

async function readFacts(sql: Sql, id: number, place: NamePlace): Promise<Facts | undefined> {
  const [facts] = await sql<Facts[]>`
    select ${nameIn(sql, sql`s.id`, place)} as name, developer, ${iconIn(sql, sql`s.id`, place)} as icon
    from store_app s
    where id = ${id}`
  return facts
}

type StandingRow = v.InferOutput<typeof Standing>

/**
 * Returns every rank of the rival in each storefront of the app. `rivalId` is its store_app id, null if it was never
 * seen.
 */
async function readStandings(sql: Sql, app: TrackedApp, platform: Platform, rivalId: number | null) {
  const sides = app.countries.map((storefront) => sideOf(app, { platform, storefront }))
  return await sql<StandingRow[]>`
    with ${dayAnswers(sql, sides, { lists: LISTS })}, place as (
      select side, term, position, our_rank, array_position(app_ids, ${rivalId}::int) as their_rank
      from answer
    ), held as (
      select side,
        json_agg(
          json_build_object('term', term, 'theirRank', their_rank, 'ourRank', our_rank) order by position, term
        ) as terms
      from place
      where their_rank is not null
      group by side
    ), shown as (
      select side, max(day) as day
      from term
      group by side
    )
    select c.country, s.day, r.ratings, coalesce(h.terms, '[]') as terms
    from unnest(${app.countries}::text[]) with ordinality c (country, side)
    left join shown s on s.side = c.side
    left join held h on h.side = c.side
    left join lateral (
      select json_build_object('count', ratings, 'day', day, 'source', source) as ratings
      from rating_count
      where app_id = ${rivalId} and storefront = c.country and ratings is not null
      order by day desc, ${preferredRating(sql)}
      limit 1
    ) r on true
    order by c.side
    limit 1000`
}

function isAbove({ theirRank, ourRank }: v.InferOutput<typeof RivalTerm>): boolean {
  return ourRank === null || theirRank < ourRank
}

function inWords(standings: readonly StandingRow[]): string {
  const parts = standings.flatMap(({ country, day, terms }) => {
    const above = terms.filter(isAbove).length
    return above > 0 ? [`above it on ${above} ${above === 1 ? "keyword" : "keywords"} in ${country} on ${day}`] : []
  })
  return parts.length > 0 ? parts.join("; ") : "above it on no keyword of the latest measured days"
}
