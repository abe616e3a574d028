import { isDeepStrictEqual } from "node:util"
import { json } from "../database/json.ts"
import { takeLocks } from "../database/locks.ts"
import type { Tx } from "../database/types.ts"
import { readFirstTerms } from "../history/term-days.ts"
import { ensureAppIds, holdIdentities } from "../observations/rows/identities.ts"
import { DEMO, type Platform } from "../observations/types.ts"
import { addDays, dayOf } from "../vocabulary/days.ts"
import { INVENTED_IDS, parseRival } from "../vocabulary/store-ids.ts"
import type { FindingOf } from "./alert-type.ts"
import { followRivals, readRivals } from "./follow-rivals.ts"
import { firstNewsDay, type Place, type PlaceDays } from "./place.ts"
import { categoriesOf } from "./types/off-topic.ts"
import { FEED_TYPES } from "./types.ts"

/** A store's app in a storefront; `subject` is its store id. */
export interface Subject {
  platform: Platform
  storefront: string
  subject: string
}

/**
 * For every tracked app among them: the rivals that are followed, then the feed. Again, or beside others, it adds
 * nothing. Takes the identities' lock first, and no lock on any reading.
 */
export async function deriveFindings(tx: Tx, subjects: readonly Subject[], now: Date): Promise<void> {
  const news = firstNewsDay(now)
  for (const place of await takePlaces(tx, subjects)) {
    await followRivals(tx, place, manualOf(place))
    const days = await readPlaceDays(tx, place, { from: news, to: dayOf(now) })
    await tell(tx, { days, news }, await findAll(tx, days))
  }
}

/** Also of days before the app or keyword was tracked. History that no longer holds is replaced. */
export async function derivePastFindings(
  tx: Tx,
  subject: Subject,
  { from, to }: { from: string; to: string },
  now: Date,
): Promise<void> {
  for (const place of await takePlaces(tx, [subject])) {
    const days = await readPlaceDays(tx, { ...place, since: null }, { from, to })
    const found = await findAll(tx, days)
    await forgetHistory(tx, days, found)
    await tell(tx, { days, news: firstNewsDay(now) }, found)
  }
}

async function takePlaces(tx: Tx, subjects: readonly Subject[]): Promise<Place[]> {
  await holdIdentities(tx)
  const named = await readPlaces(tx, subjects)
  if (named.length === 0) return []
  await makeRivals(tx, named)
  return await lockPlaces(tx, named)
}

async function readPlaces(tx: Tx, subjects: readonly Subject[]): Promise<Place[]> {
  return await tx<Place[]>`
    select a.id as "appId", a.workspace_id as "workspaceId", k.platform, k.storefront, s.id as own, s.genre,
      a.origin = ${DEMO} as "isInvented",
      ${categoriesOf(tx)} as categories, (a.created_at at time zone 'utc')::date as since,
      a.manual_rivals as "manualRivals"
    from (
      select distinct *
      from unnest(
        ${subjects.map(({ platform }) => platform)}::text[],
        ${subjects.map(({ storefront }) => storefront)}::text[],
        ${subjects.map(({ subject }) => subject)}::text[]
      ) k (platform, storefront, subject)
    ) k
    join store_app s on (s.platform, s.store_id) = (k.platform, k.subject)
    join tracked_app a on (a.ios_app = s.id or a.android_app = s.id) and k.storefront = any(a.countries)
    where exists (select from measured_app m where m.id = a.id)
      or a.origin = ${DEMO} and starts_with(s.store_id, ${INVENTED_IDS})
    order by a.id, k.platform, k.storefront
    limit 100000`
}

/** Rivals named by hand that no reading has shown yet: they are followed all the same. */
async function makeRivals(tx: Tx, places: readonly Place[]): Promise<void> {
  const keys = places.flatMap((place) => manualOf(place).map((id) => ({ platform: place.platform, id })))
  if (keys.length > 0) await ensureAppIds(tx, keys)
}

function manualOf({ platform, manualRivals }: Place): string[] {
  const named = (manualRivals ?? []).map(parseRival)
  return named.flatMap((rival) => (rival?.platform === platform ? [rival.id] : []))
}

/** One process at a time works on each; removing an app waits, for it locks these rows the other way round. */
async function lockPlaces(tx: Tx, named: readonly Place[]): Promise<Place[]> {
  const apps = await tx<{ id: string }[]>`
    select id
    from tracked_app
    where id = any(${named.map(({ appId }) => appId)}::text[])
    order by id
    for key share`
  const held = new Set(apps.map(({ id }) => id))
  const places = named.filter(({ appId }) => held.has(appId))
  await takeLocks(
    tx,
    "findings",
    places.map(({ appId, platform, storefront }) => [appId, platform, storefront]),
  )
  return await keepTracked(tx, places)
}

