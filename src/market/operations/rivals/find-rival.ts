import type { Fragment } from "postgres"
import * as v from "valibot"
import type { Platform, Side } from "../../../core/observation/provenance.ts"
import type { Context } from "../../../core/operation.ts"
import type { TrackedApp } from "../../../core/tracked-app.ts"
import type { Sql } from "../../../database/types.ts"
import { dayAnswers, type SideApp, sideOf } from "../../../keywords/read/day-answers.ts"
import { trackedLists } from "../../../keywords/read/tracked-lists.ts"
import { addDays, dayOf } from "../../../lib/days.ts"
import { Fault } from "../../../lib/faults.ts"
import { bounded, coded, described } from "../../../lib/schema.ts"
import { isStoreId, parseRival, STORE_ID_PATTERNS } from "../../../lib/store-ids.ts"
import { STORES } from "../../../lib/store-pages.ts"
import { iconIn, type NamePlace, nameIn } from "../../../stores/store/app-names.ts"

/** The path parameter that identifies a rival. */
export const RivalId = coded(
  v.pipe(
    bounded(v.string(), { maxLength: "android:".length + 255, pattern: STORE_ID_PATTERNS.either }),
    v.check((text) => asRival(text) !== null),
    v.description(
      "Rival id from list_rivals on the requested platform: digits for the App Store, a package name for Google " +
        "Play. ios:<store id> and android:<package>, as in manualRivals, are also accepted.",
    ),
  ),
  "bad_app_id",
)

/** The first fields of every answer about a rival. */
export const rivalFields = {
  id: described(v.string(), "Store id."),
  name: described(v.string(), "Name in the store, or the store id if unknown."),
}

export interface Rival {
  platform: Platform
  storeId: string
  /** The rival's store_app id. Null if no reading contained the rival yet. */
  appId: number | null
  /** The storefront and countries that determine the name. */
  place: NamePlace
  name: string
  developer: string | null
  icon: string | null
  /** True if the rival was added by hand. */
  manual: boolean
}

/**
 * Returns a rival of an app. A rival was added by hand, or it is among the results of the app's keywords in any of its
 * storefronts, on the latest measured day or in the last 30 days. Throws bad_app_id for an id of the other store and
 * not_found for any other app.
 */
export async function findRival(
  { sql, now }: Pick<Context, "sql" | "now">,
  app: TrackedApp,
  { rivalId, platform, storefront }: Side & { rivalId: string },
): Promise<Rival> {
  const parsed = asRival(rivalId)
  if (parsed?.platform !== platform)
    throw new Fault("bad_app_id", {
      field: "rivalId",
      detail: `rivalId must be the id of an app on ${STORES[platform]}. list_rivals has the ids.`,
    })
  const storeId = parsed.id
  const manual = app.manualRivals?.includes(`${platform}:${storeId}`) ?? false
  const place = { storefront, countries: app.countries }
  const isOwn = storeId === (platform === "ios" ? app.iosId : app.androidPkg)
  const sides = sidesFrom(app, { platform, storefront })
  const facts = await readFacts(sql, { platform, storeId, place }, manual || isOwn ? null : (sides[0] as SideApp))
  const isRival =
    !isOwn && (manual || facts?.shown || (facts && (await wasSeen(sql, { app, sides, rival: facts.appId }, now()))))
  if (!isRival) throw new Fault("not_found")
  const { appId = null, name = null, developer = null, icon = null } = facts ?? {}
  return { platform, storeId, appId, place, name: name ?? storeId, developer, icon, manual }
}

/** Reads the app by store id, because it may have been stored only during this call. Undefined if it is unknown. */
export async function readStoreApp(sql: Sql, rival: Rival): Promise<Facts | undefined> {
  return await readFacts(sql, rival, null)
}

function asRival(text: string): { platform: Platform; id: string } | null {
  if (text.includes(":")) return parseRival(text)
  const platform = (["ios", "android"] as const).find((item) => isStoreId(item, text))
  return platform ? { platform, id: text } : null
}

