import type { AnswerOf } from "../../answers.ts"
import { sourceOn } from "../../lib/source-runs.ts"
import type { View } from "../../ui/app/bar.ts"
import type { AppHead, PageContext } from "../../ui/app/context.ts"
import type { RankPoint } from "../../ui/charts/scale.ts"
import { moveBetween } from "../formulas/rank-moves.ts"

type KeywordFigures = RowsAnswer["rows"][number]
export type RowsAnswer = AnswerOf<"list_keyword_rows">
export type History = AnswerOf<"list_rank_lines">
/** A keyword with its history and its latest move. */
export interface KeywordRow extends KeywordFigures {
  line: History["keywords"][number] | null
  /** Null if there is nothing to compare with. */
  move: { direction: "up" | "down" | "entered" | "dropped" | "same"; places: number | null; since: string } | null
}

/** Returns the ranks of some keywords in the days of the view. */
export async function readHistory(
  context: PageContext,
  { id: appId }: AppHead,
  { side, days }: Pick<View, "side" | "days">,
  terms: readonly string[],
): Promise<History> {
  const history = await context.ask("list_rank_lines", { appId, ...side, ...days, terms })
  if (!context.isSample) return history
  // the sample has one answer for all days
  const keywords = history.keywords
    .filter(({ term }) => terms.includes(term))
    .map((keyword) => ({ ...keyword, series: keyword.series.filter(([day]) => days.from <= day && day <= days.to) }))
  return { ...history, ...days, keywords }
}

export function keywordRows(keywords: readonly KeywordFigures[], history: History | null): KeywordRow[] {
  const lines = new Map(history?.keywords.map((line) => [line.term, line]))
  return keywords.map((keyword) => {
    const line = lines.get(keyword.term) ?? null
    return { ...keyword, line, move: line && keyword.measured ? moveOf(line, keyword) : null }
  })
}

/**
 * Returns the move from the previous measured day to the last one. Null unless both days have the same source and
 * sufficient depth.
 */
function moveOf(
  { series, sources }: NonNullable<KeywordRow["line"]>,
  { searchDepth }: KeywordFigures,
): KeywordRow["move"] {
  const [before, last] = series.slice(-2)
  if (!before || !last) return null
  const depth = searchDepth ?? 0
  const on = (day: string) => sourceOn(sources, day) ?? ""
  const dayRank = ([day, rank]: RankPoint) => ({ day, rank, depth, source: on(day) })
  const move = moveBetween(dayRank(before), dayRank(last))
  return move && { direction: move.direction, places: move.places, since: before[0] }
}
