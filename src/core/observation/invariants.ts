import * as v from "valibot"
import { Term } from "../../lib/fields.ts"
import { isStoreId } from "../../lib/store-ids.ts"
import { isStorefront } from "../../lib/storefronts.ts"
import { normaliseTerm } from "../../lib/term.ts"
import { isStorable } from "../../lib/text.ts"
import { STORES_OPENED_MS } from "../../lib/time.ts"
import type { SourceName } from "../../lib/upstreams.ts"
import type { Platform, Provenance } from "./provenance.ts"

export type ProblemCode =
  | "bad_kind"
  | "bad_source"
  | "bad_platform"
  | "bad_storefront"
  | "bad_term"
  | "bad_time"
  | "bad_month"
  | "bad_depth"
  | "too_many_results"
  | "duplicate_app"
  | "duplicate_term"
  | "bad_app_id"
  | "bad_figure"
  | "bad_text"
  | "bad_language"
  | "bad_review_id"
  | "duplicate_review"
  | "bad_provenance"

/** Thrown if an observation or attempt cannot be stored. The message is one sentence and quotes none of its data. */
export class ObservationProblem extends Error {
  override name = "ObservationProblem"
  readonly code: ProblemCode

  constructor(code: ProblemCode, message: string) {
    super(message)
    this.code = code
  }
}

export function hold(holds: boolean, code: ProblemCode, message: string): asserts holds {
  if (!holds) throw new ObservationProblem(code, message)
}

/** Checks that the source reads this kind from the platform's store, and that the storefront exists. */
export function checkPlace(
  { storefront, ...store }: { source: SourceName; platform: Platform; storefront: string },
  sources: readonly SourceName[],
): void {
  checkStore(store, sources)
  checkStorefront(storefront, store.platform)
}

/** Checks that the storefront exists in that store, or in either store if no platform is given. */
export function checkStorefront(storefront: string, platform?: Platform): void {
  const hint = storefront === "uk" ? ": the United Kingdom is gb" : ""
  const message = `the storefront must be a lower-case two-letter code of the store${hint}`
  hold(isStorefront(storefront, platform), "bad_storefront", message)
}

export function checkStore(
  { source, platform }: { source: SourceName; platform: Platform },
  sources: readonly SourceName[],
): void {
  checkSource(source, sources)
  hold(platform === "ios" || platform === "android", "bad_platform", "the platform must be ios or android")
  const store = /^(apple|itunes)-/.test(source) ? "ios" : source.startsWith("play-") ? "android" : platform
  hold(platform === store, "bad_platform", "the source does not read that platform's store")
}

export function checkSource(source: SourceName, sources: readonly SourceName[]): void {
  hold(sources.includes(source), "bad_source", `the source must be one of ${sources.join(", ")}`)
}

/**
 * Throws unless a term is in its normal form and has a valid length. `what` is "term" or another text with the same
 * rules.
 */
export function checkTerm(term: string, what = "term"): void {
  const spelt = v.is(Term, term) && isStorable(term) && term === normaliseTerm(term)
  hold(spelt, "bad_term", `the ${what} must be normalised and have 1 to 150 characters`)
}

export function checkTime(at: Date, now: Date): void {
  const ms = at.getTime()
  hold(!Number.isNaN(ms), "bad_time", "the time must be a valid moment")
  hold(ms <= now.getTime(), "bad_time", "the time lies in the future")
  hold(ms >= STORES_OPENED_MS, "bad_time", "the time lies before the stores opened")
}

/** Checks that all ids are ids of that store and unique. `what` names their list in the message. */
export function checkIds(platform: Platform, ids: readonly string[], what: string): void {
  hold(ids.length <= 1_000, "too_many_results", `there are more than 1000 ${what}`)
  const seen = new Set<string>()
  for (const id of ids) {
    hold(isStoreId(platform, id), "bad_app_id", `an id among the ${what} is not an id of that store`)
    hold(!seen.has(id), "duplicate_app", `an app occurs twice among the ${what}`)
    seen.add(id)
  }
}

export function checkProvenance({ origin, parser, sha256, egress }: Provenance): void {
  const named = isStorable(origin) && /^\P{C}{1,100}$/u.test(origin)
  hold(named, "bad_provenance", "the origin must have 1 to 100 printable characters")
  const isValidParser = Number.isInteger(parser) && parser >= 0 && parser <= 32_767
  hold(isValidParser, "bad_provenance", "the parser must be a whole number from 0 to 32767")
  checkHash(sha256)
  const placed = egress === undefined || isStorefront(egress)
  hold(placed, "bad_provenance", "the egress must be a two-letter country code")
}

export function checkHash(sha256: Uint8Array): void {
  hold(sha256.length === 32, "bad_provenance", "the SHA-256 must have 32 bytes")
}

export function checkText(text: string, longest: number, what: string): void {
  hold(text.length <= longest, "bad_text", `${what} has more than ${longest} characters`)
  hold(isStorable(text), "bad_text", `${what} contains a NUL or a lone surrogate, which cannot be stored`)
  hold(/\S/.test(text), "bad_text", `${what} is blank`)
}

const LONGEST_ADDRESS = 2_000

/** Returns why a text cannot be linked to. Null if it is a web address. */
export function addressProblem(text: string): string | null {
  if (text.length > LONGEST_ADDRESS) return `has more than ${LONGEST_ADDRESS} characters`
  const isWeb = /^https?:\/\/[^\s\0]+$/i.test(text) && text.isWellFormed() && URL.canParse(text)
  return isWeb ? null : "is not an address that begins with https:// or http://"
}

const CURRENCIES: ReadonlySet<string> = new Set(Intl.supportedValuesOf("currency"))

/** Returns true for an ISO 4217 code of real money. */
export function isCurrency(code: string): boolean {
  return CURRENCIES.has(code) && !NO_MONEY.includes(code)
}

// "no currency" and "testing"
const NO_MONEY = ["XXX", "XTS"]

/** Returns true for a non-blank text that can be stored. PostgreSQL stores no NUL, and JSON no lone surrogate. */
export function isText(text: string, longest: number): boolean {
  return typeof text === "string" && /\S/.test(text) && text.length <= longest && isStorable(text)
}

export function isGenre(id: string): boolean {
  return typeof id === "string" && /^[1-9]\d{0,5}$/.test(id)
}

export function isDeveloperId(id: string): boolean {
  return typeof id === "string" && /^[1-9]\d{0,15}$/.test(id)
}
