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
  /** The first review of the shelf, which the store's page has too. */
  review: ShelfReview
  preview(more?: object): Promise<Answer>
  /** Previews and confirms a reply; returns the job's id. */
  queued(more?: object): Promise<string>
}

/** The author of the review, who must not be stored anywhere. */
export const AUTHOR = "Author Name-4712"

const TEXT = "All gone after the update."
export const RESPONSE = "We are looking into it."

export function replyScene(): ReplyScene {
  const on = { preview, queued } as ReplyScene
  let sql: Sql

  beforeAll(async () => {
    sql = await freshDatabase()
  })

  beforeEach(async () => {
    Object.assign(on, await playScene(sql))
    const atMs = Date.now() - 30 * 86_400_000
    on.shelf = reviewShelf(on.there, TEA_PACKAGE)
    on.review = { id: "8a1c7f0e-5b52-4a55-9d1c-2f7f6f0a4e11", author: AUTHOR, stars: 2, text: `\t${TEXT}`, atMs }
    on.shelf.reviews.push(on.review)
    const onPage = { id: on.review.id, stars: 2, text: TEXT, at: new Date(atMs) }
    await record(sql, [reviewedOnPlay(new Date().toISOString(), [onPage])])
    on.account = (await on.add()).id
    const { register, workspaceId, account } = on
    Object.assign(on, await openWrites(sql, { register, workspaceId, account, url: on.there.url }))
  })

  afterEach(async () => {
    await on.close()
    await on.there.stop()
    await sql`truncate review_version, review_read, review_day, review_feed`
  })

  async function preview(more: object = {}) {
    const args = { appId: on.appId, reviewId: on.review.id, response: RESPONSE, ...more }
    return await on.service.call("/v1/actions", {
      key: on.key,
      method: "POST",
      body: { action: "reply_review", args },
    })
  }

  async function queued(more: object = {}) {
    return await on.queue(await preview(more))
  }

  return on
}
