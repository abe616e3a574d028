import { setTimeout as sleep } from "node:timers/promises"
import { hexOf } from "../../core/observation/precedence.ts"
import type { Recording } from "../../core/recording.ts"
import type { Sql } from "../../database/types.ts"
import type { BadLine } from "../../measuring/import/import-lines.ts"
import type { PopularityObservation } from "../kinds/popularity.ts"
import type { PublishedFigure } from "./popularity-report.ts"

/** Increase this version whenever a report is parsed differently. */
const PARSER = 1

interface PopularityImportResult {
  recorded: number
  /** Number of figures that were already stored, from the same report or a later one. */
  alreadyStored: number
  /** Lines whose figures cannot be stored, each with the reason. */
  bad: BadLine[]
}

interface PopularityImport {
  recording: Pick<Recording, "record">
  /**
   * The time at which the report was available. A month's figure cannot exist before the month ends, so an earlier time
   * is replaced by the end of the month.
   */
  seenAt: Date
  sha256: Uint8Array
  now: () => Date
  onProgress?: (done: number) => void
  /** Awaited between two transactions, so that other callers can use the only backend of the embedded database. */
  pause?: () => Promise<void>
}

/**
 * Stores figures in batches; each batch is stored completely or not at all. If two reports have a figure for the same
 * month, the figure of the later report is kept.
 */
export async function importPopularity(
  sql: Sql,
  published: readonly PublishedFigure[],
  { recording, seenAt, sha256, now, onProgress = () => {}, pause = () => sleep(PAUSE_MS) }: PopularityImport,
): Promise<PopularityImportResult> {
  const total: PopularityImportResult = { recorded: 0, alreadyStored: 0, bad: [] }
  for (let from = 0; from < published.length; from += BATCH) {
    if (from > 0) await pause()
    const batch = published.slice(from, from + BATCH)
    const stored = await findStored(sql, batch, sha256)
    const fresh = batch.filter((_, place) => !stored.has(place))
    const observations = fresh.map((item) => observationOf(item, seenAt, sha256))
    const { recorded, alreadyStored, refused } = await recording.record(sql, observations, now)
    total.recorded += recorded
    total.alreadyStored += alreadyStored + stored.size
    for (const { index, problem } of refused) {
      total.bad.push({ line: (fresh[index] as PublishedFigure).line, reason: problem.message })
    }
    onProgress(from + batch.length)
  }
  return total
}

const BATCH = 400
const PAUSE_MS = 5

/** Returns the indexes of figures that the same report has already stored. */
async function findStored(sql: Sql, batch: readonly PublishedFigure[], sha256: Uint8Array): Promise<Set<number>> {
  const rows = await sql<{ place: number }[]>`
    select k.place::int
    from unnest(
      ${batch.map(({ storefront }) => storefront)}::text[],
      ${batch.map(({ term }) => term)}::text[],
      ${batch.map(({ month }) => month)}::date[],
      ${batch.map(({ popularity }) => popularity)}::real[]
    ) with ordinality k (storefront, term, month, popularity, place)
    cross join lateral (
      select id
      from list
      where (platform, storefront, term) = ('ios', k.storefront, k.term)
      offset 0
    ) l
    cross join lateral (
      select score, parts
      from keyword_metric
      where (list_id, metric, day, source) = (l.id, 'popularity', k.month, 'apple-ads-report')
      offset 0
    ) m
    where m.score = k.popularity and m.parts ->> 'sha256' = ${hexOf(sha256)}
    order by k.place
    limit ${batch.length}`
  return new Set(rows.map(({ place }) => place - 1))
}

function observationOf(
  { line: _, ...figure }: PublishedFigure,
  seenAt: Date,
  sha256: Uint8Array,
): PopularityObservation {
  const [year, month] = figure.month.split("-").map(Number) as [number, number]
  return {
    kind: "popularity",
    source: "apple-ads-report",
    platform: "ios",
    ...figure,
    seenAt: new Date(Math.max(seenAt.getTime(), Date.UTC(year, month))),
    parser: PARSER,
    origin: "own",
    sha256,
  }
}
