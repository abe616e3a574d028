import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { pacificDay } from "../../src/consoles/pacific.ts"
import { findAccount, removeAccount, rotateKey } from "../../src/consoles/register.ts"
import { reportIn } from "../../src/consoles/sources/reports.ts"
import { rebuildAccounts } from "../../src/consoles/store/derived/rebuild.ts"
import { createAccountReading } from "../../src/consoles/worker.ts"
import { KINDS } from "../../src/kinds.ts"
import { addDays } from "../../src/lib/days.ts"
import { silentLog } from "../../src/lib/log.ts"
import type { RawBody } from "../../src/measuring/source.ts"
import { recording } from "../../src/recording.ts"
import { sealer } from "../alerts/delivery/scene.ts"
import { freshDatabase } from "../database.ts"
import { slow } from "../long.ts"
import { type AccountScene, accountScene, isReport } from "./scene.ts"
import { type SalesRow, salesReport } from "./stand-in.ts"

/** Tasks become due by the database's clock. */
const MORNING = new Date()
const YESTERDAY = addDays(pacificDay(MORNING), -1)

const APP: SalesRow = {
  SKU: "TEA01",
  Title: "Tea Timer",
  "Product Type Identifier": "1F",
  Units: "5",
  "Developer Proceeds": "0",
  "Customer Currency": "EUR",
  "Country Code": "DE",
  "Currency of Proceeds": "EUR",
  "Customer Price": "0",
  "Apple Identifier": "310633997",
  Device: "iPhone",
}
const YEAR: SalesRow = {
  ...APP,
  SKU: "TEA01.pro.year",
  Title: "Tea Pro",
  "Product Type Identifier": "IAY",
  "Parent Identifier": "TEA01",
  Units: "2",
  "Customer Price": "19.99",
  "Developer Proceeds": "14.28",
  Subscription: "New",
}
const REFUND: SalesRow = { ...YEAR, Units: "-1", "Customer Price": "-19.99", Subscription: "Renewal" }
const DOLLARS: SalesRow = { ...YEAR, "Customer Currency": "USD", "Currency of Proceeds": "USD", "Country Code": "US" }

let scene: AccountScene
let bodies: RawBody[]
beforeEach(async () => {
  scene = await accountScene(await freshDatabase(), MORNING)
  bodies = []
})
afterEach(() => scene.standIn.stop())

const worker = (atMost = 3) =>
  createAccountReading({
    recording,
    sql: scene.sql,
    sealer,
    log: silentLog,
    reach: scene.register.reach,
    now: () => scene.clock.now,
    gapMs: 0,
    atMost,
    keep: async (body) => void bodies.push(body),
  })

/** Reads the newest days, as a server does in its first seconds. */
const readSome = (atMost?: number) => worker(atMost).runOnce()

const makeDue = () => scene.sql`update connected_account set next_at = now()`
const dueAgain = async (day: string) => {
  await makeDue()
  await scene.sql`update account_task set next_at = case when day = ${day} then now() end where ${isReport(scene.sql)}`
}

// biome-ignore lint/suspicious/noExplicitAny: rows of any shape
const facts = async (): Promise<any[]> => [
  ...(await scene.sql`
  select day, app, country, product, counts_as, units, refunds, currency, gross::text, proceeds::text
  from sales_fact
  order by day, place`),
]

// biome-ignore lint/suspicious/noExplicitAny: rows of any shape
const tasks = async (day: string): Promise<any[]> => [
  ...(await scene.sql`
    select task, state, tries, next_at > now() as later
    from account_task
    where day = ${day}
    order by task`),
]

function daily(answers: Record<string, string | "no sales" | "late">) {
  scene.standIn.report = (type, day) => {
    const content = answers[`${type} ${day}`] ?? "late"
    return content === "late" || content === "no sales" ? content : { tsv: content }
  }
}

