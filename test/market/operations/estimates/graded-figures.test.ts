import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test"
import { sales } from "../../../../src/consoles/kinds/sales.ts"
import { pacificDay } from "../../../../src/consoles/pacific.ts"
import { daysUpTo } from "../../../../src/consoles/read/app-accounts.ts"
import { addDays, dayOf, daysInMonth, monthOf } from "../../../../src/lib/days.ts"
import { playFacts } from "../../../consoles/play/facts-scene.ts"
import { type AccountScene, accountScene, TEA } from "../../../consoles/scene.ts"
import { freshDatabase } from "../../../database.ts"
import { slow } from "../../../long.ts"
import { appsReading } from "../../../measuring/record/measured.ts"
import { record } from "../../../record.ts"
import { trackOwn } from "../../../world/tracked.ts"

setDefaultTimeout(60_000)

const NOW = new Date()
const MONTH = monthOf(addDays(monthOf(pacificDay(NOW)), -1))
const END = addDays(MONTH, daysInMonth(MONTH) - 1)
const SOLD = {
  app: TEA.sku,
  product: TEA.sku,
  title: "Tea Timer",
  type: "1F",
  country: "de",
  units: 5,
  price: "0",
  currency: "EUR",
  proceeds: "0",
  proceedsCurrency: "EUR",
}

let scene: AccountScene
beforeEach(async () => {
  scene = await accountScene(await freshDatabase(), NOW)
  const { sql } = scene
  await sql`update workspace set explorer = true`
  await record(
    sql,
    [appsReading(new Date(NOW.getTime() - 60_000).toISOString(), [{ id: TEA.id, ratings: 900 }])],
    () => NOW,
  )
  await sql`
    insert into estimate_grade (month, app_id, formula, ratings, storefronts, value, low, high)
    select ${MONTH}::date, id, 1, 900, '{de,us}', 200, 100, 400
    from store_app
    where store_id = ${TEA.id}`
  await sql`
    insert into app_estimate (app_id, version, made_at, formula, day, markets, downloads_under)
    select id, 1, now(), 1, ${dayOf(NOW)}::date, 2, 1000
    from store_app
    where store_id = ${TEA.id}`
})
afterEach(() => scene.standIn.stop())

const ask = (key: string) => scene.service.call(`/v1/hive/estimate/${TEA.id}`, { key })

/**
 * Reports five downloads a day in Germany and in Japan, and none on the last day. Only the `reported` days are stored.
 */
async function connect(reported: (day: string) => boolean): Promise<void> {
  const { id: account } = await scene.add()
  const readings = daysUpTo(END, 40)
    .filter(reported)
    .map((day) => ({
      ...sales.example,
      kind: "sales" as const,
      parser: 1,
      origin: "local",
      account,
      day,
      sha256: new Uint8Array(32),
      seenAt: NOW,
      rows: day === END ? [] : [SOLD, { ...SOLD, country: "jp" }],
    }))
  const { refused } = await record(scene.sql, readings as never, () => NOW)
  expect(refused).toEqual([])
}

slow("an ended month has its estimate next to the console's downloads of the same days and storefronts", async () => {
  await connect(() => true)
  const key = await scene.service.key(scene.workspaceId)
  const { status, body } = await ask(key)
  expect(status).toBe(200)
  expect(body.ownRecord).toEqual([
    {
      month: MONTH.slice(0, 7),
      storefronts: ["de", "us"],
      estimate: { value: 200, low: 100, high: 400, under: null },
      // 29 days with five downloads in Germany and one with none; the estimate does not cover Japan
      reportedDays: 30,
      downloads: 145,
      held: true,
    },
  ])
})

test("ownRecord is null for other workspaces, keys without revenue:read and keys of other apps", async () => {
  await connect(() => true)
  const other = await scene.service.workspace({ plan: "pro", explorer: true })
  const second = { name: "Other", iosId: "310633998", countries: ["us"], keywords: ["tea"], origin: "own" as const }
  const app = await trackOwn(scene.sql, { workspaceId: scene.workspaceId, ...second })
  const keys = [
    await scene.service.key(other),
    await scene.service.key(scene.workspaceId, { scopes: ["hive:estimate"] }),
    await scene.service.key(scene.workspaceId, { appList: [app] }),
  ]
  for (const key of keys) {
    const { status, body, text } = await ask(key)
    expect([status, body.ownRecord, text.includes("145")]).toEqual([200, null, false])
  }
})

test("a month with an unreported day has null downloads and a null interval check", async () => {
  await connect((day) => day !== addDays(END, -3))
  const { body } = await ask(await scene.service.key(scene.workspaceId))
  expect(body.ownRecord[0]).toMatchObject({ reportedDays: 29, downloads: null, held: null })
})

slow("an Android app's month has its console's installs, or null if the console withholds a day", async () => {
  const app = "com.example.tea"
  const play = await playFacts(await freshDatabase(), { app, now: NOW })
  const { sql, service, workspaceId } = { ...play, sql: play.service.sql }
  await sql`update workspace set explorer = true`
  const seenAt = new Date(NOW.getTime() - 60_000).toISOString()
  const source = { source: "play-details", platform: "android", storefront: "us" } as const
  await record(sql, [appsReading(seenAt, [{ id: app, ratings: 900 }], source)], () => NOW)
  await sql`
    insert into estimate_grade (month, app_id, formula, ratings, storefronts, value, low, high)
    select ${MONTH}::date, id, 1, 900, '{us}', 200, 100, 205
    from store_app
    where store_id = ${app}`
  const key = await service.key(workspaceId)
  const months = Map.groupBy(daysUpTo(END, 40), (day) => day.slice(0, 7).replace("-", ""))
  const storeInstalls = async (installsOf: (day: string) => string) => {
    for (const [month, days] of months)
      await play.store(
        `stats/installs/installs_${app}_${month}_overview.csv`,
        ["Date,Package Name,Daily User Installs", ...days.map((day) => `${day},${app},${installsOf(day)}`)].join("\n"),
        NOW.toISOString(),
      )
  }
  const recordOf = async (by = key) => (await service.call(`/v1/hive/estimate/${app}`, { key: by })).body.ownRecord
  await storeInstalls(() => "7")
  expect(await recordOf()).toEqual([
    {
      month: MONTH.slice(0, 7),
      storefronts: ["us"],
      estimate: { value: 200, low: 100, high: 205, under: null },
      // 30 days with seven installs
      reportedDays: 30,
      downloads: 210,
      held: false,
    },
  ])
  const strangers = [
    await service.key(await service.workspace({ plan: "pro", explorer: true })),
    await service.key(workspaceId, { scopes: ["hive:estimate"] }),
  ]
  for (const stranger of strangers) expect(await recordOf(stranger)).toBeNull()
  await storeInstalls((day) => (day === END ? "" : "7"))
  expect(await recordOf()).toMatchObject([{ reportedDays: 30, downloads: null, held: null }])
})
