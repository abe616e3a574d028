import { beforeAll, describe, expect, test } from "bun:test"
import { createHmac, hash } from "node:crypto"
import { readFileSync } from "node:fs"
import { signedPayload } from "../../../src/consoles/billing/signed-payload.ts"
import { removeAccount } from "../../../src/consoles/register.ts"
import { adaptyEvent } from "../../../src/consoles/sources/billing/adapty.ts"
import { storeNotification } from "../../../src/consoles/sources/billing/notifications.ts"
import { revenueCatEvent } from "../../../src/consoles/sources/billing/revenuecat.ts"
import { superwallEvent } from "../../../src/consoles/sources/billing/superwall.ts"
import { freshDatabase } from "../../database.ts"
import { slow } from "../../long.ts"
import { CHAIN_ROOT, withMarks, withoutMarks } from "./chains.ts"
import { type BillingScene, billingScene, purchase, SECRET, signedHeaders } from "./scene.ts"

const NOTIFICATION = readFileSync("fixtures/upstream/apple-signed-test-notification.jws", "utf8").trim()
const [HEADER = ""] = NOTIFICATION.split(".")
const CHAIN = (JSON.parse(Buffer.from(HEADER, "base64url").toString()) as { x5c: string[] }).x5c
const ROOT = hash("sha256", Buffer.from(CHAIN[2] as string, "base64"), "hex")

let scene: BillingScene
beforeAll(async () => {
  scene = await billingScene(await freshDatabase(), { roots: [ROOT] })
})

async function storedEvents(account: string): Promise<Record<string, unknown>[]> {
  return await scene.sql`
    select event_id as id, type, counts_as as "countsAs", environment, product, country, currency, price::text as price
    from billing_event
    where account_id = ${account}
    order by event_id`
}

describe("messages of billing services", () => {
  test("a message is stored before the response, once for repeated deliveries, and without the buyer", async () => {
    const account = await scene.add("revenuecat")
    const message = purchase({ id: "e1" })
    for (let times = 0; times < 3; times++) {
      const answer = await scene.send(account, message)
      expect([answer.status, await answer.json()]).toEqual([200, { received: true }])
      expect(await storedEvents(account)).toEqual([
        {
          id: "e1",
          type: "RENEWAL",
          countsAs: "renewal",
          environment: "production",
          product: "tea.year",
          country: "de",
          currency: "EUR",
          price: "19.99",
        },
      ])
    }
    // Another message with the same id changes nothing.
    await scene.send(account, purchase({ id: "e1", price: 0.01 }))
    expect((await storedEvents(account))[0]?.price).toBe("19.99")
    const all = await scene.sql`select to_jsonb(b)::text as row from billing_event b`
    for (const buyer of ["buyer-4711", "alias-0815", "a@b.example"]) expect(JSON.stringify(all)).not.toContain(buyer)
    expect(scene.service.logged.join()).not.toContain(SECRET)
  })

  test("a message of an unknown type is stored as other, and a sandbox message as sandbox", async () => {
    const account = await scene.add("revenuecat")
    await scene.send(account, purchase({ id: "new", type: "SOMETHING_NEW" }))
    await scene.send(account, purchase({ id: "sand", environment: "SANDBOX" }))
    await scene.send(account, purchase({ id: "play", store: "PLAY_STORE" }))
    expect((await storedEvents(account)).map(({ id, countsAs, environment }) => [id, countsAs, environment])).toEqual([
      ["new", "other", "production"],
      ["play", "renewal", "production"],
      ["sand", "renewal", "sandbox"],
    ])
  })

  test("a message without proof gets the same response as one to an unknown account, and is not stored", async () => {
    const account = await scene.add("revenuecat")
    const message = purchase({ id: "e9" })
    const answers = await Promise.all([
      scene.send("ac_000000000000000000", message),
      scene.send(account, message, {}),
      scene.send(account, message, { authorization: `${SECRET}x` }),
      scene.send(account, "{ no json", { authorization: "wrong" }),
    ])
    const responses = await Promise.all(answers.map(async (answer) => [answer.status, await answer.text()]))
    expect(new Set(responses.map((response) => JSON.stringify(response))).size).toBe(1)
    expect(responses[0]?.[0]).toBe(404)
    expect(await storedEvents(account)).toEqual([])
    await removeAccount(scene.sql, scene.workspaceId, account, false)
    expect((await scene.send(account, message)).status).toBe(404)
  })

  slow("an address may send thirty unproved messages a minute, and any number of proved messages", async () => {
    const account = await scene.add("revenuecat")
    // One fixed clock is used, because the limit starts anew with each minute.
    const limited = await billingScene(scene.sql, { now: new Date("2026-06-01T00:00:10Z") })
    const limitedAccount = await limited.add("revenuecat")
    const wrong = () => limited.send(limitedAccount, purchase({ id: "w" }), { authorization: "wrong" })
    const answers = []
    for (let times = 0; times < 32; times++) answers.push(await wrong())
    expect(answers.map(({ status }) => status)).toEqual([...Array(30).fill(404), 429, 429])
    expect(answers.at(-1)?.headers.get("retry-after")).toBe("50")
    expect(await storedEvents(limitedAccount)).toEqual([])
    // Services resend a message that was not accepted.
    limited.clock.now = new Date("2026-06-01T00:01:00Z")
    const message = purchase({ id: "w", at: new Date("2026-06-01T00:00:00Z") })
    expect((await limited.send(limitedAccount, message)).status).toBe(200)
    // Messages with a valid proof do not count as failures.
    for (let times = 0; times < 40; times++) expect((await limited.send(limitedAccount, message)).status).toBe(200)
    expect(await storedEvents(account)).toEqual([])
  })

  test("a message over 256 kB, a GET request and a proved message without an event are refused", async () => {
    const account = await scene.add("adapty")
    expect((await scene.send(account, "x".repeat(256 * 1_024 + 1))).status).toBe(413)
    expect((await scene.send(account, "", {}, "GET")).status).toBe(405)
    for (const body of ["{ no json", "[]", "null", JSON.stringify(purchase({ id: "rc" }))])
      expect([body.slice(0, 9), (await scene.send(account, body)).status]).toEqual([body.slice(0, 9), 400])
    expect(await storedEvents(account)).toEqual([])
  })
})

