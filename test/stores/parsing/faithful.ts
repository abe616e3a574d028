import type { StoreApp } from "../../../src/core/observation/line-parts.ts"
import type { Observation } from "../../../src/kinds.ts"
import { normaliseTerm } from "../../../src/lib/term.ts"
import { extrasUnfaithful, factsUnfaithful } from "./faithful-facts.ts"
import { reviewsUnfaithful } from "./faithful-reviews.ts"
import { type As, islandsOf } from "./islands.ts"

/** Returns a message about the first value of an observation that does not occur in the body. Undefined if all do. */
export function unfaithful(body: string, as: As, reading: Observation): string | undefined {
  const standing = standingIn(body, as)
  if (reading.kind === "search") return firstOf(reading.results, (app) => appUnfaithful(app, standing))
  if (reading.kind === "apps") return firstOf(reading.apps, (app) => appUnfaithful(app, standing))
  if (reading.kind === "hints")
    return firstOf(reading.terms, (term) => (standing.term(term) ? undefined : `no term ${term}`))
  if (
    reading.kind === "listing" ||
    reading.kind === "developer" ||
    reading.kind === "chart" ||
    reading.kind === "genres"
  )
    return factsUnfaithful(reading, standing)
  if (reading.kind === "reviews") return reviewsUnfaithful(reading, standing)
  return `no body is known to hold ${reading.kind}`
}

function firstOf<T>(all: readonly T[], wrong: (item: T) => string | undefined): string | undefined {
  for (const item of all) {
    const found = wrong(item)
    if (found !== undefined) return found
  }
  return undefined
}

function appUnfaithful(app: StoreApp, standing: Standing): string | undefined {
  const {
    icon,
    ratings,
    rating,
    price,
    releasedAt,
    updatedAt,
    market,
    listing,
    genres = [],
    languages = [],
    sizeBytes,
    ratingsByStar,
    ...texts
  } = app
  const dates = { releasedAt, updatedAt }
  const figures = { ratings, rating, price, sizeBytes }
  return (
    firstOf(Object.entries(texts), ([what, value]) => missing(what, value, (text) => standing.text(text))) ??
    firstOf(genres, (genre) => missing("genres", genre, (id) => standing.text(id))) ??
    firstOf(languages, (code) => missing("languages", code, (value) => standing.text(value.toUpperCase()))) ??
    firstOf(Object.entries(figures), ([what, value]) => missing(what, value, (figure) => standing.figure(figure))) ??
    firstOf(ratingsByStar ?? [], (count) => missing("ratingsByStar", count, (figure) => standing.figure(figure))) ??
    firstOf(Object.entries(dates), ([what, value]) => missing(what, value, (date) => standing.date(date as Date))) ??
    missing("icon", icon, (url) => standing.picture(url)) ??
    extrasUnfaithful({ market, listing }, standing)
  )
}

function missing<T>(what: string, value: T | undefined, occurs: (value: T) => boolean): string | undefined {
  return value === undefined || occurs(value)
    ? undefined
    : `${what} ${JSON.stringify(value)} does not stand in the body`
}

export interface Standing {
  text(value: string): boolean
  term(value: string): boolean
  /** For texts written as HTML: compares without tags and with decoded character references. */
  plain(value: string): boolean
  /** Compares without characters that the database cannot store, and up to the maximum length. */
  written(value: string): boolean
  figure(value: number): boolean
  date(value: Date): boolean
  picture(url: string): boolean
}

/**
 * Returns functions that find values in a body: among the texts and numbers of its JSON, and in its text with decoded
 * entities and escapes.
 */
function standingIn(body: string, as: As): Standing {
  const scalars = scalarsOf(islandsOf(body, as).map(({ value }) => value))
  let decoded: string | undefined
  let terms: Set<string> | undefined
  const within = (value: string): boolean => {
    decoded ??= `${body}\n${[...scalars].join("\n")}\n${undone(body)}`
    for (let at = decoded.indexOf(value); at !== -1; at = decoded.indexOf(value, at + 1)) {
      // A number must match as a whole, not within a longer one.
      if (!/^\d/.test(value) || !/\d/.test(decoded.charAt(at - 1) + decoded.charAt(at + value.length))) return true
    }
    return false
  }
  const text = (value: string) => scalars.has(value) || within(value)
  return {
    text,
    term(value) {
      if (text(value)) return true
      // Entities are decoded after the tags are split, CDATA sections before.
      const texts = () => [...undone(body).split(/[<>]/), ...body.split(/[<>]/).map(undone)]
      terms ??= new Set([...scalars, ...texts()].map(normaliseTerm))
      return terms.has(value)
    },
    plain: (value) =>
      text(value) || [...scalars].some((scalar) => scalar.length >= value.length && textIn(scalar) === bare(value)),
    written: (value) =>
      text(value) ||
      [...scalars].some((scalar) => storable(scalar).startsWith(value)) ||
      storable(undone(body)).includes(value),
    // Prices occur in whole units, hundredths or millionths.
    figure: (value) => [value, Math.round(value * 100), Math.round(value * 1e6)].some((form) => text(String(form))),
    date: (value) => [value.toISOString(), isoSeconds(value), isoDay(value), ...epochs(value)].some(text),
    picture: (url) => text(url) || text(url.slice(0, url.lastIndexOf("/"))) || text(url.split("=", 1)[0] as string),
  }
}

/** Returns the text of HTML without white space and without anything that looks like a tag before or after decoding. */
const textIn = (html: string) => bare(bare(html).replace(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|(\w+));/gi, signOf))
const bare = (text: string) => text.replace(/<[^<>]*>/g, "").replace(/\s+/gu, "")
const storable = (value: string) => value.replaceAll("\0", "").toWellFormed()
const isoSeconds = (date: Date) => date.toISOString().replace(/\.\d+Z$/, "Z")
const isoDay = (date: Date) => date.toISOString().slice(0, 10)
const epochs = (date: Date) => [String(date.getTime()), String(Math.floor(date.getTime() / 1_000))]

function scalarsOf(values: unknown[]): Set<string> {
  const scalars = new Set<string>()
  const pending = [...values]
  while (pending.length > 0) {
    const value = pending.pop()
    if (typeof value === "number") scalars.add(String(value))
    if (typeof value === "string") {
      scalars.add(value)
      // A text may contain JSON itself.
      if (/^[[{]/.test(value)) pending.push(...islandsOf(value, "json").map((island) => island.value))
    }
    if (typeof value === "object" && value !== null) for (const child of Object.values(value)) pending.push(child)
  }
  return scalars
}

const ENTITIES: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" }

function undone(body: string): string {
  return body
    .replace(/\\u([0-9a-fA-F]{4})/g, (_, code) => String.fromCharCode(Number.parseInt(code, 16)))
    .replace(/\\(["\\/n])/g, (_, sign) => (sign === "n" ? "\n" : sign))
    .replace(/<!\[CDATA\[([\s\S]*?)\]\]>/g, "$1")
    .replace(/&(?:#(\d{1,7})|#x([0-9a-fA-F]{1,6})|(\w+));/g, signOf)
}

function signOf(all: string, decimal?: string, hex?: string, name?: string): string {
  if (name) return ENTITIES[name] ?? all
  const code = decimal ? Number(decimal) : Number.parseInt(hex as string, 16)
  return code <= 0x10ffff ? String.fromCodePoint(code) : all
}
