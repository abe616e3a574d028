import { beforeEach, expect, test } from "bun:test"
import { rebuildAccounts } from "../../../src/consoles/store/derived/rebuild.ts"
import type { Sql } from "../../../src/database/types.ts"
import { KINDS } from "../../../src/kinds.ts"
import { holdAccount, reported } from "../../consoles/reported.ts"
import { freshDatabase } from "../../database.ts"
import { record } from "../../record.ts"

let sql: Sql
beforeEach(async () => {
  sql = await freshDatabase()
  await holdAccount(sql)
})

const NOW = new Date("2026-01-01T00:00:00Z")
const recordAll = (...all: Parameters<typeof reported>[]) =>
  record(
    sql,
    all.map(([name, rest]) => reported(name, rest)),
    () => NOW,
  )
const row = (event: string, count: number, rest: object = {}) => ({ event, from: "App Store search", count, ...rest })

const funnel = async () => [
  ...(await sql`
    select day, country, came_from as from, counts_as as as, count
    from funnel_fact
    order by day, report, place`),
]

test("the file with the newest processing date replaces its whole day, in any order of files", async () => {
  const [first, second, other] = [
    {
      processed: "2025-10-23",
      rows: [row("Impression", 9, { country: "de" }), row("Impression", 4, { country: "us" })],
    },
    { processed: "2025-10-24", rows: [row("Impression", 7, { country: "de" }), row("Page view", 2), row("Wink", 1)] },
    { processed: "2025-10-24", day: "2025-10-21", rows: [row("IMPRESSION", 1)] },
  ]
  await recordAll(["engagement", second], ["engagement", other])
  await recordAll(["engagement", first])
  const facts = [
    { day: "2025-10-21", country: null, from: "App Store search", as: "impressions", count: 1 },
    { day: "2025-10-22", country: "de", from: "App Store search", as: "impressions", count: 7 },
    { day: "2025-10-22", country: null, from: "App Store search", as: "other", count: 1 },
    { day: "2025-10-22", country: null, from: "App Store search", as: "pageViews", count: 2 },
  ]
  expect(await funnel()).toEqual(facts)
  // an empty day counts as a day, and another report of the same day is unchanged
  await recordAll(["downloads", { rows: [row("Redownload", 3)] }])
  await recordAll(["engagement", { processed: "2025-10-25", seenAt: new Date("2025-10-26"), rows: [] }])
  expect((await funnel()).map(({ day, as }) => [day, as])).toEqual([
    ["2025-10-21", "impressions"],
    ["2025-10-22", "redownloads"],
  ])
})

test("price reports give periods per storefront, and doctor --rebuild restores damaged periods", async () => {
  const price = (price: string, rest: object = {}) => {
    return { country: "de", currency: "EUR", price, proceeds: "5", point: "p", ...rest }
  }
  const reportOf = (day: string, rows: object[]) => ({ day, seenAt: new Date(`${day}T10:00:00Z`), rows })
  await recordAll(
    ["prices", reportOf("2025-11-09", [price("12.99")])],
    [
      "prices",
      reportOf("2025-11-01", [
        price("9.99", { startsAt: "2025-01-01" }),
        price("8.49", { country: "us", currency: "USD" }),
      ]),
    ],
  )
  const periods = async () => [
    ...(await sql`
      select country, from_day as from, since_known as known, price::text, currency
      from price_period
      order by country, from_day`),
  ]
  const expected = [
    { country: "de", from: "2025-01-01", known: true, price: "9.99", currency: "EUR" },
    { country: "de", from: "2025-11-09", known: false, price: "12.99", currency: "EUR" },
    { country: "us", from: "2025-11-01", known: false, price: "8.49", currency: "USD" },
    { country: "us", from: "2025-11-09", known: false, price: null, currency: null },
  ]
  expect(await periods()).toEqual(expected)
  await sql`update price_period set price = 1 where price is not null`
  await recordAll(["engagement", {}])
  await sql`delete from funnel_fact_row`
  expect(await rebuildAccounts(sql, KINDS, async () => {})).toBe(2)
  expect(await rebuildAccounts(sql, KINDS, async () => {})).toBe(0)
  expect(await periods()).toEqual(expected)
})
