import type { Sql } from "../database/types.ts"
import { cleanText } from "../observations/facts.ts"
import { withoutPages } from "../observations/looked-up.ts"
import type { AppsObservation, Platform, StoreApp } from "../observations/types.ts"
import type { Sources } from "../sources/all.ts"
import { itunesRows } from "../sources/itunes-app.ts"
import { parseBody, type RawBody, ReadFailure } from "../sources/source.ts"
import { type Difference, type Range, type ReadFrom, startOf } from "./replay-subjects.ts"

interface Row {
  appId: number
  id: string
  platform: Platform
  storefront: string
  source: AppsObservation["source"]
  seenAt: Date
  available: boolean
  name: string | null
  version: string | null
  price: number | null
  currency: string | null
  genre: string | null
  releasedAt: Date | null
  updatedAt: Date | null
  parser: number
  origin: string
  sha256: Uint8Array
}

// The 50 apps of a look-up lie apart, so that a body is read once for each page that holds some of them.
const PAGE = 500

/** What these sources said last of apps, page by page, by body. */
export async function* storedApps(sql: Sql, sources: Sources, { since, source }: Range): AsyncGenerator<ReadFrom[]> {
  const names = appSources(sources).filter((name) => source === null || name === source)
  if (names.length === 0) return
  let after = { appId: 0, storefront: "", source: "" }
  for (;;) {
    const rows = await sql<Row[]>`
      select s.app_id as "appId", a.store_id as id, a.platform, s.storefront, s.source, s.seen_at as "seenAt",
        s.available, s.name, s.version, s.price::float8 as price, s.currency, s.genre, s.released_at as "releasedAt",
        s.updated_at as "updatedAt", s.parser, s.origin, s.sha256
      from app_storefront s
      join store_app a on a.id = s.app_id
      where s.seen_at >= ${startOf(since)}::text::timestamptz and s.source = any(${names}::text[])
        and (s.app_id, s.storefront, s.source) > (${after.appId}, ${after.storefront}, ${after.source})
      order by s.app_id, s.storefront, s.source
      limit ${PAGE}`
    if (rows.length === 0) return
    const bodies = Map.groupBy(rows, (row) => keyOf(row))
    yield [...bodies.values()].map((read) => appsOf(read as [Row, ...Row[]], sources))
    after = rows.at(-1) as Row
  }
}

export function appSources({ lookups, catalogues }: Sources): string[] {
  return [...lookups, ...catalogues].map(({ name }) => name)
}

function keyOf({ source, storefront, seenAt, parser, origin, sha256 }: Row): string {
  return `${source} ${storefront} ${seenAt.getTime()} ${parser} ${origin} ${sha256.join()}`
}

function appsOf(rows: readonly [Row, ...Row[]], sources: Sources): ReadFrom {
  const [{ source, platform, storefront, seenAt, sha256, parser, origin }] = rows
  const stored = new Set(rows.map(({ id }) => id))
  return {
    source,
    platform,
    storefront,
    seenAt,
    sha256,
    parser,
    subjects: [...stored],
    read(body) {
      const ids = askedOf(source, [...stored], body)
      const read = readApps(sources, { source, platform, storefront, ids }, body)
      // of the others something later is held
      return { ...read, asked: [...stored], apps: read.apps.filter(({ id }) => stored.has(id)), origin }
    },
    compare(seen) {
      const apps = new Map((seen as AppsObservation).apps.map((app) => [app.id, app]))
      return rows.map((row) => differenceOf(row, apps.get(row.id)))
    },
  }
}

/**
 * What a look-up was asked for, as far as its body and what is stored of it tell: later readings may have taken the place
 * of some. Throws ReadFailure.
 */
function askedOf(source: AppsObservation["source"], stored: readonly string[], { text }: RawBody): string[] {
  if (source !== "itunes-lookup") return [...stored]
  const named = itunesRows(text).flatMap((row) => (row.is === "other" ? [] : [row.id]))
  return [...new Set([...stored, ...named])]
}

export interface AppsSubject {
  source: AppsObservation["source"]
  platform: Platform
  storefront: string
  ids: readonly string[]
}

/**
 * What a body says of apps, read by the source of that name, without their pages: nothing tells whether it was read for
 * these. Where the store says that it has none of the apps, they are not available. Throws ReadFailure.
 */
export function readApps(sources: Sources, subject: AppsSubject, body: RawBody): AppsObservation {
  const { source, platform, storefront, ids } = subject
  const catalogue = sources.catalogues.find(({ name }) => name === source)
  // the term is not stored, and says nothing of an app
  if (catalogue) return parseBody(catalogue, { storefront, term: "" }, body, undefined)
  const lookup = sources.lookups.find(({ name }) => name === source)!
  try {
    return withoutPages(parseBody(lookup, { storefront, ids }, body, undefined))
  } catch (error) {
    if (!(error instanceof ReadFailure && error.outcome === "not_found")) throw error
    const { seenAt, sha256 } = body
    const about = { parser: lookup.parser, origin: "own", seenAt, sha256 }
    return { kind: "apps", source, platform, storefront, asked: [...ids], apps: [], ...about }
  }
}

function differenceOf(row: Row, app: StoreApp | undefined): Difference | null {
  const facts = factsOf(app)
  const other = (Object.keys(facts) as (keyof typeof facts)[]).filter((fact) => {
    const [before, now] = [row[fact], facts[fact]].map((value) => (value instanceof Date ? value.getTime() : value))
    return before !== now
  })
  return other.length > 0 ? { places: other.length, detail: other.join(", ") } : null
}

function factsOf(app: StoreApp | undefined) {
  return {
    available: app !== undefined,
    name: cleanText(app?.name) ?? null,
    version: cleanText(app?.version) ?? null,
    price: app?.price ?? null,
    currency: app?.currency ?? null,
    genre: app?.genre ?? null,
    releasedAt: app?.releasedAt ?? null,
    updatedAt: app?.updatedAt ?? null,
  }
}