slow("the newest day is read first, and refunds are subtracted from money of the same currency", async () => {
  daily({
    [`SALES ${YESTERDAY}`]: salesReport(YESTERDAY, [
      APP,
      { ...APP, Device: "iPad", Units: "3" },
      YEAR,
      REFUND,
      DOLLARS,
    ]),
  })
  const { id } = await scene.add()
  expect(await readSome()).toBe(1)
  expect(await facts()).toEqual([
    expect.objectContaining({ country: "de", product: "TEA01", counts_as: "download", units: 8, gross: "0" }),
    expect.objectContaining({
      app: "TEA01",
      country: "de",
      product: "TEA01.pro.year",
      counts_as: "subscription",
      units: 1,
      refunds: 1,
      currency: "EUR",
      gross: "19.99",
      proceeds: "14.28",
    }),
    expect.objectContaining({ country: "us", currency: "USD", units: 2, gross: "39.98" }),
  ])
  expect(scene.standIn.requests.filter((path) => path.includes("salesReports")).slice(-3)).toEqual(
    ["SALES", "SUBSCRIPTION_EVENT", "SUBSCRIPTION"].map((type) =>
      expect.stringContaining(`${YESTERDAY}&filter[reportSubType]=SUMMARY&filter[reportType]=${type}&`),
    ),
  )
  expect((await findAccount(scene.sql, scene.workspaceId, id)).state).toBe("ok")
  expect(bodies).toHaveLength(1)
})

slow("late, empty and read days are distinguished by the console's own wording", async () => {
  daily({ [`SALES ${YESTERDAY}`]: "no sales", [`SUBSCRIPTION ${YESTERDAY}`]: "late" })
  await scene.add()
  await readSome()
  expect(await tasks(YESTERDAY)).toEqual([
    // A day's offer redemptions are read after its other reports.
    { task: "offer_redemptions", state: "due", tries: 0, later: false },
    { task: "sales", state: "empty", tries: 0, later: true },
    { task: "subscription_events", state: "late", tries: 0, later: true },
    { task: "subscriptions", state: "late", tries: 0, later: true },
  ])
  expect([...(await scene.sql`select report, rows from report_day`)]).toEqual([{ report: "sales", rows: [] }])
  const words = (detail: string) => ({
    status: 404,
    bytes: new TextEncoder().encode(JSON.stringify({ errors: [{ status: "404", code: "NOT_FOUND", detail }] })),
  })
  const question = { account: "ac_0123456789abcdef01", report: "sales", day: YESTERDAY } as const
  const provenance = { seenAt: MORNING, sha256: new Uint8Array(32) }
  expect(await reportIn(words("There were no sales for the date specified."), question, provenance)).toMatchObject({
    rows: [],
  })
  for (const detail of ["Something new that nobody has read yet.", "", "Report is not available yet."])
    expect(await reportIn(words(detail), question, provenance)).toBe("late")
})

slow("a restated day replaces the facts once and keeps both reports; rereading the day changes nothing", async () => {
  const first = salesReport(YESTERDAY, [APP, YEAR])
  const second = salesReport(YESTERDAY, [{ ...APP, Units: "7" }])
  let currentReport = first
  scene.standIn.report = (type, day) => (type === "SALES" && day === YESTERDAY ? { tsv: currentReport } : "late")
  await scene.add()
  await readSome()
  const before = await facts()
  await dueAgain(YESTERDAY)
  await readSome()
  expect(await facts()).toEqual(before)
  expect(await scene.sql`select from report_day`).toHaveLength(1)
  currentReport = second
  scene.clock.now = new Date(MORNING.getTime() + 1_000)
  for (let times = 0; times < 3; times++) {
    await dueAgain(YESTERDAY)
    await readSome()
  }
  expect(await facts()).toMatchObject([{ product: "TEA01", units: 7 }])
  expect(await scene.sql`select from report_day`).toHaveLength(2)
  // The derived facts can be rebuilt from the stored reports.
  await scene.sql`delete from sales_fact_row`
  expect(await rebuildAccounts(scene.sql, KINDS, async () => {})).toBe(1)
  expect(await rebuildAccounts(scene.sql, KINDS, async () => {})).toBe(0)
  expect(await facts()).toMatchObject([{ product: "TEA01", units: 7 }])
  // The console reports the first content again, so the facts of that content are used again.
  currentReport = first
  scene.clock.now = new Date(MORNING.getTime() + 86_400_000)
  await dueAgain(YESTERDAY)
  await readSome(6)
  expect(await facts()).toEqual(before)
})

