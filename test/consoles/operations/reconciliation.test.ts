import { afterAll, beforeAll, expect, test } from "bun:test"
import { storeMessage } from "../../../src/consoles/billing/receive.ts"
import { pacificDay } from "../../../src/consoles/pacific.ts"
import { addAccount, removeAccount } from "../../../src/consoles/register.ts"
import { noteState } from "../../../src/consoles/state.ts"
import { createAccountReading } from "../../../src/consoles/worker.ts"
import { addDays } from "../../../src/lib/days.ts"
import { silentLog } from "../../../src/lib/log.ts"
import { recording } from "../../../src/recording.ts"
import { sealer } from "../../alerts/delivery/scene.ts"
import { freshDatabase } from "../../database.ts"
import { ownerOf } from "../../pages/app-scene.ts"
import { type Bought, purchase, SECRET } from "../billing/scene.ts"
import { type AccountScene, accountScene, TEA } from "../scene.ts"
import { type SalesRow, salesReport, table } from "../stand-in.ts"

const NOW = new Date()
const ago = (days: number) => addDays(pacificDay(NOW), -days)
/** Noon of one of the console's days, and late evening of the same day, which is the next day in UTC. */
const noon = (days: number) => new Date(`${ago(days)}T19:00:00Z`)
const evening = (days: number) => new Date(`${ago(days - 1)}T05:00:00Z`)

const row = (sku: string, units: number, price: string, rest: SalesRow = {}): SalesRow => ({
  SKU: sku,
  Title: sku,
  "Product Type Identifier": "IAY",
  "Parent Identifier": TEA.sku,
  Units: `${units}`,
  "Customer Price": price,
  "Customer Currency": "EUR",
  "Country Code": "DE",
  Subscription: "Renewal",
  "Developer Proceeds": "1",
  "Currency of Proceeds": "EUR",
  ...rest,
})
const dollars = { "Customer Currency": "USD", "Country Code": "US" }
const pounds = { "Customer Currency": "GBP", "Country Code": "GB" }

/** The day before yesterday is late. The service's messages are complete from four days ago on. */
const SOLD: Record<string, SalesRow[]> = {
  [ago(5)]: [row("year", 2, "19.99")],
  [ago(4)]: [row("year", 3, "19.99"), row("life", 1, "9.99", dollars), row("coins", 5, "0.99", dollars)],
  [ago(3)]: [
    row("year", 1, "19.99"),
    row("year", -1, "-19.99"),
    row("month", 2, "4.99"),
    row("year", 3, "17.99", pounds),
  ],
  [ago(1)]: [row("year", 1, "19.99"), row("year", 4, "0")],
}

const eventRow = (days: number, Event: string, Quantity: string, offer = " ") => ({
  "Event Date": ago(days),
  Event,
  Quantity,
  "Subscription Offer Type": offer,
  Country: "DE",
  "App Name": TEA.name,
  "App Apple ID": TEA.id,
  "Subscription Name": "Year",
  "Subscription Apple ID": "77",
})
const EVENTS: Record<string, Record<string, string>[]> = {
  [ago(5)]: [eventRow(5, "Renew", "2")],
  [ago(4)]: [eventRow(4, "Renew", "3"), eventRow(4, "Subscribe", "1"), eventRow(4, "Cancel", "6")],
  [ago(3)]: [eventRow(3, "Reactivate", "1"), eventRow(3, "Refund", "1"), eventRow(3, "Renew", "9")],
  [ago(1)]: [eventRow(1, "Renew", "1"), eventRow(1, "Start Introductory Offer", "2", "Free Trial")],
}

let sent = 0
const purchaseOf = (product_id: string, at: Date, rest: Partial<Bought> = {}) =>
  purchase({ id: `e${++sent}`, product_id, at, ...rest })
const gbp = { currency: "GBP", country_code: "GB", price: 17.99 }
const usd = { currency: "USD", country_code: "US" }
const TOLD = () => [
  purchaseOf("year", noon(5), { type: "TEST" }),
  ...[noon(4), evening(4), noon(4)].map((at) => purchaseOf("year", at)),
  purchaseOf("life", noon(4), { price: 9.49 }),
  ...Array.from({ length: 5 }, () => purchaseOf("coins", noon(4), { ...usd, price: 0.89 })),
  purchaseOf("year", noon(3)),
  // The console and the service assign one of these two purchases to different countries.
  ...[purchaseOf("year", noon(3), { ...gbp, country_code: "FR" }), purchaseOf("year", noon(3), gbp)],
  ...[noon(2), noon(2)].map((at) => purchaseOf("year", at)),
  purchaseOf("other", noon(1)),
  purchaseOf("year", evening(1)),
  purchaseOf("year", noon(1), { environment: "SANDBOX" }),
  purchaseOf("year", noon(1), { store: "PLAY_STORE" }),
]

