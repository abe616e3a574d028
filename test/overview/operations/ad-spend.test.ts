import { beforeAll, expect, test } from "bun:test"
import type { Sql } from "../../../src/database/types.ts"
import { addDays, dayOf } from "../../../src/lib/days.ts"
import { reported } from "../../consoles/reported.ts"
import { freshDatabase } from "../../database.ts"
import { record } from "../../record.ts"
import { openService, type Service } from "../../service.ts"
import { trackOwn } from "../../world/tracked.ts"

const [ADS, TELLS] = ["ac_00000000000000ad01", "ac_00000000000000be01"]
const NOW = new Date()
const DAY = addDays(dayOf(NOW), -1)
const STORE_ID = "310633997"

let sql: Sql
let service: Service
let workspace: number
let app: string
let key: string
beforeAll(async () => {
  sql = await freshDatabase()
  service = openService({ sql })
  workspace = await service.workspace()
  const tracked = { name: "Tea", iosId: STORE_ID, countries: ["us"], keywords: [], origin: "own" as const }
  app = await trackOwn(sql, { workspaceId: workspace, ...tracked })
  key = await service.key(workspace)
})

const connect = async (id: string, kind: string) => {
  await sql`
    insert into connected_account (id, workspace_id, kind, shown, part, sealed, next_at, state, zone, currency)
    values (${id}, ${workspace}, ${kind}, 'key …1', '1', 'v1.a.b.c', null, 'ok', 'UTC', 'EUR')`
  await sql`
    insert into account_app (account_id, outside_id, sku, name, bundle_id, app_id)
    values (${id}, ${STORE_ID}, ${STORE_ID}, 'Tea', '', ${app})`
}

async function readSpend(by = key) {
  const today = (await service.call(`/v1/apps/${app}/today?day=${DAY}`, { key: by })).body
  const { body } = await service.call(`/v1/portfolio?day=${DAY}`, { key: by })
  const { value, currency, state, source } = today.figures.find((figure: { key: string }) => figure.key === "adSpend")
  const connected = (conns: { id: string; connected: boolean }[]) =>
    conns.filter((account) => account.connected).map(({ id }) => id)
  expect(connected(body.conns)).toEqual(connected(today.conns))
  expect(body.totals.adSpend).toEqual(body.apps[0].adSpend)
  return {
    figure: [value, currency, state, source],
    spend: body.apps[0].adSpend,
    conns: connected(body.conns),
    feed: body.feed,
  }
}

test("ad spend is unknown without an ads account and on a day that was not read, not zero", async () => {
  expect(await readSpend()).toEqual({ figure: [null, null, "not_connected", null], spend: null, conns: [], feed: [] })
  await connect(ADS, "apple-ads")
  await record(sql, [reported("ads_campaigns", { account: ADS, day: DAY, seenAt: NOW })])
  expect(await readSpend()).toMatchObject({
    figure: [null, null, "not_measured", null],
    spend: null,
    conns: ["apple_ads"],
  })
})

test("ad spend is zero on a day read without rows, and counts each row once on other days", async () => {
  const day = { account: ADS, day: DAY }
  await record(sql, [reported("ads_days", { ...day, rows: [], seenAt: NOW })])
  expect((await readSpend()).spend).toEqual({ amount: "0", currency: "EUR" })
  const [row] = (reported("ads_days") as unknown as { rows: Record<string, unknown>[] }).rows
  const { group: _, keyword: __, ...whole } = row!
  // the row of the whole campaign, and the row of one of its keywords, whose spend is part of it
  const rows = [
    { ...whole, spend: "12.34" },
    { ...row, spend: "7.25" },
  ]
  await record(sql, [reported("ads_days", { ...day, rows, seenAt: new Date(NOW.getTime() + 1) })])
  const spend = { amount: "12.34", currency: "EUR" }
  expect(await readSpend()).toMatchObject({ figure: [12.34, "EUR", "measured", "apple-ads-days"], spend })
})

test("the spend of a day excludes other days and the campaigns of other apps", async () => {
  const [row] = (reported("ads_days") as unknown as { rows: Record<string, unknown>[] }).rows
  const { group: _, keyword: __, ...whole } = row!
  const [campaign] = (reported("ads_campaigns") as unknown as { rows: object[] }).rows
  const campaigns = [campaign, { ...campaign, id: "998", app: "999999999" }]
  const at = { account: ADS, seenAt: new Date(NOW.getTime() + 1) }
  await record(sql, [
    reported("ads_campaigns", { ...at, day: DAY, rows: campaigns }),
    reported("ads_days", { ...at, day: addDays(DAY, -1), rows: [{ ...whole, spend: "5" }] }),
    reported("ads_days", { ...at, day: DAY, campaign: "998", rows: [{ ...whole, spend: "3" }] }),
  ])
  expect((await readSpend()).spend).toEqual({ amount: "12.34", currency: "EUR" })
})

test("the day's spend is unknown if one campaign was not read, and hidden without the right", async () => {
  const blind = await service.key(workspace, { scopes: ["apps:read"] })
  const hidden = await readSpend(blind)
  expect([hidden.figure, hidden.spend, hidden.conns]).toEqual([[null, null, "hidden", null], null, ["apple_ads"]])
  const [row] = (reported("ads_campaigns") as unknown as { rows: object[] }).rows
  const rows = [row, { ...row, id: "999" }]
  await record(sql, [reported("ads_campaigns", { account: ADS, day: DAY, rows, seenAt: new Date(NOW.getTime() + 2) })])
  expect((await readSpend()).figure).toEqual([null, null, "not_measured", null])
})

test("the feed lists a service's events of the day, newest first, and money only for keys with the right", async () => {
  await connect(TELLS, "revenuecat")
  const at = (hour: number) => new Date(`${DAY}T${String(hour).padStart(2, "0")}:00:00Z`)
  const billingEvent = (eventId: string, hour: number, rest: object = {}) =>
    reported("billing_event", { account: TELLS, eventId, happenedAt: at(hour), seenAt: NOW, ...rest })
  await record(sql, [
    billingEvent("1", 3),
    billingEvent("2", 9, { type: "INITIAL_PURCHASE", priceUsd: undefined }),
    billingEvent("3", 10, { environment: "sandbox" }),
    billingEvent("4", 11, { store: "other" }),
    billingEvent("5", 12, { countsAs: "test" }),
    billingEvent("6", 1, { happenedAt: new Date(at(1).getTime() - 86_400_000) }),
  ])
  const event = { appId: app, country: "de" }
  expect((await readSpend()).feed).toEqual([
    { ...event, at: at(9).toISOString(), event: "INITIAL_PURCHASE", revenue: null },
    { ...event, at: at(3).toISOString(), event: "RENEWAL", revenue: 23.21 },
  ])
  const blind = await service.key(workspace, { scopes: ["apps:read"] })
  expect((await readSpend(blind)).feed.map(({ revenue }: { revenue: unknown }) => revenue)).toEqual([null, null])
})
