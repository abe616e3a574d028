import type { Fragment } from "postgres"
import type { Caller } from "../access/caller.ts"
import type { AppPort, TrackedApp } from "../core/tracked-app.ts"
import type { Db } from "../database/types.ts"
import { Fault } from "../lib/faults.ts"
import { factElsewhere, type NamePlace, nameIn } from "../stores/store/app-names.ts"

type AppsQuery = Pick<Caller, "workspaceId" | "appList">

/** Returns the apps that the caller's key may see, oldest first, at most 1,000. */
export async function readVisibleApps(sql: Db, caller: AppsQuery, limit = MAX_APPS): Promise<TrackedApp[]> {
  return await sql<TrackedApp[]>`
    ${appQuery(sql, null)}
    where ${isVisible(sql, caller)}
    order by a.created_at, a.id
    limit ${limit}`
}

const MAX_APPS = 1_000

/** The tracked terms of an app by storefront, in the app's order. Null if it tracks none. */
type TermLists = Record<string, string[]> | null

export type TrackedAppWithTerms = TrackedApp & { terms: TermLists }

/** Returns the same apps as readVisibleApps, each with the terms that it tracks. */
export async function readAppsWithTerms(sql: Db, caller: AppsQuery): Promise<TrackedAppWithTerms[]> {
  return await sql<TrackedAppWithTerms[]>`
    ${appQuery(sql, null, sql`, ${termsOf(sql, sql`a.id`)} as terms`)}
    where ${isVisible(sql, caller)}
    order by a.created_at, a.id
    limit ${MAX_APPS}`
}

export async function readTerms(sql: Db, appId: string): Promise<TermLists> {
  const [row] = await sql<[{ terms: TermLists }]>`select ${termsOf(sql, sql`${appId}::text`)} as terms`
  return row.terms
}

/** Returns JSON of the terms by storefront: a row per keyword would block the event loop if there are thousands. */
function termsOf(sql: Db, appId: Fragment) {
  return sql`(
    select json_object_agg(country, terms)
    from (
      select country, json_agg(term order by position, term) as terms
      from tracked_term
      where app_id = ${appId}
      group by country
    ) t
  )`
}

/**
 * Returns the app with its name and icon in `storefront`, by default its first. Throws not_found with the ids that the
 * key may use, or app_not_allowed, without a look-up, if the key's list does not contain the id.
 */
export async function findApp(sql: Db, caller: AppsQuery, id: string, storefront?: string): Promise<TrackedApp> {
  refuseHidden(caller, id)
  const [app] = await sql<TrackedApp[]>`
    ${appQuery(sql, storefront ?? null)}
    where a.workspace_id = ${caller.workspaceId} and a.id = ${id}
    limit 1`
  return app ?? (await refuseUnknown(sql, caller))
}

/** Finds the workspace's apps for `core/invoke.ts`. */
export const trackedApps: AppPort = { find: findApp, listVisible: readVisibleApps }

function refuseHidden({ appList }: AppsQuery, id: string): void {
  if (appList && !appList.includes(id)) throw new Fault("app_not_allowed")
}

/** Throws not_found with the ids that the caller may use: its own, never those of another workspace. */
async function refuseUnknown(sql: Db, caller: AppsQuery): Promise<never> {
  const apps = await readVisibleApps(sql, caller, MAX_SUGGESTED + 1)
  throw new Fault("not_found", { detail: suggestedIds(apps) })
}

const MAX_SUGGESTED = 10
const MAX_SUGGESTED_NAME = 40

function suggestedIds(apps: readonly TrackedApp[]): string {
  if (apps.length === 0) return "The workspace tracks no app yet; add_app adds one."
  const ids = apps.slice(0, MAX_SUGGESTED).map(({ id, name }) => `${id} (${cutName(name)})`)
  const more = apps.length > MAX_SUGGESTED ? ", …; list_apps (GET /v1/apps) lists all" : ""
  return `App ids of this key: ${ids.join(", ")}${more}.`
}

function cutName(name: string): string {
  const letters = [...name]
  return letters.length > MAX_SUGGESTED_NAME ? `${letters.slice(0, MAX_SUGGESTED_NAME).join("")}…` : name
}

/**
 * Returns an app's own name, else the store's name in its first storefront, else its store id. `a` is the app, `i` and
 * `g` its store apps.
 */
export function shownName(sql: Db): Fragment {
  return nameAt(sql, sql`a.countries[1]`)
}

function nameAt(sql: Db, storefront: Fragment): Fragment {
  const place: NamePlace = { storefront, countries: sql`a.countries` }
  return sql`coalesce(
    a.name,
    ${nameIn(sql, sql`i.id`, place)},
    ${nameIn(sql, sql`g.id`, place)},
    i.store_id, g.store_id
  )`
}

/**
 * Returns the columns of a TrackedApp and their tables. Name and icon are those of `storefront`, by default the app's
 * first.
 */
function appQuery(sql: Db, storefront: string | null, more = sql``) {
  const elsewhere = (fact: "name" | "icon_url", app: Fragment) =>
    sql`case
        when ${app} is not null then coalesce(${factElsewhere(sql, fact, app, { countries: sql`a.countries` })})
      end`
  const ios = sql`a.ios_app`
  const android = sql`a.android_app`
  return sql`
    select a.id, coalesce(
        a.name, ni.name, ${elsewhere("name", ios)}, ng.name, ${elsewhere("name", android)}, i.store_id, g.store_id
      ) as name,
      coalesce(ni.icon_url, ${elsewhere("icon_url", ios)}, ng.icon_url, ${elsewhere("icon_url", android)}) as icon,
      i.store_id as "iosId", g.store_id as "androidPkg", i.bundle_id as "bundleId",
      a.ios_app as "iosApp", a.android_app as "androidApp",
      a.countries, a.manual_rivals as "manualRivals", a.hidden_rivals as "hiddenRivals",
      a.keyword_tags as "keywordTags", a.buried_keywords as "buriedKeywords", a.goal, a.tasks_done as "tasksDone"${more}
    from tracked_app a
    cross join lateral (select coalesce(${storefront}::text, a.countries[1]) as storefront) p
    left join store_app i on i.id = a.ios_app
    left join store_app g on g.id = a.android_app
    left join store_app_name ni on (ni.app_id, ni.storefront) = (a.ios_app, p.storefront)
    left join store_app_name ng on (ng.app_id, ng.storefront) = (a.android_app, p.storefront)`
}

function isVisible(sql: Db, { workspaceId, appList }: AppsQuery): Fragment {
  return sql`a.workspace_id = ${workspaceId} and (${appList === null} or a.id = any(${appList ?? []}::text[]))`
}

/** True if a tracked app belongs to the demo console: its workspace then sees the invented reviews. */
export async function hasDemoSeller(sql: Db, appId: string): Promise<boolean> {
  const rows = await sql`
    select
    from account_app a
    join connected_account c on c.id = a.account_id
    where a.app_id = ${appId} and c.state = 'demo' and c.kind = 'app-store-connect'
    limit 1`
  return rows.length > 0
}

/** Returns the Google Play Console accounts of the workspace that tracks the app, oldest first. */
export async function readPlayConsoles(sql: Db, appId: string): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select c.id
    from tracked_app t
    join connected_account c on c.workspace_id = t.workspace_id
    where t.id = ${appId} and c.kind = 'google-play-console'
    order by c.created_at, c.id`
  return rows.map(({ id }) => id)
}
