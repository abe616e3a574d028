import type { Sql, Tx } from "../database/types.ts"
import { dayOf, monthOf } from "../formulas/days.ts"
import { checkObservation, ObservationProblem } from "./check.ts"
import { deriveMonths } from "./derive-month.ts"
import { type ShownApps, storeFacts } from "./facts.ts"
import { type Identified, identify } from "./identified.ts"
import { holdIdentities, lockLists } from "./identities.ts"
import { hold } from "./invariants.ts"
import { pagesIn } from "./looked-up.ts"
import { deriveJumps } from "./rating-jumps.ts"
import { storeAppAds } from "./record-app-ads.ts"
import { storeApps } from "./record-apps.ts"
import { storeCharts } from "./record-charts.ts"
import { storeDevelopers } from "./record-developer.ts"
import { storeGenres } from "./record-genres.ts"
import { storeHints } from "./record-hints.ts"
import { lockSeries, storeListings } from "./record-listing.ts"
import { storeMarket } from "./record-market.ts"
import { type NamingApps, storeNames } from "./record-names.ts"
import { storePopularities } from "./record-popularity.ts"
import { storeReviews } from "./record-reviews.ts"
import { recountDays, storeSearches } from "./record-searches.ts"
import { type AppsObservation, type ListingObservation, LOOKUP_SOURCES, type Observation } from "./types.ts"

export { recountDays }

export interface Recorded {
  /** Readings that were new, or replaced a lesser one of the same moment and source. */
  recorded: number
  /** Readings that were there already, or are held in a better form. */
  known: number
  /** Those that break an invariant, by their place in the call; nothing of them is stored. */
  refused: { index: number; problem: ObservationProblem }[]
}

export interface RecordOptions {
  /**
   * What must be done together with the storing or not at all; the last thing in the transaction. It is done also when
   * nothing was new or nothing sound, and done again when the transaction is tried again after a deadlock, so it changes
   * nothing but by `tx`. What it throws takes everything back.
   */
  finish?: (tx: Tx) => Promise<void>
  /** Told for how many milliseconds the transaction had the database to itself. */
  noteMs?: (ms: number) => void
}

/**
 * Stores measurements; no other code does. One transaction for the call, so keep to some 500 readings: the readings,
 * what they show of apps, and what is derived for tracked apps are there together or not at all. Safe from several
 * processes at once.
 *
 * Of readings of the same list or chart, source and moment the best is held, whichever came first: a search of anybody's
 * before the demo's, then that of the newer parser, a complete one before one that broke off, the deeper, the greater sha256. Of what a
 * source said of an app in a storefront, of its suggestions on a day, and of its figure for a month, the latest is held
 * (see latestOf); of a store's genres, of a developer's shelf and of a day's market and app-ads.txt too. Pages of apps are
 * all held (see storeListings), also as look-ups say them, and what changed between them is derived. The day of a reading is
 * the UTC day of its `seenAt`.
 */
export async function record(
  sql: Sql,
  observations: readonly Observation[],
  now: () => Date = () => new Date(),
  { finish, noteMs }: RecordOptions = {},
): Promise<Recorded> {
  const { sound, refused } = sift(observations, now())
  if (sound.length === 0 && !finish) return { recorded: 0, known: 0, refused }
  await openMonths(sql, sound)
  const recorded = await again(() =>
    sql.begin(async (tx) => {
      const startedAt = performance.now()
      const count = sound.length > 0 ? await store(tx, sound) : 0
      await finish?.(tx)
      noteMs?.(performance.now() - startedAt)
      return count
    }),
  )
  return { recorded, known: sound.length - recorded, refused }
}

const STORED: readonly Observation["kind"][] = [
  "search", "apps", "hints", "popularity", "reviews", "listing", "chart", "genres", "developer", "app_ads",
] // biome-ignore format: a list to scan

function sift(observations: readonly Observation[], now: Date) {
  const sound: Observation[] = []
  const refused: Recorded["refused"] = []
  observations.forEach((observation, index) => {
    try {
      checkObservation(observation, now)
      hold(STORED.includes(observation.kind), "bad_kind", "nothing stores observations of this kind")
      sound.push(observation)
    } catch (error) {
      if (!(error instanceof ObservationProblem)) throw error
      refused.push({ index, problem: error })
    }
  })
  return { sound, refused }
}

// In a transaction of its own: attaching waits for writers of `list` and of `chart`, which may wait for it in turn.
async function openMonths(sql: Sql, observations: readonly Observation[]): Promise<void> {
  const placed = [...ofKind(observations, "search"), ...ofKind(observations, "chart")]
  const months = new Set(placed.map(({ seenAt }) => monthOf(dayOf(seenAt))))
  if (months.size === 0) return
  await again(
    () => sql`
      select open_month(month)
      from unnest(${[...months].sort()}::date[]) month
      where to_regclass('chart_results' || to_char(month, '_YYYY_MM')) is null
      order by month`,
  )
}