slow("a day that was read stays read if the console later responds that it is late", async () => {
  let isLate = false
  scene.standIn.report = (_, day) => (day === YESTERDAY && !isLate ? { tsv: salesReport(day, [APP]) } : "late")
  await scene.add()
  await readSome(1)
  isLate = true
  await dueAgain(YESTERDAY)
  await readSome(3)
  expect(await tasks(YESTERDAY)).toContainEqual({ task: "sales", state: "read", tries: 0, later: true })
  expect(await facts()).toHaveLength(1)
})

describe("a response that is not a report", () => {
  const broken: [string, () => Response][] = [
    ["without gzip", () => new Response("<html>")],
    ["without a required column", () => gz("SKU\tUnits\nTEA01\t5\n")],
    ["for a different day", () => gz(salesReport(addDays(YESTERDAY, -1), [APP]))],
    ["with units that are not a number", () => gz(salesReport(YESTERDAY, [{ ...APP, Units: "many" }]))],
  ]
  const gz = (text: string) => new Response(Bun.gzipSync(text))
  for (const [label, answer] of broken)
    test(`a response ${label} is not stored as a report, its body is kept, and the day is retried`, async () => {
      scene.standIn.report = (_, day) => (day === YESTERDAY ? answer() : "late")
      await scene.add()
      await readSome()
      expect(await scene.sql`select from report_day`).toHaveLength(0)
      expect(bodies.length).toBeGreaterThan(0)
      expect(await tasks(YESTERDAY)).toContainEqual({ task: "sales", state: "late", tries: 1, later: true })
    })
})

slow("a revoked key, an open agreement or a used-up hourly limit stops the reading without losing data", async () => {
  scene.standIn.report = (_, day) => ({ tsv: salesReport(day, [APP]) })
  const key = scene.standIn.key()
  const { id } = await scene.add(key)
  await readSome(1)
  scene.standIn.agreement = true
  await makeDue()
  await readSome(1)
  expect((await findAccount(scene.sql, scene.workspaceId, id)).state).toBe("agreement_required")
  scene.standIn.agreement = false
  scene.standIn.hourLeft = 400
  await scene.sql`update connected_account set checked_at = null, next_at = now()`
  await readSome(50)
  // The reading sent five requests to test the rights, then one for a report.
  expect(scene.standIn.hourLeft).toBe(394)
  expect((await findAccount(scene.sql, scene.workspaceId, id)).state).toBe("ok")
  scene.standIn.revoke(key.keyId)
  await makeDue()
  await readSome(1)
  await scene.sql`update connected_account set refused_since = now() - interval '11 minutes', next_at = now()`
  await readSome(1)
  expect((await findAccount(scene.sql, scene.workspaceId, id)).state).toBe("revoked")
  expect((await facts()).length).toBeGreaterThan(0)
  const fresh = scene.standIn.key()
  await rotateKey(scene.register, scene.workspaceId, id, { keyId: fresh.keyId, privateKey: fresh.pem })
  const before = (await facts()).length
  scene.standIn.hourLeft = 3_000
  await readSome(20)
  expect((await facts()).length).toBeGreaterThan(before)
})

slow("a lost role raises one alert and stops the requests, and removing the account ends the alert", async () => {
  scene.standIn.report = (_, day) => ({ tsv: salesReport(day, [APP]) })
  const key = scene.standIn.key()
  const { id } = await scene.add(key)
  await readSome(1)
  scene.standIn.demote(key.keyId, "MARKETING")
  const alerts = () => scene.sql<{ kind: string; open: boolean }[]>`
    select kind, ended_at is null as open from instance_alert where subject = ${id} order by id`
  for (let times = 0; times < 3; times++) {
    await makeDue()
    await readSome(5)
  }
  expect([...(await alerts())]).toEqual([{ kind: "account_limited", open: true }])
  const reports = () => scene.standIn.requests.filter((path) => path.includes("salesReports")).length
  const before = reports()
  await makeDue()
  await readSome(5)
  // Only the request that checks the right is sent.
  expect(reports() - before).toBe(1)
  const [due] = await scene.sql`select next_at > now() + interval '5 hours' as later from connected_account`
  expect(due!.later).toBe(true)
  scene.standIn.demote(key.keyId, "SALES")
  await makeDue()
  await readSome(5)
  expect((await findAccount(scene.sql, scene.workspaceId, id)).state).toBe("ok")
  expect([...(await alerts())]).toEqual([{ kind: "account_limited", open: false }])
  scene.standIn.demote(key.keyId, "MARKETING")
  await scene.sql`update connected_account set checked_at = null`
  await makeDue()
  await readSome(5)
  await removeAccount(scene.sql, scene.workspaceId, id, false)
  expect((await alerts()).every(({ open }) => !open)).toBe(true)
})

