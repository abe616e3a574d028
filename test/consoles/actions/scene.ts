import { afterEach, beforeAll, beforeEach } from "bun:test"
import type { Sql } from "../../../src/database/types.ts"
import { freshDatabase } from "../../database.ts"
import { reviewed } from "../../measuring/record/reviewed.ts"
import { record } from "../../record.ts"
import type { Answer } from "../../service.ts"
import { type AccountScene, accountScene } from "../scene.ts"
import { type OutsideWrites, openWrites } from "./outside-writes.ts"

/** A workspace that tracks Tea Timer and whose console accepts writes. */
export interface ConsoleScene extends AccountScene, OutsideWrites {
  account: string
  preview(action: string, args: object): Promise<Answer>
  /** Previews and confirms an action, and returns the job's id. */
  queued(action: string, args: object): Promise<string>
  /** The changes that reached the console. */
  sent(): { method: string; path: string; body: unknown }[]
}

/** The author of the review at the console, who must not be stored anywhere. */
export const REVIEWER = "nickname-4712"

export const REVIEW = { id: "9990000731", stars: 2, title: "Lost my entries", text: "All gone after the update." }

export function consoleScene(): ConsoleScene {
  const scene = { preview, queued, sent } as ConsoleScene
  let sql: Sql

  beforeAll(async () => {
    sql = await freshDatabase()
  })

  beforeEach(async () => {
    Object.assign(scene, await accountScene(sql))
    // The review is written around midnight, so the console and a feed may date it differently.
    const at = new Date(Date.now() - 3 * 86_400_000)
    await record(sql, [reviewed(new Date().toISOString(), [{ ...REVIEW, at }], { storeId: "310633997" })])
    scene.standIn.shelf.reviews.push(atConsole(at))
    scene.account = (await scene.add(scene.standIn.key("APP_MANAGER"))).id
    const { register, workspaceId, account } = scene
    Object.assign(scene, await openWrites(sql, { register, workspaceId, account, url: scene.standIn.url }))
  })

  afterEach(async () => {
    await scene.close()
    await scene.standIn.stop()
  })

  async function preview(action: string, args: object) {
    return await scene.service.call("/v1/actions", { key: scene.key, method: "POST", body: { action, args } })
  }

  async function queued(action: string, args: object) {
    return await scene.queue(await preview(action, args))
  }

  function sent() {
    return scene.standIn.shelf.sent
  }

  return scene
}

function atConsole(at: Date) {
  const { stars, title, text } = REVIEW
  const createdDate = new Date(at.getTime() + 5 * 3_600_000).toISOString()
  return {
    id: "00000193-f7fb-5203-538a-6cdb00000000",
    attributes: { rating: stars, title, body: text, reviewerNickname: REVIEWER, createdDate, territory: "USA" },
    reply: null as { id: string; attributes: Record<string, unknown> } | null,
  }
}
