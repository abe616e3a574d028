import { beforeAll, beforeEach, describe, expect, test } from "bun:test"
import { addChannel, listChannels, removeChannel } from "../../../src/alerts/delivery/channels.ts"
import { queueDeliveries } from "../../../src/alerts/delivery/queue.ts"
import type { Sql } from "../../../src/database/types.ts"
import { freshDatabase } from "../../database.ts"
import { gateway } from "../../jobs/platform.ts"
import { addAlerts, createScene, deliveries, facts, hook, rule, type Scene } from "./scene.ts"

let sql: Sql
let scene: Scene

beforeAll(async () => {
  sql = await freshDatabase()
})
beforeEach(async () => {
  await sql`delete from alert_to_deliver`
  scene = await createScene(sql)
})

const readQueued = async () => {
  await queueDeliveries(sql)
  return (await deliveries(scene)).map(({ alertId }) => alertId)
}
const readWaiting = async () =>
  (await sql<{ id: number }[]>`select alert_id as id from alert_to_deliver`).map(({ id }) => id)

describe("queued alerts", () => {
  test("an alert is queued once for every channel of the kinds that its rule names", async () => {
    const { register, workspaceId } = scene
    const first = await hook(scene, "https://one.example/")
    const second = await hook(scene, "https://two.example/")
    const { channel: slack } = await addChannel(register, workspaceId, "slack", { url: "https://slack.example/x" })
    await addChannel(register, workspaceId, "telegram", { token: "1234567:abcdefghijklmnopqrstuvwxyz", chat: "-100" })
    await rule(scene, "rank_drop", { channels: ["webhook", "slack"], dropBy: 5 })
    const [small] = await addAlerts(scene, 1, { was: 5, rank: 9 })
    const [large] = await addAlerts(scene, 1, { was: 5, rank: 10 })
    await addAlerts(scene, 1, { type: "rank_rise", was: 10, rank: 5 })
    await readQueued()
    await readQueued()
    const rows = await deliveries(scene)
    expect(rows.map(({ channelId }) => channelId).sort()).toEqual([first.id, second.id, slack.id].sort())
    for (const row of rows) {
      expect(row).toMatchObject({ alertId: large!, state: "waiting", attempts: 0 })
      expect(row.id).toMatch(/^msg_[0-9a-f]{32}$/)
      expect(row.alertId).not.toBe(small!)
    }
    expect(new Set(rows.map(({ id }) => id)).size).toBe(3)
    expect(await readWaiting()).toEqual([])
  })

  test("an alert without a tag is not queued for a rule on tagged keywords", async () => {
    await hook(scene, "https://one.example/")
    await rule(scene, "entered", { keywordScope: "tagged" })
    await sql`update tracked_app set keyword_tags = '{"tea": ["hot"]}' where id = ${scene.appId}`
    const [tagged] = await addAlerts(scene, 1, { type: "entered", term: "tea" })
    await addAlerts(scene, 1, { type: "entered", term: "constructor" })
    expect(await readQueued()).toEqual([tagged!])
  })

  test("an alert is not queued if it is older than its rule or its workspace has no channel", async () => {
    await hook(scene, "https://one.example/")
    await addAlerts(scene)
    await rule(scene, "rank_drop")
    const other = await createScene(sql)
    await rule(other, "rank_drop")
    await addAlerts(other)
    const [ownAlert] = await addAlerts(scene)
    expect(await readQueued()).toEqual([ownAlert!])
    expect(await deliveries(other)).toEqual([])
  })

  test("an alert is not queued if its rule is newer, its workspace is suspended or it is of the demo", async () => {
    await hook(scene, "https://one.example/")
    await rule(scene, "rank_drop")
    await addAlerts(scene)
    // a clock of whole milliseconds may return the same time twice
    await sql`
      update alert_rule set created_at = clock_timestamp() + interval '2 ms' where workspace_id = ${scene.workspaceId}`
    expect(await readQueued()).toEqual([])
    await sql`
      insert into alert (workspace_id, app_id, type, platform, storefront, subject, day, at, facts, origin)
      values (${scene.workspaceId}, ${scene.appId}, 'rank_drop', 'ios', 'us', 'demo', '2025-11-20', now(),
        ${sql.json(facts("demo", 5, 12))}, 'demo')`
    expect(await readQueued()).toEqual([])
    await addAlerts(scene)
    await sql`update workspace set suspended_at = now() where id = ${scene.workspaceId}`
    expect(await readQueued()).toEqual([])
    expect(await readWaiting()).toEqual([])
  })

  test("an alert without a rule adds no row to the queue", async () => {
    await hook(scene, "https://one.example/")
    await addAlerts(scene, 3)
    expect(await readWaiting()).toEqual([])
  })
})

