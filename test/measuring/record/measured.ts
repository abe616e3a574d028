import { expect } from "bun:test"
import type { Fragment } from "postgres"
import * as v from "valibot"
import { openTakings } from "../../../src/access/allowances.ts"
import type { Caller } from "../../../src/access/caller.ts"
import { ENTITLEMENTS } from "../../../src/access/plans.ts"
import type { Context, Operation } from "../../../src/core/operation.ts"
import type { Sql } from "../../../src/database/types.ts"
import { NO_PLATFORMS } from "../../../src/lib/accounts/platform.ts"
import { silentLog } from "../../../src/lib/log.ts"
import { NO_ASSISTANTS } from "../../../src/lib/writing/assistant-checks.ts"
import { NO_PICTURES } from "../../../src/lib/writing/picture-text.ts"
import { NO_WRITER } from "../../../src/lib/writing/written-text.ts"
import { findApp, readVisibleApps } from "../../../src/tracking/tracked-app.ts"
import { rowsOf } from "../../every-row.ts"
import { NOW } from "../../world/clock.ts"

export { NOW } from "../../world/clock.ts"
export {
  appsReading,
  hintsReading,
  popularityReading,
  searchReading as reading,
} from "../../world/readings.ts"
export { newWorkspace } from "../../world/workspace.ts"

/** Returns a context as invoke creates it, for the key of a Pro workspace that may see all its apps. */
export function contextOf(sql: Sql, workspaceId: number, now = NOW): Context {
  const rights = { scopes: ["apps:read", "ads:read"], plan: "pro", entitlements: ENTITLEMENTS.pro }
  const caller = { workspaceId, appList: null, ...rights } as unknown as Caller
  const requestId = crypto.randomUUID()
  return {
    sql,
    now: () => now,
    caller,
    requestId,
    ...openTakings({ sql, log: silentLog, requestId }, caller),
    givenUp: () => false,
    visibleApps: () => readVisibleApps(sql, caller),
    hiveUsedToday: async () => 0,
    write: NO_WRITER,
    pictures: NO_PICTURES,
    assistants: NO_ASSISTANTS,
    measure: async () => ({ state: "failed", why: "off" }),
    publicUrl: "http://127.0.0.1",
    agreed: false,
    platforms: NO_PLATFORMS,
  }
}

/** Runs an operation as invoke does after its checks, and checks the answer against its schema. */
// biome-ignore lint/suspicious/noExplicitAny: tests read answers of every operation
export async function ask(operation: Operation, ctx: Context, input: Record<string, unknown> = {}): Promise<any> {
  const args = v.parse(operation.input, input) as Record<string, unknown>
  if (operation.subject) {
    const app = await findApp(ctx.sql, ctx.caller, args.appId as string, args.country as string | undefined)
    Object.assign(args, { app, storefront: args.country ?? app.countries[0] })
  }
  const answer = JSON.parse(JSON.stringify(await operation.run(args, ctx)))
  const checked = v.safeParse(operation.output, answer)
  expect(checked.issues).toBeUndefined()
  return answer
}

/** Returns the names of apps by store id and storefront. */
export async function readStoredNames(sql: Sql): Promise<string[]> {
  const rows = await sql<{ held: string }[]>`
    select concat_ws(' ', store_id, storefront, n.name, n.icon_url) as held
    from store_app_name n
    join store_app a on a.id = n.app_id
    order by store_id, storefront
    limit 100000`
  return rows.map(({ held: name }) => name)
}

/** Gives an app another name in a storefront. */
export async function rename(sql: Sql, storeId: string, name: string, storefront = "us"): Promise<void> {
  await sql`
    insert into store_app_name (app_id, storefront, origin, name, name_at, name_weight)
    select id, ${storefront}, 'own', ${name}, now(), 0
    from store_app
    where store_id = ${storeId}
    on conflict (app_id, storefront) do update
    set name = excluded.name, name_at = excluded.name_at, name_weight = excluded.name_weight`
}

/** Gives every app of the database a name in the United States, by an SQL expression over a row of store_app. */
export async function nameAll(sql: Sql, name: Fragment): Promise<void> {
  await sql`
    insert into store_app_name (app_id, storefront, origin, name, name_at, name_weight)
    select id, 'us', 'own', ${name}, now(), 0
    from store_app
    on conflict do nothing`
}

/** Returns the rows of every table with measurements as one text, including surrogate ids and sequences. */
export async function stored(sql: Sql): Promise<string> {
  return (await rowsOf(sql, MEASURED)).join("\n")
}

const MEASURED = [
  "list",
  "store_app",
  "store_app_name",
  "app_text",
  "market_app",
  "rating_count",
  "search_results",
  "chart",
  "chart_results",
  "chart_place",
  "chart_first_seen",
  "app_first_seen",
  "chart_now",
  "rank_month",
  "list_month",
  "list_now",
  "tracked_app",
  "tracked_term",
  "attempt: kind, subject, at, outcome, sha256",
  "app_storefront",
  "listing_content",
  "listing_run",
  "listing_item",
  "listing_version",
  "listing_change",
  "hint_answer",
  "keyword_metric",
  "keyword_now",
  "review_version",
  "review_read",
  "review_day",
  "review_feed",
  "genre",
  "developer_shelf",
  "market_fact",
  "app_ads",
  "name_search",
]
