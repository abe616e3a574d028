import type { Tx } from "../database/types.ts"
import { lockIdentities } from "../measuring/record/identities.ts"
import { checkCountries, checkStores, lockApp, TrackingProblem } from "./checks.ts"
import { addTerms } from "./terms.ts"

/** The result of adding storefronts: those newly tracked, and how many keywords were added with them. */
interface AddedCountries {
  added: string[]
  alreadyTracked: string[]
  keywords: number
}

/**
 * Adds storefronts after the app's present ones. With `like`, they also track the keywords of that storefront. Throws
 * TrackingProblem. The caller checks the limits.
 */
export async function addCountries(
  tx: Tx,
  appId: string,
  countries: readonly string[],
  like?: string,
): Promise<AddedCountries> {
  const codes = checkCountries(countries)
  // locked before the app, in the same order as when keywords are added
  await lockIdentities(tx)
  const { countries: tracked, iosApp, androidApp } = await lockApp(tx, appId)
  checkStores(codes, { ios: iosApp !== null, android: androidApp !== null })
  if (like !== undefined && !tracked.includes(like))
    throw new TrackingProblem(`the app is not tracked in ${like}; it is in ${tracked.join(", ")}`)
  const added = codes.filter((code) => !tracked.includes(code))
  await tx`
    update tracked_app
    set countries = ${[...tracked, ...added]}::text[]
    where id = ${appId}`
  const terms = like === undefined || added.length === 0 ? [] : await readTerms(tx, appId, like)
  if (terms.length > 0) await addTerms(tx, appId, added, terms)
  return {
    added,
    alreadyTracked: codes.filter((code) => tracked.includes(code)),
    keywords: terms.length * added.length,
  }
}

/**
 * Stops tracking storefronts and their keywords; readings stay. Throws TrackingProblem, also if no storefront would be
 * left.
 */
export async function removeCountries(tx: Tx, appId: string, countries: readonly string[]): Promise<string[]> {
  const codes = checkCountries(countries)
  const { countries: tracked } = await lockApp(tx, appId)
  const unknown = codes.filter((code) => !tracked.includes(code))
  if (unknown.length > 0)
    throw new TrackingProblem(`the app is not tracked in ${unknown.join(", ")}; it is in ${tracked.join(", ")}`)
  const remaining = tracked.filter((code) => !codes.includes(code))
  if (remaining.length === 0) throw new TrackingProblem("an app must be tracked in at least one storefront")
  await tx`
    delete from tracked_term
    where app_id = ${appId} and country = any(${codes}::text[])`
  await tx`
    update tracked_app
    set countries = ${remaining}::text[]
    where id = ${appId}`
  return codes
}

async function readTerms(tx: Tx, appId: string, country: string): Promise<string[]> {
  const rows = await tx<{ term: string }[]>`
    select term
    from tracked_term
    where app_id = ${appId} and country = ${country}
    order by position, term`
  return rows.map(({ term }) => term)
}
