import { describe, expect, setDefaultTimeout } from "bun:test"
import { deleteDemoAccounts, makeDemoAccounts } from "../../../src/consoles/demo-accounts.ts"
import { EVIDENCE_REPORTS, type EvidenceReport, readReportEvidence } from "../../../src/consoles/read/read-evidence.ts"
import { pauseAccount, removeAccount, rotateKey, testAccount } from "../../../src/consoles/register.ts"
import { createAccountReading } from "../../../src/consoles/worker.ts"
import { setWrites } from "../../../src/consoles/writing/writers.ts"
import { loadDemoOwner, readingsOf } from "../../../src/demo/accounts/owner.ts"
import { removeAllOfDemo } from "../../../src/demo/load-at-start.ts"
import { addDays } from "../../../src/lib/days.ts"
import { silentLog } from "../../../src/lib/log.ts"
import { recording } from "../../../src/recording.ts"
import { sealer } from "../../alerts/delivery/scene.ts"
import { reported } from "../../consoles/reported.ts"
import { type AccountScene, accountScene, TEA } from "../../consoles/scene.ts"
import { freshDatabase } from "../../database.ts"
import { afterSlow, beforeSlow, long, slow } from "../../long.ts"
import { ownerOf } from "../../pages/app-scene.ts"
import { record } from "../../record.ts"
import { trackOwn } from "../../world/tracked.ts"

setDefaultTimeout(60_000)

/** A time at which the previous day is over in Pacific time. */
const NOW = new Date("2026-03-11T18:00:00Z")
const YESTERDAY = "2026-03-10"
const KEYWORDS = ["tea", "green tea", "oolong", "matcha"]

let scene: AccountScene
let key: string
const apps = () => [{ id: scene.appId, iosId: TEA.id, name: TEA.name, keywords: KEYWORDS }]
const load = (now = NOW) =>
  loadDemoOwner(recording, scene.sql, { workspaceId: scene.workspaceId, apps: apps(), now: () => now })
const ask = (path: string, by = key) => scene.service.call(`/v1/apps/${scene.appId}/${path}`, { key: by })

beforeSlow(async () => {
  scene = await accountScene(await freshDatabase(), NOW)
  key = await scene.service.key(scene.workspaceId)
  await load()
})
afterSlow(() => scene.standIn.stop())

slow("the demo contains no report from the future, whatever the hour and the day of loading", () => {
  const accounts = { console: "console", ads: "ads" }
  const apps = [{ id: "app", iosId: TEA.id, name: TEA.name, keywords: KEYWORDS }]
  // two weeks around each change of the clocks in California
  const hours = ["2026-03-08T00:00:00Z", "2026-11-01T00:00:00Z"].flatMap((middle) =>
    Array.from({ length: 14 * 24 }, (_, hour) => new Date(Date.parse(middle) + (hour - 7 * 24) * 3_600_000)),
  )
  const early = hours.filter((now) =>
    [...readingsOf(accounts, apps, { now, days: 1 })].flat().some(({ seenAt }) => seenAt > now),
  )
  expect(early).toEqual([])
})

