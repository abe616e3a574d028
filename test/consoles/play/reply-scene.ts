import { afterEach, beforeAll, beforeEach } from "bun:test"
import type { Sql } from "../../../src/database/types.ts"
import { freshDatabase } from "../../database.ts"
import { reviewedOnPlay } from "../../measuring/record/reviewed.ts"
import { record } from "../../record.ts"
import type { Answer } from "../../service.ts"
import { type OutsideWrites, openWrites } from "../actions/outside-writes.ts"
import { type ReviewShelf, reviewShelf, type ShelfReview } from "./review-shelf.ts"
import { type PlayScene, playScene, TEA_PACKAGE } from "./scene.ts"

/** A workspace that tracks Tea Timer on Google Play and whose console accepts writes. */
export interface ReplyScene extends PlayScene, OutsideWrites {
  account: string
  shelf: ReviewShelf
  /** The first review of the shelf, which is also on the store's page. */
  review: ShelfReview
  preview(overrides?: object): Promise<Answer>
  /** Previews and confirms a reply, and returns the job's id. */
  queued(overrides?: object): Promise<string>
}

/** The author of the review, who must not be stored anywhere. */
export const AUTHOR = "Author Name-4712"

const TEXT = "All gone after the update."
export const RESPONSE = "We are looking into it."

export function replyScene(): ReplyScene {
  const scene = { preview, queued } as ReplyScene
  let sql: Sql

  beforeAll(async () => {
    sql = await freshDatabase()
  })

  beforeEach(async () => {
    Object.assign(scene, await playScene(sql))
    const atMs = Date.now() - 30 * 86_400_000
    scene.shelf = reviewShelf(scene.standIn, TEA_PACKAGE)
    scene.review = { id: "8a1c7f0e-5b52-4a55-9d1c-2f7f6f0a4e11", author: AUTHOR, stars: 2, text: `\t${TEXT}`, atMs }
    scene.shelf.reviews.push(scene.review)
    const onPage = { id: scene.review.id, stars: 2, text: TEXT, at: new Date(atMs) }
    await record(sql, [reviewedOnPlay(new Date().toISOString(), [onPage])])
    scene.account = (await scene.add()).id
    const { register, workspaceId, account } = scene
    Object.assign(scene, await openWrites(sql, { register, workspaceId, account, url: scene.standIn.url }))
  })

  afterEach(async () => {
    await scene.close()
    await scene.standIn.stop()
    await sql`truncate review_version, review_read, review_day, review_feed`
  })

  async function preview(overrides: object = {}) {
    const args = { appId: scene.appId, reviewId: scene.review.id, response: RESPONSE, ...overrides }
    return await scene.service.call("/v1/actions", {
      key: scene.key,
      method: "POST",
      body: { action: "reply_review", args },
    })
  }

  async function queued(overrides: object = {}) {
    return await scene.queue(await preview(overrides))
  }

  return scene
}
