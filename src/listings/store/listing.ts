import type { ResultApp } from "../../core/observation/line-parts.ts"
import type { OutdatedReading, ShownApps } from "../../core/observation/shown-apps.ts"
import type { SurrogateIds } from "../../core/observation/subjects.ts"
import type { Tx } from "../../database/types.ts"
import { withoutUndefined } from "../../lib/objects.ts"
import { DAY_MS } from "../../lib/time.ts"
import type { ListingObservation } from "../../stores/kinds/listing-shape.ts"
import { deriveChanges, type Span } from "./changes.ts"
import { storeItems } from "./listing-items.ts"
import {
  type MergedSection,
  type ReadListing,
  type ReadSection,
  readReleases,
  readRuns,
  type StoredRun,
  sectionsOf,
  writeRuns,
} from "./listing-run-rows.ts"
import { digestOf, mergeRuns, momentOf, type Releases, type Run, runChanges } from "./listing-runs.ts"
import { storeVersions } from "./listing-versions.ts"

interface StoredListings {
  shown: (ShownApps & { from: ListingObservation })[]
  outdated: OutdatedReading[]
}

/**
 * Stores readings as runs with the same content, and derives events, cards, versions and changes from them. The result
 * does not depend on the order of arrival. A reading is `placed` if it is new or better than another reading of the
 * same moment. A stale reading contributes no facts about its app. The caller must hold the lock of the series
 * (lockSeries).
 */
export async function storeListings(
  tx: Tx,
  readings: readonly ListingObservation[],
  ids: SurrogateIds,
): Promise<StoredListings> {
  if (readings.length === 0) return { shown: [], outdated: [] }
  const pages = readings.map((from) => pageOf(from, ids))
  const merged = mergeAll(pages, await readRuns(tx, pages), await readReleases(tx, pages))
  const series = merged.flatMap(({ rows }) => rows)
  await writeRuns(tx, series)
  const storedSections = new Set(merged.flatMap((section) => section.retained))
  const stale = new Set(merged.flatMap((section) => section.stale))
  const placed = pages.filter(({ sections }) => sections.some((section) => storedSections.has(section)))
  await storeItems(
    tx,
    placed.filter((page) => !isStale(page, stale)),
  )
  await storeVersions(tx, placed)
  await deriveChanges(tx, spansOf(series))
  return {
    shown: pages.map((page) => shownOf(page, ids, { placed: placed.includes(page), stale: isStale(page, stale) })),
    outdated: merged.flatMap((section) => section.outdated),
  }
}

function isStale({ sections }: ReadListing, stale: ReadonlySet<ReadSection>): boolean {
  return sections.some((section) => stale.has(section))
}

/**
 * Splits a reading into sections. Parts that are stored elsewhere, per day or once, are left out of the page's content,
 * which would otherwise differ every day.
 */
function pageOf(from: ListingObservation, { appOf }: SurrogateIds): ReadListing {
  const { platform, storefront, source, id, listing } = from
  const { rating, ratings, ratingsByStar, versions, updatedAt, similar, moreByDeveloper, ...page } = listing
  const appId = appOf(platform, id)
  const key = `${appId} ${storefront} ${source}`
  const section = (name: ReadSection["name"], content: unknown, releasedAt: number | null = null): ReadSection[] =>
    content === undefined
      ? []
      : [{ name, content, moment: momentOf(from, digestOf(content), releasedAt), key: `${key} ${name}` }]
  const sections = [
    ...section("page", page, releaseOf(from)),
    ...section("similar", similar && idsOf(similar)),
    ...section("developer", moreByDeveloper && idsOf(moreByDeveloper)),
  ]
  return { from, appId, storefront, source, key, sections }
}

/**
 * Returns the release time of the version on the page. Null if it is more than a day after the reading: it is then the
 * date of a pre-order.
 */
function releaseOf({ seenAt, listing: { version, versions = [], updatedAt } }: ListingObservation): number | null {
  const current = versions.find((item) => item.version === version && item.releasedAt !== undefined)
  const dates = versions.flatMap(({ releasedAt }) => releasedAt?.getTime() ?? [])
  const releasedAt =
    updatedAt?.getTime() ?? current?.releasedAt?.getTime() ?? (dates.length > 0 ? Math.max(...dates) : null)
  return releasedAt !== null && releasedAt <= seenAt.getTime() + DAY_MS ? releasedAt : null
}

function idsOf(apps: readonly ResultApp[]): string[] {
  return apps.map(({ id }) => id)
}

interface MergedReadings {
  rows: MergedSection[]
  /** Sections of readings that are new, or better than another of the same moment. */
  retained: ReadSection[]
  /** Sections of stale readings. */
  stale: ReadSection[]
  /** Stored readings that turned out to be stale. */
  outdated: OutdatedReading[]
}

