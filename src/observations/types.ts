export type Platform = "ios" | "android"

/**
 * Where a reading of search results can come from, in order of precedence: the first that read a day gives its answer.
 * The iTunes Search API is absent on purpose: its order is not the order a phone shows.
 */
export const RANK_SOURCES = ["apple-web-search", "apple-store-search", "play-search", "import", "foreign"] as const
export type RankSource = (typeof RANK_SOURCES)[number]

/** How a source is stored: the lower code is preferred, and the gaps leave room for sources to come. Never change one. */
export const SOURCE_CODES: Record<RankSource, number> = {
  "apple-web-search": 10,
  "apple-store-search": 20,
  "play-search": 30,
  import: 40,
  foreign: 50,
}

const BY_CODE = new Map(RANK_SOURCES.map((source) => [SOURCE_CODES[source], source]))

/** The source stored under a code. */
export function sourceOf(code: number): RankSource {
  const source = BY_CODE.get(code)
  if (!source) throw new Error(`no source has the code ${code}`)
  return source
}

/** The origin of the demo's data, which `removeDemo` clears. */
export const DEMO = "demo"

/** What every observation says of itself. */
export interface Provenance {
  /** When the source answered. */
  seenAt: Date
  parser: number
  /** Who brought it: "own", "demo", or the name of another instance. */
  origin: string
  /** SHA-256 of the raw body. */
  sha256: Uint8Array
  /** Country of the address that read, where the answer depends on it. */
  egress?: string
}

export interface SearchObservation extends Provenance {
  kind: "search"
  source: RankSource
  platform: Platform
  storefront: string
  term: string
  /** How many places were read, 1 to 250. */
  depth: number
  /** False when the reading broke off before its depth: it is kept but answers no day. */
  complete: boolean
  /** In the order shown; rank = index + 1. At most `depth`. */
  results: ResultApp[]
}

/** An app as a search result shows it. Facts left out were not shown. */
export interface ResultApp {
  id: string
  name?: string
  icon?: string
  developer?: string
  bundleId?: string
  ratings?: number
  rating?: number
}

export type Observation = SearchObservation

export const OUTCOMES = ["blocked", "rate_limited", "not_found", "changed", "failed"] as const

/** A read that failed. It is logged and changes no measurement. */
export interface Attempt {
  kind: "search"
  at: Date
  /** The term that was asked for. */
  subject: string
  storefront: string
  platform: Platform
  source: RankSource
  outcome: (typeof OUTCOMES)[number]
  detail?: string
}

/** A workspace's app as far as its ranks need it; iosApp and androidApp are store_app ids. */
export interface RankedApp {
  id: string
  countries: string[]
  iosApp: number | null
  androidApp: number | null
}
