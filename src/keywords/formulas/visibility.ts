import { type Days, dayNumber } from "../../lib/days.ts"
import { FIRST } from "../../lib/figure.ts"
import { UNMEASURED } from "../../lib/month-bytes.ts"
import { DAY_MS } from "../../lib/time.ts"

/** The ranks of a list in a month: `ranks` has a byte per day from `at` on. */
export interface RankMonth {
  list: number
  /** The first day. See dayNumber. */
  first: number
  ranks: Uint8Array
  at: number
}

export interface VisibilityDay {
  day: string
  /** 0 to 100. */
  score: number
  /** Number of keywords measured that day. */
  keywords: number
}

/**
 * Returns the visibility score of each day: the share of the possible top-ten weight. `weights` has the popularity of
 * each list on Apple's scale, published or the middle of the estimated band; `months` has the ranks of those lists. A
 * rank of 1 has 10 points, 2 has 9, 10 has 1; below that or absent has none. The points of a keyword are multiplied by
 * its popularity. Keywords that were not measured that day are left out, and a day on which less than half of the
 * weight was measured has no score, because it would describe other keywords.
 */
export function visibilityOf(
  weights: ReadonlyMap<number, number>,
  months: Iterable<RankMonth>,
  { from, to }: Days,
): VisibilityDay[] {
  const firstDay = dayNumber(from)
  const length = dayNumber(to) - firstDay + 1
  const [gained, weight] = [new Float64Array(length), new Float64Array(length)]
  const counts = new Int32Array(length)
  for (const { list, first, ranks, at } of months) {
    const popularity = weights.get(list) as number
    const start = first - firstDay
    for (let day = Math.max(0, -start); day < MONTH && start + day < length; day++) {
      const rank = ranks[at + day] as number
      if (rank === UNMEASURED) continue
      gained[start + day]! += popularity * pointsOf(rank)
      weight[start + day]! += popularity
      counts[start + day]!++
    }
  }
  const all = [...weights.values()].reduce((sum, popularity) => sum + popularity, 0)
  const days: VisibilityDay[] = []
  for (let at = 0; at < length; at++) {
    const measured = weight[at] as number
    if (measured === 0 || measured < all / 2) continue
    const day = new Date((firstDay + at) * DAY_MS).toISOString().slice(0, 10)
    days.push({ day, score: (100 * gained[at]!) / (FIRST * measured), keywords: counts[at]! })
  }
  return days
}

/** Bytes of a stored month. Days that the month does not have are unmeasured. */
const MONTH = 31

/** Returns the points of a stored rank, which is 0 if the app was absent. */
const pointsOf = (rank: number) => (rank >= 1 && rank <= FIRST ? FIRST + 1 - rank : 0)
