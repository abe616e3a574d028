import * as v from "valibot"
import { isStoreId } from "../formulas/store-ids.ts"
import { normaliseTerm } from "../formulas/term.ts"
import { Term } from "../inputs.ts"
import { isStorefront } from "../storefronts.ts"
import {
  type Attempt,
  OUTCOMES,
  type Platform,
  RANK_SOURCES,
  type RankSource,
  type SearchObservation,
} from "./types.ts"

export type ProblemCode =
  | "bad_source"
  | "bad_platform"
  | "bad_storefront"
  | "bad_term"
  | "bad_time"
  | "bad_depth"
  | "too_many_results"
  | "duplicate_app"
  | "bad_app_id"
  | "bad_figure"
  | "bad_provenance"

/** Why an observation or attempt cannot be stored. Its message is one sentence and quotes nothing of it. */
export class ObservationProblem extends Error {
  override name = "ObservationProblem"
  readonly code: ProblemCode

  constructor(code: ProblemCode, message: string) {
    super(message)
    this.code = code
  }
}

/** Throws ObservationProblem unless every invariant of a reading holds. */
export function checkSearch(reading: SearchObservation, now: Date): void {
  checkSubject(reading.source, reading.platform, reading.storefront, reading.term)
  checkTime(reading.seenAt, now)
  checkResults(reading)
  checkProvenance(reading)
}

/** Throws ObservationProblem unless the attempt can be logged. */
export function checkAttempt(attempt: Attempt, now: Date): void {
  checkSubject(attempt.source, attempt.platform, attempt.storefront, attempt.subject)
  checkTime(attempt.at, now)
  require(attempt.kind === "search" && OUTCOMES.includes(attempt.outcome), "bad_provenance", "the outcome is unknown")
  const detail = attempt.detail ?? ""
  require(isStorable(detail) && detail.length <= 500, "bad_provenance", "the detail must have at most 500 characters")
}

function checkSubject(source: RankSource, platform: Platform, storefront: string, term: string): void {
  require((source as string) !== "itunes-search", "bad_source", ITUNES)
  require(RANK_SOURCES.includes(source), "bad_source", `the source must be one of ${RANK_SOURCES.join(", ")}`)
  require(platform === "ios" || platform === "android", "bad_platform", "the platform must be ios or android")
  const store = source.startsWith("apple-") ? "ios" : source.startsWith("play-") ? "android" : platform
  require(platform === store, "bad_platform", "the source does not read that platform's store")
  require(isStorefront(
    storefront,
  ), "bad_storefront", "the storefront must be a lower-case two-letter code of the store")
  const spelt = v.is(Term, term) && isStorable(term) && term === normaliseTerm(term)
  require(spelt, "bad_term", "the term must be normalised and have 1 to 150 characters")
}

const ITUNES = "the iTunes Search API is no rank source: its order is not the order a phone shows"

// Nothing was searched before the App Store opened; an older day would only make partitions.
const STORES_OPENED = Date.parse("2008-07-10")

function checkTime(at: Date, now: Date): void {
  const ms = at.getTime()
  require(!Number.isNaN(ms), "bad_time", "the time must be a valid moment")
  require(ms <= now.getTime(), "bad_time", "the time lies in the future")
  require(ms >= STORES_OPENED, "bad_time", "the time lies before the stores opened")
}

function checkResults({ platform, depth, complete, results }: SearchObservation): void {
  const whole = Number.isInteger(depth) && depth >= 1 && depth <= 250
  require(whole, "bad_depth", "the depth must be a whole number from 1 to 250")
  require(typeof complete === "boolean", "bad_depth", "complete must be true or false")
  require(results.length <= depth, "too_many_results", "there are more results than the depth")
  const seen = new Set<string>()
  for (const { id, ratings, rating } of results) {
    require(isStoreId(platform, id), "bad_app_id", "a result's id is not an id of that store")
    require(!seen.has(id), "duplicate_app", "an app stands twice among the results")
    seen.add(id)
    const counted = ratings === undefined || (Number.isSafeInteger(ratings) && ratings >= 0)
    require(counted, "bad_figure", "ratings must be a whole number from 0")
    require(rating === undefined || (rating >= 0 && rating <= 5), "bad_figure", "rating must be a number from 0 to 5")
  }
}

function checkProvenance({ origin, parser, sha256, egress }: SearchObservation): void {
  const named = isStorable(origin) && /^\P{C}{1,100}$/u.test(origin)
  require(named, "bad_provenance", "the origin must have 1 to 100 printable characters")
  const known = Number.isInteger(parser) && parser >= 0 && parser <= 32_767
  require(known, "bad_provenance", "the parser must be a whole number from 0 to 32767")
  require(sha256.length === 32, "bad_provenance", "the SHA-256 must have 32 bytes")
  require(egress === undefined ||
    isStorefront(egress), "bad_provenance", "the egress must be a two-letter country code")
}

// PostgreSQL stores no NUL, and JSON no half of a surrogate pair.
function isStorable(text: string): boolean {
  return !text.includes("\0") && text.isWellFormed()
}

function require(holds: boolean, code: ProblemCode, message: string): asserts holds {
  if (!holds) throw new ObservationProblem(code, message)
}
