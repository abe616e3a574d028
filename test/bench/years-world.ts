// The worlds of test/bench/years.ts, each with a number of apps and a number of days of history.

import type { Sql, Tx } from "../../src/database/types.ts"
import { rebuildNow } from "../../src/keywords/store/now.ts"
import { addDays } from "../../src/lib/days.ts"
import { rebuildReviews } from "../../src/reviews/store/rebuild-reviews.ts"
import { foldRatings } from "../../src/stores/store/rating-quarters.ts"
import { trackApp } from "../../src/tracking/apps.ts"
import { benchWorkspace, type Scratch, scratchOn } from "./scratch.ts"
import {
  fillAudits,
  fillFeeds,
  fillMetrics,
  fillOwners,
  fillPages,
  fillRanks,
  fillRivals,
  TODAY,
} from "./years-fill.ts"

export interface World {
  scratch: Scratch
  workspace: number
  apps: string[]
  /** The rival of each app that shares the most keywords with it, by store id. */
  rivals: string[]
}

export interface Size {
  apps: number
  /** Keywords of each app. */
  keywords: number
  /** Number of keywords of the first app. Default: as many as the other apps have. */
  maxKeywords?: number
  days: number
  /** Number for each app and day. */
  reviews?: number
  alerts?: number
  /** Number of apps, the last ones, with invented reports of a console and an ad account. */
  owners?: number
}

/** Creates a migrated database with the world and its statistics. */
export async function worldOf(server: string | undefined, size: Size, maxConnections = 4): Promise<World> {
  const startedAt = performance.now()
  const scratch = await scratchOn(server, maxConnections)
  const filled = await fillWorld(scratch.sql, size, withoutIndexes)
  await analyse(scratch.sql)
  const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1)
  console.log(`${size.days} days of ${size.apps} apps were filled in within ${seconds} s`)
  return { scratch, ...filled }
}

type AllAtOnce = (tx: Sql, tables: readonly string[], fill: () => Promise<void>) => Promise<void>

/** Fills an empty database, without analysing it. `atOnce` wraps the filling of these tables. */
export async function fillWorld(
  sql: Sql,
  { apps: count, keywords, maxKeywords = keywords, days, reviews = 2, alerts = 2, owners = 0 }: Size,
  atOnce: AllAtOnce = (_tx, _tables, fill) => fill(),
): Promise<Omit<World, "scratch">> {
  const workspace = await benchWorkspace(sql)
  const filling = {
    storeApps: count * 3,
    lists: Math.max(count * 2, keywords, maxKeywords),
    from: addDays(TODAY, 1 - days),
    reviews,
    alerts,
  }
  for (let day = filling.from; day <= addDays(TODAY, 28); day = addDays(day, 28))
    await sql`select open_month(${day}::date)`
  const apps = await sql.begin(async (tx) => {
    // in reality these rows arrive day by day and leave nothing due; tracking the apps one by one took a minute
    await tx`set local statement_timeout = 0`
    await tx`set local session_replication_role = replica`
    await tx`set local maintenance_work_mem = '256MB'`
    await tx`set local work_mem = '128MB'`
    const client = tx as unknown as Sql
    const tracked = await trackAll(tx, workspace, { count, keywords, maxKeywords, lists: filling.lists })
    await fillRanks(client, filling)
    await fillRivals(client)
    await fillMetrics(client, filling)
    await fillPages(client, filling)
    await atOnce(client, ["alert", "review_version"], () => fillFeeds(client, workspace, filling))
    await fillAudits(client, days > 31)
    return tracked
  })
  await packRatings(sql)
  if (owners > 0) await fillOwners(sql, { workspaceId: workspace, apps: apps.slice(-owners), days })
  await rebuildNow(sql, async () => {})
  await rebuildReviews(sql, async () => {})
  const followed = await sql<{ app: string; rival: string }[]>`
    select distinct on (r.app_id) r.app_id as app, s.store_id as rival
    from app_rival r
    join store_app s on s.id = r.rival
    order by r.app_id, r.terms desc, r.rival`
  const rivalOf = new Map(followed.map(({ app, rival }) => [app, rival]))
  return { workspace, apps, rivals: apps.map((app) => rivalOf.get(app)!) }
}

/** Packs old rating counts, as the retention job does every night. */
async function packRatings(sql: Sql): Promise<void> {
  const before = `${addDays(TODAY, -35).slice(0, 7)}-01`
  for (let from: number | null = 0; from !== null; ) {
    const at: number = from
    const { next } = await sql.begin((tx) => foldRatings(tx, { before, chunk: 5_000, from: at }))
    from = next
  }
}

/**
 * Tracks apps of the App Store in the US, and makes due in one statement what each app makes due by itself. Returns
 * their ids.
 */
async function trackAll(
  tx: Tx,
  workspaceId: number,
  { count, keywords, maxKeywords, lists }: { count: number; keywords: number; maxKeywords: number; lists: number },
): Promise<string[]> {
  const apps: string[] = []
  for (let app = 0; app < count; app++) {
    const terms = Array.from(
      { length: app === 0 ? maxKeywords : keywords },
      (_, i) => `keyword ${(app * 7 + i * 13) % lists}`,
    )
    const iosId = String(1_000_000_000 + app)
    apps.push(await trackApp(tx, { workspaceId, iosId, countries: ["us"], keywords: terms, origin: "own" }))
  }
  await tx`
    insert into due (kind, platform, storefront, subject, priority)
    select kind, platform, storefront, subject, min(priority)
    from tracked_subject
    group by kind, platform, storefront, subject
    on conflict do nothing`
  return apps
}

/** Fills tables whose indexes would take most of the time, row by row. */
async function withoutIndexes(tx: Sql, tables: readonly string[], fill: () => Promise<void>): Promise<void> {
  const indexes = await tx<{ table: string; name: string; constraint: string | null; definition: string }[]>`
    select i.indrelid::regclass::text as table, i.indexrelid::regclass::text as name,
      pg_get_constraintdef(c.oid) as constraint, pg_get_indexdef(i.indexrelid) as definition
    from pg_index i
    left join pg_constraint c on c.conindid = i.indexrelid and c.contype in ('p', 'u')
    where i.indrelid = any(${tables as string[]}::text[]::regclass[])
      and not exists (select from pg_constraint f where f.contype = 'f' and f.conindid = i.indexrelid)
    order by i.indexrelid
    limit 100`
  for (const { table, name, constraint } of indexes)
    await (constraint ? tx`alter table ${tx(table)} drop constraint ${tx(name)}` : tx`drop index ${tx(name)}`)
  await fill()
  for (const { table, name, constraint, definition } of indexes)
    await tx.unsafe(constraint ? `alter table "${table}" add constraint "${name}" ${constraint}` : definition)
}

/** Analyses all tables without a timeout, because a year of 1,000 apps takes longer than a request's statement may. */
async function analyse(sql: Sql): Promise<void> {
  const connection = await sql.reserve()
  await connection`set statement_timeout = 0`
  await connection`vacuum analyze`
  await connection`reset statement_timeout`
  connection.release()
}
