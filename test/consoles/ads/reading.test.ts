import { afterEach, beforeAll, beforeEach, expect } from "bun:test"
import { lastAdsDay } from "../../../src/consoles/ads/days.ts"
import { rebuildAccounts } from "../../../src/consoles/store/derived/rebuild.ts"
import { createAccountReading } from "../../../src/consoles/worker.ts"
import type { Sql } from "../../../src/database/types.ts"
import { KINDS } from "../../../src/kinds.ts"
import { addDays } from "../../../src/lib/days.ts"
import { silentLog } from "../../../src/lib/log.ts"
import type { RawBody } from "../../../src/measuring/source.ts"
import { recording } from "../../../src/recording.ts"
import { sealer } from "../../alerts/delivery/scene.ts"
import { freshDatabase } from "../../database.ts"
import { slow } from "../../long.ts"
import { AD_ACCOUNT, type AdsScene, addTeaAdGroup, adsScene, campaign } from "./scene.ts"
import { refusal } from "./stand-in.ts"

let sql: Sql
let scene: AdsScene
let bodies: RawBody[]
beforeAll(async () => {
  sql = await freshDatabase()
})
beforeEach(async () => {
  await sql`delete from connected_account`
  scene = await adsScene(sql)
  addTeaAdGroup(scene)
  bodies = []
})
afterEach(() => scene.standIn.stop())

const LAST = lastAdsDay(AD_ACCOUNT.timezone, new Date())
const CAMPAIGN = String(campaign().id)

async function readAll(): Promise<void> {
  await sql`update connected_account set next_at = now()`
  const parts = { sql, sealer, log: silentLog, reach: scene.register.reach, gapMs: 0 }
  await createAccountReading({ recording, ...parts, keep: async (body) => void bodies.push(body) }).runOnce()
}

const makeDue = () => sql`update account_task set next_at = now()`
const failures = async () =>
  (await sql`select task, failure from account_task where failure is not null order by task`).map((row) => ({ ...row }))

slow("reading an ad account stores its campaigns, costs by day, search terms, changes and popularity", async () => {
  const { id } = await scene.add()
  await readAll()
  expect(await failures()).toEqual([])
  const [campaignRow] = await sql`select * from ads_campaign where account_id = ${id}`
  expect(campaignRow).toMatchObject({
    campaign: CAMPAIGN,
    app: "310633997",
    status: "ENABLED",
    budget: "20",
    currency: "EUR",
  })
  expect(campaignRow!.countries).toEqual(["de", "us"])
  const rows = await sql`select thing, text, bid, automatic from ads_thing order by thing, id`
  expect([...rows].map(({ thing, text, bid }) => [thing, text, bid])).toEqual([
    ["group", null, "0.80"],
    ["keyword", "tea timer", "1.20"],
    ["keyword", "green tea", null],
    ["negative", "coffee", null],
    ["negative", "tea pot", null],
  ])
  const [days] = await sql`
    select count(distinct day)::int as days, sum(spend) filter (where keyword is null)::text as spend,
      sum(spend) filter (where keyword is not null)::text as keywords
    from ads_day_fact`
  expect({ ...days }).toEqual({ days: 2, spend: "11", keywords: "9" })
  const reports = await sql`
    select report, count(*)::int as count from ads_report where account_id = ${id} group by report order by report`
  expect(Object.fromEntries(reports.map(({ report, count }) => [report, count]))).toMatchObject({
    ads_campaigns: 1,
    ads_keywords: 1,
    ads_days: 89,
    ads_terms: 1,
    ads_changes: 1,
    ads_popularity: 2,
  })
  const terms = await sql`select term, keyword, spend::text from ads_term_fact order by spend desc, term`
  expect([...terms].map((row) => ({ ...row }))).toEqual([
    { term: "tea timer", keyword: "81", spend: "5" },
    { term: null, keyword: "81", spend: "4" },
    { term: null, keyword: null, spend: "2" },
  ])
  const changes = await sql`select changed_by, entity, field, before, after from ads_change_fact`
  expect([...changes].map((row) => ({ ...row }))).toEqual([
    { changed_by: "dashboard", entity: "Keyword", field: "bid", before: "1.00", after: "1.20" },
  ])
  const popularity = await sql`select country, term, overall_100 from ads_term_popularity order by country, rank`
  expect([...popularity].map((row) => ({ ...row }))).toEqual([
    { country: "de", term: "tee", overall_100: 74 },
    { country: "us", term: "tea timer", overall_100: 49 },
  ])
  // No stored fact or body identifies a person who works in the account.
  const texts = [...bodies.map(({ text }) => text), JSON.stringify(await sql`select rows from ads_report`)]
  expect(texts.filter((text) => text.includes("11223344"))).toEqual([])
  expect(scene.standIn.requests.filter((path) => !path.includes(" /v1/"))).toEqual([])
})

slow("reading again stores only changes: a new bid, later installs of a day and a deleted campaign", async () => {
  const { id } = await scene.add()
  await readAll()
  const storedReports = async () =>
    (await sql`select report, about, day, seen_at from ads_report order by report, about, day, seen_at`).map(String)
  const before = await storedReports()
  await makeDue()
  await readAll()
  expect(await storedReports()).toEqual(before)
  // An unchanged campaign or keyword is not stored on a later day either.
  await sql`update ads_report set day = day - 1 where report in ('ads_campaigns', 'ads_keywords')`
  await makeDue()
  await readAll()
  expect(await storedReports()).toHaveLength(before.length)
  scene.standIn.keywords[0]!.bid = { amount: "1.40", currency: "EUR" }
  scene.standIn.days[0]!.installs += 1
  await makeDue()
  await readAll()
  expect(await storedReports()).toHaveLength(before.length + 2)
  const [bid] = await sql`select bid from ads_thing where id = '81'`
  expect(bid!.bid).toBe("1.40")
  const [history] = await sql`
    select count(*)::int as said from ads_report where report = 'ads_keywords' and account_id = ${id}`
  expect(history!.said).toBe(2)
  scene.standIn.campaigns[0]!.deleted = true
  await makeDue()
  await readAll()
  expect(await sql`select from ads_campaign`).toHaveLength(0)
  expect(await sql`select from account_task where task in ('keywords', 'days', 'terms')`).toHaveLength(0)
  expect(await rebuildAccounts(sql, KINDS, async () => {})).toBe(0)
})

