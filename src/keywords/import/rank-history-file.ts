import { findCsvTable } from "../../lib/csv.ts"
import { storefrontNamed } from "../../lib/storefront-names.ts"
import { normaliseTerm } from "../../lib/term.ts"
import { KEYWORD_COLUMNS } from "../../tracking/keyword-file.ts"
import { type DayOrder, dayOrderOf, parseDay } from "./file-days.ts"

/** Why a file cannot be read, in one sentence. */
export class RankFileProblem extends Error {
  override name = "RankFileProblem"
}

export interface FileRank {
  storefront: string
  term: string
  day: string
  rank: number
}

export interface RankHistoryFile {
  ranks: FileRank[]
  /** Number of cells that were read, with or without a rank. */
  read: number
  /**
   * Number of cells without a rank. These are not stored: the other tool's depth is unknown, so an empty cell does not
   * mean that the app was absent.
   */
  unranked: number
  bad: { line: number; reason: string }[]
}

interface RankFileOptions {
  /** The storefront of the ranks if the file has no storefront column. */
  storefront?: string | undefined
  /** The order of day and month in dates such as 01/02/2025, if no date of the file shows it. */
  dayOrder?: DayOrder | undefined
  /** The last day that may have a rank. */
  today: string
}

/** Column names of AppTweak, Appfigures, Astro, AppFollow and common tables, in lower case. */
const COLUMNS = {
  day: ["date", "day", "time", "timestamp", "datetime", "measured at"],
  term: KEYWORD_COLUMNS.term,
  storefront: KEYWORD_COLUMNS.country,
  rank: ["rank", "ranking", "position", "pos", "current rank", "keyword rank", "organic rank"],
} as const
type Column = keyof typeof COLUMNS

const MAX_RANK = 10_000
/** The first day of the App Store. */
const FIRST_DAY = "2008-07-10"

/**
 * Reads ranks of another tool as CSV, separated by commas, semicolons or tabs. Either each line has date, keyword and
 * rank, or each line has a keyword and a column for each day. Lines above the headings are skipped. The storefront is a
 * column or an option. Throws RankFileProblem if the file has neither form.
 */
export function readRankHistory(text: string, options: RankFileOptions): RankHistoryFile {
  const table = findCsvTable(text, headingsIn)
  if (!table)
    throw new RankFileProblem(
      "no line of headings names the columns date, keyword and rank, or keyword and a column for each day",
    )
  const { columns, dayColumns } = table.headings
  if (columns.storefront === undefined && options.storefront === undefined)
    throw new RankFileProblem("the file has no country column; name its storefront with --country")
  const records = [...table.records]
  const dates =
    columns.rank === undefined
      ? dayColumns.map(({ name }) => name)
      : records.map(({ fields }) => fields?.[columns.day ?? -1] ?? "")
  const order = dayOrderOf(dates) ?? options.dayOrder
  if (order === undefined)
    throw new RankFileProblem(
      "dates such as 01/02/2025 may be in January or in February; give --dates dmy or --dates mdy",
    )
  const file: RankHistoryFile = { ranks: [], read: 0, unranked: 0, bad: [] }
  const stored = new Map<string, number>()
  for (const { line, fields } of records) {
    if (!fields) {
      file.bad.push({ line, reason: "its quotes are not closed properly" })
      continue
    }
    for (const cell of cellsOf(fields, columns, dayColumns)) {
      file.read++
      const rank = rankIn(cell, order, options)
      if (rank === null) file.unranked++
      else if (typeof rank === "string") file.bad.push({ line, reason: rank })
      else {
        const reason = add(stored, rank)
        if (reason === null) file.ranks.push(rank)
        else if (reason !== "") file.bad.push({ line, reason })
      }
    }
  }
  return file
}

type Columns = Partial<Record<Column, number>>
interface DayColumn {
  at: number
  name: string
}

/** Returns the columns of a line of headings. Undefined if the line has neither form. */
function headingsIn(fields: readonly string[]) {
  const names = fields.map((field) => field.trim().toLowerCase().replaceAll("_", " "))
  const columns = columnsOf(names)
  if (columns.term === undefined) return undefined
  if (columns.day !== undefined && columns.rank !== undefined) return { columns, dayColumns: [] }
  const dayColumns = names.flatMap((name, at) =>
    (parseDay(name, "mdy") ?? parseDay(name, "dmy")) ? [{ at, name }] : [],
  )
  return dayColumns.length > 0 ? { columns: { ...columns, rank: undefined }, dayColumns } : undefined
}

function columnsOf(names: readonly string[]): Columns {
  const found = Object.entries(COLUMNS).map(([column, accepted]) => {
    return [column, names.findIndex((name) => (accepted as readonly string[]).includes(name))] as const
  })
  return Object.fromEntries(found.filter(([, at]) => at >= 0))
}

interface Cell {
  storefront: string | undefined
  term: string
  day: string
  rank: string
}

function cellsOf(fields: readonly string[], columns: Columns, dayColumns: readonly DayColumn[]): Cell[] {
  const cell = (at: number | undefined) => (at === undefined ? undefined : (fields[at]?.trim() ?? ""))
  const subject = { storefront: cell(columns.storefront), term: cell(columns.term) ?? "" }
  if (columns.rank !== undefined) return [{ ...subject, day: cell(columns.day) ?? "", rank: cell(columns.rank) ?? "" }]
  return dayColumns.map(({ at, name }) => ({ ...subject, day: name, rank: cell(at) ?? "" }))
}

/** An empty cell, a dash, 0 and texts such as ">250" or "not ranked" mean no rank. */
const UNRANKED = /^(?:|[-–—]+|0(?:\.0+)?|n\/?a|null|none|nan|>\s*\d+|\d+\+|(?:not ranked|unranked|out of range)\b.*)$/i

/** Returns the rank of a cell, null if it has none, or the reason why it is invalid. */
function rankIn(cell: Cell, order: DayOrder, { storefront, today }: RankFileOptions): FileRank | string | null {
  const country = cell.storefront === undefined ? storefront : storefrontNamed(cell.storefront)
  if (country === undefined)
    return `${quoted(cell.storefront ?? "")} is not a storefront; use its two-letter code, such as us`
  const term = normaliseTerm(cell.term)
  if (term === "") return "it has no keyword"
  if (term.length > MAX_TERM) return `the keyword has more than ${MAX_TERM} characters`
  const day = parseDay(cell.day, order)
  if (day === null) return `${quoted(cell.day)} is not a date; write it as 2025-01-31`
  if (day < FIRST_DAY || day > today) return `${day} is not between the first day of the App Store and today`
  if (UNRANKED.test(cell.rank)) return null
  const [, digits] = /^#?(\d{1,6})(?:\.0+)?$/.exec(cell.rank.replaceAll(",", "")) ?? []
  const rank = Number(digits)
  if (digits === undefined || rank > MAX_RANK)
    return `${quoted(cell.rank)} is not a rank; write a whole number from 1, or leave it empty`
  return { storefront: country, term, day, rank }
}

const MAX_TERM = 150

/** Returns null if the rank is new, "" if it repeats an earlier line, and the reason if it contradicts one. */
function add(stored: Map<string, number>, { storefront, term, day, rank }: FileRank): string | null {
  const key = `${storefront} ${day} ${term}`
  const earlier = stored.get(key)
  if (earlier === undefined) stored.set(key, rank)
  if (earlier === undefined) return null
  return earlier === rank ? "" : `an earlier line has rank ${earlier} for ${quoted(term)} on ${day}`
}

function quoted(text: string): string {
  return JSON.stringify(text.slice(0, 40))
}
