import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import { pacificDay } from "../../../src/consoles/pacific.ts"
import { noteState } from "../../../src/consoles/state.ts"
import { rebuildAccounts } from "../../../src/consoles/store/derived/rebuild.ts"
import { createAccountReading } from "../../../src/consoles/worker.ts"
import { KINDS } from "../../../src/kinds.ts"
import { addDays } from "../../../src/lib/days.ts"
import { silentLog } from "../../../src/lib/log.ts"
import type { RawBody } from "../../../src/measuring/source.ts"
import { recording } from "../../../src/recording.ts"
import { sealer } from "../../alerts/delivery/scene.ts"
import { freshDatabase } from "../../database.ts"
import { slow } from "../../long.ts"
import { trackOwn } from "../../world/tracked.ts"
import { type AccountScene, accountScene, isReport, putOffReports, TEA } from "../scene.ts"
import { type AnalyticsFile, analyticsPart, type EngagementLine } from "../stand-in-analytics.ts"

const NOW = new Date()
const ago = (days: number) => addDays(pacificDay(NOW), -days)

let scene: AccountScene
let key: string
let bodies: RawBody[]
beforeEach(async () => {
  scene = await accountScene(await freshDatabase(), NOW)
  key = await scene.service.key(scene.workspaceId)
  bodies = []
})
afterEach(() => scene.standIn.stop())

const call = (query = "", callerKey = key) =>
  scene.service.call(`/v1/apps/${scene.appId}/funnel${query}`, { key: callerKey })

/** Reads everything due except the daily reports, which this console does not have. */
async function readAll(times = 1): Promise<void> {
  for (let time = 0; time < times; time++) {
    await putOffReports(scene)
    await scene.sql`update connected_account set next_at = now()`
    const parts = { sql: scene.sql, sealer, log: silentLog, reach: scene.register.reach, now: () => scene.clock.now }
    const keep = async (body: RawBody) => void bodies.push(body)
    await createAccountReading({ recording, ...parts, keep, gapMs: 0, atMost: 40 }).runOnce()
  }
}

/** Makes the search for new files due. */
const makeDue = () =>
  scene.sql`
    update account_task set next_at = now()
    where not ${isReport(scene.sql)} and (task = 'analytics' or next_at is not null)`

const SHOWN = "App Store Discovery and Engagement Standard"
const LOADED = "App Downloads Standard"
const [SEARCH, BROWSE] = ["App Store search", "App Store browse"]

function file(report: AnalyticsFile["report"], processed: string, ...parts: EngagementLine[][]): void {
  scene.standIn.analytics.files.push({
    app: TEA.id,
    report,
    processed,
    parts: parts.map((lines) => analyticsPart(report, TEA.id, lines)),
  })
}

/** Adds requested reports with files of a week. */
function aWeek(): void {
  scene.standIn.analytics.requests.push({ id: "request-1", app: TEA.id })
  file(
    SHOWN,
    ago(2),
    [
      [ago(5), "Impression", SEARCH, "DE", 400],
      [ago(5), "Page view", SEARCH, "DE", 80],
    ],
    [
      [ago(5), "Impression", BROWSE, "US", 100],
      [ago(5), "Tap", BROWSE, "US", 30],
      [ago(4), "Impression", SEARCH, "US", 9],
    ],
  )
  file(
    LOADED,
    ago(3),
    [
      [ago(5), "First-time download", SEARCH, "DE", 40],
      [ago(5), "Redownload", SEARCH, "US", 3],
    ],
    [[ago(5), "Auto-update", SEARCH, "DE", 900]],
  )
  file(LOADED, ago(2), [[ago(4), "First-time download", SEARCH, "US", 2]])
}

const NONE = { impressions: null, pageViews: null, taps: null, firstDownloads: null, redownloads: null }

