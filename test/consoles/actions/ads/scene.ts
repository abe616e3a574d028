import { afterEach, beforeAll, beforeEach, expect } from "bun:test"
import { actions } from "../../../../src/catalog.ts"
import { createPlatforms } from "../../../../src/consoles/writing/platforms.ts"
import { setWrites } from "../../../../src/consoles/writing/writers.ts"
import { outsideWrites } from "../../../../src/core/action.ts"
import type { Sql } from "../../../../src/database/types.ts"
import { createOutbox, type Outbox } from "../../../../src/jobs/outbox.ts"
import { createLog } from "../../../../src/lib/log.ts"
import { sealer } from "../../../alerts/delivery/scene.ts"
import { freshDatabase } from "../../../database.ts"
import { type Answer, openHouse } from "../../../house.ts"
import { type AdsScene as AccountScene, adsScene } from "../../ads/scene.ts"
import { type Cutter, cutterBefore } from "../../cutter.ts"
import { reachOf } from "../../scene.ts"

export const CAMPAIGN = "444555666"
export const GROUP = "555666777"
export const KEYWORD = "777888999"

/**
 * A workspace that advertises Tea Timer: a campaign with an ad group and a keyword, in an account that accepts writes.
 */
export interface AdsScene extends AccountScene {
  account: string
  key: string
  cutter: Cutter
  worker: Outbox
  workerLog: string[]
  preview(action: string, args?: object): Promise<Answer>
  confirm(confirmToken: string): Promise<Answer>
  queued(action: string, args?: object): Promise<string>
  done(action: string, args?: object): Promise<Answer["body"]>
  job(id: string): Promise<Answer["body"]>
  used(): Promise<number>
  after(id: string, minutes: number): Promise<string>
}

export function adsWrites(): AdsScene {
  const on = { preview, confirm, queued, done, job, used, after } as AdsScene
  let sql: Sql

  beforeAll(async () => {
    sql = await freshDatabase()
  })

  beforeEach(async () => {
    Object.assign(on, await adsScene(sql))
    const bid = { amount: "1.00", currency: "EUR" }
    on.there.adgroups.push({ id: Number(GROUP), campaignId: Number(CAMPAIGN), status: "ENABLED", bid, deleted: false })
    const ids = { id: Number(KEYWORD), campaignId: Number(CAMPAIGN), adGroupId: Number(GROUP) }
    on.there.keywords.push({ ...ids, text: "tea", matchType: "EXACT", status: "ENABLED", bid, deleted: false })
    on.account = (await on.add()).id
    await sql`update connected_account set currency = 'EUR' where id = ${on.account}`
    await setWrites(on.register, on.workspaceId, on.account, { on: true })
    on.cutter = cutterBefore(on.there.url)
    const platforms = createPlatforms({ sql, sealer, reach: reachOf(on.cutter.url) })
    on.house = openHouse({ sql, platforms })
    await sql`
      update workspace set plan = 'studio', overrides = '{"ratePerSecond": 100000}' where id = ${on.workspaceId}`
    const [{ name }] = await sql<[{ name: string }]>`select name from workspace where id = ${on.workspaceId}`
    on.key = await on.house.key(on.workspaceId, { workspace: name })
    on.workerLog = []
    const log = createLog((line) => void on.workerLog.push(line), "debug")
    on.worker = createOutbox({ sql, kinds: outsideWrites(actions), platforms, log, retry: { baseMs: 1, capMs: 1 } })
  })

  afterEach(async () => {
    on.cutter.stop()
    await on.there.stop()
    await sql`delete from job where workspace_id = ${on.workspaceId}`
  })

  async function preview(action: string, args: object = {}) {
    const body = { action, args: { appId: on.appId, campaignId: CAMPAIGN, ...args } }
    return await on.house.call("/v1/actions", { key: on.key, method: "POST", body })
  }

  async function confirm(confirmToken: string) {
    return await on.house.call("/v1/actions/confirm", { key: on.key, method: "POST", body: { confirmToken } })
  }

  async function queued(action: string, args: object = {}) {
    const { body } = await preview(action, args)
    expect([action, body.error, body.detail]).toEqual([action, undefined, undefined])
    const confirmed = await confirm(body.confirmToken)
    expect(confirmed.body).toMatchObject({ status: "queued" })
    return confirmed.body.jobId as string
  }

  async function done(action: string, args: object = {}) {
    const id = await queued(action, args)
    await on.worker.runOnce()
    return await job(id)
  }

  async function job(id: string) {
    return (await on.house.call(`/v1/jobs/${id}`, { key: on.key })).body
  }

  async function used() {
    return (await on.house.call("/v1/account", { key: on.key })).body.credits.used
  }

  async function after(id: string, minutes: number) {
    await sql`
      update job
      set proof_at = now() - interval '1 s', sent_at = now() - ${minutes} * interval '1 minute'
      where id = ${id} and proof_at is not null`
    await on.worker.runOnce()
    return (await job(id)).status
  }

  return on
}