let scene: AccountScene
let key: string
let billing: string
beforeAll(async () => {
  scene = await accountScene(await freshDatabase(), NOW)
  key = await scene.service.key(scene.workspaceId)
  scene.standIn.report = (type, day) => {
    if (type === "SUBSCRIPTION_EVENT" && EVENTS[day]) return { tsv: table(Object.keys(EVENTS[day]![0]!), EVENTS[day]!) }
    if (type !== "SALES") return "late"
    if (SOLD[day]) return { tsv: salesReport(day, SOLD[day]) }
    return day === ago(6) ? "no sales" : "late"
  }
  await scene.add()
  const parts = { sql: scene.sql, sealer, log: silentLog, reach: scene.register.reach, now: () => NOW }
  await createAccountReading({ recording, ...parts, gapMs: 0, atMost: 24 }).runOnce()
})
afterAll(() => scene.standIn.stop())

async function reconciliation(query = "days=6") {
  const { status, body } = await scene.service.call(`/v1/apps/${scene.appId}/revenue?${query}`, { key })
  expect(status).toBe(200)
  return body.reconciliation
}

async function deliverAll(...events: { event: { event_timestamp_ms: number } }[]): Promise<void> {
  for (const event of events) {
    const at = new Date(event.event.event_timestamp_ms)
    const message = { headers: new Headers({ authorization: SECRET }), body: Buffer.from(JSON.stringify(event)), at }
    const parts = { sql: scene.sql, sealer, now: () => at }
    expect(await storeMessage({ recording, ...parts }, billing, { ...message, roots: [] })).toBe("stored")
  }
}

test("reconciliation is null without a service, and before its first message", async () => {
  expect(await reconciliation()).toBeNull()
  const account = { kind: "revenuecat" as const, key: { secret: SECRET }, part: TEA.id }
  billing = (await addAccount(scene.register, scene.workspaceId, account)).id
  expect(await reconciliation()).toBeNull()
})

test("differences of console and service are listed by product, currency and cause", async () => {
  await deliverAll(...TOLD())
  const found = await reconciliation()
  expect(found.with).toMatchObject({ id: billing, kind: "revenuecat", state: "ok", sandbox: 1, otherStores: 1 })
  const products = Object.fromEntries(
    found.products.map(({ product, currency, ...rest }: Record<string, string>) => [`${product} ${currency}`, rest]),
  )
  expect(Object.keys(products).sort()).toEqual([
    "coins USD",
    "life EUR",
    "life USD",
    "month EUR",
    "other EUR",
    "year EUR",
    "year GBP",
  ])
  expect(products["year EUR"]).toEqual({
    console: { units: 10, refunds: 1, gross: "119.94" },
    service: { units: 6, refunds: 0, gross: "119.94" },
    difference: { units: 4, gross: "0" },
    causes: [
      { cause: "day_zone", units: 1, gross: "19.99" },
      { cause: "not_reported", units: -2, gross: "-39.98" },
      { cause: "before_first_message", units: 2, gross: "39.98" },
      { cause: "refunds", units: -1, gross: "-19.99" },
      { cause: "free_units", units: 4, gross: "0" },
    ],
    unexplained: { units: 0, gross: "0", share: 0 },
  })
  const causes = (name: string) => products[name].causes.map((cause: object) => Object.values(cause))
  expect(causes("month EUR")).toEqual([["not_through_service", 2, "9.98"]])
  expect(causes("other EUR")).toEqual([["not_in_console", -1, "-19.99"]])
  expect(causes("life USD")).toEqual([["currency", 1, "9.99"]])
  expect(causes("life EUR")).toEqual([["currency", -1, "-9.49"]])
  expect(causes("coins USD")).toEqual([["price", 0, "0.50"]])
  expect(causes("year GBP")).toEqual([])
  expect(products["year GBP"].unexplained).toEqual({ units: 1, gross: "17.99", share: 0.333 })
  // The rows with the largest unexplained difference come first.
  expect(found.products[0]).toMatchObject({ product: "year", currency: "GBP" })
})