slow("two reports become one funnel with counts, rates and denominators, and unknown days are null", async () => {
  aWeek()
  const { id } = await scene.add(scene.standIn.key("SALES"))
  await readAll(2)
  const { status, body, credits } = await call("?days=5")
  expect([status, credits.used]).toEqual([200, 1])
  expect(body).toMatchObject({ dayZone: null, from: ago(5), to: ago(1), source: null, completeTo: ago(5) })
  expect(body.totals).toEqual({
    impressions: 509,
    pageViews: 80,
    taps: 30,
    firstDownloads: 42,
    redownloads: 3,
    // Covers the two days that both reports cover.
    rates: {
      viewed: { value: 0.1572, denominator: "impressions", count: 509 },
      downloaded: { value: null, denominator: "pageViews", count: 80 },
      converted: { value: 0.0825, denominator: "impressions", count: 509 },
    },
  })
  expect(
    body.days.map(({ day, complete, impressions, firstDownloads }: Record<string, unknown>) => [
      day,
      complete,
      impressions,
      firstDownloads,
    ]),
  ).toEqual([
    [ago(5), true, 500, 40],
    [ago(4), false, 9, 2],
    ...[3, 2, 1].map((days) => [ago(days), false, null, null]),
  ])
  expect(body.days[4]).toEqual({
    day: ago(1),
    complete: false,
    ...NONE,
    rates: {
      viewed: { value: null, denominator: "impressions", count: null },
      downloaded: { value: null, denominator: "pageViews", count: null },
      converted: { value: null, denominator: "impressions", count: null },
    },
  })
  expect(
    body.countries.map(({ country, impressions, redownloads }: Record<string, unknown>) => [
      country,
      impressions,
      redownloads,
    ]),
  ).toEqual([
    ["de", 400, 0],
    ["us", 109, 3],
  ])
  expect(body.trafficSources.map(({ source, impressions }: Record<string, unknown>) => [source, impressions])).toEqual([
    ["search", 409],
    ["browse", 100],
  ])
  expect(body.sources.map(({ asOf, ...rest }: Record<string, unknown>) => [typeof asOf, rest])).toEqual(
    ["engagement", "downloads"].map((report) => [
      "string",
      {
        id,
        kind: "app-store-connect",
        report,
        state: "ok",
        why: null,
        reportedDays: 2,
        days: 5,
        lateDays: [ago(3), ago(2), ago(1)],
      },
    ]),
  )
  // The file host never receives the key.
  expect(scene.standIn.analytics.fetched.length).toBe(5)
  expect(scene.standIn.analytics.fetched.map((headers) => headers.get("authorization"))).toEqual(Array(5).fill(null))
  expect(scene.standIn.analytics.posted).toEqual([])
  const german = (await call("?days=5&country=DE&source=search")).body
  expect([german.country, german.source, german.totals.impressions, german.totals.redownloads]).toEqual([
    "de",
    "search",
    400,
    0,
  ])
  const answer = await scene.service.tool("get_funnel", { appId: scene.appId, days: 5 }, { key })
  expect(answer.result.structuredContent).toEqual(body)
})

slow(
  "a later file replaces a whole day and is read once; a missing day is zero once its files are complete",
  async () => {
    aWeek()
    await scene.add()
    await readAll(2)
    file(SHOWN, ago(1), [
      [ago(5), "Impression", SEARCH, "DE", 401],
      [ago(3), "Impression", SEARCH, "DE", 7],
    ])
    file(LOADED, ago(1), [[ago(2), "First-time download", SEARCH, "DE", 1]])
    await makeDue()
    await readAll(2)
    const { days, completeTo } = (await call("?days=5")).body
    expect(completeTo).toBe(ago(4))
    expect(
      days.map(({ impressions, pageViews, firstDownloads }: Record<string, unknown>) => [
        impressions,
        pageViews,
        firstDownloads,
      ]),
    ).toEqual([
      [401, 0, 40],
      [9, 0, 2],
      // Downloads are complete up to the third day ago, so missing ones are zero; the engagement of that day may still
      // grow.
      [7, 0, 0],
      [null, null, 1],
      [null, null, null],
    ])
    const fetched = scene.standIn.analytics.fetched.length
    await makeDue()
    await readAll()
    expect(scene.standIn.analytics.fetched.length).toBe(fetched)
    // The derived facts can be rebuilt.
    await scene.sql`delete from funnel_fact_row`
    expect(await rebuildAccounts(scene.sql, KINDS, async () => {})).toBe(6)
    expect((await call("?days=5")).body.days).toEqual(days)
  },
)

describe("broken analytics files", () => {
  slow(
    "an expired URL is requested again; a broken file, a missing file and a file of a different app store nothing",
    async () => {
      aWeek()
      const { analytics } = scene.standIn
      analytics.expired = 1
      analytics.removedDates.push(ago(3))
      analytics.files[2]!.parts = [analyticsPart(LOADED, "999", [[ago(4), "First-time download", SEARCH, "US", 2]])]
      await scene.add()
      await readAll(2)
      expect([...(await scene.sql`select distinct report from analytics_day`)]).toEqual([{ report: "engagement" }])
      const turns = await scene.sql`
      select i.report, t.state, t.failure, t.next_at is not null as again
      from account_task t
      join analytics_instance i on i.report = t.task and i.instance = t.subject
      order by i.report, i.processed`
      expect([...turns]).toEqual([
        { report: "downloads", state: "gone", failure: null, again: false },
        {
          report: "downloads",
          state: "late",
          failure: `1 row cannot be read (row 1: it is about another app than ${TEA.id})`,
          again: true,
        },
        { report: "engagement", state: "read", failure: null, again: false },
      ])
      // One report is shown even if the other is missing.
      const { body } = await call("?days=5")
      expect([body.totals.impressions, body.totals.firstDownloads, body.completeTo]).toEqual([509, null, null])
    },
  )

  slow("a file part with a wrong checksum is not stored, and is read again later", async () => {
    aWeek()
    scene.standIn.analytics.wrongChecksum = true
    await scene.add()
    await readAll(2)
    expect(await scene.sql`select from analytics_day`).toHaveLength(0)
    scene.standIn.analytics.wrongChecksum = false
    await scene.sql`update account_task set next_at = now() where next_at is not null`
    await readAll(4)
    expect((await call("?days=5")).body.totals.impressions).toBe(509)
  })
})

