// Measures formulas for the closeness of two keywords, as in test/bench/research.ts, and contains the formulas that
// were tried.

import { NEAR_PLACES, placeWeight } from "../../src/keywords/formulas/related-terms.ts"
import { randomFrom } from "../market/formulas/calibration.ts"

export interface RecordedList {
  term: string
  apps: { id: string; title: string }[]
}

/**
 * Returns the closeness of other keywords to one, with one app left out. Keywords that are missing share no app with
 * it.
 */
export type Closeness = (term: string, excludedId: string) => Promise<ReadonlyMap<string, number>>

/** The rank at which a hidden keyword was found, from 1 on. */
export interface Found {
  term: string
  place: number
}

/** Hides each keyword of each app, and searches for it with the app's other keywords among all remaining keywords. */
export async function findHidden(lists: readonly RecordedList[], closeness: Closeness): Promise<Found[]> {
  const found: Found[] = []
  for (const [app, terms] of termsOfApps(lists)) {
    if (terms.length < 2) continue
    const close = new Map<string, ReadonlyMap<string, number>>()
    for (const term of terms) close.set(term, await closeness(term, app))
    for (const hidden of terms) {
      const seedTerms = terms.filter((term) => term !== hidden)
      const scoreOf = (term: string) => seedTerms.reduce((sum, other) => sum + (close.get(other)!.get(term) ?? 0), 0)
      const hiddenScore = scoreOf(hidden)
      const candidates = lists.filter(({ term }) => term !== hidden && !seedTerms.includes(term))
      // an equally close keyword counts as ranked before the hidden one, so that chance cannot improve the result
      found.push({ term: hidden, place: candidates.filter(({ term }) => scoreOf(term) >= hiddenScore).length + 1 })
    }
  }
  return found
}

function termsOfApps(lists: readonly RecordedList[]): Map<string, string[]> {
  const terms = new Map<string, string[]>()
  for (const { term, apps } of lists) for (const { id } of apps) terms.set(id, [...(terms.get(id) ?? []), term])
  return terms
}

export function shareWithin(found: readonly Found[], limit: number): number {
  return found.filter(({ place }) => place <= limit).length / found.length
}

export function meanReciprocal(found: readonly Found[]): number {
  return found.reduce((sum, { place }) => sum + 1 / place, 0) / found.length
}

/** Splits the results at random by keyword, because all results of one keyword may be alike. */
export function halvesOf(lists: readonly RecordedList[], found: readonly Found[]): [Found[], Found[]] {
  const random = randomFrom(20_251_127)
  const inFirst = new Set(lists.flatMap(({ term }) => (random() < 0.5 ? [term] : [])))
  return [found.filter(({ term }) => inFirst.has(term)), found.filter(({ term }) => !inFirst.has(term))]
}

/** The weight of an app by the number of lists that contain it. */
const RARITIES: Record<string, (lists: number, all: number) => number> = {
  "the count of apps": () => 1,
  "1 / ln(lists)": (lists) => 1 / Math.log(lists),
  "1 / lists": (lists) => 1 / lists,
  "ln(all lists / lists)": (lists, all) => Math.log(all / lists),
}

/** Returns each formula, with and without places, over lists of one length. */
export function formulasOver(lists: readonly RecordedList[]): [name: string, closeness: Closeness][] {
  return Object.entries(RARITIES).flatMap(([name, rarity]) => [
    [name, closenessOver(lists, rarity, () => 1)],
    [`${name} and places`, closenessOver(lists, rarity, placeWeight)],
  ])
}

function closenessOver(
  lists: readonly RecordedList[],
  rarity: (lists: number, all: number) => number,
  weight: (place: number) => number,
): Closeness {
  const terms = termsOfApps(lists)
  const placesOf = new Map(
    lists.map(({ term, apps }) => [term, new Map(apps.slice(0, NEAR_PLACES).map(({ id }, at) => [id, at + 1]))]),
  )
  return async (term, excludedId) => {
    const close = new Map<string, number>()
    const apps = [...placesOf.get(term)!.keys()].filter((id) => id !== excludedId)
    apps.forEach((id, at) => {
      const listsOfApp = terms.get(id)!
      for (const other of listsOfApp) {
        const both = weight(at + 1) * weight(placesOf.get(other)!.get(id)!)
        if (other !== term) close.set(other, (close.get(other) ?? 0) + both * rarity(listsOfApp.length, lists.length))
      }
    })
    return close
  }
}
