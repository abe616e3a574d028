import type { Sql } from "../../src/database/types.ts"
import { COUNTRIES, GAMES, linesOf, type Row, rowsOf } from "../measuring/record/review-rows.ts"
import { importLines } from "../record.ts"
import { trackOwn } from "../world/tracked.ts"

/** Half a day after the last of the real reviews was read from the store. */
export const AFTER = new Date("2026-01-12T12:00:00Z")

/** A row of the file in the form that a response must have. */
export interface Expected {
  id: string
  rating: number
  title: string | null
  text: string
  version: string
  date: string
}

/**
 * Imports the rows of a file. Returns the tracked app of each game, and the expected reviews per game and storefront.
 */
export async function realReviews(sql: Sql, workspaceId: number, path: string) {
  async function* lines(): AsyncGenerator<string> {
    yield* linesOf(rowsOf(path))
  }
  const imported = await importLines(sql, lines(), { now: () => AFTER, pause: async () => {} })
  if (imported.recorded !== 18) throw new Error(`recorded ${imported.recorded} lines`)
  const apps: Record<string, string> = {}
  for (const [game, iosId] of Object.entries(GAMES)) {
    const tracked = { workspaceId, iosId, countries: Object.values(COUNTRIES), keywords: [], origin: "own" }
    apps[game] = await trackOwn(sql, tracked)
  }
  const feeds = Map.groupBy(rowsOf(path), ({ game, country }) => `${game} ${COUNTRIES[country]}`)
  return { apps, feeds: new Map([...feeds].map(([feed, rows]) => [feed, rows.map(expected).sort(newestFirst)])) }
}

function expected({ review_id: id, rating, title, review: text, version, date }: Row): Expected {
  const at = new Date(`${date.slice(0, 19).replace(" ", "T")}Z`).getTime() + offsetOf(date)
  return { id, rating: Number(rating), title: title.trim() && title ? title : null, text, version, date: iso(at) }
}

/** Returns how many milliseconds the times in the file are behind UTC. */
function offsetOf(date: string): number {
  return Number(date.slice(20, 22)) * 3_600_000
}

function iso(at: number): string {
  return new Date(at).toISOString()
}

function newestFirst(a: Expected, b: Expected): number {
  if (a.date !== b.date) return a.date < b.date ? 1 : -1
  return a.id < b.id ? -1 : 1
}
