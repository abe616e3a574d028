import type { RatingsByStar } from "../../../core/observation/line-parts.ts"
import { at, count, stars } from "../../../measuring/parsing/json.ts"
import { fact } from "../../../measuring/parsing/required.ts"
import { ReadFailure } from "../../../measuring/source.ts"
import type { Listing } from "../../../stores/kinds/listing-shape.ts"
import { itemsOn, type Shelves } from "./shelves.ts"

/**
 * Returns the ratings from the page's own data, else from the linked data, which has no counts by star. An app without
 * ratings gets the count 0 and no average, although Apple writes 0 stars.
 */
export function ratingsOf(shelves: Shelves, linked: unknown): Pick<Listing, "rating" | "ratings" | "ratingsByStar"> {
  const [shelf] = itemsOn(shelves, "productRatings") ?? []
  if (shelf === undefined) {
    const aggregate = at(linked, "aggregateRating")
    return rated(fact(at(aggregate, "ratingValue"), upToFive), fact(at(aggregate, "reviewCount"), count))
  }
  const average = fact(at(shelf, "ratingAverage"), upToFive)
  const ratingsByStar = fact(at(shelf, "ratingCounts"), fiveCounts)
  if (ratingsByStar && average) checkOrder(ratingsByStar, average)
  const { rating, ratings } = rated(average, fact(at(shelf, "totalNumberOfRatings"), count))
  return { rating, ratings, ratingsByStar }
}

function rated(average: number | undefined, ratings: number | undefined) {
  return { rating: ratings === 0 || average === 0 ? undefined : average, ratings, ratingsByStar: undefined }
}

function upToFive(value: unknown): number | undefined {
  return value === 0 ? 0 : stars(value)
}

function fiveCounts(value: unknown): RatingsByStar | undefined {
  if (!Array.isArray(value) || value.length !== 5) return undefined
  const counts = value.map(count)
  return counts.every((ratingCount) => ratingCount !== undefined) ? (counts as RatingsByStar) : undefined
}

// Recorded averages differ by at most 0.1 from the average of the counts.
const TOLERANCE = 0.5

/** Throws ReadFailure unless the counts can be in the order from five stars to one. */
function checkOrder(counts: RatingsByStar, average: number): void {
  const total = counts.reduce((sum, ratingCount) => sum + ratingCount, 0)
  const weighted = counts.reduce((sum, ratingCount, place) => sum + ratingCount * (5 - place), 0) / total
  // NaN if there are no ratings.
  if (Math.abs(weighted - average) > TOLERANCE)
    throw new ReadFailure("changed", "the counts by star are in no known order")
}
