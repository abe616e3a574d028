import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import type { ChartKey } from "../../../src/core/observation/subjects.ts"

const ROOT = join(import.meta.dirname, "../../..")

/**
 * The real finance chart of free iPhone apps in Japan: 12 days in the repository, all 247 where the full data is
 * available.
 */
export const SOME = join(ROOT, "fixtures/upstream/apple-chart-jp-finance-free-cut.csv")
export const ALL = join(
  ROOT,
  "../shared/data/10-rank-history/appstore_jp_finance_top_free_daily_2024-12-28_2025-08-31.csv",
)
export const isAllHere = existsSync(ALL)

export const JP_FINANCE: ChartKey = {
  platform: "ios",
  storefront: "jp",
  device: "iphone",
  chart: "free",
  genre: "6015",
}

export interface Row {
  at: string
  rank: number
  id: string
  name: string
  developer: string
}

/** Returns the rows of the table. Only names and developers may be quoted. */
export function rowsOf(path: string): Row[] {
  const [, ...lines] = readFileSync(path, "utf8").trimEnd().split(/\r?\n/)
  return lines.map((line) => {
    const [, at, rank, id, rest] = /^([^,]+),(\d+),(\d+),(.*)$/.exec(line)!
    const [name, developer] = [...rest!.matchAll(/"((?:[^"]|"")*)"|([^",]+)/g)].map(
      ([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain!,
    )
    return { at: at!, rank: Number(rank), id: id!, name: name!, developer: developer! }
  })
}

/** Returns the lines of an import file, one per reading. */
export function linesOf(rows: readonly Row[]): string[] {
  const readings = Map.groupBy(rows, ({ at }) => at)
  return [...readings].map(([seenAt, ranked]) => {
    const apps = ranked.toSorted((a, b) => a.rank - b.rank).map(({ id, name, developer }) => ({ id, name, developer }))
    return JSON.stringify({ kind: "chart", source: "import", ...JP_FINANCE, seenAt, apps })
  })
}

/** Returns each day's last reading as a map of app to rank. Every reading of the table is 100 deep. */
export function daysOf(rows: readonly Row[]): Map<string, Map<string, number>> {
  const days = new Map<string, Map<string, number>>()
  const lastAt = new Map<string, string>()
  for (const { at, rank, id } of rows) {
    const day = at.slice(0, 10)
    if (at < (lastAt.get(day) ?? "")) continue
    if (at !== lastAt.get(day)) days.set(day, new Map())
    lastAt.set(day, at)
    days.get(day)!.set(id, rank)
  }
  return days
}

/** Returns the changes between two such days in words, unsorted. */
export function movedBetween(earlier: Map<string, number>, later: Map<string, number>): string[] {
  const words: string[] = []
  for (const id of new Set([...earlier.keys(), ...later.keys()])) {
    const [previousRank, rank] = [earlier.get(id), later.get(id)]
    if (previousRank === rank) continue
    if (previousRank === undefined) words.push(`${id} entered at ${rank}`)
    else if (rank === undefined) words.push(`${id} left from ${previousRank}`)
    else words.push(`${id} ${rank < previousRank ? "climbed" : "fell"} ${previousRank} to ${rank}`)
  }
  return words
}