describe("the demo's account for a new key", () => {
  slow("the demo's sales cover the ninety days up to yesterday, and the days add up to the totals", async () => {
    const { status, body } = await ask("revenue?days=90")
    expect([status, body.from, body.to]).toEqual([200, "2025-12-11", YESTERDAY])
    expect(body.sources).toMatchObject([{ state: "demo", why: expect.stringContaining("invented"), reportedDays: 90 }])
    const days = body.days as { reported: boolean; downloads: number }[]
    expect(days.every(({ reported }) => reported)).toBe(true)
    expect(days.reduce((sum, { downloads }) => sum + downloads, 0)).toBe(body.totals.downloads)
    expect(body.totals.downloads).toBeGreaterThan(90 * 50)
    expect(body.totals.proceeds.map(({ currency }: { currency: string }) => currency).sort()).toEqual([
      "EUR",
      "GBP",
      "USD",
    ])
    expect(body.totals.refunds).toBeGreaterThan(0)
    expect(body.products.map(({ title }: { title: string }) => title)).toContain("Invented Pro, monthly")
  })

  slow(
    "the demo has subscriptions and a funnel, and the funnel's first downloads equal the downloads sold",
    async () => {
      const { body: subscriptions } = await ask("subscriptions?days=30")
      expect(subscriptions.sources.map(({ state }: { state: string }) => state)).toEqual(["demo", "demo"])
      expect(subscriptions.totals.trialStarts).toBeGreaterThan(subscriptions.totals.trialConversions)
      expect(subscriptions.stock).toMatchObject({ day: YESTERDAY, active: expect.any(Number) })
      const { body: sold } = await ask("revenue?days=30")
      const { status, body: funnel } = await ask("funnel?days=30")
      expect(status).toBe(200)
      expect(funnel.totals.firstDownloads).toBe(sold.totals.downloads)
      expect(funnel.totals.impressions).toBeGreaterThan(funnel.totals.pageViews)
      expect(funnel.sources[0].state).toBe("demo")
    },
  )

  slow("the demo's ads cover four weeks, and the spend of search terms adds up to the campaign's spend", async () => {
    const [campaigns, keywords, terms, commands, popularity] = await Promise.all(
      ["campaigns", "ads-keywords", "ads-search-terms", "ads-commands", "search-popularity"].map((path) => ask(path)),
    )
    expect([campaigns, keywords, terms, commands, popularity].map((report) => report!.status)).toEqual([
      200, 200, 200, 200, 200,
    ])
    expect(campaigns!.body).toMatchObject({ reportedDays: 28, lateDays: [], sources: [{ state: "demo" }] })
    const spend = campaigns!.body.campaigns[0].metrics.spend
    expect(Number(spend.amount)).toBeGreaterThan(100)
    expect(keywords!.body.keywords).toHaveLength(3)
    expect(terms!.body.totals.spend).toEqual(spend)
    expect(commands!.body.commands[0]).toMatchObject({ by: "dashboard", changes: [{ field: "bid" }] })
    expect(popularity!.body.top.length).toBe(KEYWORDS.length - 1)
    const { newDownloads } = campaigns!.body.campaigns[0].metrics
    expect(newDownloads).toBeLessThan((await ask("revenue?days=28&country=us")).body.totals.downloads)
  })

  slow("the operations for prices, portfolio and today return demo data", async () => {
    const pricing = await ask("pricing")
    expect([pricing.status, pricing.body.sources[0].state]).toEqual([200, "demo"])
    expect(pricing.body.offered).toMatchObject([{ kind: "introductory", mode: "FREE_TRIAL", duration: "ONE_WEEK" }])
    const prices = await ask("country-prices")
    expect([prices.status, prices.body.account.state]).toEqual([200, "demo"])
    const { body } = await scene.service.call(`/v1/portfolio?tz=America/Los_Angeles&day=${YESTERDAY}`, { key })
    const invented = { id: "subscriptions", connected: true, invented: true }
    const countries = body.cards.find(({ id }: { id: string }) => id === "countries")
    expect([countries.state, countries.rows.map(({ label }: { label: string }) => label).sort()]).toEqual([
      ...["measured", ["de", "gb", "us"]],
    ])
    expect(body.conns).toContainEqual(expect.objectContaining(invented))
    expect(body.apps[0].trials).toBeGreaterThan(0)
    expect((await ask(`today?tz=America/Los_Angeles&day=${YESTERDAY}`)).body.conns).toContainEqual(
      expect.objectContaining(invented),
    )
  })

  slow("the revenue and ads pages mark the demo's data as invented", async () => {
    const owner = await ownerOf(scene.service, scene.workspaceId)
    for (const page of ["revenue", "ads"]) {
      const { status, text } = await owner.open(`/app/apps/${scene.appId}/${page}`)
      expect([page, status]).toEqual([page, 200])
      expect(text).toContain('<span class="tag warn">Invented</span>')
    }
  })

  slow("every figure of the demo's account equals the sum of the rows in its report", async () => {
    const readReport = async (report: EvidenceReport, day = YESTERDAY) => {
      const app = { id: scene.appId, iosId: TEA.id, androidPkg: null }
      return (await readReportEvidence(scene.sql, scene.workspaceId, app, { report, day }))!.said
    }
    const sum = (rows: Record<string, unknown>[], name: string) =>
      rows.reduce((total, row) => total + Number(row[name]), 0)
    const [sales] = await readReport("sales")
    expect(sales).toMatchObject({
      source: "asc-sales",
      origin: "demo",
      sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
    })
    const { totals } = (await ask("revenue?days=1")).body
    expect(
      sum(
        sales!.rows.filter(({ type }) => type === "1F"),
        "units",
      ),
    ).toBe(totals.downloads)
    const events = (await readReport("subscription_events"))[0]!.rows.filter(
      ({ event }) => event === "Start Introductory Offer",
    )
    expect(sum(events, "quantity")).toBe((await ask("subscriptions?days=1")).body.totals.trialStarts)
    const stock = (await readReport("subscriptions"))[0]!.rows
    expect(sum(stock, "active")).toBe((await ask("subscriptions?days=1")).body.stock.active)
    const impressions = (await readReport("engagement"))[0]!.rows.filter(({ event }) => event === "Impression")
    expect(sum(impressions, "count")).toBe((await ask("funnel?days=1")).body.totals.impressions)
    const { campaigns, to } = (await ask("campaigns")).body
    const days = await Promise.all(Array.from({ length: 28 }, (_, ago) => readReport("ads_days", addDays(to, -ago))))
    const whole = days.flatMap(([total]) => total!.rows.filter(({ keyword }) => keyword === undefined))
    expect(sum(whole, "taps")).toBe(campaigns[0].metrics.taps)
    const [terms] = await readReport("ads_terms", to)
    expect(sum(terms!.rows, "taps")).toBe((await ask("ads-search-terms")).body.totals.taps)
    const isOfDemo = (report: EvidenceReport) => report !== "ads_changes" && !report.startsWith("play_")
    for (const report of EVIDENCE_REPORTS.filter(isOfDemo))
      expect([report, (await readReport(report)).length]).toEqual([report, 1])
    expect((await readReport("ads_changes", addDays(to, -9)))[0]!.count).toBe(1)
    expect(await readReport("sales", "2025-01-01")).toEqual([])
  })

  slow("a key of another workspace, or without the scope, does not get the demo account's data", async () => {
    const otherWorkspace = await scene.service.workspace()
    const appId = await trackOwn(scene.sql, { workspaceId: otherWorkspace, iosId: TEA.id, keywords: ["tea"] })
    const otherKey = await scene.service.key(otherWorkspace)
    expect((await scene.service.call(`/v1/apps/${appId}/revenue`, { key: otherKey })).body.error).toBe("not_connected")
    const blind = await scene.service.key(scene.workspaceId, { scopes: ["apps:read"] })
    expect((await ask("revenue", blind)).body.error).toBe("scope_required")
  })
})

