import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test"
import { randomBytes } from "node:crypto"
import fc from "fast-check"
import { Webhook } from "standardwebhooks"
import { findChannel, rotateSecret } from "../../../src/alerts/delivery/channels.ts"
import { RETRIES_MS } from "../../../src/alerts/delivery/schedule.ts"
import { makeSecret, webhook } from "../../../src/alerts/delivery/webhook.ts"
import type { Sql } from "../../../src/database/types.ts"
import { safeFetch } from "../../../src/outbound/safe-fetch.ts"
import { freshDatabase } from "../../database.ts"
import { until } from "../../jobs/platform.ts"
import { slow } from "../../long.ts"
import { distinct, idOf, type ReceivedRequest, type Receiver, receiver } from "./receiver.ts"
import { addAlerts, createScene, deliveries, deliveryOf, hook, hurry, outbound, rule, type Scene } from "./scene.ts"

let sql: Sql
let scene: Scene
let standIn: Receiver

beforeAll(async () => {
  sql = await freshDatabase()
  standIn = receiver()
})
beforeEach(async () => {
  standIn.requests.length = 0
  await sql`update channel set disabled = 'of another test', disabled_at = now() where disabled is null`
  scene = await createScene(sql)
  await rule(scene, "rank_drop")
})
afterAll(() => standIn.stop())

const verify = (secret: string, { body, headers }: ReceivedRequest) => new Webhook(secret).verify(body, headers)

async function deliverOnce(options = {}): Promise<void> {
  await deliveryOf(sql, options).runOnce()
}

describe("the signature", () => {
  test("the reference library accepts the signatures of a thousand bodies and rejects every changed body", async () => {
    const sentences = fc.sample(fc.string({ unit: "grapheme", maxLength: 200 }), { seed: 7, numRuns: 1_000 })
    const secret = makeSecret(randomBytes)
    expect(secret).toMatch(/^whsec_[\w+/]{43}=$/)
    const sent: ReceivedRequest[] = []
    const port = {
      outbound: (async (_: string, { headers, body }: { headers: Record<string, string>; body: string }) => {
        sent.push({ path: "", search: "", headers, body, at: 0 })
        return { url: "", status: 200, headers: new Headers(), bytes: new Uint8Array() }
      }) as typeof safeFetch,
      telegramApi: undefined,
      mail: null,
      channelId: "ch_1",
      signal: new AbortController().signal,
      now: () => new Date(),
      timeoutMs: 1_000,
    }
    for (const [index, sentence] of sentences.entries()) {
      const message = {
        id: `msg_${index}`,
        type: "alert.test",
        at: "2025-11-20T06:12:41Z",
        data: { sentence },
        text: "",
      }
      await webhook.send({ url: "https://x.example", secret }, message, port)
    }
    expect(sent).toHaveLength(1_000)
    for (const [index, request] of sent.entries()) {
      expect(verify(secret, request)).toEqual({
        type: "alert.test",
        timestamp: "2025-11-20T06:12:41Z",
        data: { sentence: sentences[index]! },
      })
      const bytes = Buffer.from(request.body)
      bytes[index % bytes.length]! ^= 1 << (index % 8)
      expect(() => verify(secret, { ...request, body: bytes.toString("latin1") })).toThrow()
      expect(() => verify(makeSecret(randomBytes), request)).toThrow()
    }
  })

  test("messages are signed with both secrets for 24 hours after a rotation, then with the newer secret", async () => {
    const { id, secret } = await hook(scene, `${standIn.url}/rotated`)
    const { secret: newer, channel } = await rotateSecret(scene.register, scene.workspaceId, id)
    expect(channel.earlierSecretUntil!.getTime() - Date.now()).toBeWithin(86_390_000, 86_410_000)
    await addAlerts(scene)
    await deliverOnce()
    const [both] = standIn.at("/rotated") as [ReceivedRequest]
    verify(secret, both)
    verify(newer, both)
    await sql`update channel set earlier_until = now() - interval '1 s' where id = ${id}`
    await addAlerts(scene)
    await deliverOnce()
    const laterRequest = standIn.at("/rotated")[1]!
    verify(newer, laterRequest)
    expect(() => verify(secret, laterRequest)).toThrow()
    expect(laterRequest.headers["webhook-signature"]).not.toContain(" ")
  })
})

