import type { Fragment } from "postgres"
import type { Caller } from "../access/caller.ts"
import type { Db } from "../database/types.ts"
import { Fault } from "../faults.ts"
import { iconIn, type NamePlace, nameIn } from "../observations/app-names.ts"

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

/** The apps of the caller's workspace that its key may see, oldest first, at most 1,000. */
export async function readVisibleApps(sql: Db, caller: Pick<Caller, "workspaceId" | "appList">): Promise<TrackedApp[]> {
  return await sql<TrackedApp[]>`
    ${columns(sql)}
    ${ofCaller(sql, caller)}`
}

function ofCaller(sql: Db, { workspaceId, appList }: Pick<Caller, "workspaceId" | "appList">) {
  return sql`
    where a.workspace_id = ${workspaceId} and (${appList === null} or a.id = any(${appList ?? []}::text[]))
    order by a.created_at, a.id
    limit 1000`
}

/** What an app tracks: of each storefront the terms in their order; null = none. */
export type TermLists = Record<string, string[]> | null

export type TrackedAppWithTerms = TrackedApp & { terms: TermLists }

/** The same apps, as readVisibleApps, with what they track, in one statement. */
export async function readVisibleAppsWithTerms(
  sql: Db,
  caller: Pick<Caller, "workspaceId" | "appList">,
): Promise<TrackedAppWithTerms[]> {
  return await sql<TrackedAppWithTerms[]>`
    ${columns(sql, undefined, sql`, ${termsOf(sql, sql`a.id`)} as terms`)}
    ${ofCaller(sql, caller)}`
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

/** Named as in `country`, else as in its first. An id off the key's list is refused unread, so it tells nothing. */
export async function findApp(
  sql: Db,
  caller: Pick<Caller, "workspaceId" | "appList">,
  id: string,
  storefront?: string,
): Promise<TrackedApp> {
  if (caller.appList && !caller.appList.includes(id)) throw new Fault("app_not_allowed")
  const [app] = await sql<TrackedApp[]>`
    ${columns(sql, storefront)}
    where a.workspace_id = ${caller.workspaceId} and a.id = ${id}`
  if (!app) throw new Fault("not_found")
  return app
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

function columns(sql: Db, storefront?: string, more = sql``) {
  constant ??= constantColumns(sql)
  return sql`
    ${constant}${more}
    from tracked_app a
    cross join lateral (select coalesce(${storefront ?? null}::text, a.countries[1]) as storefront) p
    left join store_app i on i.id = a.ios_app
    left join store_app g on g.id = a.android_app`
}

/** Put together once: of a look-up by key that takes a third of the time. */
let constant: Fragment | undefined

function constantColumns(sql: Db): Fragment {
  const place: NamePlace = { storefront: sql`p.storefront`, countries: sql`a.countries` }
  return sql`
    select a.id, ${nameAt(sql, sql`p.storefront`)} as name,
      coalesce(${iconIn(sql, sql`i.id`, place)}, ${iconIn(sql, sql`g.id`, place)}) as icon,
      i.store_id as "iosId", g.store_id as "androidPkg", i.bundle_id as "bundleId",
      a.ios_app as "iosApp", a.android_app as "androidApp",
      a.countries, a.manual_rivals as "manualRivals", a.hidden_rivals as "hiddenRivals",
      a.keyword_tags as "keywordTags", a.buried_keywords as "buriedKeywords", a.goal, a.tasks_done as "tasksDone"`
}
