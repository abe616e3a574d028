import { afterEach, beforeEach, expect, setDefaultTimeout } from "bun:test"
import { join } from "node:path"
import { CHANNELS } from "../../../src/alerts/delivery/channel-kinds.ts"
import type { DeliveryOptions } from "../../../src/alerts/delivery/worker.ts"
import type { Sql } from "../../../src/database/types.ts"
import { freshDatabase, scratchUrl } from "../../database.ts"
import { until } from "../../jobs/platform.ts"
import { longOnServer } from "../../long.ts"
import { distinct, idOf, type Receiver, receiver } from "./receiver.ts"
import { addAlerts, createScene, deliveryOf, hook, rule, type Scene } from "./scene.ts"
import { addService, SERVICES, toStandIn } from "./services.ts"

setDefaultTimeout(180_000)

let sql: Sql
let scene: Scene
let standIn: Receiver
const children: Bun.Subprocess[] = []

beforeEach(async () => {
  standIn = receiver()
  if (!process.env.DATABASE_URL) return
  sql = await freshDatabase()
  scene = await createScene(sql)
  await rule(scene, "rank_drop")
})
afterEach(async () => {
  for (const child of children.splice(0)) child.kill("SIGKILL")
  await standIn.stop()
})

/** Leases short enough to wait until they expire. */
const SHORT = { leaseMs: 250, timeoutMs: 200 }

/** Starts delivery-process.ts on this test's database, and waits until it polls. */
async function startProcess(options: Partial<DeliveryOptions> = SHORT, standInUrl?: string) {
  const task = JSON.stringify({ databaseUrl: scratchUrl(sql), options, standIn: standInUrl })
  const child = Bun.spawn([process.execPath, join(import.meta.dirname, "delivery-process.ts"), task], {
    stdout: "pipe",
    stderr: "inherit",
  })
  children.push(child)
  const reader = child.stdout.getReader()
  const { value } = await reader.read()
  expect(new TextDecoder().decode(value)).toBe("ready\n")
  reader.releaseLock()
  return child
}

const hasWaiting = async () => (await sql`select 1 from delivery where state = 'waiting' limit 1`).length > 0
const hasUnqueued = async () => (await sql`select 1 from alert_to_deliver limit 1`).length > 0

const WORKSPACES = 20
const ALERTS = 1_000
const KILLS = 30
/** Minimum number of requests by killed processes; a slow machine needs more kills. */
const MEANWHILE = 100

longOnServer(
  `postgres: ${ALERTS} alerts are each delivered with a single id despite ${KILLS} killed processes`,
  async () => {
    const scenes = [scene]
    const delivered = new Set<number>()
    while (scenes.length < WORKSPACES) scenes.push(await createScene(sql))
    for (const [index, target] of scenes.entries()) {
      if (index > 0) await rule(target, "rank_drop")
      await hook(target, `${standIn.url}/${index}`)
      standIn.on(`/${index}`, async ({ body }, before) => {
        await Bun.sleep((index + before) % 7)
        if (before % 20 === 19) return new Response(null, { status: 500 })
        delivered.add(JSON.parse(body).data.id)
        return new Response(null, { status: 204 })
      })
    }
    const alerts = new Map<number, string>()
    let kills = 0
    const killRepeatedly = async (seed: number) => {
      while (kills < KILLS || standIn.requests.length <= MEANWHILE) {
        const child = await startProcess()
        const index = kills++
        const places = index < KILLS ? [index, index + 7] : []
        for (const place of places)
          for (const id of await addAlerts(scenes[place % WORKSPACES]!, 10)) alerts.set(id, `/${place % WORKSPACES}`)
        // later processes live longer
        await Bun.sleep((60 + ((seed * 37 + index * 53) % 200)) * Math.max(1, index / KILLS))
        child.kill("SIGKILL")
        await child.exited
      }
    }
    await Promise.all([killRepeatedly(1), killRepeatedly(2)])
    const requestsSoFar = standIn.requests.length
    if (alerts.size < ALERTS) for (const id of await addAlerts(scene, ALERTS - alerts.size)) alerts.set(id, "/0")
    const last = deliveryOf(sql)
    last.start()
    await until(async () => !(await hasUnqueued()) && !(await hasWaiting()), 90_000)
    await last.stop()
    expect(kills).toBeGreaterThanOrEqual(KILLS)
    expect(alerts.size).toBeGreaterThanOrEqual(ALERTS)
    const requestsById = Map.groupBy(standIn.requests, ({ body }) => JSON.parse(body).data.id as number)
    const twice = standIn.requests.length - distinct(standIn.requests.map(idOf)).length
    process.stdout.write(
      `${kills} kills, ${requestsSoFar} of ${standIn.requests.length} requests meanwhile, ${twice} repeated\n`,
    )
    expect(requestsSoFar).toBeGreaterThan(MEANWHILE)
    for (const [id, path] of alerts) {
      expect([id, delivered.has(id)]).toEqual([id, true])
      const requests = requestsById.get(id) ?? []
      expect(distinct(requests.map((request) => request.path))).toEqual([path])
      expect(distinct(requests.map(idOf))).toHaveLength(1)
    }
    expect(requestsById.size).toBe(alerts.size)
    const states = await sql`select state, count(*)::int as count from delivery group by state order by state`
    expect([...states]).toEqual([{ state: "delivered", count: alerts.size }])
  },
)