/** Who stops to track a storefront waits for the lock above, or has done so by now. */
async function keepTracked(tx: Tx, places: readonly Place[]): Promise<Place[]> {
  const apps = await tx<{ id: string; countries: string[]; ios: number | null; android: number | null }[]>`
    select id, countries, ios_app as ios, android_app as android
    from tracked_app
    where id = any(${places.map(({ appId }) => appId)}::text[])
    order by id
    limit 100000`
  const tracked = new Map(apps.map((app) => [app.id, app]))
  return places.filter(({ appId, platform, storefront, own }) => {
    const app = tracked.get(appId)
    return app?.[platform] === own && app.countries.includes(storefront)
  })
}

async function readPlaceDays(tx: Tx, place: Place, span: Pick<PlaceDays, "from" | "to">): Promise<PlaceDays> {
  return { place, parts: await readFirstTerms(tx, place), rivals: await readRivals(tx, place), ...span }
}

/** Types of one family share what finds them. */
const FINDERS = new Set(FEED_TYPES.flatMap(({ find = [] }) => find))

async function findAll(tx: Tx, days: PlaceDays): Promise<FindingOf[]> {
  const found: FindingOf[] = []
  for (const find of FINDERS) found.push(...(await find(tx, days)))
  return found
}

const OF_READINGS: string[] = FEED_TYPES.filter(({ ofReadings }) => ofReadings).map(({ name }) => name)
const OF_LANGUAGE: string[] = FEED_TYPES.filter(({ ofLanguage }) => ofLanguage).map(({ name }) => name)

async function forgetHistory(tx: Tx, days: PlaceDays, found: readonly FindingOf[]): Promise<void> {
  const holds = new Map(found.map((one) => [keyOf(one), JSON.parse(JSON.stringify(one.facts))]))
  const told = await readTold(tx, days)
  const stale = told.filter(
    (one) => one.history && OF_READINGS.includes(one.type) && !isDeepStrictEqual(holds.get(keyOf(one)), one.facts),
  )
  if (stale.length === 0) return
  await tx`
    delete from alert
    where id = any(${stale.map(({ id }) => id)}::bigint[])`
}

interface FeedWindow {
  days: PlaceDays
  /** The first day of which something is news. */
  news: string
}

/** What is told already is left out before: the table would refuse it, but each refusal costs an id. */
async function tell(tx: Tx, telling: FeedWindow, found: readonly FindingOf[]): Promise<void> {
  const told = new Set(found.length > 0 ? (await readTold(tx, telling.days)).map(keyOf) : [])
  const rows = found.filter((one) => !told.has(keyOf(one)))
  for (let at = 0; at < rows.length; at += CHUNK) await insert(tx, telling, rows.slice(at, at + CHUNK))
}

// 4,000 in one statement took the embedded database 130 ms.
const CHUNK = 250

async function insert(tx: Tx, { days: { place }, news }: FeedWindow, rows: readonly FindingOf[]): Promise<void> {
  await tx`
    insert into alert
      (workspace_id, app_id, type, platform, storefront, subject, day, at, facts, history, read_at)
    select ${place.workspaceId}::int, ${place.appId}, type, ${place.platform}, storefront, subject, day, at, facts,
      day < ${news}::date, case when day < ${news}::date then now() end
    from jsonb_to_recordset(${json(
      tx,
      rows.map((one) => stored(place, one)),
    )}) r (
      type text, storefront text, subject text, day date, at timestamptz, facts jsonb
    )
    order by at, type, storefront, subject
    on conflict do nothing`
}

type FeedRow = Pick<FindingOf, "type" | "subject" | "day" | "facts"> & { id: number; history: boolean }

/** Of the days looked at: reviews have no storefront on Google Play, and may be seen long after their day. */
async function readTold(tx: Tx, { place, from, to }: PlaceDays): Promise<FeedRow[]> {
  const { workspaceId, appId, platform, storefront } = place
  return await tx<FeedRow[]>`
    select id, type, subject, day, facts, history
    from (
      (
        select *
        from alert
        where app_id = ${appId} and at >= ${`${from}T00:00:00Z`}::timestamptz
          and at < ${`${addDays(to, 1)}T00:00:00Z`}::timestamptz and platform = ${platform}
          and storefront = ${storefront} and type <> all(${OF_LANGUAGE}::text[])
      )
      union all
      (
        select *
        from alert
        where workspace_id = ${workspaceId} and app_id = ${appId} and type = any(${OF_LANGUAGE}::text[]) and platform = ${platform}
          and (storefront = ${storefront} or storefront is null) and day between ${from} and ${to}
      )
    ) a
    order by at, id
    limit 100000`
}

function keyOf({ type, subject, day }: Pick<FindingOf, "type" | "subject" | "day">): string {
  return JSON.stringify([type, subject, day])
}

function stored({ platform, storefront }: Place, { type, subject, day, at, facts }: FindingOf) {
  const hasNone = platform === "android" && OF_LANGUAGE.includes(type)
  return { type, storefront: hasNone ? null : storefront, subject, day, at: at.toISOString(), facts }
}
