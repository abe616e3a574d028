import { type Difference, kind, type StoredRange } from "../../core/kind.ts"
import { checkIds } from "../../core/observation/invariants.ts"
import type { Side } from "../../core/observation/provenance.ts"
import type { ShownApps } from "../../core/observation/shown-apps.ts"
import type { SurrogateIds } from "../../core/observation/subjects.ts"
import type { Sql, Tx } from "../../database/types.ts"
import { keysOf } from "../../lib/objects.ts"
import { type BestOptions, pagesOf, provenanceOf, type RowOf, storeBest } from "../../measuring/record/best-rows.ts"
import { type AppRow, countStale, findStaleRows, newestRelease, releaseColumns } from "../store/app-releases.ts"
import { cleanText } from "../store/facts.ts"
import {
  type App,
  type AppsObservation,
  type AppsQuestion,
  idsIn,
  isLookUp,
  LOOKUP_SOURCES,
  SOURCES,
  shape,
} from "./apps-shape.ts"
import { pagesIn, withPages } from "./pages-in-look-ups.ts"

/** App facts of a store in one storefront. The latest reading of each app and source is stored. */
export const apps = kind<AppsObservation, AppsQuestion>({
  name: "apps",
  sources: SOURCES,
  private: false,
  shape,
  completed: withPages,
  unordered: "apps",
  question: {
    // A catalogue search has a term and no ids.
    about: ({ ids }: Partial<AppsQuestion>) => ids?.join() ?? null,
    checkSubject: (subject, platform) => checkIds(platform, subject.split(","), "requested apps"),
  },
  names(seen) {
    const ids = idsIn(seen)
    return { apps: [...seen.asked, ...ids], ...(isLookUp(seen) && { series: ids }) }
  },
  parts: (seen) => [...pagesIn([seen]).keys()],
  market: ({ apps }) => apps.flatMap(({ id, market }) => (market ? [{ id, facts: market }] : [])),
  weight: ({ asked: requestedIds, apps }) => Math.max(requestedIds.length, apps.length),
  store,
  stored: readAppReadings,
  replay: {
    subjects: ({ asked: requestedIds }) => requestedIds,
    toQuestion: ({ storefront }, subject) => ({ storefront, ids: subject.split(",") }),
    compare: (stored, now) => stored.asked.map((id) => differenceOf(appIn(stored, id), appIn(now, id))),
    isStored: (sql) => sql`
      select
      from store_app s
      where s.platform = a.platform and s.store_id = any(string_to_array(a.subject, ','))
        and (
          exists (
            select
            from rating_day c
            where c.app_id = s.id and c.storefront = a.storefront and c.day = (a.at at time zone 'utc')::date
              and c.quarter = date_trunc('quarter', a.at at time zone 'utc')::date
              and c.until >= (a.at at time zone 'utc')::date
              and c.source = a.source and c.seen_at >= a.at
          )
          or exists (
            select
            from app_storefront f
            where f.app_id = s.id and f.storefront = a.storefront and f.source = a.source and f.sha256 = a.sha256
          )
        )`,
  },
  latest: (sql, { platform, storefront, subject }, since) => sql`
    select max(greatest(s.seen_at, s.stale_at)) as "seenAt"
    from store_app a
    join app_storefront s on s.app_id = a.id
    where (a.platform, a.store_id) = (${platform}, ${subject}) and s.storefront = ${storefront}
      and s.source = any(${[...LOOKUP_SOURCES]}::text[])
      and greatest(s.seen_at, s.stale_at) >= ${since}`,
  example: {
    source: "itunes-lookup",
    platform: "ios",
    storefront: "us",
    seenAt: "2025-10-25T03:25:01Z",
    asked: ["897446215", "399355755"],
    apps: [
      {
        id: "897446215",
        name: "Canva",
        version: "4.1",
        price: 0,
        currency: "USD",
        genre: "6008",
        ratings: 6_400_000,
        rating: 4.8,
        updatedAt: "2025-10-20T08:00:00Z",
        languages: ["de", "en", "fr"],
        sizeBytes: 412_876_800,
      },
    ],
  },
})

