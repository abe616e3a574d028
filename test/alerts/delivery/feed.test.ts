import { afterAll, beforeAll, expect, test } from "bun:test"
import { randomBytes } from "node:crypto"
import { createKey } from "../../../src/access/key-register.ts"
import { addChannel } from "../../../src/alerts/delivery/channels.ts"
import type { Sql } from "../../../src/database/types.ts"
import { freshDatabase } from "../../database.ts"
import { openService } from "../../service.ts"
import { type Receiver, receiver } from "./receiver.ts"
import { addAlerts, createScene, deliveryOf, hook, hurry, rule } from "./scene.ts"

let sql: Sql
let standIn: Receiver
beforeAll(async () => {
  sql = await freshDatabase()
  standIn = receiver()
})
afterAll(() => standIn.stop())

test("the feed shows the delivery of each alert: undelivered, waiting, delivered, or not wanted", async () => {
  const scene = await createScene(sql)
  await rule(scene, "rank_drop", { channels: ["webhook", "slack"] })
  await hook(scene, `${standIn.url}/down`)
  await addChannel(scene.register, scene.workspaceId, "slack", { url: `${standIn.url}/slack` })
  const down = { status: 500 }
  standIn.on("/down", () => new Response(null, down))
  const [firstId] = await addAlerts(scene)
  await deliveryOf(sql, { retriesMs: [], gapsMs: { slack: 0 } }).runOnce()
  await hurry(sql)
  const [waits] = await addAlerts(scene)
  await deliveryOf(sql, { gapsMs: { slack: 0 } }).runOnce()
  const [unwanted] = await addAlerts(scene, 1, { type: "entered" })
  await sql`update delivery set next_at = now() + interval '1 day' where state = 'waiting'`
  const [workspace] = await sql<{ name: string }[]>`select name from workspace where id = ${scene.workspaceId}`
  const { secret: key } = await createKey(sql, { workspace: workspace!.name, kind: "live", name: "reads" }, randomBytes)
  const { body } = await openService({ sql }).call("/v1/alerts", { key })
  const deliveriesById = Object.fromEntries(
    body.alerts.map((row: { id: number; deliveries: object[] }) => [row.id, row.deliveries]),
  )
  expect(deliveriesById).toEqual({
    [firstId!]: [
      { channel: "slack", state: "delivered" },
      { channel: "webhook", state: "undelivered" },
    ],
    [waits!]: [
      { channel: "slack", state: "delivered" },
      { channel: "webhook", state: "waiting" },
    ],
    [unwanted!]: [],
  })
})
