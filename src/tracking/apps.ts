import { randomBytes as secureBytes } from "node:crypto"
import * as v from "valibot"
import type { Entitlements } from "../access/plans.ts"
import type { Db, Tx } from "../database/types.ts"
import { deriveMonths, monthsOf } from "../observations/derived/months.ts"
import { appIds, listIds, lockIdentities, lockLists } from "../observations/rows/identities.ts"
import { Term } from "../vocabulary/fields.ts"
import { isStoreId, parseRival } from "../vocabulary/store-ids.ts"
import { isStorefront } from "../vocabulary/storefronts.ts"
import { normaliseTerm } from "../vocabulary/term.ts"
import { isStorable, type RandomBytes, randomText } from "../vocabulary/text.ts"
import { shownName } from "./tracked-app.ts"

/** Why something cannot be tracked. Its message is one clear sentence. */
export class TrackingProblem extends Error {
  override name = "TrackingProblem"
}

export interface NewApp {
  workspaceId: number
  /** At least one of iosId and androidPkg. */
  iosId?: string
  androidPkg?: string
  /** Left out: as the store shows it, from the first time it is seen; the store id until then. */
  name?: string
  /** Storefronts, in either case, the first being the app's default. */
  countries: readonly string[]
  /** Tracked in every storefront, in this order. */
  keywords: readonly string[]
  /** "own" or "demo". */
  origin: string
  /** "ios:<store id>" or "android:<package>". */
  manualRivals?: readonly string[]
}

/**
 * Starts to track an app and returns its id. What was measured of its terms before, by anyone, is its history at once.
 * Throws TrackingProblem; limits are the caller's to check (overLimit).
 */
export async function trackApp(tx: Tx, asked: NewApp, randomBytes: RandomBytes = secureBytes): Promise<string> {
  const countries = checkCountries(asked.countries)
  const rivals = asked.manualRivals ? checkRivals(asked.manualRivals) : null
  const keys = checkStoreIds(asked)
  checkTerms(asked.keywords)
  await lockIdentities(tx)
  await lockWorkspace(tx, asked.workspaceId)
  const ids = await appIds(tx, keys)
  const idOn = (platform: string) => ids[keys.findIndex((key) => key.platform === platform)] ?? null
  await refuseTwice(tx, asked.workspaceId, ids)
  const id = `app_${randomText(12, randomBytes)}`
  await tx`
    insert into tracked_app (id, workspace_id, name, ios_app, android_app, countries, manual_rivals, origin)
    values (
      ${id}, ${asked.workspaceId}, ${asked.name ? checkName(asked.name) : null}, ${idOn("ios")}, ${idOn("android")},
      ${countries}::text[], ${rivals}::text[], ${asked.origin}
    )`
  await addTerms(tx, id, "all", asked.keywords)
  return id
}

/** What adding did: the terms that are tracked anew somewhere, and those that were in every storefront asked for. */
export interface AddedTerms {
  added: string[]
  alreadyTracked: string[]
}

/**
 * Tracks terms in some of the app's storefronts or all of them, after those it has, and brings their history back.
 * Throws TrackingProblem.
 */
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

/** Stops tracking terms; what was measured stays. Returns which of them were tracked. Throws TrackingProblem. */
export async function removeTerms(
  tx: Tx,
  appId: string,
  countries: readonly string[] | "all",
  terms: readonly string[],
): Promise<{ removed: string[]; notTracked: string[] }> {
  const asked = checkTerms(terms)
  const storefronts = storefrontsOf(await lockApp(tx, appId), countries)
  const rows = await tx<{ term: string }[]>`
    delete from tracked_term
    where app_id = ${appId} and country = any(${storefronts}::text[]) and term = any(${asked}::text[])
    returning term`
  const removed = new Set(rows.map(({ term }) => term))
  return { removed: asked.filter((term) => removed.has(term)), notTracked: asked.filter((term) => !removed.has(term)) }
}

