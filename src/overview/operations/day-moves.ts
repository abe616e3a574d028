import * as v from "valibot"
import { DIRECTIONS } from "../../keywords/formulas/rank-moves.ts"
import type { SideDay } from "../../keywords/read/side-days.ts"
import { described, named } from "../../lib/schema.ts"
import { Day, Rank, RankSource, Store, Storefront } from "../../tracking/shapes.ts"

export const Move = named(
  "DayMove",
  v.strictObject({
    term: described(v.string(), "The keyword."),
    platform: Store,
    country: Storefront,
    direction: described(v.picklist(DIRECTIONS), "up; down; entered: absent before; dropped: absent that day."),
    rank: described(v.nullable(Rank), "Rank that day. Null if absent from the results read."),
    was: described(v.nullable(Rank), "Rank on the previous measured day. Null if absent."),
    against: described(Day, "The previous measured day."),
    source: described(RankSource, "Source of both days."),
  }),
)

/**
 * Returns the moves, largest first. A keyword that entered or dropped out counts as moving from or to the place behind
 * the last, so it moves farther than one that stayed.
 */
export function movesOf(sides: readonly SideDay[]): v.InferOutput<typeof Move>[] {
  const moves = sides.flatMap(({ terms, platform, storefront: country }) =>
    terms.flatMap(({ term, move, against, source }) => {
      if (!move || move.direction === "same" || against === null || source === null) return []
      const { direction, from: was, to: rank } = move
      const places = Math.abs((was ?? OUTSIDE) - (rank ?? OUTSIDE))
      return { term, platform, country, direction, rank, was, against, source, places }
    }),
  )
  return moves
    .sort((a, b) => b.places - a.places || (a.term < b.term ? -1 : a.term > b.term ? 1 : 0))
    .map(({ places: _, ...move }) => move)
}

const OUTSIDE = 251
