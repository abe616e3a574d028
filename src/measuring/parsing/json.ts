import type { ResultApp } from "../../core/observation/line-parts.ts"
import { isStorable } from "../../lib/text.ts"
import { ReadFailure } from "../source.ts"

/** Parsed JSON. Throws ReadFailure (`changed`) where the text is none, or holds more than any answer does. */
export function parseJson(text: string, what: string): unknown {
  if (!isBounded(text)) throw new ReadFailure("changed", `${what} holds more values, or deeper ones, than any known`)
  try {
    return JSON.parse(text)
  } catch {
    throw new ReadFailure("changed", `${what} is no JSON`)
  }
}

/** The same, undefined in place of the failure. */
export function jsonOrNothing(text: string): unknown {
  try {
    return isBounded(text) ? JSON.parse(text) : undefined
  } catch {
    return undefined
  }
}

// Recorded answers are 14 deep, and have a value for each 10 characters: a body of 1.5 MB some 150,000.
const DEEPEST = 200
const MOST_VALUES = 600_000

/**
 * Whether a text can be parsed in little memory: 8 MB of opening brackets take JSON.parse 0.6 s and 620 MB, as many
 * empty objects 240 MB.
 */
function isBounded(text: string): boolean {
  let [depth, values] = [0, 0]
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) {
      at = endOfText(text, at + 1)
      // a text without an end is no JSON, which its parser finds soon
      if (at === -1) return true
    } else if (code === OPEN_ARRAY || code === OPEN_OBJECT) {
      if (++depth > DEEPEST || ++values > MOST_VALUES) return false
    } else if (code === CLOSE_ARRAY || code === CLOSE_OBJECT) depth--
    else if (code === COMMA && ++values > MOST_VALUES) return false
  }
  return true
}

const [QUOTE, COMMA] = [34, 44]
const [OPEN_ARRAY, CLOSE_ARRAY, OPEN_OBJECT, CLOSE_OBJECT] = [91, 93, 123, 125]

/** Where the text that begins at a place, after its opening quote, has its closing one; -1 where it has none. */
export function endOfText(script: string, from: number): number {
  for (let end = script.indexOf('"', from); end !== -1; end = script.indexOf('"', end + 1)) {
    let escapes = 0
    while (end - escapes > from && script.charCodeAt(end - escapes - 1) === BACKSLASH) escapes++
    if (escapes % 2 === 0) return end
  }
  return -1
}

const BACKSLASH = 92

/** What stands at a path of keys and places in a value of unknown shape; undefined where nothing does. Never throws. */
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

/** The items of an array; none where it is none. */
export function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

/** A text that says something and that a database can hold, as it stands; undefined for anything else. */
export function text(value: unknown): string | undefined {
  return typeof value === "string" && /\S/.test(value) && isStorable(value) ? value : undefined
}

/** A whole number from 0; undefined for anything else, a numeral in quotes too. */
export function count(value: unknown): number | undefined {
  return Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : undefined
}

/** A star rating as its own stars, above 0 to 5: stores write 0 where an app has none. */
export function stars(value: unknown): number | undefined {
  return typeof value === "number" && value > 0 && value <= 5 ? value : undefined
}

/** A currency by its three capitals, ISO 4217. */
export function currency(value: unknown): string | undefined {
  return typeof value === "string" && /^[A-Z]{3}$/.test(value) ? value : undefined
}

/**
 * The address of a developer's site. It is the developer who writes it: one that is none, or longer than can be stored, is
 * left out, so that no app can take a whole answer of many with it.
 */
export function siteOf(value: unknown): string | undefined {
  return typeof value === "string" && value.length <= LONGEST_SITE && /^https?:\/\/\S+$/.test(value)
    ? text(value)
    : undefined
}

// as measuring/record/check-app.ts holds it
const LONGEST_SITE = 2_000

/** Each app once, where it stands first, and no more than the depth. */
export function appsOf<App extends ResultApp>(shown: Iterable<App>, depth: number): App[] {
  const apps = new Map<string, App>()
  for (const app of shown) if (!apps.has(app.id)) apps.set(app.id, app)
  return [...apps.values()].slice(0, depth)
}