slow("five attempts of a delivery have the same id and five signed timestamps", async () => {
  const { secret } = await hook(scene, `${standIn.url}/late`)
  standIn.on("/late", (_, before) => new Response(null, { status: before < 4 ? [500, 302, 404, 503][before]! : 200 }))
  const [alert] = await addAlerts(scene)
  const delivery = deliveryOf(sql, { retriesMs: Array(9).fill(1_100) })
  delivery.start()
  await until(async () => (await deliveries(scene)).some(({ state }) => state === "delivered"))
  await delivery.stop()
  const requests = standIn.at("/late")
  expect(requests).toHaveLength(5)
  expect(distinct(requests.map(idOf))).toHaveLength(1)
  expect(distinct(requests.map(({ headers }) => headers["webhook-timestamp"]))).toHaveLength(5)
  expect(distinct(requests.map(({ body }) => body))).toHaveLength(1)
  for (const request of requests) verify(secret, request)
  expect(await deliveries(scene)).toMatchObject([
    { id: idOf(requests[0]!), alertId: alert!, attempts: 5, failure: null },
  ])
})

test("the body of a webhook is the alert as the feed returns it", async () => {
  await hook(scene, `${standIn.url}/body`)
  const [id] = await addAlerts(scene)
  await deliverOnce()
  const [request] = standIn.at("/body") as [ReceivedRequest]
  expect(request.headers["content-type"]).toBe("application/json; charset=utf-8")
  const { type, timestamp, data, ...rest } = JSON.parse(request.body)
  expect([type, timestamp, rest]).toEqual(["alert.rank_drop", "2025-11-20T06:12:41.000Z", {}])
  expect(data).toMatchObject({
    id,
    type: "rank_drop",
    appId: scene.appId,
    appName: "Tea Timer",
    platform: "ios",
    country: "us",
    before: 5,
    after: 12,
    term: "tea",
    sentence: '"tea" fell from 5 to 12 in the US App Store',
    rivalId: null,
    depth: 100,
  })
  expect(request.body.length).toBeLessThan(20_000)
})

