import { randomBytes as secureBytes } from "node:crypto"
import type { Entitlements } from "../access/plans.ts"
import type { Db, Tx } from "../database/types.ts"
import { isStoreId, parseRival } from "../lib/store-ids.ts"
import { type RandomBytes, randomText } from "../lib/text.ts"
import { ensureAppIds, lockIdentities } from "../measuring/record/identities.ts"
import { checkCountries, checkName, checkStores, checkTerms, lockApp, noApp, TrackingProblem } from "./checks.ts"
import { addTerms } from "./terms.ts"
import { shownName } from "./tracked-app.ts"

export interface NewApp {
  workspaceId: number
  /** At least one of iosId and androidPkg. */
  iosId?: string
  androidPkg?: string
  /** Default: the store's name once a reading shows it, and the store id until then. */
  name?: string
  /** Storefronts in upper or lower case; the first is the app's default. */
  countries: readonly string[]
  /** Tracked in every storefront, in this order. */
  keywords: readonly string[]
  /** "own" or "demo". */
  origin: string
  /** "ios:<store id>" or "android:<package>". */
  manualRivals?: readonly string[]
}

/**
 * Tracks an app and returns its id. Earlier readings of its terms become its history. Throws TrackingProblem. The
 * caller checks the limits.
 */
export async function trackApp(tx: Tx, newApp: NewApp, randomBytes: RandomBytes = secureBytes): Promise<string> {
  const countries = checkCountries(newApp.countries)
  const rivals = newApp.manualRivals ? checkRivals(newApp.manualRivals) : null
  const keys = checkStoreIds(newApp)
  checkStores(countries, { ios: newApp.iosId !== undefined, android: newApp.androidPkg !== undefined })
  checkTerms(newApp.keywords)
  await lockIdentities(tx)
  await lockWorkspace(tx, newApp.workspaceId)
  const ids = await ensureAppIds(tx, keys)
  const idOn = (platform: string) => ids[keys.findIndex((key) => key.platform === platform)] ?? null
  await refuseTwice(tx, newApp.workspaceId, ids)
  const id = `app_${randomText(12, randomBytes)}`
  await tx`
    insert into tracked_app (id, workspace_id, name, ios_app, android_app, countries, manual_rivals, origin)
    values (
      ${id}, ${newApp.workspaceId}, ${newApp.name ? checkName(newApp.name) : null}, ${idOn("ios")}, ${idOn("android")},
      ${countries}::text[], ${rivals}::text[], ${newApp.origin}
    )`
  await addTerms(tx, id, "all", newApp.keywords)
  return id
}

/** Sets what the app is optimised for; null removes it. Throws TrackingProblem. */
export async function setGoal(tx: Tx, appId: string, goal: string | null): Promise<void> {
  if (goal !== null && !GOALS.includes(goal)) throw new TrackingProblem(`the goal must be one of ${GOALS.join(", ")}`)
  await lockApp(tx, appId)
  await tx`
    update tracked_app
    set goal = ${goal}
    where id = ${appId}`
}

/** Sets the workspace's name of the app; null restores the store's name. Throws TrackingProblem. */
export async function setName(tx: Tx, appId: string, name: string | null): Promise<void> {
  const checked = name === null ? null : checkName(name)
  await lockApp(tx, appId)
  await tx`
    update tracked_app
    set name = ${checked}
    where id = ${appId}`
}

/** Stops tracking an app; its readings stay. Throws TrackingProblem. */
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
  /** Number of tracked terms; each storefront counts separately. */
  keywords: number
  origin: string
}

/** Returns the apps of a workspace, oldest first, at most 1,000. */
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

/** The usage that counts against a workspace's limits. A keyword counts once for each storefront of each app. */
export interface LimitUsage {
  apps: number
  trackedKeywords: number
}

/** Counts what a workspace tracks now. */
export async function countUsage(sql: Db, workspaceId: number): Promise<LimitUsage> {
  const [usage] = await sql<LimitUsage[]>`
    select count(distinct a.id) as apps, count(t.term) as "trackedKeywords"
    from tracked_app a
    left join tracked_term t on t.app_id = a.id
    where a.workspace_id = ${workspaceId}`
  return usage as LimitUsage
}

/** Returns the first limit that the addition would exceed. Null if there is none. */
export function overLimit(
  limits: Pick<Entitlements, keyof LimitUsage>,
  usage: LimitUsage,
  more: Partial<LimitUsage>,
): { limit: keyof LimitUsage; allowed: number; total: number } | null {
  for (const limit of ["apps", "trackedKeywords"] as const) {
    const added = more[limit] ?? 0
    const total = usage[limit] + added
    if (added > 0 && total > limits[limit]) return { limit, allowed: limits[limit], total }
  }
  return null
}

const GOALS: readonly string[] = ["downloads", "rank", "revenue"]

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

function checkRivals(rivals: readonly string[]): string[] {
  if (!rivals.every(parseRival)) {
    throw new TrackingProblem("a rival is given as ios:<App Store id> or android:<package name>")
  }
  return [...new Set(rivals)]
}

/**
 * Locks the workspace, so that concurrent calls cannot track the same app twice or exceed a limit together. Throws
 * TrackingProblem.
 */
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
