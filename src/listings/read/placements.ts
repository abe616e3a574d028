import type { Platform } from "../../core/observation/provenance.ts"
import type { Sql } from "../../database/types.ts"
import type { FactSource } from "../../lib/upstreams.ts"
import { nameIn } from "../../stores/store/app-names.ts"

/** The only source whose pages show events and editors' cards. */
const PLACED_BY: FactSource = "apple-app-page"
/** The sources whose pages show similar apps. */
export const SHELVED_BY: Record<Platform, FactSource> = { ios: PLACED_BY, android: "play-details" }

export interface Placement {
  storefront: string
  kind: "event" | "story" | "collection"
  id: string
  title: string | null
  /** Only for events: the page's label of the event type, the text and the dates. */
  label: string | null
  text: string | null
  startsAt: Date | null
  endsAt: Date | null
  firstSeenAt: Date
  lastSeenAt: Date
  /** True if the latest page shows the card or event. */
  shown: boolean
  /**
   * Time of the first page that lacks the item but still shows other items. Null if the item is still shown or its end
   * is unknown.
   */
  goneAt: Date | null
}

/** Maximum number of placements per storefront. */
const MAX_PLACEMENTS = 200
/** Approximate maximum number of placements in all storefronts. */
const MAX_TOTAL = 2_000

export interface Placements {
  placements: Placement[]
  /** Storefronts with more placements than listed. */
  truncated: Set<string>
}

/**
 * Returns the placements seen since a UTC day, and those on the latest page. At most the latest 200 per storefront,
 * fewer for more than 10 storefronts.
 */
export async function readPlacements(
  sql: Sql,
  appId: number,
  storefronts: readonly string[],
  since: string,
): Promise<Placements> {
  const from = `${since}T00:00:00Z`
  const most = Math.min(MAX_PLACEMENTS, Math.floor(MAX_TOTAL / Math.max(1, storefronts.length)))
  const rows = await sql<(Placement & { nth: number })[]>`
    with gone as materialized (
      select storefront, subject, max(at) as at
      from listing_change
      where app_id = ${appId} and at >= ${from}::timestamptz and storefront = any(${storefronts as string[]}::text[])
        and source = ${PLACED_BY} and kind in ('event_ended', 'unfeatured')
      group by storefront, subject
    )
    select s.storefront, i.kind, i.item_id as id, i.title, i.label, i.text, i.starts_at as "startsAt",
      i.ends_at as "endsAt", i.first_seen_at as "firstSeenAt", i.seen_at as "lastSeenAt",
      i.seen_at >= r.seen_at as shown, g.at as "goneAt", i.nth::int as nth
    from unnest(${storefronts as string[]}::text[]) with ordinality s (storefront, place)
    cross join lateral (
      select seen_at
      from listing_run
      where (app_id, storefront, source, section) = (${appId}, s.storefront, ${PLACED_BY}, 'page')
      order by first_seen_at desc
      limit 1
    ) r
    cross join lateral (
      select *, row_number() over (order by seen_at desc, first_seen_at desc, kind, item_id) as nth
      from listing_item
      where (app_id, storefront, source) = (${appId}, s.storefront, ${PLACED_BY})
        and seen_at >= least(${from}::timestamptz, r.seen_at)
      order by nth
      limit ${most + 1}
    ) i
    left join gone g
      on g.storefront = s.storefront and g.at > i.seen_at
        and g.subject = case i.kind when 'event' then i.item_id else i.kind || ' ' || i.item_id end
    order by s.place, i.nth`
  return {
    placements: rows.filter(({ nth }) => nth <= most),
    truncated: new Set(rows.filter(({ nth }) => nth > most).map(({ storefront }) => storefront)),
  }
}

export interface ShelfApp {
  storefront: string
  seenAt: Date
  /** Place in the row, counted from 1. */
  place: number
  storeId: string
  /** Null if no reading has contained the app's name yet. */
  name: string | null
}

export interface Shelves {
  /** Reading times of the app's own row, by storefront. */
  readAt: Map<string, Date>
  apps: ShelfApp[]
}

export const NO_SHELVES: Shelves = { readAt: new Map(), apps: [] }

export interface ShelfOwner {
  platform: Platform
  appId: number
  /**
   * The storefronts of the tracked app. If a similar app was never read in one storefront, its name is taken from
   * another of these.
   */
  countries: readonly string[]
}

/** Returns the apps similar to an app, as its page shows them in each storefront, in page order. */
export async function readSimilarShelves(
  sql: Sql,
  owner: ShelfOwner,
  storefronts: readonly string[],
): Promise<Shelves> {
  const rows = await sql<ShelfRow[]>`
    select ${shelfColumns(sql, owner)}
    from (${ownShelves(sql, owner, storefronts)}) x
    order by x.at, x.place`
  return shelvesOf(rows)
}

