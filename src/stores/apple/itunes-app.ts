import { MAX_APP_GENRES, type StoreApp } from "../../core/observation/line-parts.ts"
import { withoutUndefined } from "../../lib/objects.ts"
import { isStoreId } from "../../lib/store-ids.ts"
import { at, count, currency, parseJson, siteOf, text } from "../../measuring/parsing/json.ts"
import { mismatched } from "../../measuring/parsing/mismatched.ts"
import { blockedOr } from "../../measuring/parsing/proof.ts"
import { ReadFailure } from "../../measuring/source.ts"

/** One row of an iTunes answer. */
export type ITunesRow =
  /**
   * `app` is undefined when the id belongs to software that is not an iOS app, such as a Mac app. `row` is the unparsed
   * row, for callers that read further fields.
   */
  | { is: "software"; id: string; developerId: string | undefined; app: StoreApp | undefined; row: unknown }
  | { is: "developer"; id: string }
  /** Music, films and books. They are never requested, but a requested id may belong to one. */
  | { is: "other" }

/**
 * Returns the rows of a search or look-up; both have the same shape: `resultCount` and as many `results` (recorded from
 * 2014 to 2026; blank lines may precede). Throws ReadFailure: `changed` when the shape or the type of a field is
 * unknown, or when the response rejects a parameter (`errorMessage`); `blocked` when the page requires a CAPTCHA or
 * similar proof; `mismatched` when the URL of a row belongs to another storefront.
 */
export function itunesRows(body: string, storefront?: string): ITunesRow[] {
  const answer = parseAnswer(body)
  if (at(answer, "errorMessage") !== undefined) throw changed("the store refuses a parameter")
  const results = at(answer, "results")
  if (!Array.isArray(results)) throw changed("no results")
  if (at(answer, "resultCount") !== results.length) throw changed("resultCount is not the number of results")
  if (storefront !== undefined) for (const row of results) checkStorefront(row, storefront)
  return results.map(rowOf)
}

const changed = (detail: string) => new ReadFailure("changed", detail)

function parseAnswer(body: string): unknown {
  try {
    return parseJson(body, "the answer")
  } catch (error) {
    // Only an HTML page can be a block page. In a truncated JSON response, an app's own text may contain the same
    // words.
    throw /^\s*</.test(body) ? blockedOr(error, body) : error
  }
}

/**
 * Throws ReadFailure (`mismatched`) when a URL of the row names another storefront. Every recorded row has a page URL;
 * a row without one is accepted.
 */
function checkStorefront(row: unknown, storefront: string): void {
  for (const name of ["trackViewUrl", "artistLinkUrl"]) {
    const place = /^https?:\/\/(?:apps|itunes)\.apple\.com\/([a-z]{2})\//.exec(text(at(row, name)) ?? "")?.[1]
    if (place !== undefined && place !== storefront) throw mismatched("the response is for another storefront", place)
  }
}

function rowOf(row: unknown): ITunesRow {
  const wrapper = at(row, "wrapperType")
  if (wrapper === "artist") return { is: "developer", id: required(row, "artistId", numeral) }
  if (wrapper === "software") return softwareOf(row)
  const isOther = typeof wrapper === "string" && OTHER.includes(wrapper) && at(row, "kind") !== "software"
  if (isOther) return { is: "other" }
  throw changed("a row of an unknown wrapperType")
}

// The other values in Apple's documentation of the API.
const OTHER = ["track", "collection", "audiobook"]

function softwareOf(row: unknown): ITunesRow {
  const kind = at(row, "kind")
  if (kind !== "software" && kind !== "mac-software") throw changed("a row of an unknown kind")
  const id = required(row, "trackId", numeral)
  if (!isStoreId("ios", id)) throw changed("a trackId that is not an id of the store")
  const app = kind === "software" ? appOf(row, id) : undefined
  return { is: "software", id, developerId: fact(row, "artistId", numeral), app, row }
}

