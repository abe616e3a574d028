import type { Tx } from "../database/types.ts"
import { RANK_PLACES, rankMove } from "../formulas/alerts.ts"
import { termPairs } from "../observations/term-days.ts"
import { sourceOf } from "../observations/types.ts"
import type { Finding, Looked } from "./alert.ts"

/** dropped_out, rank_drop, rank_rise and entered, of every tracked keyword (see rankMove). */
export async function rankFindings(tx: Tx, looked: Looked): Promise<Finding[]> {
  const found: Finding[] = []
  for (const first of looked.parts) {
    const moves = await readMoves(tx, looked, first)
    found.push(...moves.flatMap(findingOf))
  }
  return found
}

interface Move {
  term: string
  day: string
  at: Date
  source: number
  depth: number
  rank: number | null
  wasDay: string
  wasSource: number
  wasDepth: number
  wasRank: number | null
}

/** No more than may be told. */
async function readMoves(tx: Tx, { place, from, to }: Looked, first: string): Promise<Move[]> {
  return await tx<Move[]>`
    with ${termPairs(tx, { ...place, from, to, first }, place.since)}
    select term, day, seen_at as at, source, depth, rank, was_day as "wasDay", was_source as "wasSource",
      was_depth as "wasDepth", was_rank as "wasRank"
    from pair
    where source = was_source
      and (abs(rank - was_rank) >= ${RANK_PLACES} or (rank is null) <> (was_rank is null))
    order by term, day
    limit 10000`
}

function findingOf(move: Move): Finding[] {
  const { term, day, at, depth, rank, wasDay, wasDepth, wasRank } = move
  const source = sourceOf(move.source)
  const type = rankMove(
    { day: wasDay, source: sourceOf(move.wasSource), depth: wasDepth, rank: wasRank },
    { day, source, depth, rank },
  )
  const facts = { term, rank, was: wasRank, depth, wasDepth, source, against: wasDay }
  return type === null ? [] : [{ type, subject: term, day, at, facts }]
}