test("a workspace has at most fifty channels", async () => {
  for (let i = 1; i <= 50; i++) await hook(scene, `https://${i}.example/`)
  const refused = await hook(scene, "https://51.example/").catch((error) => error.message)
  expect(refused).toBe("a workspace can have at most 50 channels")
  expect(await listChannels(sql, scene.workspaceId)).toHaveLength(50)
})

test("a deleted channel deletes its waiting deliveries", async () => {
  const { id } = await hook(scene, "https://one.example/")
  await rule(scene, "rank_drop")
  await addAlerts(scene, 3)
  expect(await readQueued()).toHaveLength(3)
  await removeChannel(sql, scene.workspaceId, id)
  expect(await deliveries(scene)).toEqual([])
})

test.skipIf(!process.env.DATABASE_URL)(
  "postgres: alerts whose transactions commit in reverse order are all delivered",
  async () => {
    await hook(scene, "https://one.example/")
    await rule(scene, "rank_drop")
    const { open, opened } = gateway()
    let first: number | undefined
    const slow = sql.begin(async (tx) => {
      first = (await addAlerts({ ...scene, sql: tx as never }))[0]
      await opened
    })
    while (first === undefined) await Bun.sleep(5)
    const [second] = await addAlerts(scene)
    expect(second!).toBeGreaterThan(first)
    expect(await readQueued()).toEqual([second!])
    open()
    await slow
    expect(await readQueued()).toEqual([first, second!])
  },
)

function appIsGone(error: unknown): void {
  if ((error as { code?: string }).code !== "23503") throw error
}

test.skipIf(!process.env.DATABASE_URL)(
  "postgres: eight processes queue each alert once and without a deadlock while an app is deleted",
  async () => {
    await hook(scene, "https://one.example/")
    await hook(scene, "https://two.example/")
    await rule(scene, "rank_drop")
    const deletedScene = { ...scene, appId: (await createScene(sql)).appId }
    await sql`update tracked_app set workspace_id = ${scene.workspaceId} where id = ${deletedScene.appId}`
    const queueRepeatedly = async () => {
      for (let i = 0; i < 25; i++) await queueDeliveries(sql)
    }
    const addRepeatedly = async () => {
      for (let i = 0; i < 20; i++) await Promise.all([addAlerts(scene, 20), addAlerts(deletedScene, 10)])
    }
    const deleteLate = async () => {
      await Bun.sleep(100)
      await sql`delete from tracked_app where id = ${deletedScene.appId}`
    }
    await Promise.all([addRepeatedly().catch(appIsGone), deleteLate(), ...Array.from({ length: 8 }, queueRepeatedly)])
    while ((await queueDeliveries(sql)) > 0);
    const [counts] = await sql`
      select count(*)::int as alerts, (select count(*)::int from delivery d join channel c on c.id = d.channel_id
        where c.workspace_id = ${scene.workspaceId}) as told
      from alert
      where workspace_id = ${scene.workspaceId}`
    expect(counts!.alerts).toBeGreaterThan(20)
    expect(counts!.told).toBe(2 * counts!.alerts)
  },
)