function appIn({ apps }: AppsObservation, id: string): App | undefined {
  return apps.find((app) => app.id === id)
}

/** Selects the time of the latest catalogue search for a text, with or without results. */
export function latestNameSearch(sql: Sql, { platform, storefront, subject }: Side & { subject: string }, since: Date) {
  return sql`
    select max(seen_at) as "seenAt"
    from name_search
    where (platform, storefront, text) = (${platform}, ${storefront}, ${subject}) and seen_at >= ${since}`
}

const SEARCHES: BestOptions = { table: "name_search", key: ["platform", "storefront", "text", "source"] }
const TABLE: BestOptions = {
  table: "app_storefront",
  key: ["app_id", "storefront", "source"],
  first: (tx, row) => tx`coalesce(${newestRelease(tx, row)}, '-infinity')`,
}

/**
 * Stores the readings and returns all apps shown, except stale responses. A response that is older than the stored one
 * and not stale still contributes the rating counts of its day.
 */
async function store(tx: Tx, readings: readonly AppsObservation[], ids: SurrogateIds) {
  const rows = readings.map((from) => rowsOf(from, ids))
  const { fresh, stale, outdated } = await findStaleRows(tx, rows.flat())
  const best = fresh.map(({ row, newest }) => ({ from: row, row: { ...columnsOf(row), ...releaseColumns(newest) } }))
  const taken = new Set(await storeBest(tx, TABLE, best))
  const counted = await countStale(tx, stale)
  const searches = await storeBest(
    tx,
    SEARCHES,
    readings.flatMap((from) => searchOf(from, ids)),
  )
  const shownApps = readings.flatMap((from, place) => {
    const shownRows = (rows[place] as AppRow[]).filter((row) => !stale.has(row))
    const byPlaced = Map.groupBy(shownRows, (row) => taken.has(row))
    return [...byPlaced].map(([placed, some]): ShownApps => shownOf(from, some, placed))
  })
  return {
    placed: [...new Set([...[...taken, ...counted].map(({ from }) => from), ...searches])],
    shown: shownApps,
    outdated,
    dated: [...taken].map(({ appId, from }) => ({ appId, storefront: from.storefront })),
  }
}

/** Returns the apps found by a catalogue search, without their order. */
function searchOf(from: AppsObservation, { appOf }: SurrogateIds): RowOf<AppsObservation>[] {
  const { platform, storefront, text } = from
  if (text === undefined) return []
  const ids = idsIn(from).map((id) => appOf(platform, id))
  const app_ids = ids.toSorted((a, b) => a - b)
  return [{ from, row: { platform, storefront, text, app_ids, ...provenanceOf(from) } }]
}

function rowsOf(from: AppsObservation, { appOf }: SurrogateIds): AppRow[] {
  const foundIds = new Set(idsIn(from))
  const missing = isLookUp(from) ? from.asked.filter((id) => !foundIds.has(id)) : []
  const row = (id: string, app?: App): AppRow => ({ from, appId: appOf(from.platform, id), app })
  return [...from.apps.map((app) => row(app.id, app)), ...missing.map((id) => row(id))]
}

function columnsOf({ from, appId, app }: AppRow) {
  const { version, price, currency, genre, releasedAt, updatedAt, sizeBytes } = factsOf(app)
  return {
    app_id: appId,
    storefront: from.storefront,
    ...provenanceOf(from),
    available: app !== undefined,
    name: cleanText(app?.name) ?? null,
    version,
    price,
    currency,
    genre,
    released_at: releasedAt?.toISOString() ?? null,
    updated_at: updatedAt?.toISOString() ?? null,
    languages: app?.languages ?? null,
    size_bytes: sizeBytes,
  }
}