function appOf(row: unknown, id: string): StoreApp {
  const ratings = fact(row, "userRatingCount", count)
  const rating = fact(row, "averageUserRating", upToFive)
  return withoutUndefined<StoreApp>({
    id,
    name: nameOf(row),
    icon: fact(row, "artworkUrl512", url) ?? fact(row, "artworkUrl100", url) ?? fact(row, "artworkUrl60", url),
    developer: fact(row, "artistName", text),
    bundleId: fact(row, "bundleId", text),
    ratings,
    // Apple reports 0 stars for an app without ratings; no real rating is 0.
    rating: ratings === 0 || rating === 0 ? undefined : rating,
    version: fact(row, "version", text),
    price: fact(row, "price", amount),
    currency: fact(row, "currency", currency),
    genre: fact(row, "primaryGenreId", genre),
    genres: genresOf(row),
    developerId: fact(row, "artistId", numeral),
    // Developers enter this URL: an invalid one is dropped and does not fail the reading.
    developerSite: siteOf(at(row, "sellerUrl")),
    releasedAt: fact(row, "releaseDate", moment),
    updatedAt: fact(row, "currentVersionReleaseDate", moment),
  })
}

/**
 * Returns the app's name. Throws when the field is missing, because every app has a name. Undefined if the name cannot
 * be stored: one broken name must not discard the other 49 apps of the response.
 */
function nameOf(row: unknown): string | undefined {
  const name = at(row, "trackName")
  if (typeof name !== "string" || name.trim() === "") throw changed("trackName is missing or of another type")
  return text(name)
}

/**
 * Returns the main genre, then the other genres of the row. Undefined if the row has no genres or no main genre.
 * Invalid genre numbers and genres beyond the storage limit are left out, because one app must not make the whole
 * response fail.
 */
function genresOf(row: unknown): string[] | undefined {
  const [main, named] = [fact(row, "primaryGenreId", genre), fact(row, "genreIds", array)]
  if (main === undefined || named === undefined) return undefined
  const genres = named.map((id) => genre(typeof id === "string" && /^[1-9]\d{0,5}$/.test(id) ? Number(id) : id))
  const all = new Set([main, ...genres.filter((id) => id !== undefined)])
  return [...all].slice(0, MAX_APP_GENRES)
}

function array(value: unknown): unknown[] | undefined {
  return Array.isArray(value) ? value : undefined
}

type FieldReader<T> = (value: unknown) => T | undefined

/**
 * Reads one field. Undefined if the field is missing, empty or cannot be stored in the database. Throws ReadFailure
 * (`changed`) when the field is present and unreadable.
 */
export function fact<T>(row: unknown, name: string, read: FieldReader<T>): T | undefined {
  const value = at(row, name)
  const isShown = typeof value === "string" ? text(value) !== undefined : value !== undefined && value !== null
  return isShown ? required(row, name, read) : undefined
}

function required<T>(row: unknown, name: string, read: FieldReader<T>): T {
  const value = read(at(row, name))
  if (value === undefined) throw changed(`${name} is missing or of another type`)
  return value
}

/** Converts a numeric id to a string. */
function numeral(value: unknown): string | undefined {
  return count(value)?.toString()
}

/** Returns an App Store genre: a number of at most six digits. */
function genre(value: unknown): string | undefined {
  const id = numeral(value)
  return id !== undefined && /^[1-9]\d{0,5}$/.test(id) ? id : undefined
}

export function url(value: unknown): string | undefined {
  return typeof value === "string" && /^https?:\/\/\S+$/.test(value) ? text(value) : undefined
}

function upToFive(value: unknown): number | undefined {
  return typeof value === "number" && value >= 0 && value <= 5 ? value : undefined
}

function amount(value: unknown): number | undefined {
  return typeof value === "number" && value >= 0 && value < 1e12 ? value : undefined
}

/** Parses a timestamp. Apple writes whole seconds in UTC. */
export function moment(value: unknown): Date | undefined {
  if (typeof value !== "string" || !/^(?:19[7-9]\d|20\d\d|21\d\d)-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(value))
    return undefined
  const read = new Date(value)
  // V8 parses 30 February as 2 March.
  return !Number.isNaN(read.getTime()) && read.toISOString() === value.replace("Z", ".000Z") ? read : undefined
}
