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
import { type Answer, type House, openHouse } from "../../house.ts"
import { reviewed } from "../../measuring/record/reviewed.ts"
import { record } from "../../record.ts"
import { type Cutter, cutterBefore } from "../cutter.ts"
import { type AccountScene, accountScene, reachOf } from "../scene.ts"

/** A workspace that tracks Tea Timer and whose console accepts writes, behind a proxy that can cut connections. */
export interface ConsoleScene extends AccountScene {
  account: string
  key: string
  cutter: Cutter
  worker: Outbox
  /** The worker's log. */
  workerLog: string[]
  preview(action: string, args: object): Promise<Answer>
  /** Previews and confirms an action; returns the job's id. */
  queued(action: string, args: object): Promise<string>
  job(id: string): Promise<Answer["body"]>
  /** The changes that reached the console. */
  sent(): { method: string; path: string; body: unknown }[]
  used(): Promise<number>
  /**
   * Simulates that this many minutes passed since the job was sent; returns its status after the check that was due.
   */
  after(id: string, minutes: number): Promise<string>
}

/** The author of the review at the console, who must not be stored anywhere. */
export const REVIEWER = "nickname-4712"

export const REVIEW = { id: "9990000731", stars: 2, title: "Lost my entries", text: "All gone after the update." }

export function consoleScene(): ConsoleScene {
  const on = { preview, queued, job, sent, used, after } as ConsoleScene
  let sql: Sql

  beforeAll(async () => {
    sql = await freshDatabase()
  })

  beforeEach(async () => {
    Object.assign(on, await accountScene(sql))
    // Written between two days, which the console and a feed may date differently.
    const at = new Date(Date.now() - 3 * 86_400_000)
    await record(sql, [reviewed(new Date().toISOString(), [{ ...REVIEW, at }], { storeId: "310633997" })])
    on.there.shelf.reviews.push(atConsole(at))
    const { id } = await on.add(on.there.key("APP_MANAGER"))
    on.account = id
    on.cutter = cutterBefore(on.there.url)
    await setWrites(on.register, on.workspaceId, id, { on: true })
    const platforms = createPlatforms({ sql, sealer, reach: reachOf(on.cutter.url) })
    on.house = openHouse({ sql, platforms })
    await sql`update workspace set plan = 'studio' where id = ${on.workspaceId}`
    on.key = await keyOf(on.house, sql, on.workspaceId)
    on.workerLog = []
    const log = createLog((line) => void on.workerLog.push(line), "debug")
    on.worker = createOutbox({ sql, kinds: outsideWrites(actions), platforms, log, retry: { baseMs: 1, capMs: 1 } })
  })

  afterEach(async () => {
    on.cutter.stop()
    await on.there.stop()
    await sql`delete from job where workspace_id = ${on.workspaceId}`
  })

  async function preview(action: string, args: object) {
    return await on.house.call("/v1/actions", { key: on.key, method: "POST", body: { action, args } })
  }

  async function queued(action: string, args: object) {
    const { body: shown } = await preview(action, args)
    expect(shown.error).toBeUndefined()
    const { body } = await on.house.call("/v1/actions/confirm", {
      key: on.key,
      method: "POST",
      body: { confirmToken: shown.confirmToken },
    })
    expect(body).toMatchObject({ status: "queued" })
    return body.jobId as string
  }

  async function job(id: string) {
    return (await on.house.call(`/v1/jobs/${id}`, { key: on.key })).body
  }

  function sent() {
    return on.there.shelf.sent
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

async function keyOf(house: House, sql: Sql, workspaceId: number): Promise<string> {
  const [{ name }] = await sql<[{ name: string }]>`select name from workspace where id = ${workspaceId}`
  return await house.key(workspaceId, { workspace: name })
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