test("the owner's page shows explained and unexplained differences of console and service", async () => {
  const owner = await ownerOf(scene.service, scene.workspaceId)
  const { status, text } = await owner.open(`/app/apps/${scene.appId}/revenue?days=7`)
  expect(status).toBe(200)
  const found = await reconciliation("days=7")
  const part = /<h2>Second source<\/h2>[\s\S]*?<\/section>/.exec(text)?.[0] ?? ""
  for (const { product, currency, console } of found.products) {
    const row = new RegExp(`<bdi>${product}</bdi> <span class="small quiet">${currency}</span>[\\s\\S]*?</tr>`).exec(
      part,
    )
    expect([product, currency, row?.[0].includes(`>${console.units}<br>`)]).toEqual([product, currency, true])
  }
  expect(part).toContain("days that the console has not reported")
  expect(part).toContain("the same units at other prices")
  expect(part).toMatch(/class="down">\+1<\/span><br><span class="small quiet">17\.99, 33\.3 %/)
  expect(part).toContain("Payments")
  const other = await ownerOf(scene.service, await scene.service.workspace())
  expect((await other.open(`/app/apps/${scene.appId}/revenue`)).status).toBe(404)
})

test("no difference is computed for a late day or a day before the first message", async () => {
  const { days, countries, otherCountry } = await reconciliation()
  const units = ({ day, console, service, difference, why }: Record<string, { units: number }>) => {
    return [day, console?.units ?? null, service?.units ?? null, difference, why]
  }
  expect(days.map(units)).toEqual([
    [ago(6), 0, null, null, "before_first_message"],
    [ago(5), 2, null, null, "before_first_message"],
    [ago(4), 9, 9, 0, null],
    [ago(3), 5, 3, 2, null],
    [ago(2), null, 2, null, "not_reported"],
    [ago(1), 5, 2, 3, null],
  ])
  expect(countries.map(({ country, difference }: Record<string, unknown>) => [country, difference])).toEqual([
    ["de", 3],
    ["fr", -1],
    ["gb", 2],
    ["us", 1],
  ])
  expect(otherCountry).toBe(1)
  const german = await reconciliation("days=6&country=GB")
  expect(german.products.map(({ product, difference }: Record<string, object>) => [product, difference])).toEqual([
    ["year", { units: 2, gross: "35.98" }],
  ])
})

test("subscription events of console and service are compared by type, with causes", async () => {
  const { body } = await scene.service.call(`/v1/apps/${scene.appId}/subscriptions?days=6`, { key })
  expect(body.reconciliation.with).toEqual((await reconciliation()).with)
  const events = body.reconciliation.events.map(({ causes, ...event }: { causes: object[] }) => [
    ...Object.values(event),
    causes.map((cause) => Object.values(cause)),
  ])
  expect(events).toEqual([
    ["trialStarts", 2, 0, 2, 2, []],
    ["trialConversions", 0, 0, 0, 0, []],
    // The service's count includes all products, also one-time purchases that it sends as renewals.
    [
      "payments",
      17,
      15,
      2,
      1,
      [
        ["day_zone", 1],
        ["not_reported", -2],
        ["before_first_message", 2],
      ],
    ],
    ["refunds", 1, 0, 1, 1, []],
  ])
})

test("reconciliation needs revenue:read, and figures of a revoked or removed service stay", async () => {
  const limitedKey = await scene.service.key(scene.workspaceId, { scopes: ["apps:read"] })
  const refused = await scene.service.call(`/v1/apps/${scene.appId}/revenue`, { key: limitedKey })
  expect([refused.status, refused.body.error]).toEqual([403, "scope_required"])
  expect(JSON.stringify(refused.body)).not.toContain(billing)
  await scene.sql.begin((tx) => noteState(tx, billing, { state: "revoked", why: "the key is refused" }))
  const before = await reconciliation()
  expect(before.with.state).toBe("revoked")
  await removeAccount(scene.sql, scene.workspaceId, billing, false)
  const after = await reconciliation()
  expect(after).toEqual({ ...before, with: { ...before.with, state: "removed" } })
  await removeAccount(scene.sql, scene.workspaceId, billing, true)
  expect(await reconciliation()).toBeNull()
})
