import { afterAll, afterEach, beforeEach, describe, expect } from "bun:test"
import { listAlerts } from "../../src/alerts/operations/alerts.ts"
import type { Sql } from "../../src/database/types.ts"
import { freshDatabase } from "../database.ts"
import { slow } from "../long.ts"
import { ask, contextOf } from "../measuring/record/measured.ts"
import { receiver } from "./delivery/receiver.ts"
import { createScene, deliveries, deliveryOf, hook, rule, type Scene } from "./delivery/scene.ts"
import { listOf } from "./derived-alerts.ts"
import { importAll } from "./import-world.ts"

const TODAY = new Date("2025-11-20T12:00:00Z")
let sql: Sql
let scene: Scene

beforeEach(async () => {
  sql = await freshDatabase()
  scene = await createScene(sql)
})

/** Returns a reading of "tea" at 08:00 with the app at `rank`, outside the first ten, where rivals cause no alerts. */
function rankLine(day: string, rank: number, depth = 60): string {
  const results = listOf(rank, depth).map((id) => ({ id }))
  const place = { platform: "ios", storefront: "us", term: "tea" }
  return JSON.stringify({
    kind: "search",
    source: "import",
    ...place,
    seenAt: `2025-11-${day}T08:00:00Z`,
    depth: results.length,
    results,
  })
}

const load = (...lines: string[]) => importAll(sql, lines, TODAY)

interface Row {
  id: number
  day: string
  type: string
  before: number
  after: number
  read: boolean
  withdrawnAt: string | null
  deliveries: { channel: string; state: string }[]
}

const readFeed = async (): Promise<Row[]> => (await ask(listAlerts, contextOf(sql, scene.workspaceId, TODAY))).alerts

const lineOf = ({ day, type, before, after, withdrawnAt }: Row) =>
  `${day} ${type} ${before} ${after}${withdrawnAt === null ? "" : " withdrawn"}`

describe("a contradicted alert", () => {
  slow("a contradicted alert is deleted if nobody received it", async () => {
    await load(rankLine("18", 15), rankLine("20", 40))
    expect((await readFeed()).map(lineOf)).toEqual(["2025-11-20 rank_drop 15 40"])
    await load(rankLine("19", 40))
    expect((await readFeed()).map(lineOf)).toEqual(["2025-11-19 rank_drop 15 40"])
  })

  slow("a contradicted alert that was read is marked as withdrawn, and valid again once readings show it", async () => {
    await load(rankLine("18", 15), rankLine("20", 40))
    const [first] = await readFeed()
    await sql`update alert set read_at = now()`
    await load(rankLine("19", 40))
    expect((await readFeed()).map(lineOf)).toEqual([
      "2025-11-20 rank_drop 15 40 withdrawn",
      "2025-11-19 rank_drop 15 40",
    ])
    const later = JSON.parse(rankLine("19", 41, 100))
    const results = listOf(14, 99).map((id) => ({ id }))
    await load(JSON.stringify({ ...later, seenAt: "2025-11-19T09:00:00Z", results }))
    const laterFeed = await readFeed()
    expect(laterFeed.map(lineOf)).toEqual(["2025-11-20 rank_drop 14 40"])
    expect(laterFeed[0]).toMatchObject({ id: first!.id, read: true })
  })
})

slow("an alert keeps its id and its read state when a deeper reading of its day gives another rank", async () => {
  await load(rankLine("18", 15), rankLine("20", 40))
  const [first] = await readFeed()
  await sql`update alert set read_at = now()`
  await load(rankLine("20", 42, 90))
  const [now, ...rest] = await readFeed()
  expect(rest).toEqual([])
  expect(now).toMatchObject({ id: first!.id, read: true, after: 42, withdrawnAt: null })
})

describe("a queued alert", () => {
  const taker = receiver()
  let stop = async () => {}

  afterEach(async () => await stop())
  afterAll(() => taker.stop())

  beforeEach(async () => {
    taker.requests.length = 0
    await hook(scene, taker.url)
    await rule(scene, "rank_drop")
  })

  async function deliverUntil(count: number): Promise<void> {
    const delivery = deliveryOf(sql)
    delivery.start()
    stop = async () => await delivery.stop()
    for (let tries = 0; tries < 400 && taker.requests.length < count; tries++) await Bun.sleep(25)
    await delivery.stop()
    stop = async () => {}
  }

  slow(
    "a delivered alert that is withdrawn stays in the feed, marked, and is never sent again",
    async () => {
      await load(rankLine("18", 15), rankLine("20", 40))
      await deliverUntil(1)
      await load(rankLine("19", 40))
      await deliverUntil(2)
      const rows = await readFeed()
      expect(rows.map(lineOf)).toEqual(["2025-11-20 rank_drop 15 40 withdrawn", "2025-11-19 rank_drop 15 40"])
      expect(rows.map((row) => row.deliveries)).toEqual(Array(2).fill([{ channel: "webhook", state: "delivered" }]))
      // the alert is valid again
      const later = JSON.parse(rankLine("19", 14, 100))
      await load(JSON.stringify({ ...later, seenAt: "2025-11-19T09:00:00Z" }))
      const delivery = deliveryOf(sql)
      delivery.start()
      await Bun.sleep(300)
      await delivery.stop()
      expect((await readFeed()).map(lineOf)).toEqual([
        "2025-11-20 rank_drop 14 40",
        "2025-11-19 rank_drop 15 40 withdrawn",
      ])
      expect(taker.requests).toHaveLength(2)
    },
    60_000,
  )

  slow(
    "a waiting alert that is withdrawn is not sent",
    async () => {
      await load(rankLine("18", 15), rankLine("20", 40))
      await sql`update channel set paused_until = now() + interval '1 day', next_at = now() + interval '1 day'`
      const delivery = deliveryOf(sql)
      delivery.start()
      for (let tries = 0; tries < 200 && (await deliveries(scene)).length === 0; tries++) await Bun.sleep(25)
      await delivery.stop()
      await load(rankLine("19", 16))
      expect((await readFeed()).map(lineOf)).toEqual(["2025-11-20 rank_drop 16 40"])
      await load(rankLine("19", 39, 99))
      await sql`update channel set paused_until = null, next_at = now()`
      await deliverUntil(1)
      expect((await readFeed()).map(lineOf)).toEqual([
        "2025-11-20 rank_drop 16 40 withdrawn",
        "2025-11-19 rank_drop 15 39",
      ])
      expect(taker.requests).toHaveLength(1)
      expect(JSON.parse(taker.requests[0]!.body).data.day).toBe("2025-11-19")
    },
    60_000,
  )
})
