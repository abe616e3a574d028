import * as v from "valibot"
import type { Tx } from "../database/types.ts"
import { Term } from "../lib/fields.ts"
import { isStorefront, otherStoreProblem } from "../lib/storefronts.ts"
import { isPathStep, normaliseTerm } from "../lib/term.ts"
import { isStorable } from "../lib/text.ts"

/** Why something cannot be tracked. The message is one sentence. */
export class TrackingProblem extends Error {
  override name = "TrackingProblem"
}

/** The value is invalid, whatever the workspace tracks. */
export class WrongValue extends TrackingProblem {}

export function checkCountries(countries: readonly string[]): string[] {
  const codes = [...new Set(countries.map((code) => code.toLowerCase()))]
  if (codes.length === 0) throw new WrongValue("an app must be tracked in at least one storefront")
  const wrong = codes.find((code) => !isStorefront(code))
  if (wrong === "uk") throw new WrongValue('"uk" is not a storefront; the United Kingdom is gb')
  if (wrong !== undefined)
    throw new WrongValue(
      `${JSON.stringify(wrong.slice(0, 20))} is not a storefront; use its two-letter code, such as us or de`,
    )
  return codes
}

export function checkTerms(terms: readonly string[]): string[] {
  const spelt = [...new Set(terms.map(normaliseTerm))]
  if (spelt.some(isPathStep))
    throw new WrongValue(
      '"." and ".." are not keywords, because they mean a folder in an address; type the words people search',
    )
  const sound = (term: string) => v.is(Term, term) && isStorable(term)
  if (!spelt.every(sound)) throw new WrongValue("a keyword must have 1 to 150 characters")
  return spelt
}

export function checkName(text: string): string {
  if (!isName(text)) throw new WrongValue("a name or tag must have 1 to 100 printable characters")
  return text.trim()
}

/**
 * Returns whether a text is a name: 1 to 100 printable code points once trimmed. Allows joiners, direction marks and
 * soft hyphens, which stores' names use.
 */
export function isName(text: string): boolean {
  return /^(?:\P{C}|[\u00ad\u200c-\u200f]){1,100}$/u.test(text.trim())
}

export interface LockedApp {
  countries: string[]
  iosApp: number | null
  androidApp: number | null
  keywordTags: Record<string, string[]> | null
  buriedKeywords: string[] | null
}

/** Throws unless each storefront exists in a store that the app is tracked in. */
export function checkStores(countries: readonly string[], stores: { ios: boolean; android: boolean }): void {
  const platforms = (["ios", "android"] as const).filter((platform) => stores[platform])
  for (const country of countries) {
    const problem = otherStoreProblem(country, platforms)
    if (problem !== null) throw new WrongValue(problem.replace(/\.$/, ""))
  }
}

export async function lockApp(tx: Tx, appId: string): Promise<LockedApp> {
  const [app] = await tx<LockedApp[]>`
    select countries, ios_app as "iosApp", android_app as "androidApp", keyword_tags as "keywordTags",
      buried_keywords as "buriedKeywords"
    from tracked_app
    where id = ${appId}
    for no key update`
  if (!app) throw noApp()
  return app
}

export function noApp(): TrackingProblem {
  return new TrackingProblem("there is no such app")
}
