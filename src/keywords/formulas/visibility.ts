import { type Days, dayNumber } from "../../lib/days.ts"
import { FIRST } from "../../lib/figure.ts"
import { type StoredMonth, UNMEASURED } from "../../lib/month-bytes.ts"
import { DAY_MS } from "../../lib/time.ts"

/** A keyword that counts: its popularity on Apple's scale, published or the middle of the estimated band. */
interface WeighedKeyword {
  popularity: number
  months: readonly StoredMonth[]
}

export interface VisibilityDay {
  day: string
  /** 0 to 100. */
  score: number
  /** Number of keywords measured that day. */
  keywords: number
}

/**
 * Returns the visibility score of each day: the share of the possible top-ten weight. A rank of 1 has 10 points, 2 has
 * 9, 10 has 1; below that or absent has none. The points of a keyword count as often as its popularity. Keywords that
 * were not measured that day count on neither side, and a day on which less than half of the weight was measured has
 * no score, because it would be about other keywords.
 */
export function visibilityOf(keywords: readonly WeighedKeyword[], { from, to }: Days): VisibilityDay[] {
  const first = dayNumber(from)
  const length = dayNumber(to) - first + 1
  const [gained, weight] = [new Float64Array(length), new Float64Array(length)]
  const counts = new Int32Array(length)
  for (const { popularity, months } of keywords)
    for (const { month, ranks, from: begun } of months) {
      const [start, byte] = [dayNumber(month) - first, begun?.ranks ?? 0]
      for (let at = Math.max(0, -start); at < MONTH && start + at < length; at++) {
        const rank = ranks[byte + at] as number
        if (rank === UNMEASURED) continue
        gained[start + at]! += popularity * pointsOf(rank)
        weight[start + at]! += popularity
        counts[start + at]!++
      }
    }
  const all = keywords.reduce((sum, { popularity }) => sum + popularity, 0)
  const days: VisibilityDay[] = []
  for (let at = 0; at < length; at++) {
    const measured = weight[at] as number
    if (measured === 0 || measured < all / 2) continue
    const day = new Date((first + at) * DAY_MS).toISOString().slice(0, 10)
    days.push({ day, score: (100 * gained[at]!) / (FIRST * measured), keywords: counts[at]! })
  }
  return days
}

/** Bytes of a stored month. Days that the month does not have are unmeasured. */
const MONTH = 31

/** The stored rank is 0 if the app was absent. */
const pointsOf = (rank: number) => (rank >= 1 && rank <= FIRST ? FIRST + 1 - rank : 0)
