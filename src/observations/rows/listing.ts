import { takeLocks } from "../../database/locks.ts"
import type { Tx } from "../../database/types.ts"
import { deriveChanges, type Span } from "../derived/changes.ts"
import { storeItems } from "../derived/listing-items.ts"
import {
  type HeldRun,
  type MergedSection,
  type ReadListing,
  type ReadSection,
  readRuns,
  sectionsOf,
  writeRuns,
} from "../derived/listing-run-rows.ts"
import { digestOf, mergeRuns, momentOf, runChanges } from "../derived/listing-runs.ts"
import { storeVersions } from "../derived/listing-versions.ts"
import type { ListingObservation, ResultApp } from "../types.ts"
import type { ShownApps } from "./facts.ts"
import type { SurrogateIds } from "./identified.ts"

/**
 * Runs of readings that said the same, events and cards, versions, and the changes that follow: the same in any order
 * of coming. `placed` = new, or better than another of that moment. Needs the series' lock (lockSeries).
 */
export async function storeListings(
  tx: Tx,
  readings: readonly ListingObservation[],
  known: SurrogateIds,
): Promise<(ShownApps & { from: ListingObservation })[]> {
  if (readings.length === 0) return []
  const pages = readings.map((from) => pageOf(from, known))
  const series = mergeAll(pages, await readRuns(tx, pages))
  await writeRuns(tx, series)
  const fresh = new Set(series.flatMap(({ sections, kept }) => sections.filter(({ moment }) => kept.has(moment))))
  const placed = pages.filter(({ sections }) => sections.some((section) => fresh.has(section)))
  await storeItems(tx, placed)
  await storeVersions(tx, placed)
  await deriveChanges(tx, spansOf(series))
  return pages.map((page) => shownOf(page, known, placed.includes(page)))
}

/** For what follows from reading to reading of these apps. Apps share some locks, so a large import takes few. */
export async function lockSeries(tx: Tx, apps: readonly number[]): Promise<void> {
  const shares = new Set(apps.map((app) => app % SERIES_LOCKS))
  await takeLocks(
    tx,
    "listing",
    [...shares].map((share) => [share]),
  )
}

const SERIES_LOCKS = 64

/** What has a place of its own, day by day or once, is no part of the page's content: it would be another every day. */
function pageOf(from: ListingObservation, { appOf }: SurrogateIds): ReadListing {
  const { platform, storefront, source, id, listing } = from
  const { rating, ratings, ratingsByStar, versions, similar, moreByDeveloper, ...page } = listing
  const appId = appOf(platform, id)
  const key = `${appId} ${storefront} ${source}`
  const section = (name: ReadSection["name"], content: unknown): ReadSection[] =>
    content === undefined ? [] : [{ name, content, moment: momentOf(from, digestOf(content)), key: `${key} ${name}` }]
  const sections = [
    ...section("page", page),
    ...section("similar", similar && idsOf(similar)),
    ...section("developer", moreByDeveloper && idsOf(moreByDeveloper)),
  ]
  return { from, appId, storefront, source, key, sections }
}

function idsOf(apps: readonly ResultApp[]): string[] {
  return apps.map(({ id }) => id)
}

function mergeAll(pages: readonly ReadListing[], held: ReadonlyMap<string, HeldRun[]>): MergedSection[] {
  return [...Map.groupBy(sectionsOf(pages), ({ section: { key } }) => key)].map(([key, same]) => {
    const [{ page, section }] = same as [(typeof same)[number]]
    const { appId, storefront, source } = page
    const sections = same.map((one) => one.section)
    const before = held.get(key) ?? []
    const { runs, kept } = mergeRuns(
      before,
      sections.map(({ moment }) => moment),
    )
    return {
      appId,
      storefront,
      source,
      section: section.name,
      sections,
      held: before,
      runs,
      kept,
      ...runChanges(before, runs),
    }
  })
}

/** Where pages' runs came, went or changed; not where the latest one only goes on: nothing follows from that. */
function spansOf(merged: readonly MergedSection[]): Span[] {
  return merged.flatMap(({ appId, storefront, source, section, held, runs, gone, written }) => {
    const firsts = [...gone, ...written].map(({ moments }) => moments[0] as number)
    // nothing is told from a page that was read for the first time
    const isFirst = held.length === 0 && runs.length === 1
    if (section !== "page" || firsts.length === 0 || isFirst) return []
    const [last, before] = [runs.at(-1), held.at(-1)]
    const goesOn = last?.digest === before?.digest && last?.parser === before?.parser && last?.origin === before?.origin
    if (goesOn && firsts.length === 1 && firsts[0] === before?.moments[0]) return []
    return [{ appId, storefront, source, from: new Date(Math.min(...firsts)), to: new Date(Math.max(...firsts)) }]
  })
}

/** The figures of other apps stand on a page of someone else's: those are told by their own. */
function shownOf({ from }: ReadListing, { appOf }: SurrogateIds, placed: boolean) {
  const {
    name,
    icon,
    developer,
    developerId,
    bundleId,
    rating,
    ratings,
    ratingsByStar,
    similar = [],
    moreByDeveloper = [],
  } = from.listing
  const others = [...similar, ...moreByDeveloper].filter(({ id }) => id !== from.id)
  const named = others.map((app): ResultApp => shown({ ...app, ratings: undefined, rating: undefined }))
  const apps = [
    ...named,
    shown({ id: from.id, name, icon, developer, developerId, bundleId, rating, ratings, ratingsByStar }),
  ]
  return { from, apps, appIds: apps.map(({ id }) => appOf(from.platform, id)), placed }
}

function shown<App extends object>(app: App): { [Part in keyof App]: Exclude<App[Part], undefined> } {
  return Object.fromEntries(Object.entries(app).filter(([, value]) => value !== undefined)) as never
}
