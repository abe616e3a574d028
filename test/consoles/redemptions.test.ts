import { afterAll, afterEach, beforeEach, expect, setDefaultTimeout } from "bun:test"
import { replay } from "../../src/commands/replay/replay.ts"
import { pacificDay } from "../../src/consoles/pacific.ts"
import { readReportEvidence } from "../../src/consoles/read/read-evidence.ts"
import { rebuildAccounts } from "../../src/consoles/store/derived/rebuild.ts"
import { createAccountReading } from "../../src/consoles/worker.ts"
import { KINDS } from "../../src/kinds.ts"
import { addDays } from "../../src/lib/days.ts"
import { silentLog } from "../../src/lib/log.ts"
import type { RawBodies } from "../../src/measuring/raw-bodies.ts"
import { recording } from "../../src/recording.ts"
import { SOURCES } from "../../src/sources.ts"
import { sealer } from "../alerts/delivery/scene.ts"
import { freshDatabase } from "../database.ts"
import { slow } from "../long.ts"
import { removeBodies, someBodies } from "../measuring/bodies.ts"
import { type AccountScene, accountScene, isReport, TEA } from "./scene.ts"
import { table } from "./stand-in.ts"

setDefaultTimeout(60_000)
afterAll(removeBodies)

const NOW = new Date()
const ago = (days: number) => addDays(pacificDay(NOW), -days)

const COLUMNS = [
  "Date",
  "App Name",
  "App Apple ID",
  "Subscription Name",
  "Subscription Apple ID",
  "Offer Reference Name",
  "Offer Code",
  "Territory",
  "Redemptions",
] as const
type Redeemed = Partial<Record<(typeof COLUMNS)[number], string>>
const SPRING: Redeemed = {
  "App Name": "Tea Timer",
  "App Apple ID": TEA.id,
  "Subscription Name": "Tea Pro",
  "Subscription Apple ID": "77",
  "Offer Reference Name": "SPRING",
  "Offer Code": "TEATIME",
  Territory: "US",
  Redemptions: "3",
}

let scene: AccountScene
let key: string
let bodies: RawBodies
let redeemedByDay: Record<string, Redeemed[] | "no sales">
beforeEach(async () => {
  scene = await accountScene(await freshDatabase(), NOW)
  key = await scene.service.key(scene.workspaceId)
  bodies = someBodies(() => scene.clock.now)
  const prices = ["USA", "DEU"].map((territory) => ({ territory, currency: "USD", price: "20.00" }))
  const codes = (...names: string[]) => ({
    offerCodes: names.map((name, at) => ({ id: `${name} ${at}`, attributes: { name, active: true } })),
  })
  const trial = { offerMode: "FREE_TRIAL", duration: "ONE_WEEK", numberOfPeriods: 1 }
  scene.standIn.products.push(
    {
      id: "77",
      app: TEA.id,
      soldAs: "subscription",
      sku: "tea.year",
      name: "Tea Pro",
      prices,
      offers: {
        ...codes("SPRING", "AUTUMN", "TWICE", "TWICE"),
        introductoryOffers: [{ id: "i1", territory: "USA", attributes: trial }],
      },
    },
    {
      id: "88",
      app: TEA.id,
      soldAs: "purchase",
      sku: "tea.cup",
      name: "A cup",
      prices,
      offers: codes("CUP"),
    },
  )
  redeemedByDay = {}
  scene.standIn.report = (type, day) => {
    const rows = type === "SUBSCRIPTION_OFFER_CODE_REDEMPTION" ? redeemedByDay[day] : undefined
    if (rows === undefined || rows === "no sales") return rows ?? "late"
    return {
      tsv: table(
        COLUMNS,
        rows.map((row) => ({ Date: day, ...row })),
      ),
    }
  }
})
afterEach(() => scene.standIn.stop())

/** Reads all reports of the newest days, and the products. */
async function readAll(): Promise<void> {
  await scene.sql`
    update account_task set next_at = case when day >= ${ago(3)} then now() end where ${isReport(scene.sql)}`
  await scene.sql`update connected_account set next_at = now()`
  const parts = { sql: scene.sql, sealer, log: silentLog, reach: scene.register.reach, now: () => scene.clock.now }
  await createAccountReading({ recording, ...parts, keep: bodies.keep, gapMs: 0, atMost: 40 }).runOnce()
}

// biome-ignore lint/suspicious/noExplicitAny: an answer
const readPricing = async (query = ""): Promise<any> =>
  (await scene.service.call(`/v1/apps/${scene.appId}/pricing${query}`, { key })).body

async function redemptions(query = "") {
  const { offered } = await readPricing(query)
  const entries = offered.map(({ name, kind, redemptions }: Record<string, unknown>) => [name ?? kind, redemptions])
  return Object.fromEntries(entries)
}

