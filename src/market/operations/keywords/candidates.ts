import type { Context } from "../../../core/operation.ts"
import { likeness, NEAR_PLACES, weighPhrases } from "../../../keywords/formulas/related-terms.ts"
import type { MarketLists } from "../../../keywords/read/market-lists.ts"
import { findNeighbours, readNames, readPopularTerms, type TermAnswer } from "../../../keywords/read/neighbours.ts"
import { readSuggestedTerms } from "../../../keywords/read/suggestions.ts"
import { languageOf, localesOf } from "../../../lib/locales.ts"
import { normaliseTerm } from "../../../lib/term.ts"
import { phrasesOf } from "../../../listings/formulas/name-phrases.ts"

/** Maximum number of keywords in an answer. */
export const MAX_CANDIDATES = 50
/**
 * Slots reserved for candidates from names and from suggestions. Keywords with shared apps fill the remaining slots.
 */
const LEFT = { names: 15, suggestions: 10 }
/** Below this relatedness, two keywords share only apps that rank for nearly everything. */
const MIN_RELATION = 0.1
const MIN_SIMILARITY = 0.5
const MIN_PREFIX = 3

/** A proposed keyword with every reason for it. */
export interface Candidate {
  term: string
  /** Shared apps among the seed's top results. */
  shared: { apps: number; of: number; relatedness: number } | null
  /** Number of the seed's top apps whose name contains it. */
  names: number | null
  suggested: boolean
}

interface SeedFacts {
  term: string
  lists: MarketLists
  /** The seed's latest results. Null if there are none. */
  answer: TermAnswer | null
  /** The store's suggestions for the seed. Null if not read. */
  suggested: readonly string[] | null
}

/**
 * Returns keywords that share apps with the seed, the closest first, then phrases from its apps' names, then the
 * store's suggestions.
 */
export async function findCandidates({ sql }: Context, seed: SeedFacts): Promise<Candidate[]> {
  const shared = await findSharing(sql, seed)
  const names = await readNamePhrases(sql, seed)
  const suggested = new Set(seed.suggested ?? [])
  const found = new Map<string, Candidate>()
  const add = (term: string, why: Partial<Candidate>) => {
    if (term !== seed.term) found.set(term, { ...(found.get(term) ?? NO_REASON), term, ...why })
  }
  const left = Math.min(LEFT.names, names.size) + Math.min(LEFT.suggestions, suggested.size)
  for (const [term, why] of [...shared].slice(0, MAX_CANDIDATES - left)) add(term, { shared: why })
  const spaceFor = (rest: number) => MAX_CANDIDATES - rest - found.size
  const inNames = [...names].filter(([term]) => !found.has(term) && term !== seed.term)
  for (const [term] of inNames.slice(0, spaceFor(Math.min(LEFT.suggestions, suggested.size)))) add(term, {})
  for (const term of [...suggested].filter((term) => !found.has(term) && term !== seed.term).slice(0, spaceFor(0)))
    add(term, {})
  return [...found.values()].map((item) => ({
    ...item,
    shared: shared.get(item.term) ?? null,
    names: names.get(item.term) ?? null,
    suggested: suggested.has(item.term),
  }))
}

const NO_REASON: Candidate = { term: "", shared: null, names: null, suggested: false }

async function findSharing(
  sql: Context["sql"],
  { lists, answer }: SeedFacts,
): Promise<Map<string, Candidate["shared"]>> {
  if (!answer || answer.first.length === 0) return new Map()
  const apps = answer.first.slice(0, NEAR_PLACES)
  const close = await findNeighbours(sql, lists, {
    listId: answer.listId,
    apps,
    least: MIN_RELATION,
    limit: MAX_CANDIDATES + 1,
  })
  return new Map(
    close.map(({ term, shared, relatedness }) => [
      term,
      { apps: shared, of: apps.length, relatedness: Math.round(100 * relatedness) / 100 },
    ]),
  )
}

async function readNamePhrases(sql: Context["sql"], { lists, answer }: SeedFacts): Promise<Map<string, number>> {
  if (!answer) return new Map()
  const names = await readNames(sql, answer.first.slice(0, NEAR_PLACES), lists.storefront)
  const language = languageOf(localesOf(lists.storefront)[0])
  const phrases = weighPhrases(names.map((name) => (name === null ? NO_PHRASES : phrasesOf(name, language))))
  return new Map(phrases.slice(0, MAX_CANDIDATES).map(({ phrase, names }) => [phrase, names]))
}

const NO_PHRASES: ReadonlySet<string> = new Set()

export interface Spelling {
  term: string
  source: "keywords" | "suggestions"
  popularity: number | null
}

/** Suggests a correction for a seed without store suggestions. Null if no known keyword is spelled alike. */
export async function findSpelling({ sql }: Context, seed: SeedFacts, order: number | null): Promise<Spelling | null> {
  if (seed.suggested === null || seed.suggested.length > 0) return null
  const { platform, storefront, since } = seed.lists
  const letters = [...seed.term]
  const prefixes = letters.slice(MIN_PREFIX).map((_, at) => normaliseTerm(letters.slice(0, at + MIN_PREFIX).join("")))
  const suggested = await readSuggestedTerms(sql, { platform, storefront }, { prefixes, since })
  const popular = await readPopularTerms(sql, { platform, storefront, letters: letters.length, above: order ?? 0 })
  const all: Spelling[] = [
    ...popular.map((item) => ({ ...item, source: "keywords" as const })),
    ...suggested.map(({ term }) => ({ term, source: "suggestions" as const, popularity: null })),
  ]
  const like = all
    .map((item) => ({ one: item, like: likeness(item.term, seed.term) }))
    .filter(({ one, like }) => one.term !== seed.term && like >= MIN_SIMILARITY)
    .sort((a, b) => b.like - a.like)
  return like[0]?.one ?? null
}