slow("the demo's account sends no requests and cannot be tested, paused or changed", async () => {
  const { sql, workspaceId, register, standIn } = scene
  const requestCount = standIn.requests.length
  const parts = { sql, sealer, log: silentLog, reach: register.reach, gapMs: 0 }
  await createAccountReading({ recording, ...parts }).runOnce()
  expect(standIn.requests.length).toBe(requestCount)
  expect(await sql`select from connected_account where failure is not null or last_ok is not null`).toHaveLength(0)
  const accounts = await sql<{ id: string }[]>`
    select id
    from connected_account
    where workspace_id = ${workspaceId}
    order by id`
  expect(accounts).toHaveLength(2)
  for (const { id } of accounts) {
    const tried = [
      () => testAccount(register, workspaceId, id),
      () => rotateKey(register, workspaceId, id, {}),
      () => pauseAccount(sql, workspaceId, id, true),
      () => setWrites(register, workspaceId, id, { on: true }),
    ]
    for (const attempt of tried) {
      const why = await attempt().then(
        () => "done",
        (error: Error) => error.message,
      )
      expect(why).toContain("is a demo account")
    }
  }
  expect(await sql`select from connected_account where next_at is not null`).toHaveLength(0)
})

slow("the demo's account stores invented reports and refuses real reports", async () => {
  const [account] = await scene.sql<{ id: string }[]>`
    select id
    from connected_account
    where state = 'demo' and kind = 'app-store-connect'`
  const day = "2025-10-20"
  const real = reported("sales", { account: account!.id, day })
  expect((await record(scene.sql, [real], () => NOW)).recorded).toBe(0)
  const invented = reported("sales", { account: account!.id, day, origin: "demo" })
  expect((await record(scene.sql, [invented], () => NOW)).recorded).toBe(1)
  await scene.sql`delete from report_day where day = ${day}`
  await scene.sql`delete from sales_fact_row where day = ${day}`
})