slow("redemptions are summed over the read days; they are zero if none were reported and null if unknown", async () => {
  redeemedByDay[ago(1)] = [
    SPRING,
    { ...SPRING, "Offer Code": "", Redemptions: "4" },
    { ...SPRING, Territory: "DE" },
    { ...SPRING, "App Apple ID": "1", Redemptions: "900" },
    { ...SPRING, "Offer Reference Name": "TWICE" },
  ]
  redeemedByDay[ago(3)] = [SPRING]
  await scene.add(scene.standIn.key("ADMIN"))
  await readAll()
  // The report has no redemptions of one-time purchases, and cannot separate two offers of the same name.
  const untold = { TWICE: null, introductory: null, CUP: null }
  expect(await redemptions()).toEqual({ SPRING: 13, AUTUMN: 0, ...untold })
  expect(await redemptions("?country=de")).toMatchObject({ SPRING: 3, AUTUMN: 0 })
  const { offered, redeemed } = await readPricing()
  const [autumn] = offered.filter(({ name }: { name: string }) => name === "AUTUMN")
  expect([autumn.redeemedFrom, autumn.redeemedTo]).toEqual([ago(3), ago(1)])
  expect(offered.find(({ kind }: { kind: string }) => kind === "introductory").redeemedFrom).toBeNull()
  expect(redeemed).toMatchObject({ report: "offer_redemptions", state: "ok", reportedDays: 2, days: 365 })
  expect(redeemed.lateDays).toContain(ago(2))
  expect(redeemed.lateDays).not.toContain(ago(1))
  const evidence = { report: "offer_redemptions", day: ago(1) } as const
  const app = { id: scene.appId, iosId: TEA.id, androidPkg: null }
  const [report] = (await readReportEvidence(scene.sql, scene.workspaceId, app, evidence))!.said
  expect([report!.source, report!.count]).toEqual(["asc-offer-redemptions", 4])
})

slow("redemptions are null for late days and zero for empty days", async () => {
  await scene.add(scene.standIn.key("ADMIN"))
  await readAll()
  expect(await redemptions()).toMatchObject({ SPRING: null, AUTUMN: null })
  expect((await readPricing()).redeemed).toMatchObject({ asOf: null, reportedDays: 0 })
  redeemedByDay[ago(1)] = "no sales"
  // A report with a header but no rows.
  redeemedByDay[ago(2)] = []
  await readAll()
  expect(await redemptions()).toMatchObject({ SPRING: 0, AUTUMN: 0 })
  const { redeemed } = await readPricing()
  expect([redeemed.reportedDays, redeemed.lateDays.at(-1)]).toEqual([2, ago(3)])
})

slow("a restated day counts once, and rebuilding or replaying it gives the same redemptions", async () => {
  redeemedByDay[ago(1)] = [SPRING]
  await scene.add(scene.standIn.key("ADMIN"))
  await readAll()
  expect(await redemptions()).toMatchObject({ SPRING: 3 })
  redeemedByDay[ago(1)] = [{ ...SPRING, Redemptions: "8" }]
  scene.clock.now = new Date(NOW.getTime() + 1_000)
  await readAll()
  await readAll()
  expect(await redemptions()).toMatchObject({ SPRING: 8 })
  expect(await scene.sql`select from report_day where report = 'offer_redemptions'`).toHaveLength(2)
  await scene.sql`delete from offer_redemption_fact_row`
  await rebuildAccounts(scene.sql, KINDS, async () => {})
  expect(await redemptions()).toMatchObject({ SPRING: 8 })
  // Simulates rows that an earlier parser stored.
  await scene.sql`
    update report_day set parser = 0, digest = sha256(digest), rows = jsonb_set(rows, '{0,redemptions}', '1')
    where report = 'offer_redemptions'`
  const now = () => scene.clock.now
  const parts = { bodies, sources: SOURCES, now, pause: async () => {}, write: true, source: "asc-offer-redemptions" }
  const [replayed] = (await replay(scene.sql, parts as never)).sources
  expect(replayed).toMatchObject({ source: "asc-offer-redemptions", different: 2, unreadable: 0, notKept: 0 })
  expect(await redemptions()).toMatchObject({ SPRING: 8 })
})

slow("a key without the right to reports keeps the redemptions read before, and reads no new ones", async () => {
  const newKey = scene.standIn.key("ADMIN")
  await scene.add(newKey)
  await readAll()
  const becomes = async (role: "ADMIN" | "APP_MANAGER") => {
    scene.standIn.demote(newKey.keyId, role)
    await scene.sql`update connected_account set checked_at = null`
    await readAll()
  }
  redeemedByDay[ago(1)] = [SPRING]
  await becomes("APP_MANAGER")
  const { offered, redeemed } = await readPricing()
  const [offer] = offered.filter(({ name }: { name: string }) => name === "SPRING")
  expect([offer.redemptions, offer.redeemedFrom, offer.redeemedTo]).toEqual([null, null, null])
  expect([redeemed.state, redeemed.reportedDays]).toEqual(["limited", 0])
  await becomes("ADMIN")
  expect(await redemptions()).toMatchObject({ SPRING: 3, AUTUMN: 0 })
  await becomes("APP_MANAGER")
  expect(await redemptions()).toMatchObject({ SPRING: 3, AUTUMN: 0 })
  expect((await readPricing()).redeemed.state).toBe("limited")
})
