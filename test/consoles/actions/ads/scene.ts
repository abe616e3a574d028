import { afterEach, beforeAll, beforeEach } from "bun:test"
import type { Sql } from "../../../../src/database/types.ts"
import { freshDatabase } from "../../../database.ts"
import type { Answer } from "../../../service.ts"
import { type AdsScene as AccountScene, adsScene } from "../../ads/scene.ts"
import { type OutsideWrites, openWrites } from "../outside-writes.ts"

export const CAMPAIGN = "444555666"
export const GROUP = "555666777"
export const KEYWORD = "777888999"

/**
 * A workspace that advertises Tea Timer: a campaign with an ad group and a keyword, in an account that accepts writes.
 */
export interface AdsScene extends AccountScene, OutsideWrites {
  account: string
  preview(action: string, args?: object): Promise<Answer>
  queued(action: string, args?: object): Promise<string>
  done(action: string, args?: object): Promise<Answer["body"]>
}

export function adsWrites(): AdsScene {
  const on = { preview, queued, done } as AdsScene
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
    const { register, workspaceId, account } = on
    Object.assign(on, await openWrites(sql, { register, workspaceId, account, url: on.there.url }))
  })

  afterEach(async () => {
    await on.close()
    await on.there.stop()
  })

  async function preview(action: string, args: object = {}) {
    const body = { action, args: { appId: on.appId, campaignId: CAMPAIGN, ...args } }
    return await on.service.call("/v1/actions", { key: on.key, method: "POST", body })
  }

  async function queued(action: string, args: object = {}) {
    return await on.queue(await preview(action, args))
  }

  async function done(action: string, args: object = {}) {
    const id = await queued(action, args)
    await on.worker.runOnce()
    return await on.job(id)
  }

  return on
}