/** Buries terms: they are not suggested again. Those that are tracked stay tracked. Throws TrackingProblem. */
export async function buryTerms(tx: Tx, appId: string, terms: readonly string[]): Promise<void> {
  const asked = checkTerms(terms)
  const { buriedKeywords } = await lockApp(tx, appId)
  await tx`
    update tracked_app
    set buried_keywords = ${[...new Set([...(buriedKeywords ?? []), ...asked])]}::text[]
    where id = ${appId}`
}

/** Sets the tags of tracked terms; no tags takes a term's away. Throws TrackingProblem, also for a term not tracked. */
export async function tagTerms(
  tx: Tx,
  appId: string,
  terms: readonly string[],
  tags: readonly string[],
): Promise<void> {
  const asked = checkTerms(terms)
  const { keywordTags } = await lockApp(tx, appId)
  const tracked = await tx<{ term: string }[]>`
    select distinct term
    from tracked_term
    where app_id = ${appId} and term = any(${asked}::text[])`
  if (tracked.length < asked.length) throw new TrackingProblem("only tracked keywords can be tagged")
  const cleaned = [...new Set(tags.map((tag) => checkName(tag)))]
  const all = { ...keywordTags, ...Object.fromEntries(asked.map((term) => [term, cleaned])) }
  const kept = Object.fromEntries(Object.entries(all).filter(([, held]) => held.length > 0))
  await tx`
    update tracked_app
    set keyword_tags = ${Object.keys(kept).length > 0 ? tx.json(kept) : null}
    where id = ${appId}`
}

/** Sets what the app is optimised for; null takes it away. Throws TrackingProblem. */
export async function setGoal(tx: Tx, appId: string, goal: string | null): Promise<void> {
  if (goal !== null && !GOALS.includes(goal)) throw new TrackingProblem(`the goal must be one of ${GOALS.join(", ")}`)
  await lockApp(tx, appId)
  await tx`
    update tracked_app
    set goal = ${goal}
    where id = ${appId}`
}

/** Stops tracking an app; what was measured stays. Throws TrackingProblem. */
export async function removeApp(tx: Tx, appId: string): Promise<void> {
  const { count } = await tx`
    delete from tracked_app
    where id = ${appId}`
  if (count === 0) throw noApp()
}

export interface TrackedListing {
  id: string
  name: string
  iosId: string | null
  androidPkg: string | null
  countries: string[]
  /** Terms over all storefronts, each counted in each. */
  keywords: number
  origin: string
}

/** The apps of a workspace, oldest first, at most 1,000. */
export async function listTracked(sql: Db, workspaceId: number): Promise<TrackedListing[]> {
  return await sql<TrackedListing[]>`
    select a.id, ${shownName(sql)} as name, i.store_id as "iosId", g.store_id as "androidPkg", a.countries, a.origin,
      (select count(*) from tracked_term t where t.app_id = a.id) as keywords
    from tracked_app a
    left join store_app i on i.id = a.ios_app
    left join store_app g on g.id = a.android_app
    where a.workspace_id = ${workspaceId}
    order by a.created_at, a.id
    limit 1000`
}

/** What a workspace holds against its limits: a keyword counts once for each storefront of each app. */
export interface Held {
  apps: number
  trackedKeywords: number
}

/** What a workspace tracks now. */
export async function heldBy(sql: Db, workspaceId: number): Promise<Held> {
  const [held] = await sql<Held[]>`
    select count(distinct a.id) as apps, count(t.term) as "trackedKeywords"
    from tracked_app a
    left join tracked_term t on t.app_id = a.id
    where a.workspace_id = ${workspaceId}`
  return held as Held
}

/** The first limit that holding this much more would break; null when all fits. */
export function overLimit(
  limits: Pick<Entitlements, keyof Held>,
  held: Held,
  more: Partial<Held>,
): { limit: keyof Held; allowed: number; asked: number } | null {
  for (const limit of ["apps", "trackedKeywords"] as const) {
    const added = more[limit] ?? 0
    const asked = held[limit] + added
    if (added > 0 && asked > limits[limit]) return { limit, allowed: limits[limit], asked }
  }
  return null
}

const GOALS: readonly string[] = ["downloads", "rank", "revenue"]

