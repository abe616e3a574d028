import { afterAll, afterEach, beforeEach, expect, setDefaultTimeout } from "bun:test"
import { replay } from "../../src/commands/replay/replay.ts"
import { pacificDay } from "../../src/consoles/pacific.ts"
import { createAccountReading } from "../../src/consoles/worker.ts"
import { addDays } from "../../src/lib/days.ts"
import { silentLog } from "../../src/lib/log.ts"
import type { RawBodies } from "../../src/measuring/raw-bodies.ts"
import { recording } from "../../src/recording.ts"
import { SOURCES } from "../../src/sources.ts"
import { sealer } from "../alerts/delivery/scene.ts"
import { type AccountScene, accountScene, TEA } from "../consoles/scene.ts"
import { salesReport } from "../consoles/stand-in.ts"
import { analyticsPart } from "../consoles/stand-in-analytics.ts"
import { freshDatabase } from "../database.ts"
import { slow } from "../long.ts"
import { removeBodies, someBodies } from "./bodies.ts"

setDefaultTimeout(60_000)

const NOW = new Date()
const YESTERDAY = addDays(pacificDay(NOW), -1)
const REPORT = "App Downloads Standard"

let scene: AccountScene
let bodies: RawBodies
beforeEach(async () => {
  scene = await accountScene(await freshDatabase(), NOW)
  bodies = someBodies(() => NOW)
})
afterEach(() => scene.standIn.stop())
afterAll(removeBodies)

const run = (rest: object = {}) =>
  replay(scene.sql, { bodies, sources: SOURCES, now: () => NOW, pause: async () => {}, ...rest })

/** Reads and stores, as the worker does, a day's sales, an empty day, a file of two parts and a price. */
async function readAll(): Promise<void> {
  const { standIn } = scene
  const app = {
    SKU: TEA.sku,
    Title: "Tea",
    "Product Type Identifier": "1F",
    Units: "5",
    "Customer Currency": "EUR",
    "Currency of Proceeds": "EUR",
    "Country Code": "DE",
  }
  standIn.report = (type, day) => {
    if (type === "SALES" && day === YESTERDAY) return { tsv: salesReport(day, [app, { ...app, Device: "iPad" }]) }
    return type === "SALES" && day === addDays(YESTERDAY, -1) ? "no sales" : "late"
  }
  standIn.analytics.requests.push({ id: "request-1", app: TEA.id })
  const line = (units: number) =>
    analyticsPart(REPORT, TEA.id, [[addDays(YESTERDAY, -2), "Redownload", "App referrer", "DE", units]])
  standIn.analytics.files.push({ app: TEA.id, report: REPORT, processed: YESTERDAY, parts: [line(2), line(3)] })
  standIn.products.push({
    id: "77",
    app: TEA.id,
    soldAs: "subscription",
    sku: "tea",
    name: "Tea",
    prices: [{ territory: "USA", currency: "USD", price: "2.00" }],
  })
  await scene.add(standIn.key("ADMIN"))
  const parts = { sql: scene.sql, sealer, log: silentLog, reach: scene.register.reach, now: () => NOW }
  await createAccountReading({ recording, ...parts, keep: bodies.keep, gapMs: 0, atMost: 40 }).runOnce()
}

const counts = ({ sources }: Awaited<ReturnType<typeof run>>) =>
  sources.map(({ source, same, different, unreadable, notKept, recorded }) => [
    source,
    same,
    different,
    unreadable,
    notKept,
    recorded,
  ])

slow("a replay of an account's stored report bodies corrects the figures of an earlier parser", async () => {
  await readAll()
  expect(counts(await run({ write: true }))).toEqual([
    ["asc-downloads", 1, 0, 0, 0, 0],
    ["asc-prices", 1, 0, 0, 0, 0],
    ["asc-sales", 2, 0, 0, 0, 0],
  ])
  const figures = async () => [
    ...(await scene.sql`select units::int from sales_fact`),
    ...(await scene.sql`select count from funnel_fact`),
    ...(await scene.sql`select price::text from price_period`),
  ]
  const right = [{ units: 10 }, { count: 5 }, { price: "2.00" }]
  expect(await figures()).toEqual(right)
  // as an earlier parser would have read the body
  await scene.sql`
    update report_day set parser = 0, digest = sha256('x'), rows = jsonb_set(rows, '{0,units}', '7') where rows <> '[]'`
  await scene.sql`update analytics_day set parser = 0, rows = jsonb_set(rows, '{0,count}', '7')`
  await scene.sql`update price_day set parser = 0, rows = jsonb_set(rows, '{0,price}', '"7"')`
  const result = await run({ write: true })
  expect(counts(result)).toEqual([
    ["asc-downloads", 0, 1, 0, 0, 1],
    ["asc-prices", 0, 1, 0, 0, 1],
    // the empty day, and the new row next to the old one
    ["asc-sales", 2, 1, 0, 0, 1],
  ])
  expect(await figures()).toEqual(right)
  // the output has none of the workspace's figures
  expect(result.examples.map(({ detail }) => detail)).toEqual(Array(3).fill("1 rows became 1 different ones"))
})
