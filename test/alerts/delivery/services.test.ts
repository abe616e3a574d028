import { afterAll, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test"
import { Buffer } from "node:buffer"
import { readFileSync } from "node:fs"
import { CHANNEL_KINDS, CHANNELS, type Channel } from "../../../src/alerts/delivery/channel-kinds.ts"
import { addChannel, findChannel } from "../../../src/alerts/delivery/channels.ts"
import { testChannel } from "../../../src/alerts/delivery/test-channel.ts"
import type { Sql } from "../../../src/database/types.ts"
import { createLog } from "../../../src/lib/log.ts"
import { changesPart } from "../../../src/ui/changes.ts"
import { freshDatabase } from "../../database.ts"
import { errorOf } from "../../error-of.ts"
import { type ReceivedRequest, type Receiver, receiver } from "./receiver.ts"
import { addAlerts, createScene, deliveries, deliveryOf, foundPassings, hurry, rule, type Scene } from "./scene.ts"
import { addService, SERVICES, type Service, toStandIn } from "./services.ts"

setDefaultTimeout(60_000)

const FALL = "fell from 5 to 12 in the US App Store"
const HOSTILE =
  "@everyone <@1> **b** [a](http://evil.example) discord.gg/x :smile: `c` {{DATE(2017-02-14T06:08:39Z)}} # x"

let sql: Sql
let scene: Scene
let standIn: Receiver
let logged: string[]

beforeAll(async () => {
  sql = await freshDatabase()
  standIn = receiver()
})
afterAll(() => standIn.stop())
beforeEach(async () => {
  standIn.requests.length = 0
  logged = []
  await sql`delete from channel`
  scene = await createScene(sql)
  for (const type of ["rank_drop", "rival_passed"])
    await rule(scene, type, { channels: [...CHANNELS], ...(type === "rival_passed" && { keywordScope: "all" }) })
})

const log = createLog((line) => void logged.push(line), "debug")
const openDelivery = () => {
  const gapsMs = Object.fromEntries(CHANNELS.map((kind) => [kind, 0]))
  return deliveryOf(sql, { log, telegramApi: standIn.url, outbound: toStandIn(standIn.url), gapsMs })
}
const port = () => ({ outbound: toStandIn(standIn.url), telegramApi: standIn.url, mail: null })

/** Adds a channel of the kind. Returns the stand-in's service. */
async function addAs(kind: Channel): Promise<Service> {
  const service = SERVICES.find((candidate) => candidate.kind === kind) as Service
  standIn.on(service.path, service.answer)
  await addService(service, scene, standIn)
  return service
}

describe.each(SERVICES.map((service) => [service.kind, service] as const))("%s", (_, service) => {
  const { path, endings, busy, textOf } = service
  const texts = () => standIn.at(path).map(textOf)
  const adds = async () => {
    standIn.on(path, service.answer)
    return await addService(service, scene, standIn)
  }

  test("the service gets one message per event, in the words of the feed", async () => {
    const id = await adds()
    await addAlerts(scene, 2)
    await foundPassings(scene, ["Softly", "Moodleaf"])
    await openDelivery().runOnce()
    const unmarked = texts().map((text) => text.replaceAll("\\", ""))
    expect(unmarked).toEqual([
      `Tea Timer: 2025-11-20: "tea" ${FALL}; Moodleaf and Softly passed you`,
      `Tea Timer: 2025-11-20: "tea 2" ${FALL}`,
    ])
    expect(new Set((await deliveries(scene)).map(({ state }) => state))).toEqual(new Set(["delivered"]))
    expect(await findChannel(sql, scene.workspaceId, id)).toMatchObject({ state: "on", waiting: 0 })
  })

  test.each([
    ["emoji", "😀"],
    ["escaped characters", "*"],
    ["three-byte characters", "茶"],
  ])(
    "a message with a very long name of %s is delivered, and the name is cut between characters",
    async (_, letter) => {
      await sql`update tracked_app set name = ${letter.repeat(10_000 / letter.length)} where id = ${scene.appId}`
      await adds()
      await addAlerts(scene)
      await openDelivery().runOnce()
      expect(await deliveries(scene)).toMatchObject([{ state: "delivered", attempts: 1 }])
      const [text = ""] = texts()
      expect([text.isWellFormed(), text.endsWith("…"), text.length > 1_000]).toEqual([true, true, true])
      expect(new Set(text.replaceAll("\\", "").slice(0, -1))).toEqual(new Set([letter]))
    },
  )

  test("a test message arrives, with the same text for every kind of channel", async () => {
    const id = await adds()
    expect(await testChannel(scene.register, port(), scene.workspaceId, id)).toMatchObject({
      taken: true,
      failure: null,
    })
    expect(texts().map((text) => text.replaceAll("\\", ""))).toEqual([
      "This is a test message: alerts from Appmeter arrive here.",
    ])
  })

  test("a service's request to wait delays the channel and does not count as an attempt", async () => {
    await adds()
    standIn.on(path, (request, before) => (before === 0 ? busy() : service.answer(request)))
    await addAlerts(scene)
    await openDelivery().runOnce()
    const [{ wait } = {}] = await sql<{ wait: number }[]>`
      select extract(epoch from paused_until - now())::float8 as wait
      from channel
      where workspace_id = ${scene.workspaceId}`
    expect(wait).toBeWithin(0, 1.1)
    await openDelivery().runOnce()
    expect(standIn.at(path)).toHaveLength(1)
    await hurry(sql)
    await openDelivery().runOnce()
    expect(await deliveries(scene)).toMatchObject([{ state: "delivered", attempts: 1 }])
  })

  test("a failed delivery is retried, and the stored reason contains no text from the response", async () => {
    const id = await adds()
    const failures = [
      () => new Response("canary", { status: 500 }),
      () => new Response("<html>canary</html>", { status: 404 }),
      () => new Response("[canary", { status: 400 }),
      () => new Response(null, { status: 302, headers: { location: "https://canary.example" } }),
    ].filter((failure) => service.kind !== "slack" || failure().status !== 404)
    standIn.on(path, (request, before) => failures[before]?.() ?? service.answer(request))
    await addAlerts(scene)
    for (const _ of failures) {
      await openDelivery().runOnce()
      expect((await deliveries(scene)).map(({ state }) => state)).toEqual(["waiting"])
      await hurry(sql)
    }
    await openDelivery().runOnce()
    expect(await deliveries(scene)).toMatchObject([{ state: "delivered", attempts: failures.length + 1 }])
    const stored = [await sql`select * from channel`, await sql`select * from delivery`]
    expect(JSON.stringify([stored, logged, await findChannel(sql, scene.workspaceId, id)])).not.toContain("canary")
  })

  test.each(endings)("$reason: the channel is disabled until a test message succeeds", async ({ answer, reason }) => {
    const id = await adds()
    standIn.on(path, (request, before) => (before === 0 ? answer() : service.answer(request)))
    await addAlerts(scene, 2)
    await openDelivery().runOnce()
    expect(standIn.at(path)).toHaveLength(1)
    const ended = await findChannel(sql, scene.workspaceId, id)
    expect(ended).toMatchObject({ state: "disabled", undelivered: 2, disabled: expect.stringContaining(reason) })
    const { taken, channel } = await testChannel(scene.register, port(), scene.workspaceId, id)
    expect([taken, channel.state]).toEqual([true, "on"])
  })
})

test("a message counts as delivered if Teams responds with status 202, even with an error in the body", async () => {
  const { path } = await addAs("teams")
  standIn.on(path, () => Response.json({ error: { code: "WorkflowDisabled" } }, { status: 202 }))
  await addAlerts(scene)
  await openDelivery().runOnce()
  expect(await deliveries(scene)).toMatchObject([{ state: "delivered", attempts: 1 }])
})

describe("a hostile name", () => {
  const sendAlert = async (kind: Channel) => {
    await sql`update tracked_app set name = ${HOSTILE} where id = ${scene.appId}`
    const service = await addAs(kind)
    await addAlerts(scene)
    await openDelivery().runOnce()
    return standIn.at(service.path)[0] as ReceivedRequest
  }

  test("a hostile name pings nobody on Discord and contains no unescaped markup", async () => {
    const { body } = await sendAlert("discord")
    const { content, allowed_mentions, flags } = JSON.parse(body)
    expect([allowed_mentions, flags]).toEqual([{ parse: [] }, 4])
    // the name without escaped characters has no markup
    expect(content.replaceAll(/\\./gu, "")).not.toMatch(/[\\*_~`|<>[\]()#@:]|\.\p{L}/u)
    expect(content).toStartWith("\\@\u200beveryone \\<\\@\u200b1\\> \\*\\*b\\*\\*")
  })

  test("a hostile name adds no header, action or Markdown on ntfy", async () => {
    const { body, headers } = await sendAlert("ntfy")
    expect(body).toStartWith("@\u200beveryone")
    const [{ id } = {}] = await deliveries(scene)
    expect(headers).toMatchObject({ title: "Appmeter", tags: "rank_drop", "x-sequence-id": id! })
    expect(Object.keys(headers).filter((name) => /markdown|action|click|attach|email/.test(name))).toEqual([])
  })

  test("a hostile name is one run of plain text on Teams", async () => {
    const { body } = await sendAlert("teams")
    const { body: parts } = JSON.parse(body).attachments[0].content
    expect(parts.map(({ type }: { type: string }) => type)).toEqual(["RichTextBlock"])
    expect(parts[0].inlines).toHaveLength(1)
    expect(parts[0].inlines[0].text).toContain("{\u200b{DATE")
  })
})

describe("the address of a channel", () => {
  test.each<[Channel, Record<string, string>, RegExp]>([
    ["discord", { url: "https://discord.example.com/api/webhooks/1/a" }, /looks like https:\/\/discord\.com/],
    ["discord", { url: "https://discord.com/api/webhooks/1/a/slack" }, /leave out \/slack/],
    ["discord", { url: "https://discord.com/api/webhooks/1/a?thread_id=x" }, /thread_id must be the number/],
    ["teams", { url: "https://tea.webhook.office.com/webhookb2/1" }, /connectors are retired/],
    ["teams", { url: "https://outlook.office.com/webhook/1" }, /connectors are retired/],
    ["teams", { url: "https://prod-1.westeurope.logic.azure.com/workflows/1/triggers/manual" }, /contains sig=/],
    ["teams", { url: "https://powerplatform.com.example.com/?sig=1" }, /powerplatform\.com or logic\.azure\.com/],
    ["ntfy", { url: "https://ntfy.sh/" }, /must end with the topic/],
    ["ntfy", { url: "https://ntfy.sh/tea?auth=1" }, /leave out the part from \?/],
    ["ntfy", { url: "https://me:pass@ntfy.sh/tea" }, /no user name or password/],
    ["ntfy", { url: "https://ntfy.sh/tea", token: "secret" }, /begins with tk_/],
    ["ntfy", { url: "ftp://ntfy.sh/tea" }, /must begin with https/],
  ])("a %s channel with the settings %p is refused with an explanation", async (kind, entered, message) => {
    expect(String(await errorOf(addChannel(scene.register, scene.workspaceId, kind, entered)))).toMatch(message)
  })

  test("the thread_id of a Discord address is kept, and its other query parameters are dropped", async () => {
    const entered = { url: "https://discord.com/api/v10/webhooks/1/abc?thread_id=42&wait=false" }
    const { secret, shown } = CHANNEL_KINDS.discord.check(entered, Buffer.alloc)
    expect([secret.url, shown]).toEqual([
      "https://discord.com/api/v10/webhooks/1/abc?wait=true&thread_id=42",
      "https://discord.com/…",
    ])
  })
})

test("the database schema and the texts about rule changes include every kind of channel", () => {
  const schema = readFileSync("sql/schema/12-alerts.sql", "utf8")
  const quoted = CHANNELS.map((kind) => `'${kind}'`).join(", ")
  expect(schema).toContain(`kind text not null check (kind in (${quoted}))`)
  expect(schema).toContain(`channels <@ array[${quoted}]`)
  const texts = CHANNELS.map((kind) => {
    const part = changesPart({ before: { channels: [] }, after: { channels: [kind] } })
    return part === false ? "" : part.text
  })
  expect(CHANNELS.filter((kind, index) => !texts[index]?.includes(CHANNEL_KINDS[kind].title))).toEqual([])
})
