import type { Fragment } from "postgres"
import type { Caller } from "../access/caller.ts"
import { createReadGroups } from "../database/shared-reads.ts"
import type { Db, Sql } from "../database/types.ts"
import { Fault } from "../faults.ts"
import { factElsewhere, type NamePlace, nameIn } from "../observations/app-names.ts"

/** A workspace's app: up to two store apps under one name. iosApp and androidApp are store_app ids. */
export interface TrackedApp {
  id: string
  /** See shownName. */
  name: string
  icon: string | null
  iosId: string | null
  androidPkg: string | null
  bundleId: string | null
  iosApp: number | null
  androidApp: number | null
  countries: string[]
  manualRivals: string[] | null
  /** Taken away by hand: no rival of the app wherever it stands. None of them is among manualRivals. */
  hiddenRivals: string[] | null
  keywordTags: Record<string, string[]> | null
  buriedKeywords: string[] | null
  goal: "downloads" | "rank" | "revenue" | null
  tasksDone: string[] | null
}

type AppsQuery = Pick<Caller, "workspaceId" | "appList">

/** The apps of the caller's workspace that its key may see, oldest first, at most 1,000. */
export async function readVisibleApps(
  sql: Db,
  { workspaceId, appList }: AppsQuery,
  limit = MOST_APPS,
): Promise<TrackedApp[]> {
  return await sql<TrackedApp[]>`
    ${columns(sql, sql`null`)}
    where a.workspace_id = ${workspaceId} and (${appList === null} or a.id = any(${appList ?? []}::text[]))
    order by a.created_at, a.id
    limit ${limit}`
}

const MOST_APPS = 1_000

/** The tracked terms of an app by storefront, in the app's order. Null if it tracks none. */
type TermLists = Record<string, string[]> | null

export type TrackedAppWithTerms = TrackedApp & { terms: TermLists }

/** The same apps as readVisibleApps, each with the terms that it tracks. */
export async function readAppsWithTerms(sql: Db, { workspaceId, appList }: AppsQuery): Promise<TrackedAppWithTerms[]> {
  return await sql<TrackedAppWithTerms[]>`
    ${columns(sql, sql`null`, sql`, ${termsOf(sql, sql`a.id`)} as terms`)}
    where a.workspace_id = ${workspaceId} and (${appList === null} or a.id = any(${appList ?? []}::text[]))
    order by a.created_at, a.id
    limit ${MOST_APPS}`
}

export async function readTerms(sql: Db, appId: string): Promise<TermLists> {
  const [row] = await sql<[{ terms: TermLists }]>`select ${termsOf(sql, sql`${appId}::text`)} as terms`
  return row.terms
}

/** As JSON of each storefront: a row a keyword held the thread for 10 ms with 20,000 of them. */
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

/** Named as in `storefront`, else as in its first. An id off the key's list is refused unread, so it tells nothing. */
export async function findApp(sql: Db, caller: AppsQuery, id: string, storefront?: string): Promise<TrackedApp> {
  refuseHidden(caller, id)
  const [app] = await readApps(sql, [{ workspaceId: caller.workspaceId, id, storefront: storefront ?? null }])
  return app ?? (await refuseUnknown(sql, caller))
}

/** The same for a call: what several look up at once they look up in one statement. */
export async function findAppOfCall(sql: Sql, caller: AppsQuery, id: string, storefront?: string): Promise<TrackedApp> {
  refuseHidden(caller, id)
  const app = await readTogether(sql, { workspaceId: caller.workspaceId, id, storefront: storefront ?? null })
  return { ...(app ?? (await refuseUnknown(sql, caller))) }
}

interface AppQuery {
  workspaceId: number
  id: string
  storefront: string | null
}

const readTogether = createReadGroups<AppQuery, TrackedApp | null>(
  ({ workspaceId, id, storefront }) => JSON.stringify([workspaceId, id, storefront]),
  readApps,
)

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

/** In the order of the queries; null = the workspace has no such app. */
async function readApps(sql: Db, queries: readonly AppQuery[]): Promise<(TrackedApp | null)[]> {
  const rows = await sql<(TrackedApp & { query: number })[]>`
    select q.query::int, l.*
    from unnest(
      ${queries.map(({ workspaceId }) => workspaceId)}::int[],
      ${queries.map(({ id }) => id)}::text[],
      ${queries.map(({ storefront }) => storefront)}::text[]
    ) with ordinality q (workspace_id, id, storefront, query)
    cross join lateral (
      ${columns(sql, sql`q.storefront`)}
      where a.workspace_id = q.workspace_id and a.id = q.id
      offset 0
    ) l
    order by q.query
    limit ${queries.length}`
  const apps: (TrackedApp | null)[] = queries.map(() => null)
  for (const { query, ...app } of rows) apps[query - 1] = app
  return apps
}

/** Its own name, else the store's in its first storefront (nameIn), else its store id. `a`: the app; `i`, `g`: its store apps. */
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

/** `storefront`: where names are looked for first; null = in the app's first. */
function columns(sql: Db, storefront: Fragment, more = sql``) {
  constant ??= constantColumns(sql)
  // what apps are called there is joined: looked up app by app it took two thirds of the time
  return sql`
    ${constant}${more}
    from tracked_app a
    cross join lateral (select coalesce(${storefront}::text, a.countries[1]) as storefront) p
    ${storeApps(sql)}
    left join store_app_name ni on (ni.app_id, ni.storefront) = (a.ios_app, p.storefront)
    left join store_app_name ng on (ng.app_id, ng.storefront) = (a.android_app, p.storefront)`
}

function storeApps(sql: Db): Fragment {
  return sql`left join store_app i on i.id = a.ios_app
    left join store_app g on g.id = a.android_app`
}

/** Put together once: of a look-up by key that takes a third of the time. */
let constant: Fragment | undefined

function constantColumns(sql: Db): Fragment {
  const elsewhere = (fact: "name" | "icon_url", app: Fragment) =>
    sql`case when ${app} is not null then coalesce(${factElsewhere(sql, fact, app, { countries: sql`a.countries` })}) end`
  const [ios, android] = [sql`a.ios_app`, sql`a.android_app`]
  return sql`
    select a.id, coalesce(
        a.name, ni.name, ${elsewhere("name", ios)}, ng.name, ${elsewhere("name", android)}, i.store_id, g.store_id
      ) as name,
      coalesce(ni.icon_url, ${elsewhere("icon_url", ios)}, ng.icon_url, ${elsewhere("icon_url", android)}) as icon,
      i.store_id as "iosId", g.store_id as "androidPkg", i.bundle_id as "bundleId",
      a.ios_app as "iosApp", a.android_app as "androidApp",
      a.countries, a.manual_rivals as "manualRivals", a.hidden_rivals as "hiddenRivals",
      a.keyword_tags as "keywordTags", a.buried_keywords as "buriedKeywords", a.goal, a.tasks_done as "tasksDone"`
}
