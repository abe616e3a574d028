import { afterEach, beforeAll, beforeEach, expect } from "bun:test"
import { type Alert, sentenceOf } from "../../src/alerts/alert.ts"
import { createAdsNotices } from "../../src/alerts/delivery/ads-rules.ts"
import { setMapping } from "../../src/consoles/register.ts"
import { createAccountReading } from "../../src/consoles/worker.ts"
import type { Sql } from "../../src/database/types.ts"
import { silentLog } from "../../src/lib/log.ts"
import { recording } from "../../src/recording.ts"
import { type AdsScene, addTeaAdGroup, adsScene, campaign } from "../consoles/ads/scene.ts"
import { TEA } from "../consoles/scene.ts"
import { freshDatabase } from "../database.ts"
import { slow } from "../long.ts"
import { sealer } from "./delivery/scene.ts"
import { readAlerts } from "./derived-alerts.ts"

let sql: Sql
let scene: AdsScene
beforeAll(async () => {
  sql = await freshDatabase()
})
beforeEach(async () => {
  await sql`delete from connected_account`
  await sql`delete from tracked_app`
  scene = await adsScene(sql)
  addTeaAdGroup(scene)
  scene.standIn.changes.length = 0
})
afterEach(() => scene.standIn.stop())

const HOUR_MS = 3_600_000
let number = 0

/** Adds a change of a bid that was made that long ago, by another program by default. */
function addChange(
  agoMs: number,
  rest: { userType?: string; entityId?: string; campaignId?: number; to?: string } = {},
) {
  const { userType = "CUSTOMER_API", entityId = "81", campaignId = 444555666, to = "0.80" } = rest
  scene.standIn.changes.push({
    transactionId: `t${++number}`,
    entityType: "Keyword",
    entityId,
    eventType: "UPDATE",
    userType: userType as never,
    eventTime: new Date(Date.now() - agoMs).toISOString(),
    modifiedBy: "1",
    meta: { campaignId, adGroupId: 71, text: "tea timer" },
    changes: [{ field: "bid", oldValues: ["1.20"], newValues: [to] }],
  })
}

async function connectAccount(): Promise<string> {
  const { id } = await scene.add()
  await sql`update connected_account set created_at = now() - interval '1 day'`
  await readAll()
  return id
}

async function readAll(): Promise<void> {
  await sql`update connected_account set next_at = now() where sealed is not null`
  await sql`update account_task set next_at = now()`
  await createAccountReading({
    recording,
    sql,
    sealer,
    log: silentLog,
    reach: scene.register.reach,
    gapMs: 0,
  }).runOnce()
}

const notices = () => createAdsNotices({ sql, log: silentLog })

slow("changes by another program after the ads account was connected cause one alert per campaign", async () => {
  scene.standIn.campaigns.push(campaign({ id: 2, name: "Tea, Japan", dailyBudget: null }))
  addChange(3 * HOUR_MS)
  addChange(2 * HOUR_MS, { entityId: "82", to: "0.70" })
  addChange(HOUR_MS, { campaignId: 2 })
  addChange(HOUR_MS, { userType: "CUSTOMER" })
  addChange(HOUR_MS, { userType: "APPLE_SUPPORT" })
  addChange(26 * HOUR_MS)
  const id = await connectAccount()
  expect(await notices().runOnce()).toBe(2)
  const alerts = await readAlerts(sql, "asa_rule")
  const tea = alerts.find(({ facts }) => facts.ads.campaign === "444555666")!
  expect(tea).toMatchObject({ storefront: null, at: new Date(scene.standIn.changes[1]!.eventTime) })
  expect(tea.facts.ads).toEqual({
    account: id,
    campaign: "444555666",
    campaignName: "Tea, Germany",
    count: 2,
    from: scene.standIn.changes[0]!.eventTime,
    shown: ["0.70", "0.80"].map((to) => {
      return { event: "UPDATE", entity: "Keyword", name: "tea timer", field: "bid", from: "1.20", to }
    }),
  })
  expect(sentenceOf({ ...tea, platform: "ios" } as unknown as Alert)).toBe(
    'Another program, such as an ad tool, changed your Apple Ads campaign "Tea, Germany": ' +
      'bid of Keyword "tea timer" from 1.20 to 0.70; bid of Keyword "tea timer" from 1.20 to 0.80',
  )
  expect(await notices().runOnce()).toBe(0)
})

slow("later changes cause a new alert that does not repeat the earlier changes", async () => {
  addChange(3 * HOUR_MS)
  await connectAccount()
  const looks = notices()
  expect([await looks.runOnce(), await looks.runOnce()]).toEqual([1, 0])
  // older than the reported change, since Apple's history lags
  addChange(4 * HOUR_MS, { to: "0.10" })
  await readAll()
  expect(await looks.runOnce()).toBe(1)
  const counts = (await readAlerts(sql, "asa_rule")).map(({ facts }) => [facts.ads.count, facts.ads.shown[0].to])
  expect(counts.sort()).toEqual([
    [1, "0.10"],
    [1, "0.80"],
  ])
})

slow("a write confirmed in Appmeter is not a change by another program", async () => {
  addChange(HOUR_MS)
  addChange(2 * HOUR_MS, { entityId: "82" })
  await connectAccount()
  await scene.service.key(scene.workspaceId)
  const sent = new Date(Date.now() - HOUR_MS)
  await sql`
    insert into job (id, workspace_id, key_id, request_id, action, scope, target, app_id, shown, args, status,
      sent_at, finished_at, result)
    select 'job_01', ${scene.workspaceId}, k.id, 'r', 'set_keyword_bid', 'ads:write', 'keyword:81', ${scene.appId},
      ${{ target: { kind: "keyword", id: "81", name: "tea timer" } } as never}::jsonb, '{"keywordId": "81"}', 'done',
      ${sent}, ${sent}, '{}'
    from api_key k
    where k.workspace_id = ${scene.workspaceId}
    limit 1`
  await notices().runOnce()
  expect((await readAlerts(sql, "asa_rule")).map(({ facts }) => facts.ids)).toEqual([
    [expect.stringContaining("Keyword.82.")],
  ])
  await sql`delete from job`
})

slow("eight simultaneous processes add an alert only once, and a demo app gets no alert", async () => {
  addChange(HOUR_MS)
  await connectAccount()
  const added = await Promise.all(Array.from({ length: 8 }, () => notices().runOnce()))
  expect(added.sort()).toEqual([0, 0, 0, 0, 0, 0, 0, 1])
  await sql`delete from alert`
  await sql`update tracked_app set origin = 'demo'`
  expect(await notices().runOnce()).toBe(0)
})

slow("changes made before the last three days cause no alert", async () => {
  addChange(5 * 24 * HOUR_MS)
  await scene.add()
  await sql`update connected_account set created_at = now() - interval '30 days'`
  await readAll()
  expect(await sql`select from ads_change_fact`).toHaveLength(1)
  expect(await notices().runOnce()).toBe(0)
})

slow("an advertised app that is mapped to no app of the workspace causes no alert", async () => {
  addChange(HOUR_MS)
  const id = await connectAccount()
  await setMapping(sql, scene.workspaceId, { id, outsideId: TEA.id, appId: null })
  expect(await notices().runOnce()).toBe(0)
  await setMapping(sql, scene.workspaceId, { id, outsideId: TEA.id, appId: scene.appId })
  expect(await notices().runOnce()).toBe(1)
})
