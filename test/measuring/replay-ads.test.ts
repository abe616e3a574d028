import { afterAll, afterEach, beforeEach, expect, setDefaultTimeout } from "bun:test"
import { hash } from "node:crypto"
import { replay } from "../../src/commands/replay/replay.ts"
import { lastAdsDay } from "../../src/consoles/ads/days.ts"
import { EVIDENCE_REPORTS, readReportEvidence } from "../../src/consoles/read/read-evidence.ts"
import { createAccountReading } from "../../src/consoles/worker.ts"
import { dayOf } from "../../src/lib/days.ts"
import { silentLog } from "../../src/lib/log.ts"
import { ADS_REPORTS } from "../../src/lib/upstreams.ts"
import type { RawBodies } from "../../src/measuring/raw-bodies.ts"
import { recording } from "../../src/recording.ts"
import { SOURCES } from "../../src/sources.ts"
import { sealer } from "../alerts/delivery/scene.ts"
import { AD_ACCOUNT, type AdsScene, addTeaAdGroup, adsScene } from "../consoles/ads/scene.ts"
import { TEA } from "../consoles/scene.ts"
import { freshDatabase } from "../database.ts"
import { slow } from "../long.ts"
import { removeBodies, someBodies } from "./bodies.ts"

setDefaultTimeout(60_000)
afterAll(removeBodies)

const LAST = lastAdsDay(AD_ACCOUNT.timezone, new Date())

let scene: AdsScene
let bodies: RawBodies
beforeEach(async () => {
  scene = await adsScene(await freshDatabase())
  addTeaAdGroup(scene)
  bodies = someBodies(() => new Date())
})
afterEach(() => scene.standIn.stop())

async function readAll(): Promise<void> {
  const { sql, register } = scene
  await sql`update account_task set next_at = now()`
  await sql`update connected_account set next_at = now()`
  const parts = { sql, sealer, log: silentLog, reach: register.reach, keep: bodies.keep, gapMs: 0 }
  await createAccountReading({ recording, ...parts }).runOnce()
}

const run = (rest: object = {}) => replay(scene.sql, { bodies, sources: SOURCES, pause: async () => {}, ...rest })
const counts = ({ sources }: Awaited<ReturnType<typeof run>>) =>
  Object.fromEntries(
    sources.map(({ source, same, different, unreadable, notKept, recorded }) => [
      source,
      [same, different, unreadable, notKept, recorded],
    ]),
  )

slow("a replay of an ad account's stored bodies corrects the figures of an earlier parser", async () => {
  const [fact] = scene.standIn.terms
  for (let i = 0; i < 5_200; i++) scene.standIn.terms.push({ ...fact!, text: `tea ${i}`, spend: "0.01", taps: 1 })
  await scene.add()
  await readAll()
  // a second reading, in which one bid and the installs of one day have changed
  scene.standIn.keywords[0]!.bid = { amount: "1.40", currency: "EUR" }
  scene.standIn.days[0]!.installs += 1
  await readAll()
  const same = {
    "apple-ads-campaigns": [1, 0, 0, 0, 0],
    "apple-ads-days": [90, 0, 0, 0, 0],
    "apple-ads-keywords": [2, 0, 0, 0, 0],
    "apple-ads-popularity": [2, 0, 0, 0, 0],
    "apple-ads-terms": [1, 0, 0, 0, 0],
  }
  expect(counts(await run({ write: true }))).toEqual(same)
  const figures = async () => [
    ...(await scene.sql`select sum(spend)::text as spend, sum(taps)::int as taps from ads_day_fact`),
    ...(await scene.sql`select sum(spend)::text as spend, count(*)::int as rows from ads_term_fact`),
    ...(await scene.sql`select bid from ads_thing where id = '81'`),
  ]
  const right = await figures()
  expect(right).toEqual([{ spend: "20", taps: 36 }, { spend: "63.00", rows: 5_203 }, { bid: "1.40" }])
  // as an earlier parser would have read the body
  const before = scene.sql`parser = 0, digest = sha256(digest)`
  await scene.sql`
    update ads_report set ${before}, rows = jsonb_set(rows, '{0,taps}', '7') where report = 'ads_days' and rows <> '[]'`
  await scene.sql`
    update ads_report set ${before}, rows = jsonb_set(rows, '{1,bid}', '"9"') where report = 'ads_keywords'`
  const result = await run({ write: true })
  // newly recorded rows are read too if they sort after the old ones
  const { "apple-ads-days": days, "apple-ads-keywords": keywords, ...rest } = counts(result)
  expect(rest).toEqual({
    "apple-ads-campaigns": same["apple-ads-campaigns"],
    "apple-ads-popularity": same["apple-ads-popularity"],
    "apple-ads-terms": same["apple-ads-terms"],
  })
  expect([days!.slice(1), keywords!.slice(1)]).toEqual([
    [3, 0, 0, 3],
    [2, 0, 0, 2],
  ])
  expect(await figures()).toEqual(right)
  // the command's output has none of the workspace's figures
  expect(result.examples.map(({ detail }) => detail)).toEqual(
    result.examples.map(() => expect.stringMatching(/^\d+ rows became \d+ different ones$/)),
  )
})

slow("search terms, bids and spend can be traced to their report and to its stored body", async () => {
  await scene.add()
  await readAll()
  const { sql, workspaceId, appId } = scene
  const totals = new Map<string, number>()
  for (const report of EVIDENCE_REPORTS.filter((name) => (ADS_REPORTS as readonly string[]).includes(name))) {
    const today = new Date()
    const at = report === "ads_changes" ? new Date(today.getTime() - 3_600_000) : today
    const day = report === "ads_days" ? LAST : dayOf(at)
    const evidence = (await readReportEvidence(
      sql,
      workspaceId,
      { id: appId, iosId: TEA.id, androidPkg: null },
      { report, day },
    ))!
    expect([report, evidence.dayZone]).toEqual([
      report,
      /changes|popularity/.test(report) ? "UTC" : AD_ACCOUNT.timezone,
    ])
    for (const { sha256, count, parser } of evidence.said) {
      totals.set(report, (totals.get(report) ?? 0) + count)
      expect(parser).toBeGreaterThan(0)
      const body = await bodies.read(Buffer.from(sha256, "hex"))
      // the response names who changed something, so it is not stored
      if (report === "ads_changes") expect(body).toBe(null)
      else expect(hash("sha256", body!.bytes)).toBe(sha256)
    }
  }
  expect(Object.fromEntries(totals)).toEqual({
    ads_campaigns: 1,
    ads_keywords: 5,
    ads_days: 3,
    ads_terms: 3,
    ads_changes: 1,
    ads_popularity: 2,
  })
})