describe("refusals of the funnel, over REST and as a tool", () => {
  const refusal = async () => {
    const rest = await call()
    const answer = await scene.service.tool("get_funnel", { appId: scene.appId }, { key })
    expect(JSON.parse(answer.result.content[0].text)).toMatchObject({
      error: rest.body.error,
      detail: rest.body.detail,
    })
    expect([answer.result.isError, rest.credits.used]).toEqual([true, 0])
    return [rest.status, rest.body.error, rest.body.detail]
  }

  test("the funnel is refused without an account, with another app's account and before a reading", async () => {
    expect(await refusal()).toEqual([404, "not_connected", expect.stringContaining("appmeter account add")])
    scene.standIn.apps = [{ ...TEA, id: "999" }]
    await scene.add()
    expect(await refusal()).toEqual([404, "not_connected", expect.stringContaining(`does not have app ${TEA.id}`)])
    await scene.sql`delete from connected_account`
    scene.standIn.apps = [TEA]
    await scene.add()
    expect(await refusal()).toEqual([404, "not_measured", expect.stringContaining("within two days")])
  })

  slow(
    "the funnel is refused for unrequested, stopped or denied reports, and the error names the required action",
    async () => {
      const { id } = await scene.add(scene.standIn.key("SALES"))
      await readAll()
      const how = `appmeter account analytics ${id} ${TEA.id}`
      expect(await refusal()).toEqual([
        404,
        "not_measured",
        expect.stringMatching(/no person has requested these reports.*role Admin/),
      ])
      expect((await refusal())[2]).toContain(how)
      scene.standIn.analytics.requests.push({ id: "request-1", app: TEA.id, stopped: true })
      await makeDue()
      await readAll()
      expect((await refusal())[2]).toMatch(/stopped making these reports because they were not read for a long time/)
      expect(scene.standIn.analytics.posted).toEqual([])
      const forbidden = { errors: [{ status: "403", code: "FORBIDDEN_ERROR" }] }
      scene.standIn.before = (path) => (path.includes("Requests") ? Response.json(forbidden, { status: 403 }) : null)
      await makeDue()
      await readAll()
      expect((await refusal())[2]).toMatch(/may not read these reports/)
    },
  )

  slow("figures of stopped reports stay, and the answer explains why no new figures arrive", async () => {
    aWeek()
    const { id } = await scene.add()
    await readAll(2)
    scene.standIn.analytics.requests[0]!.stopped = true
    await makeDue()
    await readAll()
    const { body } = await call("?days=5")
    expect(body.sources[0].why).toMatch(/stopped making these reports/)
    expect(body.totals.impressions).toBe(509)
    await scene.sql.begin((tx) => noteState(tx, id, { state: "revoked", why: "the key is refused" }))
    expect((await call("?days=5")).body.sources[1]).toMatchObject({ state: "revoked", why: "the key is refused" })
    await scene.sql.begin((tx) => noteState(tx, id, { state: "agreement_required", why: "an agreement waits" }))
    expect((await call("?days=5")).body).toMatchObject({
      completeTo: ago(5),
      sources: [{ state: "agreement_required" }, {}],
    })
  })

  test("the funnel is refused on Google Play, without the right and for invalid parameters", async () => {
    const limitedKey = await scene.service.key(scene.workspaceId, { scopes: ["apps:read"] })
    expect((await call("", limitedKey)).body.error).toBe("scope_required")
    for (const [query, code] of [
      ["?days=0", "bad_days"],
      ["?to=2026-02-30", "bad_range"],
      ["?country=zz", "bad_country"],
      ["?source=tv", "invalid_arguments"],
    ])
      expect([query, (await call(query)).body.error]).toEqual([query, code])
    const input = {
      workspaceId: scene.workspaceId,
      androidPkg: "com.example.tea",
      countries: ["us"],
      keywords: [],
      origin: "own",
    }
    scene.appId = await trackOwn(scene.sql, input as never)
    expect(await refusal()).toEqual([400, "unsupported_platform", expect.stringContaining("add google-play-console")])
  })

  slow("the stored figures are shown while the console is down, and reading resumes automatically", async () => {
    aWeek()
    await scene.add()
    await readAll(2)
    scene.standIn.before = () => new Response("<html>", { status: 503 })
    await makeDue()
    await readAll()
    const down = (await call("?days=5")).body
    expect([down.totals.impressions, down.sources[0].state]).toEqual([509, "unavailable"])
    scene.standIn.before = () => null
    await makeDue()
    await readAll()
    expect((await call("?days=5")).body.sources[0].state).toBe("ok")
  })
})
