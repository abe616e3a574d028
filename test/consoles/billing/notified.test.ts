import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import { storeNotification } from "../../../src/consoles/sources/billing/notifications.ts"
import { revenueCatEvent } from "../../../src/consoles/sources/billing/revenuecat.ts"
import { superwallEvent } from "../../../src/consoles/sources/billing/superwall.ts"
import { freshDatabase } from "../../database.ts"
import { TEA } from "../scene.ts"
import { type BillingScene, billingScene, purchase } from "./scene.ts"
import { signedNotification, TEST_ROOT } from "./signed.ts"

/** Answers end with yesterday. */
const AT = new Date(Date.now() - 30 * 3_600_000)

let scene: BillingScene
let account: string
beforeEach(async () => {
  scene = await billingScene(await freshDatabase(), { roots: [TEST_ROOT] })
  account = await scene.add("app-store-notifications")
})
afterEach(async () => {
  await scene.sql`delete from connected_account`
})

let sent = 0

function payload(notificationType: string, rest: object = {}) {
  const data = { appAppleId: Number(TEA.id), bundleId: TEA.bundleId, environment: "Production" }
  return { notificationUUID: `n-${++sent}`, version: "2.0", signedDate: AT.getTime(), notificationType, data, ...rest }
}

function transaction(rest: object = {}) {
  return {
    signedDate: AT.getTime(),
    purchaseDate: AT.getTime(),
    productId: "tea.year",
    bundleId: TEA.bundleId,
    storefront: "DEU",
    currency: "EUR",
    price: 19_990,
    quantity: 1,
    inAppOwnershipType: "PURCHASED",
    environment: "Production",
    ...rest,
  }
}

async function readPricing() {
  const { body } = await scene.service.call(`/v1/apps/${scene.appId}/pricing`, { key: scene.key })
  return body
}

const notify = (message: ReturnType<typeof payload>, transactionFields?: object) =>
  scene.send(account, signedNotification(message, transactionFields), {})

test("a family purchase counts as one sale, and the family members' four messages are counted separately", async () => {
  await notify(payload("SUBSCRIBED"), transaction())
  for (let member = 0; member < 4; member++)
    expect((await notify(payload("SUBSCRIBED"), transaction({ inAppOwnershipType: "FAMILY_SHARED" }))).status).toBe(200)
  const { paid, sources } = await readPricing()
  expect(paid).toMatchObject([{ paidStarts: 1, prices: [{ sales: 1, refunds: 0, revenue: "19.99" }] }])
  expect(sources.find(({ id }: { id: string }) => id === account)).toMatchObject({ events: 1, familyShared: 4 })
  const renewed = storeNotification(payload("DID_RENEW"), transaction({ inAppOwnershipType: "FAMILY_SHARED" }))
  expect(renewed).toMatchObject({ countsAs: "family_shared", price: undefined })
  expect(revenueCatEvent(purchase({ id: "f", is_family_share: true }))?.countsAs).toBe("family_shared")
  const ofSuperwall = { id: "s", ts: AT.getTime(), isFamilyShare: true, price: 0 }
  expect(superwallEvent({ type: "renewal", data: ofSuperwall })?.countsAs).toBe("family_shared")
})

