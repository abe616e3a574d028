import { OWN } from "../core/observation/origins.ts"
import type { Platform } from "../core/observation/provenance.ts"
import { takeLocks } from "../database/locks.ts"
import type { Db, Tx } from "../database/types.ts"
import { dayOf } from "../lib/days.ts"
import { parseRival } from "../lib/store-ids.ts"
import { ensureAppIds, holdIdentities } from "../measuring/record/identities.ts"
import { type Finder, type FindingOf, keyOf } from "./alert-type.ts"
import { type FeedAlert, feedChanges, readStoredReadings, updateFeed } from "./feed-changes.ts"
import { followRivals, readRivals, readRivalsNamed } from "./follow-rivals.ts"
import { firstNewsDay, type Place } from "./place.ts"
import type { FollowedRival } from "./rival-facts.ts"
import { categoriesOf, type PlaceDays, readSearchDays, type SearchDays } from "./search-days.ts"
import { FEED_TYPES } from "./types.ts"

/** A store app in a storefront; `subject` is its store id. */
export interface Subject {
  platform: Platform
  storefront: string
  subject: string
}

/**
 * Updates, for every tracked app of `origin` among the subjects, the followed rivals and the alerts of the last days.
 * Withdraws alerts that the readings no longer show. It is idempotent and safe to run concurrently. It locks the
 * identities first, and no readings. An import also withdraws passings by rivals that are no longer followed, since
 * those alerts were derived from incomplete readings.
 */
export async function deriveFindings(
  tx: Tx,
  subjects: readonly Subject[],
  now: Date,
  { isImport = false, origin = OWN }: { isImport?: boolean; origin?: string } = {},
): Promise<void> {
  for (const place of await takePlaces(tx, subjects, origin)) {
    await followRivals(tx, place, manualOf(place))
    const look = { from: firstNewsDay(now), to: dayOf(now) }
    await derive(tx, place, look, { now, isImport, mayAdd: await readTracked(tx, place) })
  }
}

/** The days to derive again. Covers all types, keywords and rivals unless limited. */
export interface Look {
  from: string
  to: string
  finders?: readonly Finder[]
  terms?: ReadonlySet<string>
  /** Store ids of rivals. */
  rivals?: ReadonlySet<string>
  /** Derives only for this app of a workspace. */
  appId?: string
}

/** Derives alerts of past days, including days before the app or keyword was tracked. */
export async function derivePastFindings(
  tx: Tx,
  subject: Subject,
  look: Look,
  now: Date,
  { origin = OWN }: { origin?: string } = {},
): Promise<void> {
  for (const place of await takePlaces(tx, [subject], origin)) {
    if (look.appId !== undefined && look.appId !== place.appId) continue
    await derive(tx, place, look, { now, isImport: true, mayAdd: () => true })
  }
}

interface Derivation {
  now: Date
  isImport: boolean
  mayAdd(found: FindingOf): boolean
}

/** Updates the feed of these days to match their readings. */
async function derive(tx: Tx, place: Place, look: Look, { now, isImport, mayAdd }: Derivation): Promise<void> {
  const { from, to, finders = ALL_FINDERS } = look
  const news = firstNewsDay(now)
  const terms = (await readTerms(tx, place)).filter((term) => look.terms?.has(term) ?? true)
  const isLookedAt = ({ facts: { term, rival } }: FeedAlert) =>
    (term === undefined || terms.includes(term as string)) &&
    (rival === undefined || (look.rivals?.has(rival as string) ?? true))
  const types = finders.flatMap((find) => TYPES_OF.get(find) as string[])
  const stored = (await readStoredReadings(tx, place, { types, from, to })).filter(isLookedAt)
  // alerts that are news keep the rivals and genre of their time; in an import, so do alerts that a person has seen
  const isStanding = ({ history, day, isSeen }: FeedAlert) => !history && (!isImport || day < news || isSeen)
  const standing = stored.filter(isStanding)
  const inputs = {
    place,
    terms,
    rivals: await readRivalsFor(tx, place, look, standing),
    genres: genresOf(place, standing),
    standing: new Set(standing.map(keyOf)),
    from,
    to,
  }
  let searches: Promise<SearchDays> | undefined
  const days: PlaceDays = {
    ...inputs,
    searches() {
      searches ??= readSearchDays(tx, inputs)
      return searches
    },
  }
  const found: FindingOf[] = []
  for (const find of finders) found.push(...(await find(tx, days)))
  const isFixed = (item: FeedAlert) => STANDING_TYPES.includes(item.type) && isStanding(item)
  await updateFeed(tx, place, news, feedChanges({ storedAlerts: stored, found, isStanding, isFixed, mayAdd }))
}

const TYPES_OF = new Map<Finder, string[]>()
for (const { name, find } of FEED_TYPES) if (find) TYPES_OF.set(find, [...(TYPES_OF.get(find) ?? []), name])

const ALL_FINDERS = [...TYPES_OF.keys()]
const STANDING_TYPES: string[] = FEED_TYPES.filter(({ stands }) => stands).map(({ name }) => name)

