import { afterEach, beforeAll, beforeEach, expect } from "bun:test"
import { actions } from "../../../src/catalog.ts"
import { createPlatforms } from "../../../src/consoles/writing/platforms.ts"
import { setWrites } from "../../../src/consoles/writing/writers.ts"
import { outsideWrites } from "../../../src/core/action.ts"
import type { Sql } from "../../../src/database/types.ts"
import { createOutbox, type Outbox } from "../../../src/jobs/outbox.ts"
import { createLog } from "../../../src/lib/log.ts"
import { sealer } from "../../alerts/delivery/scene.ts"
import { freshDatabase } from "../../database.ts"
import { type Answer, openHouse } from "../../house.ts"
import { reviewedOnPlay } from "../../measuring/record/reviewed.ts"
import { record } from "../../record.ts"
import { type Cutter, cutterBefore } from "../cutter.ts"
import { reachOf } from "../scene.ts"
import { type ReviewShelf, reviewShelf, type ShelfReview } from "./review-shelf.ts"
import { type PlayScene, playScene, TEA_PACKAGE } from "./scene.ts"

/** A workspace that tracks Tea Timer on Google Play and whose console accepts writes, behind a proxy that can cut. */
export interface ReplyScene extends PlayScene {
  account: string
  key: string
  cutter: Cutter
  shelf: ReviewShelf
  /** The first review of the shelf, which the store's page has too. */
  review: ShelfReview
  worker: Outbox
  workerLog: string[]
  preview(more?: object): Promise<Answer>
  confirm(confirmToken: string): Promise<Answer>
  /** Previews and confirms a reply; returns the job's id. */
  queued(more?: object): Promise<string>
  job(id: string): Promise<Answer["body"]>
  used(): Promise<number>
  /**
   * Simulates that this many minutes passed since the job was sent; returns its status after the check that was due.
   */
  after(id: string, minutes: number): Promise<string>
}

/** The author of the review, who must not be stored anywhere. */
export const AUTHOR = "Author Name-4712"

const TEXT = "All gone after the update."
export const RESPONSE = "We are looking into it."

export function replyScene(): ReplyScene {
  const on = { preview, confirm, queued, job, used, after } as ReplyScene
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
    await setWrites(on.register, on.workspaceId, on.account, { on: true })
    on.cutter = cutterBefore(on.there.url)
    const platforms = createPlatforms({ sql, sealer, reach: reachOf(on.cutter.url) })
    on.house = openHouse({ sql, platforms })
    await sql`update workspace set plan = 'studio' where id = ${on.workspaceId}`
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
    await sql`truncate review_version, review_read, review_day, review_feed`
  })

  async function preview(more: object = {}) {
    const args = { appId: on.appId, reviewId: on.review.id, response: RESPONSE, ...more }
    return await on.house.call("/v1/actions", {
      key: on.key,
      method: "POST",
      body: { action: "reply_review", args },
    })
  }

  async function confirm(confirmToken: string) {
    return await on.house.call("/v1/actions/confirm", { key: on.key, method: "POST", body: { confirmToken } })
  }

  async function queued(more: object = {}) {
    const { body: shown } = await preview(more)
    expect(shown.error).toBeUndefined()
    const { body } = await confirm(shown.confirmToken)
    expect(body).toMatchObject({ status: "queued" })
    return body.jobId as string
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