long("loading the demo again changes nothing; loading it a day later only adds a day", async () => {
  const before = await accountRows()
  expect(before.sales_fact!.rows).toBeGreaterThan(90)
  expect((await load()).recorded).toBe(0)
  expect(await accountRows()).toEqual(before)
  const { body } = await ask("revenue?days=1")
  const later = new Date(NOW.getTime() + 86_400_000)
  expect((await load(later)).recorded).toBeGreaterThan(0)
  scene.clock.now = later
  const { body: two } = await ask("revenue?days=2")
  expect([two.to, two.days[0], two.days[1].reported]).toEqual(["2026-03-11", body.days[0], true])
  scene.clock.now = NOW
})

slow("adding a real account removes the demo's account, and loading the demo does not restore it", async () => {
  const { sql, workspaceId } = scene
  const demos = () => sql`select id from connected_account where state = 'demo'`
  const { id } = await scene.add()
  expect(await demos()).toHaveLength(0)
  expect(await sql`select from report_day`).toHaveLength(0)
  expect(await load()).toEqual({ recorded: 0, alreadyStored: 0 })
  await removeAccount(sql, workspaceId, id, true)
  const demoAccounts = await makeDemoAccounts(sql, workspaceId, async () => {})
  await removeAccount(sql, workspaceId, demoAccounts!.ads, false)
  expect(await demos()).toHaveLength(1)
  await makeDemoAccounts(sql, workspaceId, async () => {})
  expect((await removeAllOfDemo(sql)).accounts).toBe(2)
  expect(await sql.begin((tx) => deleteDemoAccounts(tx))).toBe(0)
  const remaining = Object.entries(await accountRows()).filter(([, { rows }]) => rows > 0)
  expect(remaining).toEqual([])
})

/** Counts the rows of all accounts by table, with a digest of them. */
async function accountRows(): Promise<Record<string, { rows: number; digest: string | null }>> {
  const { sql } = scene
  const tables = await sql<{ name: string }[]>`
    select table_name as name
    from information_schema.columns
    where table_schema = 'public' and column_name = 'account_id'
    order by 1`
  const rowsByTable: Record<string, { rows: number; digest: string | null }> = {}
  for (const { name } of tables) {
    const [row] = await sql<{ rows: number; digest: string | null }[]>`
      select count(*)::int as rows, md5(string_agg(t::text, ' ' order by t::text)) as digest
      from ${sql(name)} t`
    rowsByTable[name] = row!
  }
  return rowsByTable
}