interface Facts {
  appId: number
  name: string | null
  developer: string | null
  icon: string | null
  /** True if the app is among the results of the side's latest measured day. False without a side. */
  shown: boolean
}

type RivalName = Pick<Rival, "platform" | "storeId" | "place">

async function readFacts(
  sql: Sql,
  { platform, storeId, place }: RivalName,
  side: SideApp | null,
): Promise<Facts | undefined> {
  const [name, icon] = [nameIn(sql, sql`store_app.id`, place), iconIn(sql, sql`store_app.id`, place)]
  const isRequested = side !== null && side.storeAppId !== null
  const [facts] = await sql<Facts[]>`
    select id as "appId", ${name} as name, developer, ${icon} as icon,
      ${isRequested ? standsIn(sql, side, sql`store_app.id`) : sql`false`} as shown
    from store_app
    where (platform, store_id) = (${platform}, ${storeId})`
  return facts
}

/** SQL: whether an app is in any result of the side's latest measured day. */
function standsIn(sql: Sql, side: SideApp, app: Fragment): Fragment {
  return sql`coalesce((
        select bool_or(rank > 0) filter (where last_day = day)
        from (
          select last_day, rank, max(last_day) over () as day
          from (${trackedLists(sql, { ...side, storeAppId: app })}) k
        ) k
      ), false)`
}

/** Returns the app's storefronts on a platform, the requested one first. */
function sidesFrom(app: TrackedApp, { platform, storefront }: Side): SideApp[] {
  const storefronts = [...new Set([storefront, ...app.countries])]
  return storefronts.map((item) => sideOf(app, { platform, storefront: item }))
}

interface RivalQuery {
  app: TrackedApp
  sides: readonly SideApp[]
  /** A store_app id. */
  rival: number
}

/** The maximum number of keywords searched in other storefronts and on earlier days. */
const LISTS = 1_000
const BACK_DAYS = 30

/** Returns whether the rival was in results of another storefront or of an earlier day. */
async function wasSeen(sql: Sql, { app, sides, rival }: RivalQuery, now: Date): Promise<boolean> {
  const [, ...otherSides] = sides
  if (sides.every(({ storeAppId }) => storeAppId === null)) return false
  if (otherSides.length > 0 && (await isShown(sql, otherSides, rival))) return true
  return await wasShown(sql, { app, sides, rival }, addDays(dayOf(now), -BACK_DAYS))
}

/** Returns whether the rival is in the results of the latest measured day of any of these sides. */
async function isShown(sql: Sql, sides: readonly SideApp[], rival: number): Promise<boolean> {
  const [row] = await sql<[{ shown: boolean }]>`
    with ${dayAnswers(sql, sides, { lists: LISTS })}
    select exists (select from answer where array_position(app_ids, ${rival}::int) is not null) as shown`
  return row.shown
}

/**
 * Keywords per statement: 31 days of 50 keywords take the embedded database 4 to 25 ms. `offset 0` prevents a full
 * scan.
 */
const TOGETHER = 50

async function wasShown(sql: Sql, { app, sides, rival }: RivalQuery, since: string): Promise<boolean> {
  const lists = await sql<{ id: number }[]>`
    select l.id
    from tracked_term t
    cross join lateral (
      select id
      from list
      where (platform, storefront, term) = (${sides[0]!.platform}, t.country, t.term) and last_day >= ${since}
      offset 0
    ) l
    where t.app_id = ${app.id} and t.country = any(${app.countries}::text[])
    order by t.position, t.country, t.term
    limit ${LISTS}`
  for (let from = 0; from < lists.length; from += TOGETHER) {
    const ids = lists.slice(from, from + TOGETHER).map(({ id }) => id)
    const [row] = await sql<[{ shown: boolean }]>`
      select exists (
        select
        from unnest(${ids}::int[]) l (id)
        cross join lateral (
          select
          from search_results
          where list_id = l.id and day >= ${since} and complete and array_position(app_ids, ${rival}::int) is not null
          offset 0
        ) r
      ) as shown`
    if (row.shown) return true
  }
  return false
}
