import { afterEach, beforeEach, expect, setDefaultTimeout } from "bun:test"
import { join } from "node:path"
import { CHANNELS } from "../../../src/alerts/delivery/channel-kinds.ts"
import type { DeliveryOptions } from "../../../src/alerts/delivery/worker.ts"
import type { Sql } from "../../../src/database/types.ts"
import { freshDatabase, scratchUrl } from "../../database.ts"
import { until } from "../../jobs/platform.ts"
import { longOnServer } from "../../long.ts"
import { distinct, idOf, type Receiver, receiver } from "./receiver.ts"
import { found, hook, rule, type Scene, scene, telling } from "./scene.ts"
import { addService, SERVICES, toStandIn } from "./services.ts"

setDefaultTimeout(180_000)

let sql: Sql
let at: Scene
let there: Receiver
const children: Bun.Subprocess[] = []

beforeEach(async () => {
  there = receiver()
  if (!process.env.DATABASE_URL) return
  sql = await freshDatabase()
  at = await scene(sql)
  await rule(at, "rank_drop")
})
afterEach(async () => {
  for (const child of children.splice(0)) child.kill("SIGKILL")
  await there.stop()
})

/** Leases short enough to wait until they expire. */
const SHORT = { leaseMs: 250, timeoutMs: 200 }

