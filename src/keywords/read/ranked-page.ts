import type { Side } from "../../core/observation/provenance.ts"
import type { RankedApp } from "../../core/ranked-app.ts"
import type { Sql } from "../../database/types.ts"
import { findKeywordsUnderWay, type KeywordUnderWay, NOT_SCHEDULED } from "../../measuring/under-way.ts"
import type { Direction } from "../formulas/rank-moves.ts"
import { UNMEASURED } from "../store/keyword-figures.ts"
import { type SideApp, sideOf } from "./day-answers.ts"
import { readShownFigures, type ShownFigures } from "./shown-figures.ts"
import { readStandings, type TermStanding } from "./standings.ts"

export const STATES = ["up", "down", "top10", "absent", "unmeasured"] as const
export const ORDERS = ["change", "rank", "term", "popularity", "difficulty"] as const

export interface RankedPageQuery extends Side {
  /** Part of a term, in lower case. "" matches every term. */
  find: string
  /** Only these terms. Null for all. */
  terms: readonly string[] | null
  state: (typeof STATES)[number] | null
  /** Ignored if `state` is "up" or "down": such keywords are ordered by change. */
  order: (typeof ORDERS)[number]
  /** The number of the page, from 1. */
  page: number
  /** Rows per page. */
  most: number
  /** How many of the best keywords to return as well, independent of order and filters. */
  best: number
  today: string
}

export interface RankedKeyword extends TermStanding {
  figures: ShownFigures
  underWay: KeywordUnderWay
}

/** Totals over all keywords of an app in a storefront, on the day shown. */
interface RankTotals {
  /** The latest day on which any of the keywords was measured. Null if none ever was. */
  day: string | null
  /** Time of the day's latest reading, ISO 8601. */
  measuredAt: string | null
  tracked: number
  measured: number
  top3: number
  top10: number
  top50: number
  /** Null if no keyword has a rank. */
  best: number | null
}

interface RankedPage {
  totals: RankTotals
  /** How many keywords match the filters. */
  found: number
  /** The rows of the page. Beyond the last page, those of the last page. */
  rows: RankedKeyword[]
  /** The best of all keywords, by rank, without absent ones. */
  best: RankedKeyword[]
}

/** Returns a page of an app's keywords and the totals of all. Reads figures only for the keywords on the page. */
export async function readRankedPage(sql: Sql, app: RankedApp, query: RankedPageQuery): Promise<RankedPage> {
  const side = sideOf(app, query)
  const order = query.state === "up" || query.state === "down" ? "change" : query.order
  const isMoved = order === "change"
  const key = order === "change" || order === "rank" ? null : order
  const { terms, ...shown } = await readStandings(sql, side, { today: query.today, key, isMoved })
  const byRank = terms.toSorted((a, b) => placeOf(a) - placeOf(b))
  const fit = (isMoved ? terms : byRank).filter(fits(query))
  if (isMoved) fit.sort((a, b) => gained(b) - gained(a))
  if (key !== null) fit.sort((a, b) => (b.key ?? NO_KEY) - (a.key ?? NO_KEY))
  const { page, most } = query
  const first = Math.min(page - 1, Math.max(0, Math.ceil(fit.length / most) - 1)) * most
  const best = byRank.slice(0, query.best).filter(({ rank }) => rank !== null)
  const [rows, bestRows] = await readFacts(sql, side, query.today, [fit.slice(first, first + most), best])
  return { totals: { ...shown, ...totalsOf(terms) }, found: fit.length, rows: rows!, best: bestRows! }
}

/** Orders by rank; absent keywords follow, then unmeasured ones. */
function placeOf({ measured, rank }: TermStanding): number {
  return rank ?? (measured ? 100_000 : 200_000)
}

const NO_KEY = Number.NEGATIVE_INFINITY

/** Returns the filter of the query. */
function fits({ find, terms, state }: RankedPageQuery): (keyword: TermStanding) => boolean {
  const named = terms && new Set(terms)
  return (keyword) => keyword.term.includes(find) && (named?.has(keyword.term) ?? true) && isIn(state, keyword)
}

function isIn(state: RankedPageQuery["state"], { measured, rank, move }: TermStanding): boolean {
  if (state === null) return true
  if (state === "top10") return rank !== null && rank <= 10
  if (state === "absent") return measured && rank === null
  return state === "unmeasured" ? !measured : move !== null && DIRECTIONS[state].includes(move.direction)
}

const DIRECTIONS: Record<"up" | "down", readonly Direction[]> = { up: ["up", "entered"], down: ["down", "dropped"] }

/** Places gained, for ordering. Entries and drops count as more than any move within the ranks. */
function gained({ move, rank }: TermStanding): number {
  if (move === null) return -500
  if (move.direction === "entered") return 300 - (rank ?? 0)
  if (move.direction === "dropped") return -300
  return (move.places ?? 0) * (move.direction === "down" ? -1 : 1)
}

function totalsOf(terms: readonly TermStanding[]): Omit<RankTotals, "day" | "measuredAt"> {
  const ranks = terms.flatMap(({ rank }) => rank ?? []).sort((a, b) => a - b)
  const upTo = (lowest: number) => ranks.filter((rank) => rank <= lowest).length
  return {
    tracked: terms.length,
    measured: terms.filter(({ measured }) => measured).length,
    top3: upTo(3),
    top10: upTo(10),
    top50: upTo(50),
    best: ranks[0] ?? null,
  }
}

/** Reads figures and due state once for keywords that are shown in several parts. */
async function readFacts(
  sql: Sql,
  { platform, storefront }: SideApp,
  today: string,
  parts: readonly TermStanding[][],
): Promise<RankedKeyword[][]> {
  const all = [...new Set(parts.flat())]
  const lists = all.flatMap(({ listId }) => listId ?? [])
  const [figures, underWay] = await Promise.all([
    readShownFigures(sql, lists, { platform, today }),
    findKeywordsUnderWay(sql, { platform, storefront, terms: all.map(({ term }) => term) }),
  ])
  const keywordOf = (item: TermStanding): RankedKeyword => ({
    ...item,
    figures: figures.get(item.listId ?? 0) ?? UNMEASURED,
    underWay: underWay.get(item.term) ?? NOT_SCHEDULED,
  })
  return parts.map((part) => part.map(keywordOf))
}