test("deleting a workspace destroys its keys", async () => {
  const { id } = await scene.add()
  await scene.sql`update workspace set deleted_at = now() where id = ${scene.workspaceId}`
  const before = scene.standIn.requests.length
  expect(await readSome(5)).toBe(0)
  expect(scene.standIn.requests.length).toBe(before)
  expect([...(await scene.sql`select state, sealed from connected_account where id = ${id}`)]).toEqual([
    { state: "removed", sealed: null },
  ])
})

slow("ten concurrent workers request each day once, and the day that tests the right to reports twice", async () => {
  scene.standIn.report = (_, day) => ({ tsv: salesReport(day, [APP]) })
  await scene.add()
  const dayRequests = () => scene.standIn.requests.filter((path) => path.includes("reportDate"))
  const before = dayRequests().length
  await Promise.all(Array.from({ length: 10 }, () => readSome(12)))
  const those = dayRequests().slice(before)
  expect(those.length).toBe(new Set(those).size + 1)
})

slow("a real subscriptions report is read as 409 subscriptions of one app at the standard price", async () => {
  const tsv = readFileSync(
    join(import.meta.dirname, "../../fixtures/upstream/asc-subscriptions-2026-02-18.tsv"),
    "utf8",
  )
  scene.standIn.report = (type, day) => (type === "SUBSCRIPTION" && day === YESTERDAY ? { tsv } : "late")
  await scene.add()
  await readSome()
  const [sums] = await scene.sql`
    select sum(active)::int as active, count(distinct app)::int as apps, count(distinct country)::int as countries,
      count(distinct product)::int as products
    from subscription_stock_fact`
  expect(sums).toEqual({ active: 409, apps: 1, countries: 33, products: 2 })
})

describe("changes of the account while a worker reads", () => {
  /** Starts reading, and holds the first report at the console until it is released. */
  async function halfway() {
    const [paused, going] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    scene.standIn.before = async (path: string) => {
      if (!path.includes("salesReports")) return null
      paused.resolve()
      await going.promise
      return null
    }
    const reading = readSome(3)
    await paused.promise
    return async () => {
      going.resolve()
      await reading
    }
  }

  slow("a key is rotated without a gap, and later rejections of the old key do not affect the new key", async () => {
    scene.standIn.report = (_, day) => ({ tsv: salesReport(day, [APP]) })
    const old = scene.standIn.key()
    const { id } = await scene.add(old)
    const goOn = await halfway()
    const fresh = scene.standIn.key()
    scene.standIn.before = () => null
    await rotateKey(scene.register, scene.workspaceId, id, { keyId: fresh.keyId, privateKey: fresh.pem })
    scene.standIn.revoke(old.keyId)
    await goOn()
    const [row] = await scene.sql`
      select state, failures, refused_since as "refusedSince", next_at <= now() as due from connected_account
      where id = ${id}`
    expect(row).toEqual({ state: "ok", failures: 0, refusedSince: null, due: true })
    await readSome(3)
    expect((await facts()).length).toBeGreaterThan(0)
    expect((await findAccount(scene.sql, scene.workspaceId, id)).state).toBe("ok")
  })

  test("an account removed during a read stays removed, and nothing read afterwards is stored", async () => {
    scene.standIn.report = (_, day) => ({ tsv: salesReport(day, [APP]) })
    const { id } = await scene.add()
    const goOn = await halfway()
    await removeAccount(scene.sql, scene.workspaceId, id, false)
    await goOn()
    expect(await facts()).toEqual([])
    const [row] =
      await scene.sql`select state, sealed, next_at as "nextAt", lease from connected_account where id = ${id}`
    expect(row).toEqual({ state: "removed", sealed: null, nextAt: null, lease: null })
  })
})
