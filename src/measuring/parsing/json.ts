import type { ResultApp } from "../../core/observation/line-parts.ts"
import { isStorable } from "../../lib/text.ts"
import { ReadFailure } from "../source.ts"

/** Parses JSON. Throws ReadFailure (`changed`) if the text is not JSON or too large to be an answer. */
export function parseJson(text: string, what: string): unknown {
  if (!isBounded(text))
    throw new ReadFailure("changed", `${what} has more values, or is nested more deeply, than any known one`)
  try {
    return JSON.parse(text)
  } catch {
    throw new ReadFailure("changed", `${what} is no JSON`)
  }
}

/** Parses JSON like parseJson, but returns undefined instead of throwing. */
export function jsonOrNothing(text: string): unknown {
  try {
    return isBounded(text) ? JSON.parse(text) : undefined
  } catch {
    return undefined
  }
}

// Recorded answers are 14 levels deep and have one value per 10 characters: about 150,000 in 1.5 MB.
const DEEPEST = 200
const MAX_VALUES = 600_000

/**
 * Returns true if a text can be parsed in little memory: JSON.parse takes 0.6 s and 620 MB for 8 MB of opening
 * brackets, and 240 MB for as many empty objects.
 */
function isBounded(text: string): boolean {
  let [depth, values] = [0, 0]
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) {
      at = endOfText(text, at + 1)
      // an unterminated string is no JSON; JSON.parse finds that quickly
      if (at === -1) return true
    } else if (code === OPEN_ARRAY || code === OPEN_OBJECT) {
      if (++depth > DEEPEST || ++values > MAX_VALUES) return false
    } else if (code === CLOSE_ARRAY || code === CLOSE_OBJECT) depth--
    else if (code === COMMA && ++values > MAX_VALUES) return false
  }
  return true
}

const [QUOTE, COMMA] = [34, 44]
const [OPEN_ARRAY, CLOSE_ARRAY, OPEN_OBJECT, CLOSE_OBJECT] = [91, 93, 123, 125]

/** Returns the index of the closing quote of a string that begins at `from`. -1 if it has none. */
export function endOfText(script: string, from: number): number {
  for (let end = script.indexOf('"', from); end !== -1; end = script.indexOf('"', end + 1)) {
    let escapes = 0
    while (end - escapes > from && script.charCodeAt(end - escapes - 1) === BACKSLASH) escapes++
    if (escapes % 2 === 0) return end
  }
  return -1
}

const BACKSLASH = 92

/** Returns the value at a path in a value of unknown shape, or undefined. Never throws. */
export function at(value: unknown, ...path: (string | number)[]): unknown {
  let here = value
  for (const step of path) {
    if (typeof here !== "object" || here === null || Array.isArray(here) !== (typeof step === "number"))
      return undefined
    if (!Object.hasOwn(here, step)) return undefined
    here = (here as Record<string | number, unknown>)[step]
  }
  return here
}

/** Returns the items of an array, or none for any other value. */
export function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

/** Returns a non-blank text that a database can store, or undefined. */
export function text(value: unknown): string | undefined {
  return typeof value === "string" && /\S/.test(value) && isStorable(value) ? value : undefined
}

/** Returns a whole number from 0, or undefined; also undefined for numbers in quotes. */
export function count(value: unknown): number | undefined {
  return Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : undefined
}

/** Returns a rating above 0 and up to 5, or undefined: stores write 0 if an app has none. */
export function stars(value: unknown): number | undefined {
  return typeof value === "number" && value > 0 && value <= 5 ? value : undefined
}

/** Returns an ISO 4217 code (three capital letters), or undefined. */
export function currency(value: unknown): string | undefined {
  return typeof value === "string" && /^[A-Z]{3}$/.test(value) ? value : undefined
}

/**
 * Returns the URL of a developer's site, or undefined if it is malformed or too long. Developers write it themselves; a
 * bad one must not spoil an answer with many apps.
 */
export function siteOf(value: unknown): string | undefined {
  return typeof value === "string" && value.length <= LONGEST_SITE && /^https?:\/\/\S+$/.test(value)
    ? text(value)
    : undefined
}

// the same limit as in core/observation/app-facts.ts
const LONGEST_SITE = 2_000

/** Returns each app once, at its first position, and at most `depth` apps. */
export function appsOf<App extends ResultApp>(shown: Iterable<App>, depth: number): App[] {
  const apps = new Map<string, App>()
  for (const app of shown) if (!apps.has(app.id)) apps.set(app.id, app)
  return [...apps.values()].slice(0, depth)
}
