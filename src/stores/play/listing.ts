import type { RatingsByStar, ResultApp } from "../../core/observation/line-parts.ts"
import { at, count, list, stars, text } from "../../measuring/parsing/json.ts"
import { fact, required } from "../../measuring/parsing/required.ts"

export { fact, required }

/**
 * Returns the facts of a listing. The app's own page and the card above search results contain the same message. Throws
 * ReadFailure (`changed`) when a field that every listing has is missing, or when a field has another type.
 */
export function listedFacts(listing: unknown): Required<Pick<ResultApp, "name" | "icon" | "developer">> & Scores {
  const scores = fieldAt(listing, 51)
  return {
    name: required(at(fieldAt(listing, 0), 0), text),
    icon: required(pictureOf(at(fieldAt(listing, 95), 0)), address),
    developer: required(at(fieldAt(listing, 68), 0), text),
    ratings: fact(at(scores, 2, 1), count),
    rating: starsOf(at(scores, 0)),
    ratingsByStar: at(scores, 2, 1) === 0 ? undefined : fact(at(scores, 1), starCounts),
  }
}

interface Scores {
  ratings: number | undefined
  rating: number | undefined
  ratingsByStar: RatingsByStar | undefined
}

/** Returns the number of ratings per star, five stars first. The page lists one star first, after an empty entry. */
function starCounts(value: unknown): RatingsByStar | undefined {
  const counts = [5, 4, 3, 2, 1].map((stars) => count(at(value, stars, 1)))
  return counts.every((ratingCount) => ratingCount !== undefined) ? (counts as RatingsByStar) : undefined
}

/**
 * Returns the field at an index of a message. The pages write a message as an array with field n at index n - 1. Fields
 * with high numbers may be in an object at the array's end instead, keyed by their number.
 */
export function fieldAt(message: unknown, place: number): unknown {
  return at(message, place) ?? at(list(message).at(-1), String(place + 1))
}

/** Returns the URL in a picture message. */
export function pictureOf(picture: unknown): unknown {
  return at(picture, 3, 2)
}

export function address(value: unknown): string | undefined {
  return typeof value === "string" && /^https:\/\/\S+$/.test(value) ? text(value) : undefined
}

/** Returns the stars in a score message. Undefined for an app without ratings. */
export function starsOf(score: unknown): number | undefined {
  return at(score, 1) === 0 ? undefined : fact(at(score, 1), stars)
}

/**
 * Returns the app that a link leads to. Null for a link with further parameters or to another site, as ads have.
 * Undefined for any other link.
 */
export function linkedApp(link: unknown): string | null | undefined {
  if (typeof link !== "string" || link.length > LONGEST_LINK || !URL.canParse(link, PLAY)) return undefined
  const { origin, pathname, searchParams } = new URL(link, PLAY)
  if (origin !== PLAY) return null
  const { id, hl: _language, gl: _country, ...more } = Object.fromEntries(searchParams)
  if (pathname !== "/store/apps/details" || id === undefined) return undefined
  return Object.keys(more).length > 0 ? null : id
}

const PLAY = "https://play.google.com"
const LONGEST_LINK = 2_000