/** Returns all tracked keywords of an app in a storefront. */
async function readTerms(sql: Db, app: Pick<Place, "appId" | "storefront">): Promise<string[]> {
  const rows = await sql<{ term: string }[]>`
    select term
    from tracked_term
    where app_id = ${app.appId} and country = ${app.storefront}
    order by term`
  return rows.map(({ term }) => term)
}

async function readRivalsFor(
  tx: Tx,
  place: Place,
  { rivals: only }: Look,
  standing: readonly FeedAlert[],
): Promise<FollowedRival[]> {
  const followed = (await readRivals(tx, place)).filter(({ rival }) => only?.has(rival) ?? true)
  const followedIds = new Set(followed.map(({ rival }) => rival))
  const unfollowed = new Map<string, { rival: string; manual: boolean }>()
  for (const { facts } of standing) {
    const { rival, manual } = facts as { rival?: string; manual?: boolean }
    if (rival !== undefined && !followedIds.has(rival)) unfollowed.set(rival, { rival, manual: manual === true })
  }
  return unfollowed.size === 0
    ? followed
    : [...followed, ...(await readRivalsNamed(tx, place, [...unfollowed.values()]))]
}

function genresOf({ genre }: Place, standing: readonly FeedAlert[]): string[] {
  const alertGenres = standing.flatMap(({ facts }) => (facts.chart === undefined ? [] : [facts.genre as string]))
  return [...new Set(genre === null ? alertGenres : [genre, ...alertGenres])]
}

/** Returns a function that checks whether the app, and the keyword of a finding, were tracked on its day. */
async function readTracked(tx: Tx, { appId, storefront, since }: Place): Promise<(found: FindingOf) => boolean> {
  const rows = await tx<{ term: string; since: string }[]>`
    select term, (added_at at time zone 'utc')::date as since
    from tracked_term
    where app_id = ${appId} and country = ${storefront} and (added_at at time zone 'utc')::date > ${since}::date
    order by term`
  const added = new Map(rows.map((row) => [row.term, row.since]))
  return ({ day, facts }) => {
    const { term } = facts as { term?: string }
    return day >= since && (term === undefined || day >= (added.get(term) ?? since))
  }
}

async function takePlaces(tx: Tx, subjects: readonly Subject[], origin: string): Promise<Place[]> {
  await holdIdentities(tx)
  const named = await readPlaces(tx, subjects, origin)
  if (named.length === 0) return []
  await makeRivals(tx, named)
  return await lockPlaces(tx, named)
}

async function readPlaces(tx: Tx, subjects: readonly Subject[], origin: string): Promise<Place[]> {
  return await tx<Place[]>`
    select a.id as "appId", a.workspace_id as "workspaceId", k.platform, k.storefront, s.id as "storeAppId", s.genre,
      a.origin, ${categoriesOf(tx)} as categories, (a.created_at at time zone 'utc')::date as since,
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
    where a.origin = ${origin} and (${origin !== OWN}::boolean or exists (select from measured_app m where m.id = a.id))
    order by a.id, k.platform, k.storefront`
}

/** Creates the store apps of rivals named by hand that no reading has shown yet, so that they are followed too. */
async function makeRivals(tx: Tx, places: readonly Place[]): Promise<void> {
  const keys = places.flatMap((place) => manualOf(place).map((id) => ({ platform: place.platform, id })))
  if (keys.length > 0) await ensureAppIds(tx, keys)
}

function manualOf({ platform, manualRivals }: Place): string[] {
  const named = (manualRivals ?? []).map(parseRival)
  return named.flatMap((rival) => (rival?.platform === platform ? [rival.id] : []))
}

/**
 * Locks each app, platform and storefront, so that one process at a time works on it. Deleting an app waits, because it
 * locks these rows in the reverse order.
 */
async function lockPlaces(tx: Tx, named: readonly Place[]): Promise<Place[]> {
  const apps = await tx<{ id: string }[]>`
    select id
    from tracked_app
    where id = any(${named.map(({ appId }) => appId)}::text[])
    order by id
    for key share`
  const lockedIds = new Set(apps.map(({ id }) => id))
  const places = named.filter(({ appId }) => lockedIds.has(appId))
  await takeLocks(
    tx,
    "findings",
    places.map(({ appId, platform, storefront }) => [appId, platform, storefront]),
  )
  return await keepTracked(tx, places)
}

/**
 * Returns the places that are still tracked. A change of storefronts waits for the lock above, or is visible by now.
 */
async function keepTracked(tx: Tx, places: readonly Place[]): Promise<Place[]> {
  const apps = await tx<{ id: string; countries: string[]; ios: number | null; android: number | null }[]>`
    select id, countries, ios_app as ios, android_app as android
    from tracked_app
    where id = any(${places.map(({ appId }) => appId)}::text[])
    order by id`
  const tracked = new Map(apps.map((app) => [app.id, app]))
  return places.filter(({ appId, platform, storefront, storeAppId }) => {
    const app = tracked.get(appId)
    return app?.[platform] === storeAppId && app.countries.includes(storefront)
  })
}