const TRIES = 4

// Everybody locks in one order, but for a transaction that tracks several apps: it takes its lists in its own.
async function again<T>(run: () => Promise<T>): Promise<T> {
  for (let tried = 1; ; tried++) {
    try {
      return await run()
    } catch (error) {
      if ((error as { code?: string }).code !== "40P01" || tried === TRIES) throw error
    }
  }
}

/** Every table is written once, in this order and by its key, so that nobody waits in a circle. */
async function store(tx: Tx, sound: readonly Observation[]): Promise<number> {
  // a plan that was kept from when a table was small would read it whole for each key, for as long as the connection lives
  await tx`set local plan_cache_mode = force_custom_plan`
  await holdIdentities(tx)
  const known = await identify(tx, sound)
  if (known.lists.length > 0) await lockLists(tx, known.lists)
  const searches = await storeSearches(tx, ofKind(sound, "search"), known)
  const facts = await storeFactsOf(tx, sound, { known, searches })
  await deriveMonths(
    tx,
    searches.map(({ listId, from }) => ({ listId, month: monthOf(dayOf(from.seenAt)) })),
  )
  const hints = await storeHints(tx, ofKind(sound, "hints"))
  const figures = await storePopularities(tx, ofKind(sound, "popularity"), known)
  const reviews = await storeReviews(tx, ofKind(sound, "reviews"), known)
  const genres = await storeGenres(tx, ofKind(sound, "genres"))
  const ads = await storeAppAds(tx, ofKind(sound, "app_ads"), known)
  const placed = searches.map(({ from }) => from)
  return new Set<Observation>([...placed, ...facts, ...hints, ...figures, ...reviews, ...genres, ...ads]).size
}

interface Storing {
  known: Identified
  searches: readonly ShownApps[]
}

/** What readings say of apps, and what follows from it. Returns those that took a place with any of it. */
async function storeFactsOf(
  tx: Tx,
  sound: readonly Observation[],
  { known, searches }: Storing,
): Promise<Observation[]> {
  const lookUps = ofKind(sound, "apps")
  const apps = await storeApps(tx, lookUps, known)
  const charts = await storeCharts(tx, ofKind(sound, "chart"), known)
  const shelves = await storeDevelopers(tx, ofKind(sound, "developer"), known)
  const pages = pagesIn(lookUps)
  const listed = [...ofKind(sound, "listing"), ...pages.keys()]
  await lockSeries(tx, seriesOf(lookUps, listed, known))
  const listings = await storeListings(tx, listed, known)
  const market = await storeMarket(tx, [...ofKind(sound, "listing"), ...lookUps], known)
  const rated = await storeFacts(tx, [...searches, ...apps, ...charts, ...shelves, ...listings])
  await storeNames(tx, [...listsIn(sound, known), ...apps, ...shelves, ...listings])
  await deriveJumps(tx, [...ofKind(rated, "listing"), ...ofKind(rated, "apps").filter(isLookUp)], known)
  const said = [...apps, ...shelves, ...listings].filter(({ placed }) => placed).map(({ from }) => from)
  const placed = [...said, ...charts.map(({ from }) => from), ...market, ...rated]
  // a page that stands in a look-up is counted as the look-up
  return placed.map((from) => (from.kind === "listing" ? (pages.get(from) ?? from) : from))
}

/** Searches and charts, also those that are known or outdone: what they call apps must not follow the order of coming. */
function listsIn(sound: readonly Observation[], { appOf }: Identified): NamingApps[] {
  const searches = ofKind(sound, "search").map((from) => ({ from, apps: from.results }))
  const charts = ofKind(sound, "chart").map((from) => ({ from, apps: from.apps }))
  return [...searches, ...charts].map(({ from, apps }) => {
    return { from, apps, appIds: apps.map(({ id }) => appOf(from.platform, id)) }
  })
}

function isLookUp({ source }: AppsObservation): boolean {
  return LOOKUP_SOURCES.includes(source)
}

/** The apps (store_app ids) of which something is derived from reading to reading. */
function seriesOf(
  lookUps: readonly AppsObservation[],
  listed: readonly ListingObservation[],
  { appOf }: Identified,
): number[] {
  const shown = lookUps.filter(isLookUp).flatMap(({ platform, apps }) => apps.map(({ id }) => appOf(platform, id)))
  return [...shown, ...listed.map(({ platform, id }) => appOf(platform, id))]
}

function ofKind<Kind extends Observation["kind"]>(observations: readonly Observation[], kind: Kind) {
  return observations.filter((one): one is Extract<Observation, { kind: Kind }> => one.kind === kind)
}
