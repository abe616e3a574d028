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

/** An answer beside its keyword's latest figures: all that is shown of a keyword but which it is. */
export interface ShownKeyword extends MarketAnswer {
  figures: MarketFigures
  /** As members of JSON. */
  text: string
}

export interface MarketKeyword extends ShownKeyword {
  term: string
}

export interface KeywordRow extends Omit<MarketAnswer, "source">, FiguresRow {
  source: number
}

/** Written out, as of a thousand keywords spreading takes most of the time; so is what is below. */
export function shownKeyword(row: KeywordRow, { platform, today }: PlacedLists): ShownKeyword {
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
  const [{ depth, day, origin }, source] = [row, sourceOf(row.source)]
  return { depth, day, source, origin, figures, text: textOf({ depth, day, source, origin }, figures) }
}

export function withTerm(term: string, { depth, day, source, origin, figures, text }: ShownKeyword): MarketKeyword {
  return { term, depth, day, source, origin, figures, text }
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