function mergeAll(
  pages: readonly ReadListing[],
  storedRuns: ReadonlyMap<string, StoredRun[]>,
  releases: ReadonlyMap<string, Releases>,
): MergedReadings[] {
  return [...Map.groupBy(sectionsOf(pages), ({ section: { key } }) => key)].map(([key, same]) => {
    const [{ page, section }] = same as [(typeof same)[number]]
    return mergeSection({
      page,
      name: section.name,
      sections: same.map((item) => item.section),
      storedRuns: storedRuns.get(key) ?? [],
      releases: section.name === "page" ? releases.get(page.key) : undefined,
    })
  })
}

interface SectionReadings {
  page: ReadListing
  name: ReadSection["name"]
  sections: ReadSection[]
  storedRuns: readonly StoredRun[]
  releases: Releases | undefined
}

function mergeSection({ page, name, sections, storedRuns, releases }: SectionReadings): MergedReadings {
  const { appId, storefront, source } = page
  const { runs, stale, retained } = mergeRuns(
    storedRuns,
    sections.map(({ moment }) => moment),
    releases,
  )
  const staleMoments = new Set(stale.flatMap(({ moments }) => moments))
  const isStored = ({ moment }: ReadSection) => retained.has(moment)
  const isStaleSection = ({ moment }: ReadSection) => staleMoments.has(moment.at)
  const stored = sections.filter(isStored)
  const [storedFresh, storedStale] = [
    storedRuns.filter(({ section }) => section !== "stale"),
    storedRuns.filter(({ section }) => section === "stale"),
  ]
  const rowsOf = (
    section: string,
    { before, other, after, added }: { before: StoredRun[]; other: StoredRun[]; after: Run[]; added: ReadSection[] },
  ): MergedSection => ({
    appId,
    storefront,
    source,
    section,
    contents: added.map(({ content, moment }) => ({ digest: moment.digest, content })),
    moved: movedContents(before, other, after),
    storedRuns: before,
    runs: after,
    ...runChanges(before, after),
  })
  const rows = [
    rowsOf(name, {
      before: storedFresh,
      other: storedStale,
      after: runs,
      added: stored.filter((item) => !isStaleSection(item)),
    }),
  ]
  if (storedStale.length + stale.length > 0)
    rows.push(
      rowsOf("stale", { before: storedStale, other: storedFresh, after: stale, added: stored.filter(isStaleSection) }),
    )
  return {
    rows,
    retained: stored,
    stale: sections.filter(isStaleSection),
    outdated: storedFresh
      .flatMap(({ moments }) => moments)
      .filter((at) => staleMoments.has(at))
      .map((at) => ({ appId, storefront, source, seenAt: new Date(at) })),
  }
}

/** Returns the contents of runs that moved from the other section. */
function movedContents(before: readonly StoredRun[], other: readonly StoredRun[], after: readonly Run[]) {
  const stored = new Set(before.map(({ digest }) => digest))
  const elsewhere = new Set(other.map(({ digest }) => digest))
  const digests = after.map(({ digest }) => digest).filter((digest) => !stored.has(digest) && elsewhere.has(digest))
  return { from: other[0]?.section ?? "", digests: [...new Set(digests)] }
}

/**
 * Returns the spans in which runs were added, removed or changed. A run that was only extended is left out, because it
 * causes no change of the page.
 */
function spansOf(merged: readonly MergedSection[]): Span[] {
  return merged.flatMap(({ appId, storefront, source, section, storedRuns, runs, gone, written }) => {
    const firsts = [...gone, ...written].map(({ moments }) => moments[0] as number)
    // The first reading of a page shows no change.
    const isFirst = storedRuns.length === 0 && runs.length === 1
    if (section !== "page" || firsts.length === 0 || isFirst) return []
    const [last, before] = [runs.at(-1), storedRuns.at(-1)]
    const goesOn = last?.digest === before?.digest && last?.parser === before?.parser && last?.origin === before?.origin
    if (goesOn && firsts.length === 1 && firsts[0] === before?.moments[0]) return []
    return [{ appId, storefront, source, from: new Date(Math.min(...firsts)), to: new Date(Math.max(...firsts)) }]
  })
}

/** Returns the apps on the page. Rating counts of other apps are left out, because their own pages provide them. */
function shownOf(
  { from }: ReadListing,
  { appOf }: SurrogateIds,
  { placed, stale }: { placed: boolean; stale: boolean },
) {
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
  const relatedApps = [...similar, ...moreByDeveloper].filter(({ id }) => id !== from.id)
  const named = relatedApps.map((app) => withoutUndefined<ResultApp>({ ...app, ratings: undefined, rating: undefined }))
  if (stale) return { from, apps: [], appIds: [], placed }
  const apps = [
    ...named,
    withoutUndefined({ id: from.id, name, icon, developer, developerId, bundleId, rating, ratings, ratingsByStar }),
  ]
  return { from, apps, appIds: apps.map(({ id }) => appOf(from.platform, id)), placed }
}