describe("the money of App Store notifications", () => {
  const cases: [string, string, object, object, object][] = [
    ["a full refund has the price as a negative amount", "REFUND", {}, {}, { countsAs: "refund", price: "-19.99" }],
    [
      "a prorated refund has the refunded part of the price",
      "REFUND",
      {},
      { revocationType: "REFUND_PRORATED", revocationPercentage: 25_000 },
      { countsAs: "refund", price: "-4.9975" },
    ],
    [
      "a prorated refund in yen has the refunded part of the price",
      "REFUND",
      {},
      { price: 1_200_000, currency: "JPY", revocationType: "REFUND_PRORATED", revocationPercentage: 33_333 },
      { price: "-399.996" },
    ],
    [
      "a prorated refund without a percentage has no price",
      "REFUND",
      {},
      { revocationType: "REFUND_PRORATED" },
      { price: undefined },
    ],
    [
      "a reversed refund has a positive price",
      "REFUND_REVERSED",
      {},
      {},
      { countsAs: "refund_reversed", price: "19.99" },
    ],
    [
      "a purchase of five pieces has the price of one piece",
      "ONE_TIME_CHARGE",
      {},
      { price: 4_950, quantity: 5 },
      { price: "0.99", quantity: 5 },
    ],
    [
      "an upgrade has the price of its immediate charge",
      "DID_CHANGE_RENEWAL_PREF",
      { subtype: "UPGRADE" },
      { price: 49_990 },
      { countsAs: "upgrade", price: "49.99" },
    ],
    [
      "a downgrade is stored as a change of plan",
      "DID_CHANGE_RENEWAL_PREF",
      { subtype: "DOWNGRADE" },
      {},
      { countsAs: "plan_change" },
    ],
    [
      "an offer that is redeemed for an upgrade is stored as an upgrade",
      "OFFER_REDEEMED",
      { subtype: "UPGRADE" },
      {},
      { countsAs: "upgrade" },
    ],
    [
      "an offer for a downgrade is stored as a change of plan",
      "OFFER_REDEEMED",
      { subtype: "DOWNGRADE" },
      {},
      { countsAs: "plan_change" },
    ],
    ["an offer for a running subscription is stored as other", "OFFER_REDEEMED", {}, {}, { countsAs: "other" }],
    [
      "a paid offer is stored as a paid start",
      "OFFER_REDEEMED",
      { subtype: "INITIAL_BUY" },
      {},
      { countsAs: "paid_start" },
    ],
    ...["SUBSCRIBED", "OFFER_REDEEMED"].map((type): [string, string, object, object, object] => [
      `a free offer (${type}) is stored as a start of a trial`,
      type,
      { subtype: "RESUBSCRIBE" },
      { price: 0, offerDiscountType: "FREE_TRIAL" },
      { countsAs: "trial_start" },
    ]),
  ]
  for (const [label, type, payloadFields, transactionFields, read] of cases)
    test(label, () => {
      expect(storeNotification(payload(type, payloadFields), transaction(transactionFields))).toMatchObject(read)
    })

  test("a charge is dated by its purchase, even if the notification arrives days later", () => {
    const at = (days: number) => AT.getTime() + days * 86_400_000
    const dayOf = (type: string, transactionFields: object) =>
      storeNotification(payload(type, { signedDate: at(2) }), transaction(transactionFields))?.happenedAt.getTime()
    expect(dayOf("ONE_TIME_CHARGE", { purchaseDate: at(0) })).toBe(at(0))
    expect(dayOf("DID_RENEW", { purchaseDate: at(0) })).toBe(at(0))
    // The period begins after the day of the charge.
    expect(dayOf("DID_RENEW", { purchaseDate: at(2.5) })).toBe(at(2))
    expect(dayOf("EXPIRED", { purchaseDate: at(0) })).toBe(at(2))
    expect(dayOf("REFUND", { purchaseDate: at(0) })).toBe(at(2))
  })

  test("a reversed refund restores the revenue; all purchased units and upgrades count as sales", async () => {
    await notify(payload("REFUND"), transaction())
    await notify(payload("REFUND_REVERSED"), transaction())
    await notify(payload("ONE_TIME_CHARGE"), transaction({ productId: "tea.oil", price: 4_950, quantity: 5 }))
    await notify(
      payload("DID_CHANGE_RENEWAL_PREF", { subtype: "UPGRADE" }),
      transaction({ productId: "tea.pro", price: 49_990 }),
    )
    const { paid } = await readPricing()
    const prices = paid.map(({ product, prices: [price] }: { product: string; prices: object[] }) => [product, price])
    expect(Object.fromEntries(prices)).toMatchObject({
      "tea.year": { refunds: 1, revenue: "0" },
      "tea.oil": { price: { amount: "0.99" }, sales: 5, revenue: "4.95" },
      "tea.pro": { sales: 1, revenue: "49.99" },
    })
  })
})

describe("App Store notifications", () => {
  const appData = { appAppleId: Number(TEA.id), bundleId: TEA.bundleId, environment: "Production" }
  const places: [string, string, object][] = [
    ["in its summary", "RENEWAL_EXTENSION", { subtype: "SUMMARY", summary: appData }],
    ["in a token of external purchases", "EXTERNAL_PURCHASE_TOKEN", { externalPurchaseToken: appData }],
    ["in its app data", "RESCIND_CONSENT", { appData }],
  ]
  for (const [position, type, rest] of places)
    test(`a notification that names its app ${position} is stored as other`, async () => {
      expect((await notify({ ...payload(type), data: undefined, ...rest } as never)).status).toBe(200)
      const rows = await scene.sql`select counts_as, environment from billing_event`
      expect([...rows]).toEqual([{ counts_as: "other", environment: "production" }])
    })

  test("a sandbox notification without the app's number is matched by bundle id and counted separately", async () => {
    const data = { bundleId: TEA.bundleId, environment: "Sandbox" }
    expect((await notify(payload("TEST", { data }))).status).toBe(200)
    await scene.sql`
      insert into account_app (account_id, outside_id, sku, name, bundle_id)
      select id, ${TEA.id}, 'TEA01', 'Tea', ${TEA.bundleId}
      from connected_account
      where kind = 'app-store-connect'`
    await scene.sql`update store_app set bundle_id = ${TEA.bundleId} where store_id = ${TEA.id}`
    expect((await notify(payload("SUBSCRIBED", { data }), transaction({ environment: "Sandbox" }))).status).toBe(200)
    const otherData = { ...data, bundleId: "com.example.other" }
    expect((await notify(payload("TEST", { data: otherData }))).status).toBe(404)
    const rows = await scene.sql`select environment from billing_event`
    expect([...rows]).toEqual([{ environment: "sandbox" }, { environment: "sandbox" }])
    expect((await readPricing()).paid ?? []).toEqual([])
  })

  test("a notification for another app, or a production notification without an app, is refused", async () => {
    expect((await notify(payload("TEST", { data: { ...appData, appAppleId: 1 } }))).status).toBe(404)
    expect((await notify(payload("TEST", { data: { environment: "Production", bundleId: "x" } }))).status).toBe(404)
  })
})
