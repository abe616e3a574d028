import type { RatingsByStar, ResultApp } from "../../core/observation/line-parts.ts"
import { at, count, list, stars, text } from "../../measuring/parsing/json.ts"
import { fact, required } from "../../measuring/parsing/required.ts"

export { fact, required }

/**
 * What a listing says of its app, on its own page and on the card above search results: the same message. Throws
 * ReadFailure (`changed`) where what every listing has is missing, or a fact is of another type.
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

/** How many gave each number of stars: the page has those of one star first, after an empty place. */
function starCounts(value: unknown): RatingsByStar | undefined {
  const counts = [5, 4, 3, 2, 1].map((stars) => count(at(value, stars, 1)))
  return counts.every((one) => one !== undefined) ? (counts as RatingsByStar) : undefined
}

/**
 * What stands at a place of a message. The pages write a message as an array with its field n at place n - 1; fields far
 * out may stand in an object at the array's end instead, under their number.
 */
export function fieldAt(message: unknown, place: number): unknown {
  return at(message, place) ?? at(list(message).at(-1), String(place + 1))
}

/** The address of a picture, within the message that describes one. */
export function pictureOf(picture: unknown): unknown {
  return at(picture, 3, 2)
}

export function address(value: unknown): string | undefined {
  return typeof value === "string" && /^https:\/\/\S+$/.test(value) ? text(value) : undefined
}

/** Stars, within the message that a score is; undefined for an app that nobody has rated. */
export function starsOf(score: unknown): number | undefined {
  return at(score, 1) === 0 ? undefined : fact(at(score, 1), stars)
}

/**
 * The app whose page a link leads to; null for a link that carries more than the app or leads off the store, as a paid
 * one does; undefined for any other.
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