function shownOf(from: AppsObservation, rows: readonly AppRow[], placed: boolean): ShownApps {
  const availableRows = rows.filter((row): row is AppRow & { app: App } => row.app !== undefined)
  return { from, apps: availableRows.map(({ app }) => app), appIds: availableRows.map(({ appId }) => appId), placed }
}

/** Returns the stored facts of an app. Null if unknown. */
function factsOf(app: App | undefined) {
  return {
    available: app !== undefined,
    name: cleanText(app?.name) ?? null,
    version: cleanText(app?.version) ?? null,
    price: app?.price ?? null,
    currency: app?.currency ?? null,
    genre: app?.genre ?? null,
    releasedAt: app?.releasedAt ?? null,
    updatedAt: app?.updatedAt ?? null,
    languages: app?.languages?.join() ?? null,
    sizeBytes: app?.sizeBytes ?? null,
  }
}

function differenceOf(stored: App | undefined, now: App | undefined): Difference | null {
  const [before, after] = [factsOf(stored), factsOf(now)]
  const changedFacts = keysOf(before).filter((fact) => {
    return before[fact]?.valueOf() !== after[fact]?.valueOf()
  })
  return changedFacts.length > 0 ? { places: changedFacts.length, detail: changedFacts.join(", ") } : null
}

// A large page means that each body is parsed fewer times, because the apps of one look-up are not adjacent in this
// order.
const PAGE = 500

interface StoredApp extends Omit<AppsObservation, "asked" | "apps"> {
  appId: number
  id: string
  available: boolean
  /** The app's facts as JSON. */
  facts: object
  releasedAt: Date | null
  updatedAt: Date | null
}

/** Yields stored readings, reduced to the app facts that are still stored. Ratings are stored by day elsewhere. */
async function* readAppReadings(sql: Sql, { since, sources }: StoredRange): AsyncGenerator<AppsObservation[]> {
  const pages = pagesOf(
    (after: StoredApp | null) => sql<StoredApp[]>`
      select 'apps' as kind, s.app_id as "appId", a.store_id as id, a.platform, s.storefront, s.source,
        s.seen_at as "seenAt", s.parser, s.origin, s.sha256, s.available, s.released_at as "releasedAt",
        s.updated_at as "updatedAt", jsonb_strip_nulls(jsonb_build_object(
          'name', s.name, 'version', s.version, 'price', s.price::float8, 'currency', s.currency, 'genre', s.genre,
          'languages', s.languages, 'sizeBytes', s.size_bytes
        )) as facts
      from app_storefront s
      join store_app a on a.id = s.app_id
      where s.seen_at >= ${since ?? "-infinity"}::date::timestamp at time zone 'utc'
        and s.source = any(${sources as string[]}::text[])
        and (s.app_id, s.storefront, s.source)
          > (${after?.appId ?? 0}, ${after?.storefront ?? ""}, ${after?.source ?? ""})
      order by s.app_id, s.storefront, s.source
      limit ${PAGE}`,
  )
  for await (const rows of pages) yield [...Map.groupBy(rows, bodyOf).values()].map(readingOf)
}

function bodyOf({ source, storefront, seenAt, parser, origin, sha256 }: StoredApp): string {
  return `${source} ${storefront} ${seenAt.getTime()} ${parser} ${origin} ${sha256.join()}`
}

function readingOf(rows: readonly StoredApp[]): AppsObservation {
  const [{ kind, platform, storefront, source, seenAt, parser, origin, sha256 }] = rows as [StoredApp]
  const apps = rows.filter(({ available }) => available).map(appOf)
  const about = { kind, platform, storefront, source, seenAt, parser, origin, sha256 }
  return { ...about, asked: rows.map(({ id }) => id), apps }
}

function appOf({ id, facts, releasedAt, updatedAt }: StoredApp): App {
  return { id, ...facts, ...(releasedAt && { releasedAt }), ...(updatedAt && { updatedAt }) }
}
