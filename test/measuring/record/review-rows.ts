import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"

const ROOT = join(import.meta.dirname, "../../..")

/** Recorded data outside the repository, if available: DATA names its folder. */
export const DATA = process.env.DATA ?? join(ROOT, "../shared/data")

/**
 * Real reviews of three games in six countries: some of each in the repository, all 8,820 where the full data is
 * available.
 */
export const SOME = join(ROOT, "fixtures/upstream/apple-reviews-3games-6countries-cut.csv")
export const ALL = join(DATA, "09-keywords-and-reviews/appstore_rss_reviews_3games_6countries_2020-2026.csv")
export const isAllHere = existsSync(ALL)

export const GAMES: Record<string, string> = {
  "Royal Match": "1482155847",
  "Candy Crush Saga": "553834731",
  Gardenscapes: "1105855019",
}

export const COUNTRIES: Record<string, string> = {
  "United States": "us",
  "United Kingdom": "gb",
  Canada: "ca",
  Germany: "de",
  Japan: "jp",
  Turkey: "tr",
}

export type Row = Record<"review_id" | "game" | "country" | "version" | "rating" | "title" | "review" | "date", string>

/** Returns the rows of a CSV file with a header (RFC 4180). */
export function rowsOf(path: string): Row[] {
  const [heading, ...rows] = cellsOf(readFileSync(path, "utf8"))
  return rows.map((cells) => Object.fromEntries(heading!.map((name, place) => [name, cells[place]!])) as Row)
}

function cellsOf(text: string): string[][] {
  const rows: string[][] = []
  let row: string[] = []
  for (const [, quoted, plain, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)/g)) {
    row.push(quoted === undefined ? plain! : quoted.replaceAll('""', '"'))
    if (end === ",") continue
    if (row.length > 1) rows.push(row)
    row = []
  }
  return rows
}

export const SEEN_AT = "2026-01-12T00:00:00Z"

/** Returns the lines of an import file, one per app and country. */
export function linesOf(rows: readonly Row[]): string[] {
  const feeds = Map.groupBy(rows, ({ game, country }) => `${GAMES[game]} ${COUNTRIES[country]}`)
  return [...feeds].map(([feed, reviews]) => {
    const [storeId, storefront] = feed.split(" ")
    const head = { kind: "reviews", source: "apple-reviews", platform: "ios", storefront, storeId, seenAt: SEEN_AT }
    return JSON.stringify({ ...head, pages: 10, complete: true, reviews: reviews.map(reviewOf) })
  })
}

function reviewOf({ review_id: id, rating, title, review: text, version, date }: Row) {
  const written = { id, stars: Number(rating), text, version, at: date.replace(" ", "T") }
  return title.trim() === "" ? written : { ...written, title }
}
