import type { Db, Tx } from "../database/types.ts"
import { normaliseTerm } from "../lib/term.ts"
import { listIds, lockIdentities, lockLists } from "../measuring/record/identities.ts"
import { checkCountries, checkName, checkTerms, type LockedApp, lockApp, TrackingProblem } from "./checks.ts"
import { deriveMonths, readMonths } from "./rank-months.ts"

/** The terms newly tracked in any storefront, and those that all of them already tracked. */
export interface AddedTerms {
  added: string[]
  alreadyTracked: string[]
}

/** Adds terms, with their history, after the present ones in some or all storefronts. Throws TrackingProblem. */
export async function addTerms(
  tx: Tx,
  appId: string,
  countries: readonly string[] | "all",
  terms: readonly string[],
): Promise<AddedTerms> {
  const wanted = checkTerms(terms)
  await lockIdentities(tx)
  const app = await lockApp(tx, appId)
  const storefronts = storefrontsOf(app, countries)
  const lists = await holdLists(tx, app, storefronts, wanted)
  const rows = await tx<{ term: string }[]>`
    insert into tracked_term (app_id, country, term, position)
    select ${appId}, c.country, t.term, t.place + (
      select coalesce(max(position), 0)
      from tracked_term
      where app_id = ${appId} and country = c.country
    )
    from unnest(${storefronts}::text[]) c (country)
    cross join unnest(${wanted}::text[]) with ordinality t (term, place)
    on conflict (app_id, country, term) do nothing
    returning term`
  await bringHistoryBack(tx, app, lists)
  const added = new Set(rows.map(({ term }) => term))
  return { added: wanted.filter((term) => added.has(term)), alreadyTracked: wanted.filter((term) => !added.has(term)) }
}

interface ListedTerm {
  country: string
  term: string
  tags: string[]
}

/** Returns the tracked terms of an app in one storefront or all, in the app's order. */
export async function listTerms(sql: Db, appId: string, country: string | null): Promise<ListedTerm[]> {
  const rows = await sql<ListedTerm[]>`
    select t.country, t.term, array(select jsonb_array_elements_text(a.keyword_tags -> t.term)) as tags
    from tracked_term t
    join tracked_app a on a.id = t.app_id
    where t.app_id = ${appId} and (${country}::text is null or t.country = ${country})
    order by array_position(a.countries, t.country), t.position, t.term`
  return [...rows]
}

/** Stops tracking terms and returns which of them were tracked. Their readings stay. Throws TrackingProblem. */
export async function removeTerms(
  tx: Tx,
  appId: string,
  countries: readonly string[] | "all",
  terms: readonly string[],
): Promise<{ removed: string[]; notTracked: string[] }> {
  const wanted = [...new Set(terms.map(normaliseTerm))]
  const storefronts = storefrontsOf(await lockApp(tx, appId), countries)
  const rows = await tx<{ term: string }[]>`
    delete from tracked_term
    where app_id = ${appId} and country = any(${storefronts}::text[]) and term = any(${wanted}::text[])
    returning term`
  const removed = new Set(rows.map(({ term }) => term))
  return {
    removed: wanted.filter((term) => removed.has(term)),
    notTracked: wanted.filter((term) => !removed.has(term)),
  }
}

/** Buries terms, so that they are not suggested again. A tracked term stays tracked. Throws TrackingProblem. */
export async function buryTerms(tx: Tx, appId: string, terms: readonly string[]): Promise<void> {
  const wanted = checkTerms(terms)
  const { buriedKeywords } = await lockApp(tx, appId)
  await tx`
    update tracked_app
    set buried_keywords = ${[...new Set([...(buriedKeywords ?? []), ...wanted])]}::text[]
    where id = ${appId}`
}

/** Allows buried terms to be suggested again. Throws TrackingProblem. */
export async function unburyTerms(tx: Tx, appId: string, terms: readonly string[]): Promise<void> {
  const { buriedKeywords } = await lockApp(tx, appId)
  const left = (buriedKeywords ?? []).filter((term) => !terms.includes(term))
  await tx`
    update tracked_app
    set buried_keywords = ${left.length > 0 ? left : null}::text[]
    where id = ${appId}`
}

/**
 * Sets the tags of tracked terms; an empty list removes them. Throws TrackingProblem, also if a term is not tracked.
 */
export async function tagTerms(
  tx: Tx,
  appId: string,
  terms: readonly string[],
  tags: readonly string[],
): Promise<void> {
  const wanted = checkTerms(terms)
  const { keywordTags } = await lockApp(tx, appId)
  const tracked = await tx<{ term: string }[]>`
    select distinct term
    from tracked_term
    where app_id = ${appId} and term = any(${wanted}::text[])`
  if (tracked.length < wanted.length) throw new TrackingProblem("only tracked keywords can be tagged")
  const cleaned = [...new Set(tags.map((tag) => checkName(tag)))]
  const all = { ...keywordTags, ...Object.fromEntries(wanted.map((term) => [term, cleaned])) }
  const tagged = Object.fromEntries(Object.entries(all).filter(([, tags]) => tags.length > 0))
  await tx`
    update tracked_app
    set keyword_tags = ${Object.keys(tagged).length > 0 ? tx.json(tagged) : null}
    where id = ${appId}`
}

function storefrontsOf(app: LockedApp, countries: readonly string[] | "all"): string[] {
  if (countries === "all") return app.countries
  const codes = checkCountries(countries)
  if (!codes.every((code) => app.countries.includes(code))) {
    throw new TrackingProblem("the app does not track one of these storefronts")
  }
  return codes
}

// Creates the lists with the first tracking: tracking and measuring wait for each other on a list's row. Locks them
// before the terms are inserted, because that inserts rows of `due`, which are locked after lists.
async function holdLists(tx: Tx, app: LockedApp, storefronts: readonly string[], terms: readonly string[]) {
  const ids = { ios: app.iosApp, android: app.androidApp }
  const keys = (["ios", "android"] as const)
    .filter((platform) => ids[platform] !== null)
    .flatMap((platform) => storefronts.flatMap((storefront) => terms.map((term) => ({ platform, storefront, term }))))
  const lists = await listIds(tx, keys)
  await lockLists(tx, lists)
  return lists
}

async function bringHistoryBack(tx: Tx, app: LockedApp, lists: readonly number[]) {
  const apps = [app.iosApp, app.androidApp].flatMap((id) => id ?? [])
  await deriveMonths(tx, await readMonths(tx, lists, apps))
}

/** Returns whether an app tracks a keyword in a storefront. */
export async function isTracked(
  sql: Db,
  appId: string,
  { storefront, term }: { storefront: string; term: string },
): Promise<boolean> {
  const found = await sql`
    select
    from tracked_term
    where (app_id, country, term) = (${appId}, ${storefront}, ${term})`
  return found.length > 0
}