function checkCountries(countries: readonly string[]): string[] {
  const codes = [...new Set(countries.map((code) => code.toLowerCase()))]
  if (codes.length === 0) throw new TrackingProblem("an app is tracked in at least one storefront")
  if (!codes.every(isStorefront)) throw new TrackingProblem("each country must be a two-letter code of the store")
  return codes
}

function checkStoreIds({ iosId, androidPkg }: NewApp) {
  const keys = []
  if (iosId !== undefined) keys.push({ platform: "ios" as const, id: iosId })
  if (androidPkg !== undefined) keys.push({ platform: "android" as const, id: androidPkg })
  if (keys.length === 0) throw new TrackingProblem("an app needs an App Store id, a package name or both")
  for (const { platform, id } of keys) {
    if (isStoreId(platform, id)) continue
    const shape =
      platform === "ios" ? "an App Store id has 5 to 12 digits" : "a package name looks like com.example.app"
    throw new TrackingProblem(shape)
  }
  return keys
}

function checkTerms(terms: readonly string[]): string[] {
  const spelt = [...new Set(terms.map(normaliseTerm))]
  const sound = (term: string) => v.is(Term, term) && isStorable(term)
  if (!spelt.every(sound)) throw new TrackingProblem("a keyword must have 1 to 150 characters")
  return spelt
}

function checkRivals(rivals: readonly string[]): string[] {
  if (!rivals.every(parseRival)) {
    throw new TrackingProblem("a rival is given as ios:<App Store id> or android:<package name>")
  }
  return [...new Set(rivals)]
}

function checkName(text: string): string {
  if (!isName(text)) throw new TrackingProblem("a name or tag has 1 to 100 printable characters")
  return text.trim()
}

/** 1 to 100 printable code points once trimmed. Joiners, direction marks and soft hyphens stand in the stores' own names. */
export function isName(text: string): boolean {
  return /^(?:\P{C}|[\u00ad\u200c-\u200f]){1,100}$/u.test(text.trim())
}

/** Makes those wait who would track the same app beside, or reach a limit together. Throws TrackingProblem. */
export async function lockWorkspace(tx: Tx, workspaceId: number): Promise<void> {
  const [row] = await tx`
    select id
    from workspace
    where id = ${workspaceId} and deleted_at is null
    for no key update`
  if (!row) throw new TrackingProblem("there is no such workspace")
}

async function refuseTwice(tx: Tx, workspaceId: number, ids: readonly number[]): Promise<void> {
  const [twin] = await tx<{ id: string }[]>`
    select id
    from tracked_app
    where workspace_id = ${workspaceId} and (ios_app = any(${ids}::int[]) or android_app = any(${ids}::int[]))
    order by id
    limit 1`
  if (twin) throw new TrackingProblem(`the workspace already tracks that app, as ${twin.id}`)
}

interface LockedApp {
  countries: string[]
  iosApp: number | null
  androidApp: number | null
  keywordTags: Record<string, string[]> | null
  buriedKeywords: string[] | null
}

async function lockApp(tx: Tx, appId: string): Promise<LockedApp> {
  const [app] = await tx<LockedApp[]>`
    select countries, ios_app as "iosApp", android_app as "androidApp", keyword_tags as "keywordTags",
      buried_keywords as "buriedKeywords"
    from tracked_app
    where id = ${appId}
    for no key update`
  if (!app) throw noApp()
  return app
}

function noApp(): TrackingProblem {
  return new TrackingProblem("there is no such app")
}

function storefrontsOf(app: LockedApp, countries: readonly string[] | "all"): string[] {
  if (countries === "all") return app.countries
  const codes = checkCountries(countries)
  if (!codes.every((code) => app.countries.includes(code))) {
    throw new TrackingProblem("the app does not track one of these storefronts")
  }
  return codes
}

// A list exists from the first tracking on: its row is what tracking and measuring, when they meet, wait for each other on.
// Locked before the terms are tracked: those are then due, and such rows come after lists.
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
  await deriveMonths(tx, await monthsOf(tx, lists, apps))
}