describe("proofs of messages", () => {
  const event = JSON.stringify(purchase({ id: "p1" }))
  const signatureAt = (at: Date, secret = SECRET) => {
    const seconds = Math.floor(at.getTime() / 1_000)
    const signature = createHmac("sha256", secret).update(`${seconds}.${event}`).digest("hex")
    return { "x-revenuecat-webhook-signature": `t=${seconds},v1=${"0".repeat(64)},v1=${signature}` }
  }

  test("RevenueCat proves a message by its header, or by a signature of the last five minutes", async () => {
    const { clock, send } = scene
    const account = await scene.add("revenuecat")
    const ago = (minutes: number) => new Date(clock.now.getTime() - 60_000 * minutes)
    expect((await send(account, event, signatureAt(ago(6)))).status).toBe(404)
    expect((await send(account, event, signatureAt(ago(1), "another secret of ours"))).status).toBe(404)
    expect((await send(account, `${event} `, signatureAt(ago(1)))).status).toBe(404)
    expect((await send(account, event, signatureAt(ago(1)))).status).toBe(200)
    expect((await send(account, event, { authorization: `Bearer ${SECRET}` })).status).toBe(200)
  })

  test("Superwall proves a message by Standard Webhooks", async () => {
    const account = await scene.add("superwall")
    const data = {
      id: "s1",
      ts: scene.clock.now.getTime(),
      productId: "tea.year",
      price: 9.99,
      environment: "PRODUCTION",
    }
    const body = JSON.stringify({ object: "event", type: "initial_purchase", data: { ...data, periodType: "TRIAL" } })
    expect((await scene.send(account, body)).status).toBe(404)
    expect((await scene.send(account, `${body} `, signedHeaders(body, scene.clock.now))).status).toBe(404)
    expect((await scene.send(account, body, signedHeaders(body, scene.clock.now))).status).toBe(200)
    expect((await storedEvents(account))[0]?.countsAs).toBe("trial_start")
  })

  test("the App Store proves a notification by Apple's signature for this app", async () => {
    const account = await scene.add("app-store-notifications", "12345")
    const sent = { signedPayload: NOTIFICATION }
    // The message is signed for another app.
    expect((await scene.send(account, sent, {})).status).toBe(404)
    const at = new Date("2026-06-01")
    expect(signedPayload(NOTIFICATION, [ROOT], at)).toMatchObject({ notificationType: "TEST" })
    expect(signedPayload(NOTIFICATION, ["63343abf".padEnd(64, "0")], at)).toBeUndefined()
    const [header, payload = "", signature = ""] = NOTIFICATION.split(".")
    const other = Buffer.from(JSON.stringify({ data: { appAppleId: 12345 } })).toString("base64url")
    expect(signedPayload(`${header}.${other}.${signature}`, [ROOT], at)).toBeUndefined()
    const signedWithHead = (rest: object) => {
      const head = JSON.stringify({ alg: "ES256", x5c: CHAIN, ...rest })
      return `${Buffer.from(head).toString("base64url")}.${payload}.${signature}`
    }
    for (const rest of [
      { alg: "none" },
      { x5c: CHAIN.slice(1) },
      { x5c: [CHAIN[1], CHAIN[1], CHAIN[2]] },
      { x5c: "all" },
    ])
      expect(signedPayload(signedWithHead(rest), [ROOT], at)).toBeUndefined()
  })

  test("a validly signed notification is refused unless each certificate has Apple's mark and its issuer", () => {
    const [payload, at] = [{ notificationType: "TEST" }, new Date()]
    expect(signedPayload(withMarks(payload), [CHAIN_ROOT], at)).toEqual(payload)
    for (const [chain, text] of Object.entries(withoutMarks(payload)))
      expect([chain, signedPayload(text, [CHAIN_ROOT], at)]).toEqual([chain, undefined])
  })
})

