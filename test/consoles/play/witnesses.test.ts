import { expect, test } from "bun:test"
import { storeMessage } from "../../../src/consoles/billing/receive.ts"
import { addAccount } from "../../../src/consoles/register.ts"
import { recording } from "../../../src/recording.ts"
import { sealer } from "../../alerts/delivery/scene.ts"
import { freshDatabase } from "../../database.ts"
import { errorOf } from "../../error-of.ts"
import { slow } from "../../long.ts"
import { type Bought, purchase, SECRET } from "../billing/scene.ts"
import { reachOf, TEA } from "../scene.ts"
import { playFacts } from "./facts-scene.ts"

const HEAD =
  "Description,Transaction Date,Transaction Type,Product id,Sku Id,Buyer Country,Buyer Currency," +
  "Amount (Buyer Currency),Merchant Currency,Amount (Merchant Currency)"

const year = (order: number, day: string, type = "Charge", amount = "19.99", dollars = "22.50") =>
  `GPA.${order},"${day}",${type},com.tea,year,DE,EUR,${amount},USD,${dollars}`

/** October is settled. The service's messages about Google Play are complete from 29 October on. */
const EARNINGS = [
  HEAD,
  year(1, "Oct 27, 2026"),
  year(2, "Oct 29, 2026"),
  // A fee is part of the proceeds but is not a purchase.
  year(2, "Oct 29, 2026", "Google fee", "-3.00", "-3.38"),
  year(3, "Oct 30, 2026"),
  year(4, "Oct 30, 2026"),
  year(4, "Oct 31, 2026", "Charge refund", "-19.99", "-22.50"),
  'GPA.5,"Oct 30, 2026",Charge,com.tea,coins,US,USD,0.83,USD,0.83',
  'GPA.6,"Oct 30, 2026",Charge,com.tea,coins,US,USD,0.83,USD,0.83',
  'GPA.7,"Oct 30, 2026",Charge,com.tea,life,DE,EUR,9.99,USD,11.10',
].join("\n")

const PLAY = { store: "PLAY_STORE", product_id: "year:annual" }
const noon = (day: number, month = 10) => new Date(Date.UTC(2026, month - 1, day, 19))
const MESSAGES: Bought[] = [
  { id: "first", ...PLAY, type: "TEST", at: noon(28) },
  { id: "p2", ...PLAY, at: noon(29) },
  // The time is still 30 October in Pacific time, and already 31 October in UTC.
  { id: "p3", ...PLAY, at: new Date("2026-10-31T05:00:00Z") },
  { id: "p5", ...PLAY, product_id: "coins", currency: "USD", country_code: "US", price: 0.99, at: noon(30) },
  { id: "p6", ...PLAY, product_id: "coins", currency: "USD", country_code: "US", price: 0.99, at: noon(30) },
  { id: "p8", ...PLAY, at: noon(2, 11) },
  // Purchases in the App Store are never compared with Google Play's earnings.
  { id: "a1", product_id: "year", at: noon(20) },
  { id: "a2", product_id: "year", at: noon(30) },
  { id: "s1", ...PLAY, environment: "SANDBOX", at: noon(30) },
]

/** An Android app with settled earnings of October, and a service that reports purchases in two stores. */
async function twoWitnesses() {
  const sql = await freshDatabase()
  const scene = await playFacts(sql, { app: "com.tea", now: new Date("2026-11-10T12:00:00Z") })
  await scene.store("earnings/earnings_202610_1-1.zip", EARNINGS, "2026-11-05T00:00:00Z")
  const register = { sql, sealer, reach: reachOf("http://127.0.0.1:9") }
  const { id } = await addAccount(register, scene.workspaceId, {
    kind: "revenuecat",
    key: { secret: SECRET },
    part: "com.tea",
  })
  return {
    ...scene,
    sql,
    service: id,
    async deliver(messages: readonly Bought[]) {
      for (const message of messages) {
        const at = message.at as Date
        const body = Buffer.from(JSON.stringify(purchase(message)))
        const sent = { headers: new Headers({ authorization: SECRET }), body, at, roots: [] }
        expect(await storeMessage({ recording, sql, sealer, now: () => at }, id, sent)).toBe("stored")
      }
    },
    reconciliation: async (query = "days=9&to=2026-11-03") => {
      const { status, body } = await scene.call(`revenue?${query}`)
      expect(status).toBe(200)
      return body.reconciliation
    },
  }
}

