import { afterEach, beforeAll, beforeEach, expect, test } from "bun:test"
import { createSealer } from "../../../src/access/sealed.ts"
import { claimChannels, readHead, release, settle } from "../../../src/alerts/delivery/channel-leases.ts"
import { findChannel } from "../../../src/alerts/delivery/channels.ts"
import { queueDeliveries } from "../../../src/alerts/delivery/queue.ts"
import type { Delivery } from "../../../src/alerts/delivery/worker.ts"
import type { Sql } from "../../../src/database/types.ts"
import { freshDatabase } from "../../database.ts"
import { gateway, until } from "../../jobs/platform.ts"
import { slow } from "../../long.ts"
import { distinct, idOf, type Receiver, receiver } from "./receiver.ts"
import { addAlerts, createScene, deliveries, deliveryOf, hook, rule, type Scene } from "./scene.ts"

let sql: Sql
let scene: Scene
let standIn: Receiver
const running: Delivery[] = []

beforeAll(async () => {
  sql = await freshDatabase()
})
beforeEach(async () => {
  standIn = receiver()
  await sql`delete from channel`
  await sql`delete from alert_to_deliver`
  scene = await createScene(sql)
  await rule(scene, "rank_drop")
})
afterEach(async () => {
  await Promise.all(running.splice(0).map((delivery) => delivery.stop()))
  await standIn.stop()
})

function startDelivery(options = {}): Delivery {
  const delivery = deliveryOf(sql, options)
  running.push(delivery)
  delivery.start()
  return delivery
}

const listDelivered = async () => (await deliveries(scene)).filter(({ state }) => state === "delivered")

slow("forty receivers get all their alerts within 5 s while ten other receivers hang", async () => {
  for (let i = 0; i < 50; i++) await hook(scene, `${standIn.url}/${i}`)
  for (let i = 0; i < 50; i += 5) standIn.on(`/${i}`, () => new Promise(() => {}))
  const since = performance.now()
  startDelivery()
  await addAlerts(scene, 3)
  await until(async () => (await listDelivered()).length === 120)
  const tookMs = performance.now() - since
  process.stdout.write(`40 of 50 receivers served in ${Math.round(tookMs)} ms\n`)
  expect(tookMs).toBeLessThan(5_000)
  for (let i = 0; i < 50; i++) expect(standIn.at(`/${i}`)).toHaveLength(i % 5 === 0 ? 1 : 3)
})

slow("a channel sends one alert at a time and in order, even with several processes", async () => {
  await hook(scene, `${standIn.url}/slow`)
  let [now, peak] = [0, 0]
  standIn.on("/slow", async () => {
    peak = Math.max(peak, ++now)
    await Bun.sleep(15)
    now--
    return new Response()
  })
  const alerts = await addAlerts(scene, 30)
  for (let i = 0; i < 4; i++) startDelivery()
  await until(async () => (await listDelivered()).length === 30)
  expect(peak).toBe(1)
  expect(standIn.at("/slow").map(({ body }) => JSON.parse(body).data.id)).toEqual(alerts)
  expect(distinct(standIn.at("/slow").map(idOf))).toHaveLength(30)
})

slow("a stopping process ends within 2 s and releases hanging deliveries; the next process resends them", async () => {
  await hook(scene, `${standIn.url}/hangs`)
  standIn.on("/hangs", (_, before) => (before === 0 ? new Promise<Response>(() => {}) : new Response()))
  await addAlerts(scene)
  const delivery = startDelivery()
  await until(() => standIn.at("/hangs").length === 1)
  const since = performance.now()
  await delivery.stop()
  expect(performance.now() - since).toBeLessThan(2_000)
  expect(await deliveries(scene)).toMatchObject([{ state: "waiting", attempts: 0 }])
  expect(await deliveryOf(sql).runOnce()).toBe(1)
  expect(await listDelivered()).toHaveLength(1)
  expect(distinct(standIn.at("/hangs").map(idOf))).toHaveLength(1)
})

test("a process that lost its lease sends and stores nothing more", async () => {
  await hook(scene, `${standIn.url}/fenced`)
  await addAlerts(scene, 2)
  await queueDeliveries(sql)
  const [zombie] = await claimChannels(sql, { limit: 5, leaseMs: 60_000 })
  expect(await claimChannels(sql, { limit: 5, leaseMs: 60_000 })).toEqual([])
  const head = await readHead(sql, zombie!, 60_000)
  await sql`update channel set lease_until = now() - interval '1 s'`
  expect(await readHead(sql, zombie!, 60_000)).toBeNull()
  const [next] = await claimChannels(sql, { limit: 5, leaseMs: 60_000 })
  expect(next!.lease).not.toBe(zombie!.lease)
  const outcome = { ids: [head!.id], retries: { retriesMs: [], random: 0 }, gapMs: 0 }
  expect(await settle(sql, zombie!, { ...outcome, sent: { result: "failed", failure: "late" } })).toBe(false)
  await release(sql, zombie!)
  expect(await deliveries(scene)).toMatchObject([{ attempts: 0 }, { attempts: 0 }])
  expect((await readHead(sql, next!, 60_000))!.id).toBe(head!.id)
  expect(await settle(sql, next!, { ...outcome, sent: { result: "delivered" } })).toBe(true)
})

test("an alert found while a delivery ends is not lost", async () => {
  await hook(scene, `${standIn.url}/late`)
  const { open, opened } = gateway()
  standIn.on("/late", async (_, before) => {
    if (before === 0) await opened
    return new Response()
  })
  await addAlerts(scene)
  const run = deliveryOf(sql).runOnce()
  await until(() => standIn.at("/late").length === 1)
  await addAlerts(scene)
  await queueDeliveries(sql)
  open()
  await run
  await deliveryOf(sql).runOnce()
  expect(await listDelivered()).toHaveLength(2)
})

test("a delivery to a channel that cannot be decrypted waits, and the channel shows the reason", async () => {
  const { id } = await hook(scene, `${standIn.url}/sealed`)
  await addAlerts(scene)
  expect(await deliveryOf(sql, { sealer: await createSealer(null) }).runOnce()).toBe(1)
  expect(await deliveries(scene)).toMatchObject([{ state: "waiting", attempts: 0 }])
  const channel = await findChannel(sql, scene.workspaceId, id)
  expect(channel.failure).toStartWith("this needs SECRET_KEY")
  expect(await deliveryOf(sql).runOnce()).toBe(0)
  expect(standIn.requests).toEqual([])
})
