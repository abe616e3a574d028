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
    where a.workspace_id = ${caller.workspaceId}
      and (${caller.appList === null} or a.id = any(${caller.appList ?? []}::text[]))
    order by a.created_at, a.id
    limit 1000`
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

/** Its own name, else the store's there (nameIn), else its store id. `a`: the app; `i`, `g`: its store apps. */
export function shownName(sql: Db, storefront?: string) {
  const place = placeOf(sql, storefront)
  return sql`coalesce(
    a.name,
    ${nameIn(sql, sql`i.id`, place)},
    ${nameIn(sql, sql`g.id`, place)},
    i.store_id, g.store_id
  )`
}

function placeOf(sql: Db, storefront: string | undefined): NamePlace {
  return { storefront: storefront ?? sql`a.countries[1]`, countries: sql`a.countries` }
}

function columns(sql: Db, storefront?: string) {
  const place = placeOf(sql, storefront)
  return sql`
    select a.id, ${shownName(sql, storefront)} as name,
      coalesce(${iconIn(sql, sql`i.id`, place)}, ${iconIn(sql, sql`g.id`, place)}) as icon,
      i.store_id as "iosId", g.store_id as "androidPkg", i.bundle_id as "bundleId",
      a.ios_app as "iosApp", a.android_app as "androidApp",
      a.countries, a.manual_rivals as "manualRivals", a.hidden_rivals as "hiddenRivals",
      a.keyword_tags as "keywordTags", a.buried_keywords as "buriedKeywords", a.goal, a.tasks_done as "tasksDone"
    from tracked_app a
    left join store_app i on i.id = a.ios_app
    left join store_app g on g.id = a.android_app`
}
