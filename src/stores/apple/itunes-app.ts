import { MOST_APP_GENRES, type StoreApp } from "../../core/observation/line-parts.ts"
import { withoutUndefined } from "../../lib/objects.ts"
import { isStoreId } from "../../lib/store-ids.ts"
import { at, count, currency, parseJson, siteOf, text } from "../../measuring/parsing/json.ts"
import { mismatched } from "../../measuring/parsing/mismatched.ts"
import { asksForProof } from "../../measuring/parsing/proof.ts"
import { ReadFailure } from "../../measuring/source.ts"

/** One row of an iTunes answer. */
export type ITunesRow =
  /**
   * `app` is undefined where the row is sold by that id but is no app for iOS: a Mac app. `row` is as it stands, for those
   * who read more of it.
   */
  | { is: "software"; id: string; developerId: string | undefined; app: StoreApp | undefined; row: unknown }
  | { is: "developer"; id: string }
  /** Music, films and books: never asked for, but an id may turn out to be theirs. */
  | { is: "other" }

/**
 * The rows of a search or a look-up, which both answer in one shape: `resultCount`, and as many `results` (recorded, 2014
 * to 2026; blank lines may go before). Throws ReadFailure: `changed` for another shape, also where a fact is of another
 * type than it was, and for the answer that names the parameters instead (`errorMessage`); `blocked` for a page that asks
 * for a proof; `mismatched` where an address of a row is of another storefront than this one.
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
    // a page; what an app says of itself in an answer that broke off is none
    throw /^\s*</.test(body) && asksForProof(body)
      ? new ReadFailure("blocked", "a proof is asked for", { cause: error })
      : error
  }
}

/** Every recorded row has the address of its page, which names the storefront; one that does not says nothing. */
function checkStorefront(row: unknown, storefront: string): void {
  for (const name of ["trackViewUrl", "artistLinkUrl"]) {
    const place = /^https?:\/\/(?:apps|itunes)\.apple\.com\/([a-z]{2})\//.exec(text(at(row, name)) ?? "")?.[1]
    if (place !== undefined && place !== storefront) throw mismatched("the answer is another storefront's", place)
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

// The other values that Apple's description of the API names.
const OTHER = ["track", "collection", "audiobook"]

function softwareOf(row: unknown): ITunesRow {
  const kind = at(row, "kind")
  if (kind !== "software" && kind !== "mac-software") throw changed("a row of an unknown kind")
  const id = required(row, "trackId", numeral)
  if (!isStoreId("ios", id)) throw changed("a trackId that is no id of the store")
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
    // an app that nobody rated has 0 stars here, which no rating can be
    rating: ratings === 0 || rating === 0 ? undefined : rating,
    version: fact(row, "version", text),
    price: fact(row, "price", amount),
    currency: fact(row, "currency", currency),
    genre: fact(row, "primaryGenreId", genre),
    genres: genresOf(row),
    developerId: fact(row, "artistId", numeral),
    // developers write it: one that leads nowhere is none, rather than a change
    developerSite: siteOf(at(row, "sellerUrl")),
    releasedAt: fact(row, "releaseDate", moment),
    updatedAt: fact(row, "currentVersionReleaseDate", moment),
  })
}

/** Every app has a name. A single one that is broken is left out: it is no reason to lose 49 other apps. */
function nameOf(row: unknown): string | undefined {
  const name = at(row, "trackName")
  if (typeof name !== "string" || name.trim() === "") throw changed("trackName is missing or of another type")
  return text(name)
}

/**
 * Its main genre, then the others that the row names; undefined where it names none, or no main one. Numbers that are no
 * genre's, and more than can be stored, are left out: no app may take a whole answer of many with it.
 */
function genresOf(row: unknown): string[] | undefined {
  const [main, named] = [fact(row, "primaryGenreId", genre), fact(row, "genreIds", array)]
  if (main === undefined || named === undefined) return undefined
  const others = named.map((id) => genre(typeof id === "string" && /^[1-9]\d{0,5}$/.test(id) ? Number(id) : id))
  const all = new Set([main, ...others.filter((id) => id !== undefined)])
  return [...all].slice(0, MOST_APP_GENRES)
}

function array(value: unknown): unknown[] | undefined {
  return Array.isArray(value) ? value : undefined
}

type FieldReader<T> = (value: unknown) => T | undefined

/**
 * Undefined where the fact is not shown, or is a text of nothing or one that a database cannot hold. One that is shown
 * and cannot be read is a change.
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

/** A whole number that is a name: its digits. */
function numeral(value: unknown): string | undefined {
  return count(value)?.toString()
}

/** A genre of the store: its number, of six digits at most. */
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

/** Apple writes whole seconds in UTC. */
export function moment(value: unknown): Date | undefined {
  if (typeof value !== "string" || !/^(?:19[7-9]\d|20\d\d|21\d\d)-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(value))
    return undefined
  const read = new Date(value)
  // V8 takes 30 February for 2 March
  return !Number.isNaN(read.getTime()) && read.toISOString() === value.replace("Z", ".000Z") ? read : undefined
}
