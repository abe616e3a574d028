import { json } from "../database/json.ts"
import type { Db } from "../database/types.ts"
import { addDays } from "../lib/days.ts"
import { type Console, ConsoleProblem } from "./console.ts"
import { pacificDay } from "./pacific.ts"
import { salesReportPath } from "./sources/request.ts"
import { makeFailedDue } from "./tasks.ts"

/** The rights of an App Store Connect key. Each is tested by a request that changes nothing. */
type Right = "apps" | "sales" | "analytics" | "reviews" | "prices"

export interface RightState {
  name: string
  state: "ok" | "denied" | "unknown"
  /** The action that a person must take. Null if there is none. */
  why: string | null
}

export interface AccountApp {
  outsideId: string
  sku: string
  name: string
  bundleId: string
}

/** The current rights and apps of an account. */
export interface Look {
  rights: RightState[]
  apps: AccountApp[]
  /** The store of the apps. Default: ios. */
  store?: "android"
  /** Only for accounts with a time zone and currency of their own. */
  zone?: string
  currency?: string
}

/** The API does not return the vendor number, and answers a wrong one with 400 or with a 5xx that has no text. */
const VENDOR_HINT = "check the vendor number: App Store Connect shows it in Payments and Financial Reports"

/**
 * Tests the rights with about six requests. Throws ConsoleProblem `unauthorized`, `agreement`, `limited` or
 * `unavailable` when the rights cannot be determined.
 */
export async function lookAt(console: Console, vendor: string, now: Date): Promise<Look> {
  const apps: AccountApp[] = []
  const rights = [await probeConsole("apps", async () => void apps.push(...(await readApps(console))))]
  const day = addDays(pacificDay(now), -2)
  const report = salesReportPath("sales", { vendor, day })
  rights.push(await probeSales(() => console.get(report), vendor))
  const [one] = apps
  const ofOne: [Right, string][] = [
    ["analytics", `/v1/apps/${one?.outsideId}/analyticsReportRequests`],
    ["reviews", `/v1/apps/${one?.outsideId}/customerReviews?limit=1`],
    ["prices", `/v1/apps/${one?.outsideId}/appPriceSchedule`],
  ]
  for (const [name, path] of ofOne) {
    if (one) rights.push(await probeConsole(name, () => console.get(path)))
    else rights.push({ name, state: "unknown", why: "unknown until the account shows an app" })
  }
  return { rights, apps }
}

/**
 * The key was accepted for the list of apps, so a failure here concerns only this request: often the vendor number is
 * wrong.
 */
async function probeSales(ask: () => Promise<unknown>, vendor: string): Promise<RightState> {
  try {
    return await probeConsole("sales", ask)
  } catch (error) {
    if (!(error instanceof ConsoleProblem) || error.trouble !== "unavailable") throw error
    return { name: "sales", state: "unknown", why: `${error.message} for the vendor number ${vendor}; ${VENDOR_HINT}` }
  }
}

export const SALES_ROLES = "the role Sales, Finance or Admin"

const NEEDS: Record<Right, string> = {
  apps: "any role of a team key",
  sales: `${SALES_ROLES}; an individual key never has this right`,
  analytics: SALES_ROLES,
  reviews: "the role Customer Support, App Manager or Admin",
  prices: "the role App Manager or Admin",
}

async function probeConsole(name: Right, ask: () => Promise<unknown>): Promise<RightState> {
  return await probeRight({ name, needs: NEEDS[name] }, ask)
}

/** Returns the state of a right. A 403 denies only this right. A `refused` request leaves the right unknown. */
export async function probeRight(
  { name, needs }: { name: string; needs: string },
  ask: () => Promise<unknown>,
): Promise<RightState> {
  try {
    await ask()
    return { name, state: "ok", why: null }
  } catch (error) {
    if (!(error instanceof ConsoleProblem)) throw error
    if (error.trouble === "forbidden") return { name, state: "denied", why: `needs ${needs}` }
    if (error.trouble === "refused") {
      // A wrong vendor number makes every report fail: without this check the right would stay unknown and no report
      // would ever be read.
      const isVendor = error.details.some((detail) => /\bvendor\b/i.test(detail))
      if (isVendor)
        return {
          name,
          state: "denied",
          why: `${error.message}; ${VENDOR_HINT}, and add the account again with the right number`,
        }
      return { name, state: "unknown", why: error.message }
    }
    throw error
  }
}