export interface NeighbourShelves {
  /** Number of other apps' rows that were read, by storefront. */
  read: Map<string, number>
  /** The apps whose row contains this app, and this app's place in each row. */
  apps: ShelfApp[]
}

/**
 * Returns the app's own rows, and the rows of rivals and similar apps that could contain the app, as far as those rows
 * were read, best places first. One statement, because both parts start from the app's own rows. `id` is the tracked
 * app's.
 */
export async function readAllShelves(
  sql: Sql,
  owner: ShelfOwner & { id: string },
  storefronts: readonly string[],
): Promise<{ ownShelves: Shelves; neighbourShelves: NeighbourShelves }> {
  const { id, platform, appId } = owner
  const rows = await sql<(ShelfRow & { isOwn: boolean })[]>`
    with own as materialized (${ownShelves(sql, owner, storefronts)}), near as (
      select storefront, id
      from own
      where id <> ${appId}
      union
      select storefront, rival
      from app_rival
      where app_id = ${id} and platform = ${platform} and storefront = any(${storefronts as string[]}::text[])
        and rival <> ${appId}
    )
    select x.is_own as "isOwn", ${shelfColumns(sql, owner)}
    from (
      select true as is_own, *
      from own
      union all
      select false, s.storefront, null, r.seen_at, i.place, a.store_id, a.id
      from near s
      join store_app a on a.id = s.id
      cross join lateral ${latestShelf(sql, sql`s.id`, platform)} r
      cross join lateral (
        select min(e.place) as place
        from jsonb_array_elements_text(r.content) with ordinality e (store_id, place)
        where e.store_id = (select store_id from store_app where id = ${appId})
      ) i
    ) x
    order by x.at, x.storefront, x.place, x.store_id collate "C"`
  const neighbours = rows.filter(({ isOwn }) => !isOwn)
  const read = Map.groupBy(neighbours, ({ storefront }) => storefront)
  return {
    ownShelves: shelvesOf(rows.filter(({ isOwn }) => isOwn)),
    neighbourShelves: {
      read: new Map([...read].map(([storefront, of]) => [storefront, of.length])),
      apps: neighbours.filter(isPlaced),
    },
  }
}

/** `place` is null if the row is empty or does not contain the app. */
type ShelfRow = Omit<ShelfApp, "place"> & { place: number | null }

const isPlaced = <Row extends ShelfRow>(row: Row): row is Row & ShelfApp => row.place !== null

function shelvesOf(rows: readonly ShelfRow[]): Shelves {
  return { readAt: new Map(rows.map(({ storefront, seenAt }) => [storefront, seenAt])), apps: rows.filter(isPlaced) }
}

/** Selects the columns of `x`, a row of ownShelves. Only apps that are listed need a name. */
function shelfColumns(sql: Sql, { countries }: ShelfOwner) {
  const name = nameIn(sql, sql`x.id`, { storefront: sql`x.storefront`, countries })
  return sql`
    x.storefront, x.seen_at as "seenAt", x.place::int as place, x.store_id as "storeId",
    case when x.place is not null then ${name} end as name`
}

/** Selects the apps in the row of each storefront where it was read, with their places. */
function ownShelves(sql: Sql, { platform, appId }: ShelfOwner, storefronts: readonly string[]) {
  return sql`
    select s.storefront, s.at, r.seen_at, i.place, i.store_id, a.id
    from ${each(sql, storefronts)} s
    cross join lateral ${latestShelf(sql, sql`${appId}`, platform)} r
    left join lateral jsonb_array_elements_text(r.content) with ordinality i (store_id, place) on true
    left join store_app a on (a.platform, a.store_id) = (${platform}, i.store_id)`
}

/**
 * Returns the storefronts as rows. The limit equals their number, so that a cached plan expects few rows. Without the
 * limit the database would plan the statement again at every call.
 */
function each(sql: Sql, storefronts: readonly string[]) {
  return sql`(
    select storefront, at
    from unnest(${storefronts as string[]}::text[]) with ordinality u (storefront, at)
    order by at
    limit ${storefronts.length}
  )`
}

/** Selects the latest content and reading time of the app's row of similar apps in storefront `s`. */
function latestShelf(sql: Sql, appId: ReturnType<Sql>, platform: Platform) {
  return sql`(
    select r.seen_at, c.content
    from listing_run r
    join listing_content c using (app_id, storefront, source, section, digest)
    where (r.app_id, r.storefront, r.source, r.section) = (${appId}, s.storefront, ${SHELVED_BY[platform]}, 'similar')
    order by r.first_seen_at desc
    limit 1
  )`
}