describe("parsers of billing messages", () => {
  test("every RevenueCat sample is parsed, including trials, conversions and refunds", () => {
    const samples = JSON.parse(readFileSync("fixtures/upstream/revenuecat-webhooks.json", "utf8")) as object[]
    const read = samples.map(revenueCatEvent)
    expect(read.filter((event) => event === null)).toEqual([])
    expect(new Set(read.map((event) => event?.countsAs))).toEqual(
      new Set([
        ...(["paid_start", "renewal", "cancellation", "uncancellation", "one_time", "other", "billing_issue"] as const),
        ...(["refund", "plan_change", "trial_start", "expiration"] as const),
      ]),
    )
    const refund = read.find((event) => event?.countsAs === "refund")
    expect([refund?.price, refund?.priceUsd]).toEqual(["-9.99", "-9.99"])
    expect(revenueCatEvent(purchase({ id: "c", is_trial_conversion: true }))?.countsAs).toBe("trial_conversion")
    expect(read.find((event) => event?.countsAs === "one_time")).toMatchObject({
      price: "32.99",
      priceUsd: "25.487",
      currency: "CAD",
    })
  })

  test("Adapty, Superwall and App Store messages are parsed, including the store's thousandths", () => {
    const properties = {
      profile_event_id: "a1",
      vendor_product_id: "tea.year",
      store: "app_store",
      environment: "Production",
    }
    const money = { price_local: 19.99, price_usd: 23.21, currency: "EUR", store_country: "DE" }
    const adapty = { event_type: "trial_converted", event_datetime: "2026-06-01T00:00:00.000000+0000" }
    expect(adaptyEvent({ ...adapty, event_properties: { ...properties, ...money } })).toMatchObject({
      eventId: "a1",
      countsAs: "trial_conversion",
      price: "19.99",
      priceUsd: "23.21",
      country: "de",
      countryIs: "storefront",
    })
    const data = { id: "s1", ts: 1_780_000_000_000, environment: "SANDBOX", price: -9.99 }
    expect(superwallEvent({ type: "cancellation", data })).toMatchObject({ countsAs: "refund", environment: "sandbox" })
    const notification = {
      notificationUUID: "n1",
      notificationType: "REFUND",
      signedDate: 1_780_000_000_000,
      data: { environment: "Production" },
    }
    expect(
      storeNotification(notification, { price: 19990, currency: "EUR", storefront: "DEU", productId: "tea.year" }),
    ).toMatchObject({
      countsAs: "refund",
      price: "-19.99",
      country: "de",
      countryIs: "storefront",
      environment: "production",
    })
  })
})
