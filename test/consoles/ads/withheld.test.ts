import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { lastAdsDay } from "../../../src/consoles/ads/days.ts"
import { createAccountReading } from "../../../src/consoles/worker.ts"
import type { Sql } from "../../../src/database/types.ts"
import { addDays } from "../../../src/lib/days.ts"
import { silentLog } from "../../../src/lib/log.ts"
import { recording } from "../../../src/recording.ts"
import { sealer } from "../../alerts/delivery/scene.ts"
import { freshDatabase } from "../../database.ts"
import { AD_ACCOUNT, type AdsScene, adsScene, campaign } from "./scene.ts"

setDefaultTimeout(60_000)

const FILE = join(import.meta.dirname, "../../../fixtures/upstream/apple-ads-withheld-terms-2021-12.csv")
const LAST = lastAdsDay(AD_ACCOUNT.timezone, new Date())

/** The rows of the file, by column name. The lines are split at commas, because no cell contains one. */
const rows = (() => {
  const [head = "", ...lines] = readFileSync(FILE, "utf8").trim().split(/\r?\n/)
  const names = head.split(",")
  return lines.map((line) => Object.fromEntries(line.split(",").map((cell, i) => [names[i], cell])))
})()
const cents = (list: typeof rows) =>
  list.reduce((sum, row) => sum + Math.round(Number(row.local_spend_amount) * 10_000), 0)
const withheld = rows.filter((row) => row.search_term_text === "")

let sql: Sql
let scene: AdsScene

/** Loads the account of the file into the test platform. The days are moved to the end of the requested period. */
beforeAll(async () => {
  sql = await freshDatabase()
  scene = await adsScene(sql)
  const { standIn } = scene
  standIn.accounts[0]!.currency = "USD"
  const campaignId = Number(rows[0]!.campaign_id)
  standIn.campaigns.splice(0, 1, campaign({ id: campaignId, dailyBudget: null }))
  const ids = { campaignId, deleted: false, status: "ENABLED" }
  for (const [id, [row]] of Map.groupBy(rows, (reported) => Number(reported.ad_group_id)))
    standIn.adgroups.push({ ...ids, id, name: row!.ad_group_name, automatedKeywordsOptIn: true })
  for (const [id, [row]] of Map.groupBy(rows, (reported) => reported.keyword_id as string) as Map<string, typeof rows>)
    if (id !== "")
      standIn.keywords.push({
        ...ids,
        id: Number(id),
        adGroupId: Number(row!.ad_group_id),
        text: row!.keyword,
        matchType: "BROAD",
        bid: null,
      })
  const lastDay = rows
    .map((row) => row.date as string)
    .sort()
    .at(-1)!
  for (const row of rows) {
    const daysBefore = (Date.parse(lastDay) - Date.parse(row.date as string)) / 86_400_000
    standIn.terms.push({
      campaignId,
      adGroupId: Number(row.ad_group_id),
      keywordId: row.keyword_id === "" ? null : Number(row.keyword_id),
      countryOrRegion: "US",
      date: addDays(LAST, -daysBefore),
      spend: row.local_spend_amount as string,
      impressions: Number(row.impressions),
      taps: Number(row.taps),
      installs: Number(row.conversions),
      text: row.search_term_text || null,
      source: row.search_term_source as "AUTO" | "TARGETED",
    })
  }
  await scene.add()
  const parts = { sql, sealer, log: silentLog, reach: scene.register.reach, gapMs: 0 }
  await createAccountReading({ recording, ...parts }).runOnce()
})
afterAll(() => scene.standIn.stop())

test("a recorded account's withheld terms are one row per keyword, and the totals include them", async () => {
  expect([rows.length, withheld.length, cents(rows), cents(withheld)]).toEqual([150, 112, 1_000_000, 887_500])
  expect([...(await sql`select failure from account_task where failure is not null and task <> 'popularity'`)]).toEqual(
    [],
  )
  const key = await scene.service.key(scene.workspaceId)
  const { status, body } = await scene.service.call(`/v1/apps/${scene.appId}/ads-search-terms?limit=200`, { key })
  expect(status).toBe(200)
  const dollars = (amount: string) => ({ amount, currency: "USD" })
  const sum = (name: string, list: typeof rows) => list.reduce((total, row) => total + Number(row[name]), 0)
  expect(body.totals).toMatchObject({ spend: dollars("100"), taps: sum("taps", rows) })
  expect(body.totals.impressions).toBe(sum("impressions", rows))
  expect(body.undisclosed).toMatchObject({ spend: dollars("88.75"), taps: sum("taps", withheld) })
  expect(body.undisclosedShare).toBe(0.8875)
  // There is one row for each keyword, and one for each ad group with automatic matches.
  const keyOf = (row: (typeof rows)[number]) => [row.ad_group_id, row.keyword_id, row.search_term_text].join()
  const hidden = body.terms.filter(({ undisclosed }: { undisclosed: boolean }) => undisclosed)
  expect(hidden).toHaveLength(new Set(withheld.map(keyOf)).size)
  // A missing term is never replaced by its keyword.
  for (const { term, undisclosed } of body.terms) expect(term === null).toBe(undisclosed)
  expect(body.terms).toHaveLength(new Set(rows.map(keyOf)).size)
})
