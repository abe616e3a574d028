import { afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test"
import { setTimeout } from "node:timers/promises"
import { addChannel, findChannel } from "../../../src/alerts/delivery/channels.ts"
import { testChannel } from "../../../src/alerts/delivery/test-channel.ts"
import type { DeliveryOptions } from "../../../src/alerts/delivery/worker.ts"
import type { Sql } from "../../../src/database/types.ts"
import { createLog } from "../../../src/lib/log.ts"
import { safeFetch } from "../../../src/outbound/safe-fetch.ts"
import { freshDatabase } from "../../database.ts"
import { until } from "../../jobs/platform.ts"
import { slow } from "../../long.ts"
import { type ReceivedRequest, type Receiver, receiver } from "./receiver.ts"
import {
  addAlerts,
  createScene,
  deliveries,
  deliveryOf,
  foundPassings,
  hook,
  hurry,
  rule,
  type Scene,
} from "./scene.ts"

const TOKEN = "123456789:AAEcanaryCanaryCanaryCanaryCanary_-1"
const PATH = `/bot${TOKEN}/sendMessage`
const NAME = "<!channel> *x* [a](http://evil) & <b>_y_</b> @all evil.example 茶"
/** The name in a form in which a chat finds no address and no person. */
const SAFE_NAME = "<!channel> *x* [a](http:\u200b//evil) & <b>_y_</b> @\u200ball evil.\u200bexample 茶"

let sql: Sql
let scene: Scene
let standIn: Receiver
let logged: string[]

beforeAll(async () => {
  sql = await freshDatabase()
})
beforeEach(async () => {
  standIn = receiver()
  logged = []
  await sql`delete from channel`
  scene = await createScene(sql, NAME)
  await rule(scene, "rank_drop", { channels: ["telegram", "slack"] })
})
afterEach(() => standIn.stop())

const log = createLog((line) => void logged.push(line), "debug")
const openDelivery = (options: Partial<DeliveryOptions> = {}) =>
  deliveryOf(sql, { log, telegramApi: standIn.url, gapsMs: { telegram: 0, slack: 0 }, ...options })
const bot = async () =>
  (await addChannel(scene.register, scene.workspaceId, "telegram", { token: TOKEN, chat: "-1001234567890" })).channel.id
const slack = async () =>
  (await addChannel(scene.register, scene.workspaceId, "slack", { url: `${standIn.url}/services/T0/B0/canary` }))
    .channel.id

describe("Telegram", () => {
  test("Telegram gets plain text without parse mode or preview, in the configured chat", async () => {
    await bot()
    await addAlerts(scene)
    await openDelivery().runOnce()
    const [{ body, headers }] = standIn.at(PATH) as [ReceivedRequest]
    expect(JSON.parse(body)).toEqual({
      chat_id: "-1001234567890",
      text: `${SAFE_NAME}: 2025-11-20: "tea" fell from 5 to 12 in the US App Store`,
      link_preview_options: { is_disabled: true },
    })
    expect(headers["content-type"]).toStartWith("application/json")
    expect(await deliveries(scene)).toMatchObject([{ state: "delivered" }])
  })

  test.each([4_000, 4_096, 10_000])(
    "a message with an app name of %p characters is cut to 4,096 characters and splits no emoji",
    async (length) => {
      await sql`update tracked_app set name = ${"😀".repeat(length / 2)} where id = ${scene.appId}`
      await bot()
      await addAlerts(scene)
      await openDelivery().runOnce()
      const { text } = JSON.parse(standIn.at(PATH)[0]!.body)
      expect(text.length).toBeWithin(Math.min(length, 4_095), 4_097)
      expect(text.isWellFormed()).toBe(true)
      expect(text.endsWith("…")).toBe(length + 39 > 4_096)
    },
  )

  slow("Telegram's retry_after delays the whole channel and does not count as an attempt", async () => {
    await bot()
    standIn.on(PATH, (_, before) =>
      before === 0
        ? Response.json({ ok: false, parameters: { retry_after: 2 } }, { status: 429 })
        : Response.json({ ok: true }),
    )
    await addAlerts(scene, 3)
    const delivery = openDelivery()
    delivery.start()
    await until(async () => (await deliveries(scene)).filter(({ state }) => state === "delivered").length === 3)
    await delivery.stop()
    const [first, second, ...rest] = standIn.at(PATH)
    expect(second!.at - first!.at).toBeGreaterThanOrEqual(2_000)
    expect(rest).toHaveLength(2)
    expect((await deliveries(scene)).map(({ attempts }) => attempts)).toEqual([1, 1, 1])
  })

  describe("a group that became a supergroup", () => {
    const moved = { ok: false, error_code: 400, parameters: { migrate_to_chat_id: -1_002_222_222_222 } }
    const chatOf = ({ body }: ReceivedRequest) => JSON.parse(body).chat_id
    const chats = () => standIn.at(PATH).map(chatOf)
    const migrateGroup = (atNew: () => Response) =>
      standIn.on(PATH, (request) =>
        chatOf(request) === "-1001234567890" ? Response.json(moved, { status: 400 }) : atNew(),
      )

    test("the group gets the message at its new id, which is stored and shown", async () => {
      const id = await bot()
      migrateGroup(() => Response.json({ ok: true }))
      await addAlerts(scene, 2)
      await openDelivery().runOnce()
      expect(chats()).toEqual(["-1001234567890", "-1002222222222", "-1002222222222"])
      expect((await deliveries(scene)).map(({ state, attempts }) => [state, attempts])).toEqual([
        ["delivered", 1],
        ["delivered", 1],
      ])
      expect(await findChannel(sql, scene.workspaceId, id)).toMatchObject({
        address: "-1002222222222",
        movedFrom: "-1001234567890",
        movedAt: expect.any(Date),
      })
      await addAlerts(scene)
      await openDelivery().runOnce()
      expect(chats().slice(3)).toEqual(["-1002222222222"])
    })

    test("the channel keeps the group's new id even if the bot may not write there", async () => {
      const id = await bot()
      migrateGroup(() => Response.json({ ok: false }, { status: 400 }))
      await addAlerts(scene)
      await openDelivery().runOnce()
      await hurry(sql)
      await openDelivery().runOnce()
      expect(chats()).toEqual(["-1001234567890", "-1002222222222", "-1002222222222"])
      expect(await findChannel(sql, scene.workspaceId, id)).toMatchObject({
        address: "-1002222222222",
        failure: "status 400: the chat may not exist, or the bot is not a member",
      })
    })

    test("a message follows only one move of its group per attempt, even if the group moves again", async () => {
      await bot()
      standIn.on(PATH, (_, before) =>
        Response.json({ ok: false, parameters: { migrate_to_chat_id: -100 - before } }, { status: 400 }),
      )
      await addAlerts(scene)
      await openDelivery().runOnce()
      expect(standIn.at(PATH)).toHaveLength(2)
      expect(await deliveries(scene)).toMatchObject([{ state: "waiting", attempts: 1 }])
    })

    test("a test message also follows the group to its new id", async () => {
      const id = await bot()
      migrateGroup(() => Response.json({ ok: true }))
      const port = { outbound: safeFetch, telegramApi: standIn.url, mail: null }
      const { taken, channel } = await testChannel(scene.register, port, scene.workspaceId, id)
      expect([taken, channel.address, channel.movedFrom]).toEqual([true, "-1002222222222", "-1001234567890"])
    })
  })

  test("a closed Telegram topic is reported as closed", async () => {
    const id = await bot()
    const closed = { ok: false, error_code: 400, description: "Bad Request: TOPIC_CLOSED" }
    standIn.on(PATH, () => Response.json(closed, { status: 400 }))
    await addAlerts(scene)
    await openDelivery().runOnce()
    expect(JSON.stringify(await findChannel(sql, scene.workspaceId, id))).toContain("the topic is closed")
  })

  slow("Telegram gets at most one message per second and chat", async () => {
    await bot()
    await addAlerts(scene, 2)
    const delivery = openDelivery({ gapsMs: {} })
    delivery.start()
    await until(() => standIn.at(PATH).length === 2)
    await delivery.stop()
    const [first, second] = standIn.at(PATH)
    expect(second!.at - first!.at).toBeGreaterThanOrEqual(1_000)
  })

  slow("Telegram's token appears in no log line, database row or failure message", async () => {
    const id = await bot()
    const answers = [400, 404, 500, 302, 429, 401]
    standIn.on(
      PATH,
      (_, before) =>
        new Response(`bot${TOKEN} is wrong`, { status: answers[before]!, headers: { location: `/bot${TOKEN}` } }),
    )
    await addAlerts(scene)
    for (const _ of answers) {
      await openDelivery().runOnce()
      await hurry(sql)
    }
    expect(standIn.at(PATH)).toHaveLength(answers.length)
    expect(await findChannel(sql, scene.workspaceId, id)).toMatchObject({
      state: "disabled",
      disabled: "status 401: the bot's token is no longer valid",
    })
    // no listener, no such host, no valid address
    for (const telegramApi of ["http://127.0.0.1:1", "http://nobody.invalid", "http://[bad"]) {
      await bot()
      await addAlerts(scene)
      await openDelivery({ telegramApi }).runOnce()
    }
    const rows = [await sql`select * from channel`, await sql`select * from delivery`]
    expect(logged.length).toBeGreaterThan(5)
    for (const text of [...logged, JSON.stringify(rows)]) {
      expect(text).not.toContain("canary")
      expect(text).not.toContain(TOKEN.split(":")[1]!)
    }
  })
})

describe("Slack", () => {
  test("Slack gets text without mentions or formatting", async () => {
    await slack()
    await addAlerts(scene)
    await openDelivery().runOnce()
    const { text, ...rest } = JSON.parse(standIn.at("/services/T0/B0/canary")[0]!.body)
    expect(text).toBe(
      "&lt;!channel&gt; *x* [a](http:\u200b//evil) &amp; &lt;b&gt;_y_&lt;/b&gt; @\u200ball evil.\u200bexample 茶: " +
        "2025-11-20: " +
        '"tea" fell from 5 to 12 in the US App Store',
    )
    expect(rest).toEqual({ mrkdwn: false, unfurl_links: false, unfurl_media: false })
  })

  test.each([403, 404, 410])("Slack's status %p disables the channel", async (status) => {
    const id = await slack()
    standIn.on("/services/T0/B0/canary", () => new Response("no_service", { status }))
    await addAlerts(scene, 2)
    await openDelivery().runOnce()
    expect(standIn.requests).toHaveLength(1)
    const channel = await findChannel(sql, scene.workspaceId, id)
    expect(channel).toMatchObject({ state: "disabled", undelivered: 2, waiting: 0 })
    expect(channel.address).toBe(`${standIn.url}/…`)
    expect(JSON.stringify([channel, logged])).not.toContain("canary")
  })

  slow("Slack's Retry-After is obeyed", async () => {
    await slack()
    standIn.on("/services/T0/B0/canary", (_, before) =>
      before === 0 ? new Response(null, { status: 429, headers: { "retry-after": "1" } }) : new Response("ok"),
    )
    await addAlerts(scene)
    await openDelivery().runOnce()
    await openDelivery().runOnce()
    expect(standIn.requests).toHaveLength(1)
    await setTimeout(1_050)
    await openDelivery().runOnce()
    expect(standIn.requests).toHaveLength(2)
    expect(await deliveries(scene)).toMatchObject([{ state: "delivered", attempts: 1 }])
  })
})

describe("an event of several alerts", () => {
  const FALL = '"tea" fell from 5 to 12 in the US App Store'
  const NAMES = ["Softly", "Moodleaf", "Daybook", "Quill"]

  test("chats get one message per event, and a webhook gets each alert", async () => {
    await Promise.all([bot(), slack(), hook(scene, `${standIn.url}/hook`)])
    await rule(scene, "rival_passed", { channels: ["telegram", "slack", "webhook"], keywordScope: "all" })
    await addAlerts(scene, 2)
    await foundPassings(scene, NAMES)
    await openDelivery().runOnce()
    const texts = standIn.at(PATH).map(({ body }) => JSON.parse(body).text)
    expect(texts).toEqual([
      `${SAFE_NAME}: 2025-11-20: ${FALL}; 4 apps passed you: Quill, Daybook, Moodleaf and 1 more`,
      `${SAFE_NAME}: 2025-11-20: ${FALL.replace("tea", "tea 2")}`,
    ])
    expect(standIn.at("/services/T0/B0/canary")).toHaveLength(2)
    const payloads = standIn.at("/hook").map(({ body }) => JSON.parse(body))
    expect(payloads.map(({ type, data }) => [type, data.rivalName])).toEqual(
      NAMES.map((name) => ["alert.rival_passed", name]),
    )
    expect(new Set((await deliveries(scene)).map(({ state }) => state))).toEqual(new Set(["delivered"]))
  })

  test("a failed message about an event of several alerts is sent again as one message", async () => {
    await bot()
    await rule(scene, "rival_passed", { channels: ["telegram"], keywordScope: "all" })
    standIn.on(PATH, (_, before) => new Response("{}", { status: before === 0 ? 500 : 200 }))
    await addAlerts(scene)
    await foundPassings(scene, NAMES)
    await openDelivery().runOnce()
    expect((await deliveries(scene)).map(({ state, attempts }) => [state, attempts])).toEqual(
      Array(5).fill(["waiting", 1]),
    )
    await hurry(sql)
    await openDelivery().runOnce()
    expect(standIn.at(PATH)).toHaveLength(2)
    expect(new Set(standIn.at(PATH).map(({ body }) => body)).size).toBe(1)
    expect((await deliveries(scene)).map(({ state, attempts }) => [state, attempts])).toEqual(
      Array(5).fill(["delivered", 2]),
    )
  })
})