const PAGE = 200
/** Maximum number of pages of apps. No seller has more. */
const MAX_PAGES = 25

async function readApps(console: Console): Promise<AccountApp[]> {
  const apps: AccountApp[] = []
  let path: string | null = `/v1/apps?fields%5Bapps%5D=name,bundleId,sku&limit=${PAGE}`
  for (let page = 0; path !== null && page < MAX_PAGES; page++) {
    const document: Record<string, unknown> = await console.document(path)
    apps.push(...appsIn(document.data))
    path = nextPath(document.links)
  }
  // An app that is added between two requests can move another app to the next page, so duplicates are removed.
  return [...new Map(apps.map((app) => [app.outsideId, app])).values()]
}

function appsIn(data: unknown): AccountApp[] {
  if (!Array.isArray(data)) throw new ConsoleProblem("unavailable", "the console's list of apps cannot be read")
  return data.flatMap(({ id, attributes }) => {
    const { name, bundleId, sku } = attributes ?? {}
    const isComplete = [id, name, bundleId, sku].every((text) => typeof text === "string" && text !== "")
    return isComplete && /^\d{1,20}$/.test(id) ? [{ outsideId: id, sku, name, bundleId }] : []
  })
}

/** Returns the path of the next page, without the host of the absolute URL, so that the key goes to no other host. */
export function nextPath(links: unknown): string | null {
  const next = (links as { next?: unknown } | undefined)?.next
  const url = typeof next === "string" ? URL.parse(next) : null
  return url ? `${url.pathname}${url.search}` : null
}

/** The rights that reading reports needs, for each kind of account. */
const REPORT_RIGHTS = ["sales", "statistics", "financial"]

/** Replaces the stored rights and apps of the account. App mappings that a person set are kept. */
export async function storeLook(tx: Db, account: { id: string; workspaceId: number }, look: Look) {
  const { rights, apps, zone, currency, store = "ios" } = look
  if (zone !== undefined)
    await tx`
      update connected_account
      set zone = ${zone}, currency = ${currency ?? null}
      where id = ${account.id}`
  const granted = rights.filter(({ name, state }) => REPORT_RIGHTS.includes(name) && state === "ok")
  const mended = await tx`
    select
    from account_right
    where account_id = ${account.id} and name = any(${granted.map(({ name }) => name)}::text[]) and state = 'denied'`
  if (mended.length > 0) await makeFailedDue(tx, account.id)
  await tx`
    insert into account_right (account_id, name, state, why)
    select ${account.id}, name, state, why
    from jsonb_to_recordset(${json(tx, rights)}) r (name text, state text, why text)
    order by name
    on conflict (account_id, name) do update
    set state = excluded.state, why = excluded.why, seen_at = now()`
  if (apps.length === 0) return
  await tx`
    insert into account_app as held (account_id, outside_id, sku, name, bundle_id, app_id)
    select ${account.id}, r."outsideId", r.sku, r.name, r."bundleId", (
      select t.id
      from store_app s
      join tracked_app t on s.id in (t.ios_app, t.android_app)
      where s.platform = ${store} and t.workspace_id = ${account.workspaceId} and (
          s.store_id = r."outsideId" or (s.platform = 'ios' and r."bundleId" <> '' and s.bundle_id = r."bundleId")
        )
      order by t.created_at, t.id
      limit 1
    )
    from jsonb_to_recordset(${json(tx, apps)}) r ("outsideId" text, sku text, name text, "bundleId" text)
    order by r."outsideId"
    on conflict (account_id, outside_id) do update
    set sku = excluded.sku, name = excluded.name, bundle_id = excluded.bundle_id,
      app_id = case when held.by_hand then held.app_id else excluded.app_id end`
}
