import type { KeywordMetrics } from "../../observations/derived/keyword-figures.ts"
import { type RankSource, sourceOf } from "../../observations/types.ts"
import type { PlacedLists } from "./market-lists.ts"
import { type FiguresRow, metricsShown } from "./shown-figures.ts"

/** What was answered to a keyword last. */
interface MarketAnswer {
  depth: number
  day: string
  source: RankSource
  origin: string
}

/** What a keyword of the market shows of its figures, and by what it stands in an order. */
type MarketFigures = Pick<
  KeywordMetrics,
  | "popularity" | "popularityLow" | "popularityHigh" | "popularitySource" | "popularityWeek" | "popularityOrder" | "difficulty"
> // biome-ignore format: a list

/** An answer beside its keyword's latest figures. */
export interface MarketKeyword extends MarketAnswer {
  term: string
  figures: MarketFigures
  /** All but the term as members of JSON. */
  text: string
}

export interface KeywordRow extends Omit<MarketAnswer, "source">, FiguresRow {
  term: string
  source: number
}

/** Written out, as of a thousand keywords spreading takes most of the time. */
export function marketKeyword(row: KeywordRow, { platform, today }: PlacedLists): MarketKeyword {
  const metrics = metricsShown(row, platform, today)
  const figures: MarketFigures = {
    popularity: metrics.popularity,
    popularityLow: metrics.popularityLow,
    popularityHigh: metrics.popularityHigh,
    popularitySource: metrics.popularitySource,
    popularityWeek: metrics.popularityWeek,
    popularityOrder: metrics.popularityOrder,
    difficulty: metrics.difficulty,
  }
  const [{ term, depth, day, origin }, source] = [row, sourceOf(row.source)]
  return { term, depth, day, source, origin, figures, text: textOf({ depth, day, source, origin }, figures) }
}

function textOf(
  { depth, day, source, origin }: MarketAnswer,
  { popularity, popularityLow, popularityHigh, popularitySource, popularityWeek, difficulty }: MarketFigures,
): string {
  const seen = `"depth":${depth},"day":"${day}","source":"${source}","origin":${JSON.stringify(origin)}`
  const band = `"popularity":${popularity},"popularityLow":${popularityLow},"popularityHigh":${popularityHigh}`
  const published = `"popularitySource":${quoted(popularitySource)},"popularityWeek":${quoted(popularityWeek)}`
  return `${seen},${band},${published},"difficulty":${difficulty}`
}

function quoted(name: string | null): string {
  return name === null ? "null" : `"${name}"`
}