slow("settled earnings of Google Play are compared only with Play purchases, and listed by cause", async () => {
  const scene = await twoWitnesses()
  expect(await scene.reconciliation()).toBeNull()
  // A service that only ever reported the App Store has no data about Google Play.
  await scene.deliver(MESSAGES.filter(({ id }) => id === "a1"))
  expect(await scene.reconciliation()).toBeNull()
  await scene.deliver(MESSAGES.filter(({ id }) => id !== "a1"))
  const found = await scene.reconciliation()
  expect(found.with).toMatchObject({
    id: scene.service,
    kind: "revenuecat",
    since: "2026-10-28T19:00:00.000Z",
    asOf: "2026-11-02T19:00:00.000Z",
    sandbox: 1,
    otherStores: 1,
  })
  const products = Object.fromEntries(
    found.products.map(({ product, currency, ...rest }: Record<string, string>) => [`${product} ${currency}`, rest]),
  )
  expect(Object.keys(products).sort()).toEqual(["coins USD", "life EUR", "year EUR"])
  expect(products["year EUR"]).toEqual({
    // Charged 4 times and refunded once: 3 × 19.99.
    console: { units: 3, refunds: 1, gross: "59.97" },
    // The days are 29 and 31 October and 2 November in UTC.
    service: { units: 3, refunds: 0, gross: "59.97" },
    difference: { units: 0, gross: "0" },
    causes: [
      { cause: "not_reported", units: -1, gross: "-19.99" },
      { cause: "before_first_message", units: 1, gross: "19.99" },
      { cause: "refunds", units: -1, gross: "-19.99" },
    ],
    // Order 4 was charged, but no message reported it.
    unexplained: { units: 1, gross: "19.99", share: 0.333 },
  })
  const causes = (name: string) => products[name].causes.map((cause: object) => Object.values(cause))
  expect(causes("life EUR")).toEqual([["not_through_service", 1, "9.99"]])
  // The settled charge excludes tax, so the same units have another price.
  expect(causes("coins USD")).toEqual([["price", 0, "-0.32"]])
  expect(found.days.map(({ day, difference, why }: Record<string, unknown>) => [day, difference, why])).toEqual([
    ["2026-10-26", null, "before_first_message"],
    ["2026-10-27", null, "before_first_message"],
    ["2026-10-28", null, "before_first_message"],
    ["2026-10-29", 0, null],
    ["2026-10-30", 2, null],
    ["2026-10-31", -1, null],
    ["2026-11-01", null, "not_reported"],
    ["2026-11-02", null, "not_reported"],
    ["2026-11-03", null, "not_reported"],
  ])
})

slow("days that Google Play has not settled cause no unexplained difference in any total", async () => {
  const scene = await twoWitnesses()
  await scene.deliver(MESSAGES)
  const { products } = await scene.reconciliation("days=3&to=2026-11-03")
  expect(products).toMatchObject([
    {
      product: "year",
      console: { units: 0, gross: "0" },
      service: { units: 1, gross: "19.99" },
      causes: [{ cause: "not_reported", units: -1, gross: "-19.99" }],
      unexplained: { units: 0, gross: "0" },
    },
  ])
})

test("a billing service is connected by package or number, App Store notifications only by number", async () => {
  const scene = await twoWitnesses()
  const add = (kind: string, part: string) =>
    addAccount({ sql: scene.sql, sealer, reach: reachOf("http://127.0.0.1:9") }, scene.workspaceId, {
      kind,
      key: kind === "app-store-notifications" ? {} : { secret: SECRET },
      part,
    } as never)
  const [mapped] = await scene.sql`select app_id from account_app where account_id = ${scene.service}`
  expect(mapped?.app_id).toBe(scene.appId)
  const refusal = async (kind: string, part: string) => String(await errorOf(add(kind, part)))
  expect(await refusal("app-store-notifications", "com.tea")).toContain("is a number, such as 310633997")
  expect(await refusal("adapty", "Tea Timer")).toContain("or a package on Google Play, such as com.example.tea")
  expect((await add("adapty", TEA.id)).id).toStartWith("ac_")
})
