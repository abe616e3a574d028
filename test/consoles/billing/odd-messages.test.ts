import { beforeAll, describe, expect, test } from "bun:test"
import { revenueCatEvent } from "../../../src/consoles/sources/billing/revenuecat.ts"
import { freshDatabase } from "../../database.ts"
import { type BillingScene, billingScene, purchase } from "./scene.ts"

let scene: BillingScene
beforeAll(async () => {
  scene = await billingScene(await freshDatabase())
})

const storedEvents = async (account: string) => [
  ...(await scene.sql`
    select event_id as id, happened_at as at from billing_event where account_id = ${account} order by 1`),
]

describe("Adapty's check of an address", () => {
  const checks: [string, object, object][] = [
    ["an empty object is answered with JSON", {}, { received: true }],
    ["the text of the check is returned", { adapty_check: "f3a1c0" }, { adapty_check_response: "f3a1c0" }],
    [
      "the text of a check with other fields is returned",
      { adapty_check: "x1", sent_at: 1 },
      { adapty_check_response: "x1" },
    ],
  ]
  for (const [label, body, answer] of checks)
    test(`${label}, and nothing is stored`, async () => {
      const account = await scene.add("adapty")
      const response = await scene.send(account, body)
      expect([response.status, await response.json()]).toEqual([200, answer])
      expect(await storedEvents(account)).toEqual([])
    })

  test("Adapty's check is refused without the secret, and an empty message to RevenueCat is refused", async () => {
    const account = await scene.add("adapty")
    expect((await scene.send(account, { adapty_check: "x" }, {})).status).toBe(404)
    expect((await scene.send(account, "{ no json")).status).toBe(400)
    expect((await scene.send(await scene.add("revenuecat"), {})).status).toBe(400)
  })
})

test("a message is refused as unreadable if any of its fields has a text that cannot be stored", async () => {
  const account = await scene.add("revenuecat")
  for (const broken of ["tea\u0000year", "tea\ud800"])
    for (const field of ["id", "type", "product_id", "offer_code"]) {
      const message = purchase({ id: "e1" })
      const answer = await scene.send(account, { ...message, event: { ...message.event, [field]: broken } })
      expect([field, answer.status]).toEqual([field, 400])
    }
  expect(await storedEvents(account)).toEqual([])
})

test("messages whose ids share the first 500 characters are stored separately", async () => {
  const account = await scene.add("revenuecat")
  const long = "e".repeat(600)
  for (const id of [`${long}1`, `${long}2`, `${"d".repeat(150)}1`, `${"d".repeat(150)}2`])
    expect((await scene.send(account, purchase({ id }))).status).toBe(200)
  expect(await storedEvents(account)).toHaveLength(4)
})

test("an event without an environment counts as production", () => {
  const event = { id: "t", type: "TRANSFER", event_timestamp_ms: Date.now(), store: "APP_STORE" }
  expect(revenueCatEvent({ event })).toMatchObject({ countsAs: "other", environment: "production" })
  expect(revenueCatEvent({ event: { ...event, environment: "SANDBOX" } })).toMatchObject({ environment: "sandbox" })
})

test("an event's time may be text; a time in the future is replaced by the time of receipt", async () => {
  const account = await scene.add("revenuecat")
  const at = Date.now() - 3_600_000
  const messageAt = (id: string, event_timestamp_ms: unknown) => purchase({ id, event_timestamp_ms })
  for (const message of [
    messageAt("a", String(at)),
    messageAt("b", new Date(at).toISOString()),
    messageAt("c", at + 86_400_000 * 3),
  ])
    expect((await scene.send(account, message)).status).toBe(200)
  const [a, b, c] = (await storedEvents(account)).map((row) => new Date(row.at).getTime())
  expect([a, b]).toEqual([at, at])
  expect(Math.abs(c! - scene.clock.now.getTime())).toBeLessThan(60_000)
})

test("a refund that RevenueCat reversed has a positive price", () => {
  const read = revenueCatEvent(purchase({ id: "r", type: "REFUND_REVERSED", price: -19.99 }))
  expect(read).toMatchObject({ countsAs: "refund_reversed", price: "19.99" })
})
