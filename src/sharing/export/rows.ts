import { Buffer } from "node:buffer"
import type { Platform } from "../../core/observation/provenance.ts"
import type { MonthBytes } from "../../keywords/formulas/timeline.ts"
import type { TermRank } from "../../keywords/read/ranks.ts"
import type { KeywordMetrics } from "../../keywords/store/keyword-figures.ts"
import type { CsvCell } from "../../lib/csv.ts"
import { pointsOf } from "../../lib/month-bytes.ts"
import { sourceOf } from "../../lib/rank-sources.ts"

/** The datasets and their columns, named as in the operations that show the same data. */
export const EXPORT_COLUMNS = {
  keywords: [
    "term",
    "country",
    "platform",
    "day",
    "measured",
    "rank",
    "searchDepth",
    "source",
    "demand",
    "hintCount",
    "popularity",
    "popularitySource",
    "popularityWeek",
    "popularityNone",
    "difficulty",
    "difficultyBand",
    "difficultyNone",
    "popularityLow",
    "popularityHigh",
  ],
  history: ["day", "term", "country", "platform", "measured", "rank", "searchDepth", "source"],
  reviews: ["id", "date", "rating", "title", "text", "version", "country", "platform", "feed", "seenAt"],
} as const

export type Dataset = keyof typeof EXPORT_COLUMNS

/** Values that all rows of an export have in common. */
export interface RowsHead {
  dataset: Dataset
  platform: Platform
  country: string
  /** UTC days, inclusive. For keywords both are the exported day. Null if the keywords were never measured. */
  from: string | null
  to: string | null
}

/**
 * Formats one keyword as a stored line. Does not include whether a measurement is in progress, because that is only
 * true for a moment.
 */
export function keywordLine({ term, measured, rank, depth, source }: TermRank, metrics: KeywordMetrics): string {
  const { demand, hintCount, popularity, popularitySource, popularityWeek, popularityNone } = metrics
  const { difficulty, difficultyBand, difficultyNone, popularityLow, popularityHigh } = metrics
  return JSON.stringify([
    term,
    measured,
    rank,
    depth,
    source,
    demand,
    hintCount,
    popularity,
    popularitySource,
    popularityWeek,
    popularityNone,
    difficulty,
    difficultyBand,
    difficultyNone,
    popularityLow,
    popularityHigh,
  ])
}

/**
 * Formats one month of a keyword as a stored line. The line contains the days as bytes, as in the database: a tenth of
 * the size of their rows.
 */
export function monthLine(term: string, month: string, { ranks, sources, depths }: MonthBytes): string {
  return JSON.stringify([
    term,
    month,
    ...[ranks, sources, depths].map((bytes) => Buffer.from(bytes).toString("base64")),
  ])
}

/** Yields the rows that stored lines contain, in the column order of the dataset. */
export function* exportedRows(lines: string, of: RowsHead): Generator<CsvCell[]> {
  const rows = ROWS[of.dataset]
  for (const line of lines.split("\n")) yield* rows(JSON.parse(line), of)
}

type StoredRow = CsvCell[]

const ROWS: Record<Dataset, (stored: StoredRow, of: RowsHead) => Iterable<CsvCell[]>> = {
  keywords: ([term, ...rest], { country, platform, from }) => [[term as CsvCell, country, platform, from, ...rest]],
  history: historyRows,
  reviews: reviewRow,
}

function* historyRows(stored: StoredRow, { country, platform, from, to }: RowsHead): Generator<CsvCell[]> {
  const [term, month, ...texts] = stored as string[]
  const [ranks, sources, depths] = texts.map((text) => Buffer.from(text, "base64")) as [Buffer, Buffer, Buffer]
  const points = pointsOf({ month: month as string, ranks, sources, depths }, from as string, to as string)
  for (const { day, rank, depth, source } of points)
    yield [day, term as string, country, platform, true, rank, depth, sourceOf(source)]
}

/**
 * Converts a stored line of reviews: [id, stars, title, text, version, at, seenAt, feed], with times in milliseconds
 * since 1970.
 */
function reviewRow(stored: StoredRow, { country, platform }: RowsHead): CsvCell[][] {
  const [id, stars, title, text, version, at, seenAt, feed] = stored as [string, number, ...CsvCell[]]
  const moment = (ms: CsvCell | undefined) => new Date(ms as number).toISOString()
  return [
    [
      id,
      moment(at),
      stars,
      title as CsvCell,
      text as CsvCell,
      version as CsvCell,
      country,
      platform,
      feed as CsvCell,
      moment(seenAt),
    ],
  ]
}
