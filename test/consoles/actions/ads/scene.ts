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
  const scene = { preview, queued, done } as AdsScene
  let sql: Sql

  beforeAll(async () => {
    sql = await freshDatabase()
  })

  beforeEach(async () => {
    Object.assign(scene, await adsScene(sql))
    const bid = { amount: "1.00", currency: "EUR" }
    scene.standIn.adgroups.push({
      id: Number(GROUP),
      campaignId: Number(CAMPAIGN),
      status: "ENABLED",
      bid,
      deleted: false,
    })
    const ids = { id: Number(KEYWORD), campaignId: Number(CAMPAIGN), adGroupId: Number(GROUP) }
    scene.standIn.keywords.push({ ...ids, text: "tea", matchType: "EXACT", status: "ENABLED", bid, deleted: false })
    scene.account = (await scene.add()).id
    await sql`update connected_account set currency = 'EUR' where id = ${scene.account}`
    const { register, workspaceId, account } = scene
    Object.assign(scene, await openWrites(sql, { register, workspaceId, account, url: scene.standIn.url }))
  })

  afterEach(async () => {
    await scene.close()
    await scene.standIn.stop()
  })

  async function preview(action: string, args: object = {}) {
    const body = { action, args: { appId: scene.appId, campaignId: CAMPAIGN, ...args } }
    return await scene.service.call("/v1/actions", { key: scene.key, method: "POST", body })
  }

  async function queued(action: string, args: object = {}) {
    return await scene.queue(await preview(action, args))
  }

  async function done(action: string, args: object = {}) {
    const id = await queued(action, args)
    await scene.worker.runOnce()
    return await scene.job(id)
  }

  return scene
}