slow("an ad account is due when its next task is due; tasks whose right is missing are ignored", async () => {
  await scene.add()
  await readAll()
  await sql`update account_task set next_at = now() + interval '3 hours'`
  const minutes = async () => {
    await readAll()
    const [row] = await sql`select extract(epoch from next_at - now()) / 60 as minutes from connected_account`
    return Math.round(Number(row!.minutes))
  }
  expect(await minutes()).toBe(60)
  await sql`update account_task set next_at = now() + interval '10 minutes' where task = 'terms'`
  expect(await minutes()).toBe(10)
  await sql`update account_task set next_at = now() where task = 'terms'`
  await sql`update account_right set state = 'denied', why = 'needs a role' where name = 'reports'`
  scene.standIn.requests.length = 0
  expect(await minutes()).toBe(60)
  expect(scene.standIn.requests.filter((path) => path.includes("searchterms"))).toEqual([])
})

slow("the facts of an ad account can be rebuilt from its stored reports", async () => {
  await scene.add()
  await readAll()
  await sql`update ads_day_fact_row set taps = taps + 1 where day = ${LAST}`
  await sql`delete from ads_term_fact_row`
  await sql`update ads_campaign_row set name = 'x'`
  expect(await rebuildAccounts(sql, KINDS, async () => {})).toBe(3)
  expect(await rebuildAccounts(sql, KINDS, async () => {})).toBe(0)
})

slow("a report whose rows exceed the grand total fails: its body is kept and no rows are stored", async () => {
  await scene.add()
  scene.standIn.after = ({ path }, answer) => {
    if (!path.includes("searchterms")) return answer
    const metrics = { localSpend: { amount: "99", currency: "EUR" }, impressions: 9_999, taps: 1, totalInstalls: 0 }
    const row = { metadata: { adGroupId: 71, searchTermText: "tea", countryOrRegion: "DE" }, totalMetrics: metrics }
    return Response.json({ result: { rows: [row, row], summary: { grandTotal: metrics } } })
  }
  await readAll()
  expect(await failures()).toEqual([{ task: "terms", failure: expect.stringMatching(/exceed its grand total/) }])
  expect(await sql`select from ads_term_fact`).toHaveLength(0)
  expect(bodies.some(({ text }) => text.includes("9999"))).toBe(true)
})

slow("a listed Maps campaign is not stored, and several thousand search terms are summed exactly", async () => {
  scene.standIn.campaigns.push(campaign({ id: 7, promotedObjectType: "BUSINESS_BRAND" }))
  const [fact] = scene.standIn.terms
  for (let i = 0; i < 5_100; i++) scene.standIn.terms.push({ ...fact!, text: `tea ${i}`, spend: "0.01", taps: 1 })
  await scene.add()
  await readAll()
  expect(await failures()).toEqual([])
  expect((await sql`select campaign from ads_campaign`).map((row) => row.campaign)).toEqual([CAMPAIGN])
  const [sum] = await sql`select count(*)::int as rows, sum(spend)::text as spend from ads_term_fact`
  expect({ ...sum }).toEqual({ rows: 5_103, spend: "62.00" })
})

slow("a missing right stops only the tasks that need it, and a used-up rate limit pauses the account", async () => {
  const { id } = await scene.add()
  scene.standIn.before = ({ path }) => (path.includes("insights") ? refusal(403, "FORBIDDEN", "no") : null)
  await readAll()
  const [waiting] =
    await sql`select next_at > now() + interval '30 seconds' as later from connected_account where id = ${id}`
  expect(waiting!.later).toBe(true)
  await readAll()
  const [denied] = await sql`select state from account_right where account_id = ${id} and name = 'popularity'`
  expect(denied!.state).toBe("denied")
  const requestCount = scene.standIn.requests.filter((path) => path.includes("insights")).length
  await readAll()
  expect(scene.standIn.requests.filter((path) => path.includes("insights")).length).toBe(requestCount)
  await makeDue()
  scene.standIn.remaining = 12
  await readAll()
  const [row] = await sql`
    select extract(epoch from next_at - now())::int between 50 and 61 as waits from connected_account where id = ${id}`
  expect([row!.waits, scene.standIn.remaining > 0]).toEqual([true, true])
})

slow("an unpublished week counts as late and not as empty; a day is read three hours after its end", async () => {
  scene.standIn.popularity = []
  await scene.add()
  await readAll()
  expect(await failures()).toEqual([
    { task: "popularity", failure: expect.stringContaining("is not published yet for de") },
    { task: "popularity", failure: expect.stringContaining("is not published yet for us") },
  ])
  expect(await sql`select from ads_report where report = 'ads_popularity'`).toHaveLength(0)
  expect(lastAdsDay("Europe/Berlin", new Date("2026-01-10T00:30:00Z"))).toBe("2026-01-08")
  expect(lastAdsDay("Europe/Berlin", new Date("2026-01-10T02:30:00Z"))).toBe("2026-01-09")
  expect(addDays(LAST, 1) <= new Date().toISOString().slice(0, 10)).toBe(true)
})
