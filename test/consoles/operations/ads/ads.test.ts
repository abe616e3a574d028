import { afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test"
import { lastAdsDay } from "../../../../src/consoles/ads/days.ts"
import type { AdsTerm } from "../../../../src/consoles/ads/read/terms.ts"
import { removeAccount } from "../../../../src/consoles/register.ts"
import { publishedSunday } from "../../../../src/consoles/sources/ads/requests.ts"
import { noteState } from "../../../../src/consoles/state.ts"
import { createAccountReading } from "../../../../src/consoles/worker.ts"
import type { Sql } from "../../../../src/database/types.ts"
import { addDays } from "../../../../src/lib/days.ts"
import { silentLog } from "../../../../src/lib/log.ts"
import { recording } from "../../../../src/recording.ts"
import { sealer } from "../../../alerts/delivery/scene.ts"
import { freshDatabase } from "../../../database.ts"
import { slow } from "../../../long.ts"
import { reading } from "../../../measuring/record/measured.ts"
import { record } from "../../../record.ts"
import { trackOwn } from "../../../world/tracked.ts"
import { AD_ACCOUNT, type AdsScene, addTeaAdGroup, adsScene, campaign } from "../../ads/scene.ts"
import { TEA } from "../../scene.ts"

let sql: Sql
let scene: AdsScene
let key: string
beforeAll(async () => {
  sql = await freshDatabase()
})
beforeEach(async () => {
  await sql`delete from connected_account`
  scene = await adsScene(sql)
  addTeaAdGroup(scene)
  key = await scene.service.key(scene.workspaceId)
})
afterEach(() => scene.standIn.stop())

const LAST = lastAdsDay(AD_ACCOUNT.timezone, new Date())
const PATHS = ["campaigns", "ads-keywords", "ads-search-terms", "ads-commands", "search-popularity"]
const TOOLS = [
  "list_campaigns",
  "list_ads_keywords",
  "list_ads_search_terms",
  "list_ads_commands",
  "get_search_popularity",
]

const call = (path: string, callerKey = key) =>
  scene.service.call(`/v1/apps/${scene.appId}/${path}`, { key: callerKey })

async function readAll(): Promise<void> {
  await sql`update connected_account set next_at = now() where sealed is not null`
  await sql`update account_task set next_at = now()`
  const parts = { sql, sealer, log: silentLog, reach: scene.register.reach, gapMs: 0 }
  await createAccountReading({ recording, ...parts }).runOnce()
}

const euros = (amount: string) => ({ amount, currency: "EUR" })

slow("campaigns are listed with state, budget and 28 days by spend, over REST and as a tool", async () => {
  scene.standIn.campaigns.push(campaign({ id: 2, name: "Quiet", status: "PAUSED", dailyBudget: null }))
  await scene.add()
  await readAll()
  const { status, body, credits } = await call("campaigns")
  expect([status, credits.used]).toEqual([200, 1])
  expect(body).toMatchObject({
    dayZone: "Europe/Berlin",
    from: addDays(LAST, -27),
    to: LAST,
    country: null,
    reportedDays: 28,
    lateDays: [],
    sources: [{ kind: "apple-ads", state: "ok", why: null, asOf: expect.any(String) }],
    installsSettleBy: addDays(LAST, 31),
  })
  const metrics = {
    impressions: 230,
    taps: 20,
    installs: 7,
    newDownloads: 7,
    spend: euros("11"),
    ttr: 0.087,
    cpt: euros("0.55"),
    cpi: euros("1.5714"),
  }
  expect(body.totals).toEqual(metrics)
  expect(body.campaigns[0]).toEqual({
    id: "444555666",
    name: "Tea, Germany",
    status: "ENABLED",
    serving: { status: "RUNNING", reasons: [] },
    countries: ["de", "us"],
    budget: euros("20"),
    bidStrategy: "MANUAL_CPT",
    placement: "APPSTORE_SEARCH_RESULTS",
    metrics,
    share: 1,
  })
  expect(body.campaigns[1]).toMatchObject({
    id: "2",
    budget: null,
    share: 0,
    metrics: { taps: 0, spend: euros("0"), cpt: null },
  })
  expect((await call("campaigns?country=us")).body.totals).toMatchObject({ spend: euros("2"), taps: 4 })
  const answer = await scene.service.tool("list_campaigns", { appId: scene.appId }, { key })
  expect(answer.result.structuredContent).toEqual(body)
})

slow("keywords are listed with their own or the ad group's bid, their costs and the app's organic rank", async () => {
  await scene.add()
  await readAll()
  const at = new Date()
  expect(await record(sql, [reading("tea timer", at.toISOString(), ["999999001", TEA.id])], () => at)).toMatchObject({
    recorded: 1,
    refused: [],
  })
  const { body } = await call("ads-keywords?country=us")
  expect(body.country).toBe("us")
  const { keywords, totals, campaignTotals, omitted } = (await call("ads-keywords")).body
  expect([totals.spend, campaignTotals.spend, omitted]).toEqual([euros("9"), euros("11"), 0])
  expect(
    keywords.map(({ id, text, bid, status, metrics }: Record<string, Record<string, unknown>>) => {
      return [id, text, bid, status, metrics!.spend]
    }),
  ).toEqual([
    ["81", "tea timer", { ...euros("1.20"), own: true }, "ENABLED", euros("9")],
    ["82", "green tea", { ...euros("0.80"), own: false }, "ENABLED", euros("0")],
  ])
  expect(body.keywords.find(({ id }: { id: string }) => id === "81").organic).toMatchObject({
    country: "us",
    rank: 2,
    measured: true,
    tracked: false,
  })
  expect(keywords[1].organic).toEqual({ country: "de", rank: null, measured: false, tracked: false, day: null })
  const first = (await call("ads-keywords?limit=1")).body
  expect([first.keywords.length, first.omitted, first.totals.spend]).toEqual([1, 1, euros("9")])
  // A deleted keyword remains with its costs.
  scene.standIn.keywords[0]!.deleted = true
  await readAll()
  const [deletedKeyword] = (await call("ads-keywords")).body.keywords
  expect(deletedKeyword).toMatchObject({
    id: "81",
    text: null,
    status: "DELETED",
    bid: euros("0.80"),
    metrics: { spend: euros("9") },
    organic: null,
  })
})

slow("a keyword's withheld terms are one row without a term, and totals equal those of the campaigns", async () => {
  await scene.add()
  await readAll()
  const { body } = await call("ads-search-terms")
  const campaigns = (await call("campaigns")).body
  for (const name of ["spend", "taps", "impressions", "installs"])
    expect(body.totals[name]).toEqual(campaigns.totals[name])
  expect(
    body.terms.map(({ term, undisclosed, source, keyword, metrics }: AdsTerm<unknown> & { undisclosed: boolean }) => {
      return [term, undisclosed, source, keyword?.text ?? null, metrics.spend]
    }),
  ).toEqual([
    ["tea timer", false, "TARGETED", "tea timer", euros("5")],
    [null, true, "TARGETED", "tea timer", euros("4")],
    [null, true, "AUTO", null, euros("2")],
  ])
  expect([body.undisclosed.spend, body.undisclosedShare, body.unreadCampaigns]).toEqual([euros("6"), 0.5455, []])
  const two = (await call("ads-search-terms?limit=1")).body
  expect([two.omitted, two.totals]).toEqual([2, body.totals])
  expect((await call("ads-search-terms?country=us")).body.totals.spend).toEqual(euros("2"))
})

slow("popularity lists top and tracked searches; an unlisted keyword is below the lowest listed value", async () => {
  await sql`insert into tracked_term (app_id, country, term, position) values (${scene.appId}, 'us', 'tea timer', 9)`
  await scene.add()
  await readAll()
  const { body } = await call("search-popularity?country=us&terms=matcha")
  const sunday = publishedSunday(new Date())
  expect(body).toMatchObject({
    country: "us",
    from: sunday,
    to: addDays(sunday, 6),
    genre: null,
    genres: ["FOOD_DRINK"],
  })
  const listed = { term: "tea timer", genre: "FOOD_DRINK", rankInGenre: 1, inGenre: 90, overall100: 49, overall5: 3 }
  expect(body.top).toEqual([listed])
  expect(body.wanted).toEqual([
    { term: "matcha", tracked: false, listed: false, below: 49, popularity: null },
    { term: "tea", tracked: true, listed: false, below: 49, popularity: null },
    { term: "tea timer", tracked: true, listed: true, below: null, popularity: listed },
  ])
  expect((await call("search-popularity?country=us&genre=food_drink")).body.top).toEqual([listed])
  expect((await call("search-popularity?country=us&genre=GAMES")).body.top).toEqual([])
})

describe("list_ads_commands", () => {
  const job = async (fields: {
    id: string
    status: string
    sentAt: Date | null
    id2?: string
    action?: string
    args?: object
  }) => {
    const { id, status, sentAt, id2 = "81", action = "set_keyword_bid", args = { campaignId: "444555666" } } = fields
    const preview = { summary: "bid", target: { kind: "keyword", id: id2, name: "tea timer" } }
    const [row] = await sql`select id from api_key where workspace_id = ${scene.workspaceId}`
    await sql`
      insert into job (id, workspace_id, key_id, request_id, action, scope, target, app_id, shown, args, status,
        sent_at, finished_at, error, lease, lease_until, created_at)
      values (${id}, ${scene.workspaceId}, ${row!.id}, 'r', ${action}, 'ads:write', ${`keyword:${id}`}, ${scene.appId},
        ${sql.json(preview as never)},
        ${sql.json(args as never)}, ${status}, ${sentAt}, ${status === "queued" ? null : (sentAt ?? new Date())},
        ${status === "failed" ? sql.json({ error: "unavailable" } as never) : null}, null, null,
          ${sentAt ?? new Date()})`
  }

  slow(
    "each change by a person, a program or the service is listed once, and failed writes are listed separately",
    async () => {
      const at = new Date(Date.now() - 30 * 60_000)
      const change = (transactionId: string, entityId: string, minutes: number, rest: object = {}) => ({
        transactionId,
        entityType: "Keyword",
        entityId,
        eventType: "UPDATE" as const,
        userType: "CUSTOMER_API" as const,
        eventTime: new Date(at.getTime() + minutes * 60_000).toISOString(),
        modifiedBy: "5",
        meta: { campaignId: 444555666, text: "tea timer" },
        changes: [{ field: "bid", oldValues: ["1.20"], newValues: ["1.40"] }],
        ...rest,
      })
      scene.standIn.changes.push(
        change("t1", "81", 1),
        change("t2", "82", 1),
        change("t3", "900", 2, { eventType: "CREATE", meta: { campaignId: 444555666, text: "Oolong" } }),
      )
      await scene.add()
      await readAll()
      await job({ id: "job_done", status: "done", sentAt: at })
      await job({
        id: "job_made",
        status: "unknown",
        sentAt: at,
        id2: "new",
        action: "add_exact_keyword",
        args: { text: "oolong" },
      })
      await job({ id: "job_fail", status: "failed", sentAt: null })
      await job({ id: "job_elsewhere", status: "failed", sentAt: null, action: "add_keywords" })
      const { body } = await call("ads-commands")
      expect(
        body.commands.map(({ by, job, listed, entityId }: Record<string, unknown>) => [
          by,
          (job as { id: string } | null)?.id ?? null,
          listed,
          entityId,
        ]),
      ).toEqual([
        ["service", "job_fail", false, "81"],
        ["service", "job_made", true, "900"],
        ["other_api", null, true, "82"],
        ["service", "job_done", true, "81"],
        ["dashboard", null, true, "81"],
      ])
      expect(body.commands[3].changes).toEqual([{ field: "bid", from: "1.20", to: "1.40" }])
      const pages: string[] = []
      let cursor = ""
      for (let page = 0; page < 5; page++) {
        const { commands, nextCursor } = (await call(`ads-commands?limit=2${cursor}`)).body
        pages.push(...commands.map(({ at, entityId }: Record<string, string>) => `${at} ${entityId}`))
        if (nextCursor === null) break
        cursor = `&cursor=${nextCursor}`
      }
      expect(pages).toEqual(body.commands.map(({ at, entityId }: Record<string, string>) => `${at} ${entityId}`))
      expect((await call("ads-commands?cursor=abc")).body.error).toBe("bad_cursor")
      expect(JSON.stringify(body)).not.toContain("11223344")
    },
  )
})

describe("refusals of ads reads, over REST and as a tool", () => {
  const refusals = async () => {
    const refusalTexts: unknown[] = []
    for (const [at, path] of PATHS.entries()) {
      const rest = await call(path)
      const answer = await scene.service.tool(TOOLS[at]!, { appId: scene.appId }, { key })
      expect(answer.result.isError).toBe(true)
      const text = JSON.parse(answer.result.content[0].text)
      expect(text).toMatchObject({ error: rest.body.error, detail: rest.body.detail })
      expect(rest.credits.used).toBe(0)
      refusalTexts.push(`${rest.status} ${rest.body.error}: ${rest.body.detail}`)
    }
    return refusalTexts as string[]
  }

  slow("ads reads are refused on Google Play, before a reading and without an account that has the app", async () => {
    for (const text of await refusals()) expect(text).toMatch(/^404 not_connected: .*appmeter account add apple-ads/)
    scene.standIn.campaigns[0]!.promotedObjectId = "999"
    const { id } = await scene.add()
    const otherRefusals = await refusals()
    for (const text of otherRefusals.slice(0, 4))
      expect(text).toContain(`404 not_connected: The connected ads account has no campaign for ${TEA.id}`)
    expect(otherRefusals[4]).toMatch(/^404 not_measured: Connected since .* the search popularity of de/)
    await sql`update account_app set app_id = ${scene.appId}, outside_id = ${TEA.id} where account_id = ${id}`
    for (const text of await refusals()) expect(text).toMatch(/^404 not_measured: /)
    await sql`
      insert into account_right (account_id, name, state, why) values (${id}, 'reports', 'denied', 'needs a role')
        on conflict (account_id, name) do update set state = 'denied', why = excluded.why`
    expect((await refusals())[0]).toMatch(/but its key cannot read it: it needs a role/)
    const input = {
      workspaceId: scene.workspaceId,
      androidPkg: "com.example.tea",
      countries: ["us"],
      keywords: [],
      origin: "own",
    }
    scene.appId = await trackOwn(sql, input as never)
    for (const text of await refusals()) expect(text).toMatch(/^400 unsupported_platform/)
  })

  test("ads reads are refused without ads:read, and for an invalid campaign or country", async () => {
    const limitedKey = await scene.service.key(scene.workspaceId, { scopes: ["apps:read", "revenue:read"] })
    for (const path of PATHS) expect((await call(path, limitedKey)).body.error).toBe("scope_required")
    expect((await call("ads-keywords?campaign=x")).body.error).toBe("invalid_arguments")
    expect((await call("campaigns?country=zz")).body.error).toBe("bad_country")
    expect((await call("search-popularity?limit=201")).body.error).toBe("invalid_arguments")
  })

  slow(
    "late days are listed, and a removed or revoked account shows its figures to its own workspace only",
    async () => {
      const { id } = await scene.add()
      await readAll()
      await sql`delete from ads_report where report = 'ads_days' and day = ${LAST}`
      const withLateDay = (await call("campaigns")).body
      expect([withLateDay.reportedDays, withLateDay.lateDays]).toEqual([27, [LAST]])
      await sql.begin((tx) => noteState(tx, id, { state: "revoked", why: "the key is refused" }))
      for (const path of PATHS) {
        const { status, body } = await call(path)
        expect([path, status, body.sources[0].state, body.sources[0].why]).toEqual([
          path,
          200,
          "revoked",
          "the key is refused",
        ])
      }
      await removeAccount(sql, scene.workspaceId, id, false)
      expect((await call("campaigns")).body.sources[0].state).toBe("removed")
      const stranger = await adsScene(sql)
      await stranger.standIn.stop()
      const otherKey = await stranger.service.key(stranger.workspaceId)
      for (const path of PATHS) {
        const response = await stranger.service.call(`/v1/apps/${stranger.appId}/${path}`, { key: otherKey })
        expect([response.status, response.body.error]).toEqual([404, "not_connected"])
      }
      await removeAccount(sql, scene.workspaceId, id, true)
      expect((await call("campaigns")).body.error).toBe("not_connected")
    },
  )
})
