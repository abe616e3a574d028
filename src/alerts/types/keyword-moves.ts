import * as v from "valibot"
import type { Tx } from "../../database/types.ts"
import { type DayRank, moveBetween } from "../../keywords/formulas/rank-moves.ts"
import { sourceOf } from "../../lib/rank-sources.ts"
import { alertType, type FindingOf } from "../alert-type.ts"
import { compared } from "../compared.ts"
import { type Move, type PlaceDays, RANK_PLACES } from "../search-days.ts"
import { placeIn, quoted, sinceIn, type Wording } from "../wording.ts"

/**
 * Returns the alert type for a change of rank. Null if it is too small. `moveBetween` defines which days are comparable
 * and when an absence counts.
 */
export function rankMove(before: DayRank, after: DayRank) {
  const move = moveBetween(before, after)
  if (move?.direction === "entered") return "entered"
  if (move?.direction === "dropped") return "dropped_out"
  if (!move || (move.places ?? 0) < RANK_PLACES) return null
  return move.direction === "down" ? "rank_drop" : "rank_rise"
}

const facts = v.strictObject({
  term: v.string(),
  rank: v.nullable(v.number()),
  was: v.nullable(v.number()),
  ...compared,
})
const example = { term: "tea", depth: 200, wasDepth: 200, source: "apple-web-search", against: "2025-11-19" }

const keywordMove = {
  facts,
  options: ["keywordScope"],
  find: findMoves,
  sentence({ term, rank, was, depth, wasDepth }: v.InferOutput<typeof facts>, place: Wording) {
    const where = sinceIn(place)
    if (rank === null) return `${quoted(term)} dropped out ${where}: ${placeIn(rank, depth)} (before: ${was})`
    if (was === null) return `${quoted(term)} entered at ${rank} ${where} (before: ${placeIn(was, wasDepth)})`
    return `${quoted(term)} ${rank > was ? "fell" : "rose"} from ${was} to ${rank} ${where}`
  },
  fields({ term, rank, was, against, depth, source }: v.InferOutput<typeof facts>) {
    return { term, before: was, after: rank, against, depth, source }
  },
} as const

export const droppedOut = alertType({
  ...keywordMove,
  name: "dropped_out",
  example: { ...example, rank: null, was: 8 },
})

export const rankDrop = alertType({
  ...keywordMove,
  name: "rank_drop",
  options: ["dropBy", "keywordScope"],
  example: { ...example, rank: 12, was: 3 },
})

export const rankRise = alertType({ ...keywordMove, name: "rank_rise", example: { ...example, rank: 3, was: 12 } })

export const entered = alertType({ ...keywordMove, name: "entered", example: { ...example, rank: 8, was: null } })

async function findMoves(_: Tx, { searches }: PlaceDays): Promise<FindingOf[]> {
  return (await searches()).moves.flatMap(findingOf)
}

function findingOf(move: Move): FindingOf[] {
  const { term, day, at, depth, rank, wasDay, wasDepth, wasRank } = move
  const source = sourceOf(move.source)
  const type = rankMove(
    { day: wasDay, source: sourceOf(move.wasSource), depth: wasDepth, rank: wasRank },
    { day, source, depth, rank },
  )
  const facts = { term, rank, was: wasRank, depth, wasDepth, source, against: wasDay }
  return type === null ? [] : [{ type, subject: term, day, at: new Date(at), facts }]
}