describe("the schedule", () => {
  slow("a delivery is given up after ten attempts within 75 h 35 min, as in Standard Webhooks", async () => {
    await hook(scene, `${standIn.url}/down`)
    standIn.on("/down", () => new Response(null, { status: 500 }))
    await addAlerts(scene)
    const random = [0, 0.999, 0.5]
    const gaps: number[] = []
    for (let attempt = 1; attempt <= 10; attempt++) {
      await deliverOnce({ retriesMs: undefined, random: () => random[attempt % 3]! })
      expect(standIn.at("/down")).toHaveLength(attempt)
      const [row] = await sql<{ ms: number | null }[]>`
        select extract(epoch from next_at - now())::float8 * 1000 as ms
        from delivery
        where alert_id in (select id from alert where workspace_id = ${scene.workspaceId})`
      if (row!.ms !== null) gaps.push(row!.ms)
      // nothing is retried immediately
      await deliverOnce({ retriesMs: undefined })
      expect(standIn.at("/down")).toHaveLength(attempt)
      await hurry(sql)
    }
    const listed = [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400].map((s) => s * 1_000)
    expect(RETRIES_MS).toEqual(listed)
    expect(listed.reduce((sum, gap) => sum + gap)).toBe(((75 * 60 + 35) * 60 + 5) * 1_000)
    expect(gaps).toHaveLength(9)
    for (const [index, gap] of gaps.entries())
      expect(Math.abs(gap / listed[index]! - 1)).toBeLessThan(index === 0 ? 0.25 : 0.201)
    expect(await deliveries(scene)).toMatchObject([{ state: "undelivered", attempts: 10, failure: "status 500" }])
    expect(await findChannel(sql, scene.workspaceId, (await deliveries(scene))[0]!.channelId)).toMatchObject({
      state: "on",
      waiting: 0,
      undelivered: 1,
      failures: 10,
      failure: "status 500",
      lastOk: null,
    })
  })

  test("a receiver's request to wait is obeyed, and a response of 429 does not count as an attempt", async () => {
    const { id } = await hook(scene, `${standIn.url}/busy`)
    const answers = [
      new Response(null, { status: 429, headers: { "retry-after": "600" } }),
      new Response(null, { status: 503, headers: { "retry-after": "1200" } }),
    ]
    standIn.on("/busy", (_, before) => answers[before] ?? new Response())
    await addAlerts(scene, 2)
    const untilNext = async () => {
      const [row] = await sql<{ s: number }[]>`
        select extract(epoch from next_at - now())::float8 as s from channel where id = ${id}`
      return row!.s
    }
    await deliverOnce()
    expect(await untilNext()).toBeWithin(595, 601)
    expect((await deliveries(scene)).map(({ attempts }) => attempts)).toEqual([0, 0])
    await hurry(sql)
    await deliverOnce()
    expect(await untilNext()).toBeWithin(1_195, 1_201)
    expect((await deliveries(scene)).map(({ attempts }) => attempts)).toEqual([1, 0])
    expect(standIn.at("/busy")).toHaveLength(2)
  })

  test("a refused message does not delay other messages", async () => {
    await hook(scene, `${standIn.url}/picky`)
    const [first] = await addAlerts(scene, 3)
    standIn.on("/picky", ({ body }) => new Response(null, { status: JSON.parse(body).data.id === first ? 400 : 200 }))
    const delivery = deliveryOf(sql, { retriesMs: [30, 60_000] })
    delivery.start()
    await until(async () => (await deliveries(scene)).filter(({ state }) => state === "delivered").length === 2)
    await delivery.stop()
    expect((await deliveries(scene))[0]).toMatchObject({ state: "waiting", failure: "status 400" })
  })
})

test("status 410 disables the channel, and its waiting and later deliveries become undelivered", async () => {
  const { id } = await hook(scene, `${standIn.url}/gone`)
  standIn.on("/gone", () => new Response(null, { status: 410 }))
  await addAlerts(scene, 3)
  await deliverOnce()
  await addAlerts(scene)
  await deliverOnce()
  expect(standIn.at("/gone")).toHaveLength(1)
  expect((await deliveries(scene)).map(({ state }) => state)).toEqual(Array(4).fill("undelivered"))
  expect(await findChannel(sql, scene.workspaceId, id)).toMatchObject({
    state: "disabled",
    disabled: "status 410: the receiver is gone",
    waiting: 0,
    undelivered: 4,
  })
})

describe("the address guard", () => {
  test("a webhook follows no redirect", async () => {
    await hook(scene, `${standIn.url}/moved`)
    standIn.on("/moved", () => new Response(null, { status: 307, headers: { location: `${standIn.url}/inside` } }))
    await addAlerts(scene)
    await deliverOnce()
    expect(standIn.at("/moved")).toHaveLength(1)
    expect(standIn.at("/inside")).toEqual([])
    expect(await deliveries(scene)).toMatchObject([{ state: "waiting", attempts: 1, failure: "status 307" }])
  })

  test("a webhook to a private address is not sent, unless the operator allows it", async () => {
    await hook(scene, `${standIn.url}/private`)
    await addAlerts(scene)
    await deliverOnce({ outbound: safeFetch })
    expect(standIn.at("/private")).toEqual([])
    expect(await deliveries(scene)).toMatchObject([{ attempts: 1, failure: "its host is not on the public network" }])
    await hurry(sql)
    await deliverOnce({ outbound })
    expect(standIn.at("/private")).toHaveLength(1)
  })
})
