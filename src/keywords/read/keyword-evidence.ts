import { Buffer } from "node:buffer"
import type { ListKey } from "../../core/observation/subjects.ts"
import type { Sql } from "../../database/types.ts"
import type { SourceName } from "../../lib/upstreams.ts"
import type { RawBodies } from "../../measuring/raw-bodies.ts"
import type { SourceRequest } from "../../measuring/source.ts"
import type { Sources } from "../../sources.ts"
import {
  type FigureProvenance,
  type MetricEvidence,
  type RatingsEvidence,
  type ReadingEvidence,
  readLastDay,
  readMetricsUntil,
  readRatingsUntil,
  readReadingsOn,
} from "./evidence.ts"

export interface Evidence {
  /** Address that was read. Null for imports. */
  url: string | null
  /** Whether the body is still stored. */
  bodyKept: boolean
}

/** A reading that a calculated figure is based on. */
interface FigureSource extends Evidence {
  source: string
  seenAt: string
  sha256: string
  prefix?: string
}

export interface KeywordEvidence extends ListKey {
  day: string
  /** The day's readings. The first one provides the day's results if it is complete. */
  readings: (ReadingEvidence & Evidence)[]
  /** Figures as of the requested day, by default the current ones, with the readings they are based on. */
  metrics: (MetricEvidence & { restsOn: FigureSource[] })[]
  ratings: (RatingsEvidence & Evidence)[]
}

interface EvidenceParts {
  sql: Sql
  bodies: Pick<RawBodies, "has">
  sources: Sources
}

interface EvidenceSubject {
  list: ListKey
  /** Its id in the store and its store_app id. */
  app: { storeId: string; id: number }
  /** "YYYY-MM-DD". The default is the latest day on which the list was read, or today if there is none. */
  day?: string | undefined
  today: string
}

/**
 * Returns what a keyword's figures are based on. A look-up of several apps is shown with an address for this app alone.
 */
export async function readKeywordEvidence(
  { sql, bodies, sources }: EvidenceParts,
  { list, app, day: requested, today }: EvidenceSubject,
): Promise<KeywordEvidence> {
  const day = requested ?? (await readLastDay(sql, list)) ?? today
  const { storefront, term } = list
  const withBody = async <Of extends Pick<FigureProvenance, "sha256">>(of: Of, url: string | null) => ({
    ...of,
    url,
    bodyKept: of.sha256 !== null && (await bodies.has(Buffer.from(of.sha256, "hex"))),
  })
  const readings = await readReadingsOn(sql, { list, day, app: app.id })
  const until = requested ?? today
  const metrics = await readMetricsUntil(sql, list, until)
  const ratings = await readRatingsUntil(sql, { app: app.id, storefront, day: until })
  return {
    ...list,
    day,
    readings: await Promise.all(
      readings.map((reading) => withBody(reading, urlOf(sources, reading.source, { storefront, term, prefix: term }))),
    ),
    metrics: await Promise.all(
      metrics.map(async (metric) => ({
        ...metric,
        restsOn: await Promise.all(
          readIn(metric).map((read) => {
            const url = urlOf(sources, read.source, { storefront, term, prefix: read.prefix ?? term })
            return withBody(read, url)
          }),
        ),
      })),
    ),
    ratings: await Promise.all(
      ratings.map((rating) =>
        withBody(rating, urlOf(sources, rating.source, { storefront, term: rating.term, ids: [app.storeId] })),
      ),
    ),
  }
}

/**
 * Returns the readings that a metric's parts list: the report of a published figure, the readings of a calculated one.
 */
function readIn({ source, seenAt, parts }: MetricEvidence): Omit<FigureSource, keyof Evidence>[] {
  const { read, sha256 } = parts as { read?: Omit<FigureSource, keyof Evidence>[]; sha256?: string }
  if (Array.isArray(read)) return read
  return sha256 === undefined ? [] : [{ source, seenAt: seenAt.toISOString(), sha256 }]
}

interface RequestedList {
  storefront: string
  term?: string | null
  prefix?: string
  ids?: string[]
}

/** Returns the address a source requests. Null if it requests none, or has no such storefront. */
export function urlOf(sources: Sources, name: SourceName | string, requested: RequestedList): string | null {
  const { storefront, term, prefix, ids } = requested
  const { search, hints, lookups, catalogues } = sources
  for (const source of [...search, ...catalogues]) {
    if (source.name === name && term != null) return at(source.upstream, () => source.request({ storefront, term }))
  }
  for (const source of hints) {
    if (source.name === name && prefix) return at(source.upstream, () => source.request({ storefront, prefix }))
  }
  for (const source of lookups) {
    if (source.name === name && ids) return at(source.upstream, () => source.request({ storefront, ids }))
  }
  return null
}

function at(upstream: string, request: () => SourceRequest): string | null {
  try {
    return `https://${upstream}${request().path}`
  } catch (error) {
    if (error instanceof RangeError) return null
    throw error
  }
}
