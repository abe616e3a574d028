import { type CsvTable, findCsvTable } from "../../lib/csv.ts"
import { storefrontNamed } from "../../lib/storefront-names.ts"
import { normaliseTerm } from "../../lib/term.ts"
import type { BadLine } from "../../measuring/import/import-lines.ts"
import type { PopularityObservation } from "../kinds/popularity.ts"

/** Why a report cannot be read, in one sentence. */
export class ReportProblem extends Error {
  override name = "ReportProblem"
}

export type PublishedFigure = Pick<PopularityObservation, "storefront" | "term" | "month" | "popularity" | "genres"> & {
  line: number
}

export interface Report {
  published: PublishedFigure[]
  /** Number of lines below the headings, and number of those for storefronts other than the requested one. */
  read: number
  otherStorefronts: number
  /** Lines that were skipped, each with the reason. */
  bad: BadLine[]
}

/**
 * Reads Apple's monthly report of search terms (Apple Ads, "search term rank") as CSV: one line for each genre that
 * lists a keyword, with
 *
 *     month,country,genre,search_term,rank_in_genre,popularity_in_genre_1_100,popularity_overall_1_100
 *
 * or the headings of Apple's own table ("Country or Region", "Search Popularity (1-100)", …), in any order and case,
 * separated by commas, semicolons or tabs. Lines above the headings are skipped. A country is a code or an English
 * name. `storefront` selects one storefront, and replaces a missing country column. Throws ReportProblem if the text is
 * not such a report or has no figures.
 */
export function readReport(text: string, storefront?: string): Report {
  const { records, headings: columns } = openReport(text)
  if (columns.popularity === undefined)
    throw new ReportProblem("the report has no popularity figures, so there is nothing to import")
  if (columns.month === undefined) throw new ReportProblem("the report has no month column")
  if (columns.country === undefined && storefront === undefined) {
    throw new ReportProblem("the report has no country column; name its storefront with --country")
  }
  const report: Report = { published: [], read: 0, otherStorefronts: 0, bad: [] }
  const figures = new Map<string, PublishedFigure>()
  for (const { line, fields } of records) {
    report.read++
    const row = fields ? rowOf(fields, columns, storefront) : "its quotes are not closed properly"
    if (row === null) report.otherStorefronts++
    else if (typeof row === "string") report.bad.push({ line, reason: row })
    else {
      const reason = add(figures, row, line)
      if (reason !== undefined) report.bad.push({ line, reason })
    }
  }
  report.published = [...figures.values()]
  return report
}

const HEADINGS = {
  month: ["month"],
  country: ["country", "country_or_region"],
  genre: ["genre"],
  term: ["search_term"],
  rank: ["rank_in_genre"],
  inGenre: ["popularity_in_genre_1_100", "search_popularity_in_genre_1_100"],
  popularity: ["popularity_overall_1_100", "search_popularity_1_100"],
}
type Columns = Partial<Record<keyof typeof HEADINGS, number>>

function openReport(text: string): CsvTable<Columns> {
  const table = findCsvTable(text, (fields) => {
    const columns = columnsOf(fields)
    return columns.term === undefined ? undefined : columns
  })
  if (!table) throw new ReportProblem("this is not a report of search terms: no line of headings names search_term")
  return table
}

function columnsOf(fields: readonly string[]): Columns {
  const spelt = fields.map((field) =>
    field
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, "_")
      .replace(/^_|_$/g, ""),
  )
  const found = Object.entries(HEADINGS).map(([name, headings]) => [
    name,
    spelt.findIndex((item) => headings.includes(item)),
  ])
  return Object.fromEntries(found.filter(([, at]) => at !== -1))
}

interface ReportRow {
  storefront: string
  month: string
  term: string
  popularity: number
  genre: { genre: string; rank: number; popularity: number } | null
}

/** Parses a line. Returns the reason if it is invalid, and null if it belongs to another storefront. */
function rowOf(fields: readonly string[], columns: Columns, wanted: string | undefined): ReportRow | string | null {
  const cell = (name: keyof Columns) => fields[columns[name] ?? -1]?.trim() ?? ""
  const storefront = columns.country === undefined ? wanted : storefrontNamed(cell("country"))
  if (storefront === undefined) return "country: is not a storefront"
  if (wanted !== undefined && storefront !== wanted) return null
  const [, month] = /^(\d{4}-(?:0[1-9]|1[0-2]))(?:-01)?$/.exec(cell("month")) ?? []
  if (month === undefined) return "month: must be written 2025-09"
  const popularity = wholeNumber(cell("popularity"))
  if (popularity === null) return "popularity: must be a whole number from 1 to 100"
  const term = normaliseTerm(cell("term"))
  if (term === "") return "search_term: is missing"
  const genre = genreOf(cell("genre"), cell("rank"), cell("inGenre"))
  if (typeof genre === "string") return genre
  return { storefront, month: `${month}-01`, term, popularity, genre }
}

/**
 * Returns the genre of a line, null if the line has none, or the reason why its figures are invalid. A line with a
 * genre needs both figures of the genre, or neither.
 */
function genreOf(genre: string, rank: string, popularity: string): ReportRow["genre"] | string {
  if (genre === "" || (rank === "" && popularity === "")) return null
  const figures = { rank: wholeNumber(rank), popularity: wholeNumber(popularity) }
  if (figures.rank === null) return "rank_in_genre: must be a whole number from 1"
  if (figures.popularity === null) return "popularity_in_genre: must be a whole number from 1 to 100"
  return { genre, rank: figures.rank, popularity: figures.popularity }
}

function wholeNumber(text: string): number | null {
  return /^\d{1,9}$/.test(text) ? Number(text) : null
}

/** Adds a line to its keyword and month. Returns the reason if it contradicts or repeats an earlier line. */
function add(figures: Map<string, PublishedFigure>, { genre, ...row }: ReportRow, line: number): string | undefined {
  const key = `${row.storefront} ${row.month} ${row.term}`
  const previous = figures.get(key)
  if (!previous) {
    figures.set(key, { ...row, genres: genre ? [genre] : [], line })
    return undefined
  }
  if (previous.popularity !== row.popularity)
    return "popularity: differs from that of an earlier line of the same keyword"
  if (!genre || previous.genres.some((other) => other.genre === genre.genre)) return "repeats an earlier line"
  previous.genres.push(genre)
  return undefined
}
