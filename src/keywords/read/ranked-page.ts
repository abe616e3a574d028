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
  /** Part of a term, in lower case; "" = any. */
  find: string
  /** Of these alone; null = of all. */
  terms: readonly string[] | null
  state: (typeof STATES)[number] | null
  /** Of those that moved one way it is always the change. */
  order: (typeof ORDERS)[number]
  /** From 1. */
  page: number
  /** Rows of a page. */
  most: number
  /** So many of the best besides, wherever they stand in the order. */
  best: number
  today: string
}

export interface RankedKeyword extends TermStanding {
  figures: ShownFigures
  underWay: KeywordUnderWay
}

/** Of all keywords of an app in a storefront, on the day shown. */
interface RankTotals {
  /** The latest on which any of them was measured; null = never. */
  day: string | null
  /** When the latest of the day's results was seen, ISO 8601. */
  measuredAt: string | null
  tracked: number
  measured: number
  top3: number
  top10: number
  top50: number
  /** Null = none has a rank. */
  best: number | null
}

interface RankedPage {
  totals: RankTotals
  /** How many fit. */
  found: number
  /** The page's, or the last page's beyond it. */
  rows: RankedKeyword[]
  /** Of all, by rank; none that is absent. */
  best: RankedKeyword[]
}

/** A page of an app's keywords, and what all of them come to: the figures of those on other pages are not read. */
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

/** By rank; then those absent, and those not measured. */
function placeOf({ measured, rank }: TermStanding): number {
  return rank ?? (measured ? 100_000 : 200_000)
}

const NO_KEY = Number.NEGATIVE_INFINITY

/** As the page asks for it. */
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

/** Places, as it were: what entered or dropped comes before any that moved within the ranks. */
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
    ...{ top3: upTo(3), top10: upTo(10), top50: upTo(50), best: ranks[0] ?? null },
  }
}

/** Figures, and what is being measured, of keywords that are shown in several parts. */
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
  const keywordOf = (one: TermStanding): RankedKeyword => ({
    ...one,
    figures: figures.get(one.listId ?? 0) ?? UNMEASURED,
    underWay: underWay.get(one.term) ?? NOT_SCHEDULED,
  })
  return parts.map((part) => part.map(keywordOf))
}