const CHAT_KILLS = 8
const CHAT_ALERTS = 10
/** Minimum number of requests by killed processes; a slow machine needs more kills. */
const CHAT_MEANWHILE = 40

longOnServer(`postgres: alerts to all kinds of chats arrive despite ${CHAT_KILLS} killed processes`, async () => {
  await rule(scene, "rank_rise", { channels: [...CHANNELS] })
  for (const service of SERVICES) {
    await addService(service, scene, standIn)
    standIn.on(service.path, async (request, before) => {
      await Bun.sleep(before % 5)
      return before % 11 === 10 ? new Response(null, { status: 500 }) : service.answer(request)
    })
  }
  const gapsMs = Object.fromEntries(CHANNELS.map((kind) => [kind, 0]))
  const options = { ...SHORT, telegramApi: standIn.url, gapsMs }
  let kills = 0
  while (kills < CHAT_KILLS || standIn.requests.length <= CHAT_MEANWHILE) {
    const child = await startProcess(options, standIn.url)
    const details = { type: "rank_rise", was: 12, rank: 5, term: `tea ${kills}` }
    if (kills < CHAT_KILLS) await addAlerts(scene, CHAT_ALERTS, details)
    await Bun.sleep(150 + ((kills * 53) % 200) + kills * 20)
    child.kill("SIGKILL")
    await child.exited
    kills++
  }
  const requestsSoFar = standIn.requests.length
  const last = deliveryOf(sql, { telegramApi: standIn.url, gapsMs, outbound: toStandIn(standIn.url) })
  last.start()
  await until(async () => !(await hasUnqueued()) && !(await hasWaiting()), 90_000)
  await last.stop()
  expect(requestsSoFar).toBeGreaterThan(CHAT_MEANWHILE)
  const states = await sql`
      select c.kind, d.state, count(*)::int as count
      from delivery d
      join channel c on c.id = d.channel_id
      group by 1, 2
      order by 1`
  const expected = SERVICES.map(({ kind }) => ({ kind, state: "delivered", count: CHAT_KILLS * CHAT_ALERTS }))
  expect([...states]).toEqual(expected.sort((a, b) => (a.kind < b.kind ? -1 : 1)))
  for (const { kind, path, textOf } of SERVICES) {
    const texts = standIn.at(path).map(textOf)
    expect([kind, distinct(texts).length]).toEqual([kind, CHAT_KILLS * CHAT_ALERTS])
    const failed = Math.floor(texts.length / 11)
    // a kill can repeat the attempt that it ended, and nothing else is sent twice
    expect(texts.length - distinct(texts).length).toBeLessThanOrEqual(failed + kills)
  }
})

longOnServer(
  "postgres: SIGTERM during a delivery ends the process within 2 s with exit code 0 and loses no alert",
  async () => {
    await hook(scene, `${standIn.url}/hangs`)
    standIn.on("/hangs", (_, before) => (before === 0 ? new Promise<Response>(() => {}) : new Response()))
    const child = await startProcess({ leaseMs: 30_000, timeoutMs: 20_000 })
    await addAlerts(scene)
    await until(() => standIn.requests.length === 1)
    const since = performance.now()
    child.kill("SIGTERM")
    expect(await child.exited).toBe(0)
    expect(performance.now() - since).toBeLessThan(2_000)
    await deliveryOf(sql).runOnce()
    expect(await hasWaiting()).toBe(false)
    expect(distinct(standIn.requests.map(idOf))).toHaveLength(1)
  },
)
