import { csvRecords } from "../lib/csv.ts"
import { storefrontNamed } from "../lib/storefront-names.ts"
import { WrongValue } from "./checks.ts"

export interface FileKeyword {
  term: string
  /** Undefined if the file has no storefront. */
  country: string | undefined
  tags: string[]
}

export interface BadLine {
  line: number
  /** The quotes are not closed, there is no keyword, or the storefront is unknown. */
  fault: "quotes" | "keyword" | "storefront"
  reason: string
}

export interface KeywordFile {
  keywords: FileKeyword[]
  bad: BadLine[]
}

/** Column names of common tools, in lower case. */
export const KEYWORD_COLUMNS: Record<"term" | "country" | "tags", readonly string[]> = {
  term: ["keyword", "keywords", "term", "search term", "search query", "query", "keyword phrase"],
  country: ["country", "storefront", "store", "country code", "region", "country or region"],
  tags: ["tags", "tag", "label", "labels", "list", "group"],
}

const SEPARATORS = ["\t", ";", ","]

/**
 * Parses the keywords of a file: one per line, or a table (CSV with commas, semicolons or tabs) whose first line names
 * a keyword column. A file of one line is a list with commas, as in App Store Connect. Throws WrongValue if the columns
 * have no names.
 */
export function keywordsIn(text: string): KeywordFile {
  const [first = ""] = text.replace(/^\uFEFF/, "").split(/\r?\n/, 1)
  const separator = SEPARATORS.find((item) => first.includes(item)) ?? ","
  const records = [...csvRecords(text, separator)]
  const head = records[0]?.fields?.map((field) => field.trim().toLowerCase()) ?? []
  const at = (column: keyof typeof KEYWORD_COLUMNS) => head.findIndex((name) => KEYWORD_COLUMNS[column].includes(name))
  if (at("term") < 0) return plain(records)
  const columns = { term: at("term"), country: at("country"), tags: at("tags") }
  const file: KeywordFile = { keywords: [], bad: [] }
  for (const { line, fields } of records.slice(1)) {
    const read = fields ? keywordOf(fields, columns) : QUOTES
    if ("fault" in read) file.bad.push({ line, ...read })
    else file.keywords.push(read)
  }
  return file
}

function plain(records: { line: number; fields: string[] | null }[]): KeywordFile {
  if (records.length > 1 && records.some(({ fields }) => fields && fields.length > 1))
    throw new WrongValue(
      "a file with several columns must begin with their names: keyword and, optionally, country and tags",
    )
  const file: KeywordFile = { keywords: [], bad: [] }
  for (const { line, fields } of records) {
    if (!fields) file.bad.push({ line, ...QUOTES })
    for (const field of fields ?? [])
      if (field.trim() !== "") file.keywords.push({ term: field, country: undefined, tags: [] })
  }
  return file
}

type Fault = Omit<BadLine, "line">

const QUOTES: Fault = { fault: "quotes", reason: "its quotes are not closed properly" }

function keywordOf(fields: string[], columns: Record<keyof typeof KEYWORD_COLUMNS, number>): FileKeyword | Fault {
  const [term = "", place = "", tags = ""] = [fields[columns.term], fields[columns.country], fields[columns.tags]]
  if (term.trim() === "") return { fault: "keyword", reason: "it has no keyword" }
  const country = place.trim() === "" ? undefined : storefrontNamed(place.trim())
  if (place.trim() !== "" && country === undefined) {
    const reason = `${JSON.stringify(place.slice(0, 40))} is not a storefront; use its two-letter code, such as us`
    return { fault: "storefront", reason }
  }
  return { term, country, tags: tags.split(/[,;|]/).flatMap((tag) => tag.trim() || []) }
}
