import { randomBytes } from "node:crypto"
import type { Sql } from "../../src/database/types.ts"
import { addDays, dayOf } from "../../src/lib/days.ts"
import { DAY_MS } from "../../src/lib/time.ts"
import { reported } from "../consoles/reported.ts"
import { listed } from "../measuring/record/listed.ts"
import { record } from "../record.ts"
import type { Situation } from "./outcomes.ts"

/** Connects a console that has the app and reported yesterday's figures. */
async function connectConsole({ workspaceId, app, input }: Situation, sql: Sql): Promise<void> {
  const account = `ac_${randomBytes(9).toString("hex")}`
  await sql`
    insert into connected_account (id, workspace_id, kind, shown, part, sealed, next_at, state)
    values (${account}, ${workspaceId}, 'app-store-connect', 'key …1', '85012345', 'v1.a.b.c', null, 'ok')`
  await sql`
    insert into account_app (account_id, outside_id, sku, name, bundle_id, app_id)
    values (${account}, '1437843273', 'TEA01', 'Tea', 'com.example.tea', ${app})`
  const now = new Date()
  const common = { account, day: addDays(dayOf(now), -2), seenAt: now }
  await record(sql, [
    reported("sales", common),
    reported("subscriptions", common),
    reported("subscription_events", common),
  ])
  const processed = { ...common, app: "1437843273", processed: addDays(dayOf(now), -1) }
  await record(sql, [reported("engagement", processed), reported("downloads", processed)])
  delete input.to
}

/** Connects the same console, and stores the app's page with another price of today. */
async function changedPage(situation: Situation, sql: Sql): Promise<void> {
  await connectConsole(situation, sql)
  const pageBefore = (days: number, price: number) =>
    listed(new Date(Date.now() - days * DAY_MS), { price }, { id: "1437843273" })
  await record(sql, [pageBefore(3, 1), pageBefore(2, 2)])
}

/** Connects a console that listed the app's in-app products and their prices. */
async function pricedProducts(situation: Situation, sql: Sql): Promise<void> {
  await connectConsole(situation, sql)
  const [account] = await sql<{ id: string }[]>`
    select id
    from connected_account
    where workspace_id = ${situation.workspaceId}
    order by created_at desc
    limit 1`
  await sql`
    insert into account_product (account_id, app, product, sold_as, sku, name, listed_at)
    values (${account!.id}, '1437843273', '77', 'subscription', 'lumen.plus.monthly', 'Plus Monthly', now())`
  const now = new Date()
  const common = { account: account!.id, app: "1437843273", product: "77", day: dayOf(now), seenAt: now }
  await record(sql, [reported("prices", common)])
}

/** Connects an ad account that advertises the app, with the reports of its examples. */
async function connectAds({ workspaceId, app, input }: Situation, sql: Sql): Promise<void> {
  const account = `ac_${randomBytes(9).toString("hex")}`
  await sql`
    insert into connected_account (id, workspace_id, kind, shown, part, sealed, next_at, state, zone, currency)
    values (${account}, ${workspaceId}, 'apple-ads', 'key …1', '1', 'v1.a.b.c', null, 'ok', 'UTC', 'EUR')`
  await sql`
    insert into account_app (account_id, outside_id, sku, name, bundle_id, app_id)
    values (${account}, '310633997', '310633997', 'Tea', '', ${app})`
  const now = new Date()
  const common = { account, day: addDays(dayOf(now), -2), seenAt: now }
  const country = String(input.country ?? "us").toLowerCase()
  await record(sql, [
    ...(["ads_campaigns", "ads_keywords", "ads_days", "ads_terms", "ads_changes"] as const).map((name) =>
      reported(name, common),
    ),
    reported("ads_popularity", { ...common, country }),
  ])
  await sql`
    insert into account_task (account_id, task, subject, state, read_at)
    values (${account}, 'campaigns', '', 'read', now()), (${account}, 'changes', '', 'read', now()),
      (${account}, 'keywords', '444555666', 'read', now()), (${account}, 'days', '444555666', 'read', now()),
      (${account}, 'terms', '444555666', 'read', now())`
  delete input.campaign
}

/** Connects a billing service that reported a renewal. */
async function connectBilling({ workspaceId, app }: Situation, sql: Sql): Promise<void> {
  const account = `ac_${randomBytes(9).toString("hex")}`
  await sql`
    insert into connected_account (id, workspace_id, kind, shown, part, sealed, next_at, state)
    values (${account}, ${workspaceId}, 'revenuecat', 'secret', '1437843273', 'v1.a.b.c', null, 'ok')`
  await sql`
    insert into account_app (account_id, outside_id, sku, name, bundle_id, app_id)
    values (${account}, '1437843273', 'TEA01', 'Tea', 'com.example.tea', ${app})`
  const [seenAt, happenedAt] = [new Date(), new Date(Date.now() - 2 * DAY_MS)]
  await record(sql, [reported("billing_event", { account, seenAt, happenedAt })])
}

/** The data that each operation needs before its sample answers. */
export const MADE_TO_REPORT: Record<string, (situation: Situation, sql: Sql) => Promise<void>> = {
  get_revenue: connectConsole,
  get_subscriptions: connectConsole,
  get_funnel: connectConsole,
  get_change_impact: changedPage,
  get_country_prices: pricedProducts,
  list_campaigns: connectAds,
  list_ads_keywords: connectAds,
  list_ads_search_terms: connectAds,
  list_ads_commands: connectAds,
  get_search_popularity: connectAds,
  get_pricing: connectBilling,
}