/** Starts delivery-process.ts on this test's database, and waits until it polls. */
async function started(options: Partial<DeliveryOptions> = SHORT, standIn?: string) {
  const task = JSON.stringify({ databaseUrl: scratchUrl(sql), options, standIn })
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

const left = async () => (await sql`select 1 from delivery where state = 'waiting' limit 1`).length > 0
const unqueued = async () => (await sql`select 1 from alert_to_deliver limit 1`).length > 0

const WORKSPACES = 20
const ALERTS = 1_000
const KILLS = 30
/** Minimum number of requests by killed processes; a slow machine needs more kills. */
const MEANWHILE = 100

longOnServer(
  `postgres: ${ALERTS} alerts under ${KILLS} kills are each delivered at least once, under one id`,
  async () => {
    const scenes = [at]
    const taken = new Set<number>()
    while (scenes.length < WORKSPACES) scenes.push(await scene(sql))
    for (const [index, one] of scenes.entries()) {
      if (index > 0) await rule(one, "rank_drop")
      await hook(one, `${there.url}/${index}`)
      there.on(`/${index}`, async ({ body }, before) => {
        await Bun.sleep((index + before) % 7)
        if (before % 20 === 19) return new Response(null, { status: 500 })
        taken.add(JSON.parse(body).data.id)
        return new Response(null, { status: 204 })
      })
    }
    const alerts = new Map<number, string>()
    let kills = 0
    const killing = async (seed: number) => {
      while (kills < KILLS || there.got.length <= MEANWHILE) {
        const child = await started()
        const index = kills++
        const places = index < KILLS ? [index, index + 7] : []
        for (const place of places)
          for (const id of await found(scenes[place % WORKSPACES]!, 10)) alerts.set(id, `/${place % WORKSPACES}`)
        // later processes live longer
        await Bun.sleep((60 + ((seed * 37 + index * 53) % 200)) * Math.max(1, index / KILLS))
        child.kill("SIGKILL")
        await child.exited
      }
    }
    await Promise.all([killing(1), killing(2)])
    const meanwhile = there.got.length
    if (alerts.size < ALERTS) for (const id of await found(at, ALERTS - alerts.size)) alerts.set(id, "/0")
    const last = telling(sql)
    last.start()
    await until(async () => !(await unqueued()) && !(await left()), 90_000)
    await last.stop()
    expect(kills).toBeGreaterThanOrEqual(KILLS)
    expect(alerts.size).toBeGreaterThanOrEqual(ALERTS)
    const asked = Map.groupBy(there.got, ({ body }) => JSON.parse(body).data.id as number)
    const twice = there.got.length - distinct(there.got.map(idOf)).length
    process.stdout.write(`${kills} kills, ${meanwhile} of ${there.got.length} requests meanwhile, ${twice} repeated\n`)
    expect(meanwhile).toBeGreaterThan(MEANWHILE)
    for (const [id, path] of alerts) {
      expect([id, taken.has(id)]).toEqual([id, true])
      const got = asked.get(id) ?? []
      expect(distinct(got.map((one) => one.path))).toEqual([path])
      expect(distinct(got.map(idOf))).toHaveLength(1)
    }
    expect(asked.size).toBe(alerts.size)
    const states = await sql`select state, count(*)::int as count from delivery group by state order by state`
    expect([...states]).toEqual([{ state: "delivered", count: alerts.size }])
  },
)

const CHAT_KILLS = 8
const CHAT_ALERTS = 10
/** Minimum number of requests by killed processes; a slow machine needs more kills. */
const CHAT_MEANWHILE = 40

longOnServer(
  `postgres: alerts to every kind of chat under ${CHAT_KILLS} kills arrive, and only a killed attempt is repeated`,
  async () => {
    await rule(at, "rank_rise", { channels: [...CHANNELS] })
    for (const service of SERVICES) {
      await addService(service, at, there)
      there.on(service.path, async (got, before) => {
        await Bun.sleep(before % 5)
        return before % 11 === 10 ? new Response(null, { status: 500 }) : service.answer(got)
      })
    }
    const gapsMs = Object.fromEntries(CHANNELS.map((kind) => [kind, 0]))
    const options = { ...SHORT, telegramApi: there.url, gapsMs }
    let kills = 0
    while (kills < CHAT_KILLS || there.got.length <= CHAT_MEANWHILE) {
      const child = await started(options, there.url)
      const more = { type: "rank_rise", was: 12, rank: 5, term: `tea ${kills}` }
      if (kills < CHAT_KILLS) await found(at, CHAT_ALERTS, more)
      await Bun.sleep(150 + ((kills * 53) % 200) + kills * 20)
      child.kill("SIGKILL")
      await child.exited
      kills++
    }
    const meanwhile = there.got.length
    const last = telling(sql, { telegramApi: there.url, gapsMs, outbound: toStandIn(there.url) })
    last.start()
    await until(async () => !(await unqueued()) && !(await left()), 90_000)
    await last.stop()
    expect(meanwhile).toBeGreaterThan(CHAT_MEANWHILE)
    const states = await sql`
      select c.kind, d.state, count(*)::int as count
      from delivery d
      join channel c on c.id = d.channel_id
      group by 1, 2
      order by 1`
    const wanted = SERVICES.map(({ kind }) => ({ kind, state: "delivered", count: CHAT_KILLS * CHAT_ALERTS }))
    expect([...states]).toEqual(wanted.sort((a, b) => (a.kind < b.kind ? -1 : 1)))
    for (const { kind, path, textOf } of SERVICES) {
      const texts = there.at(path).map(textOf)
      expect([kind, distinct(texts).length]).toEqual([kind, CHAT_KILLS * CHAT_ALERTS])
      const failed = Math.floor(texts.length / 11)
      // a kill can repeat the attempt that it ended, and nothing else is sent twice
      expect(texts.length - distinct(texts).length).toBeLessThanOrEqual(failed + kills)
    }
  },
)

longOnServer("postgres: SIGTERM during a delivery ends the process within 2 s with 0, and loses nothing", async () => {
  await hook(at, `${there.url}/hangs`)
  there.on("/hangs", (_, before) => (before === 0 ? new Promise<Response>(() => {}) : new Response()))
  const child = await started({ leaseMs: 30_000, timeoutMs: 20_000 })
  await found(at)
  await until(() => there.got.length === 1)
  const since = performance.now()
  child.kill("SIGTERM")
  expect(await child.exited).toBe(0)
  expect(performance.now() - since).toBeLessThan(2_000)
  await telling(sql).runOnce()
  expect(await left()).toBe(false)
  expect(distinct(there.got.map(idOf))).toHaveLength(1)
})
