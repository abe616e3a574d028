import { join } from "node:path"
import type { Sql } from "../../src/database/types.ts"
import { STORE_HOSTS } from "../../src/lib/upstreams.ts"
import type { ReplayServer } from "../stores/parsing/replay.ts"

/** Returns UPSTREAM_URLS with every host at a stand-in. */
export function standingIn({ address }: ReplayServer): string {
  return STORE_HOSTS.map((upstream) => `${upstream}=${address(upstream)}`).join(",")
}

/** Tracks an app on these platforms in a new workspace. */
export async function track(sql: Sql, platforms: ("ios" | "android")[], origin = "own"): Promise<void> {
  const [workspace] = await sql<{ id: number }[]>`
    insert into workspace (name, plan)
    select 'tracking ' || count(*), 'pro' from workspace
    returning id`
  const ids = await Promise.all((["ios", "android"] as const).map((platform) => storeApp(sql, platform)))
  const [ios, android] = (["ios", "android"] as const).map((platform, i) =>
    platforms.includes(platform) ? ids[i]! : null,
  )
  await sql`
    insert into tracked_app (id, workspace_id, ios_app, android_app, countries, origin)
    values (${`app_${workspace!.id}`}, ${workspace!.id}, ${ios!}, ${android!}, '{us}', ${origin})`
}

async function storeApp(sql: Sql, platform: string): Promise<number> {
  const [row] = await sql<{ id: number }[]>`
    insert into store_app (platform, store_id)
    select ${platform}, 'x' || count(*) from store_app
    returning id`
  return row!.id
}

/** Deletes everything tracked, due and read. */
export async function emptyTables(sql: Sql): Promise<void> {
  for (const table of [
    "tracked_app",
    "due",
    "pace",
    "source_hour",
    "source_state",
    "instance_alert",
    "answered_country",
  ])
    await sql`delete from ${sql(table)}`
}

/** Adds searches that are due every day. */
export async function searches(sql: Sql, count: number): Promise<void> {
  await sql`
    insert into due (kind, platform, storefront, subject)
    select 'search', 'ios', 'us', 'term ' || i
    from generate_series(1, ${count}) i`
}

/** The default folder of bodies. */
export const rawFolder = (dataDir: string) => join(dataDir, "raw")
