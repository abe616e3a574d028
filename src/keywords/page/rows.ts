import type { AnswerOf } from "../../answers.ts"
import { sourceOn } from "../../lib/source-runs.ts"
import type { AppHead, Desk, Side } from "../../ui/app/desk.ts"
import type { RankPoint } from "../../ui/charts/scale.ts"
import { moveBetween } from "../formulas/rank-moves.ts"

type KeywordFigures = RowsAnswer["rows"][number]
export type RowsAnswer = AnswerOf<"list_keyword_rows">
export type History = AnswerOf<"get_rank_history">
/** A keyword with its history and its latest move. */
export interface KeywordRow extends KeywordFigures {
  line: History["keywords"][number] | null
  /** Null if there is nothing to compare with. */
  move: { direction: "up" | "down" | "entered" | "dropped" | "same"; places: number | null; since: string } | null
}

export const PERIODS = [30, 90, 365] as const

/** Returns the history of the iOS side if the app has one, else of the Android side. Null for the other side. */
export async function readHistory(
  desk: Desk,
  { id: appId, iosId }: AppHead,
  { country, platform }: Side,
  asked: ({ days: number } | { from: string; to: string }) & { terms?: readonly string[] },
): Promise<History | null> {
  if (platform === "android" && iosId !== null) return null
  return await desk.ask("get_rank_history", { appId, country, ...asked })
}

export function keywordRows(keywords: readonly KeywordFigures[], history: History | null): KeywordRow[] {
  const lines = new Map(history?.keywords.map((line) => [line.term, line]))
  return keywords.map((keyword) => {
    const line = lines.get(keyword.term) ?? null
    return { ...keyword, line, move: line && keyword.measured ? moveOf(line, keyword) : null }
  })
}

/** The move from the previous measured day to the last. Null unless both have one source and sufficient depth. */
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
