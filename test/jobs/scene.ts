import { afterEach, beforeAll, beforeEach, expect, setDefaultTimeout } from "bun:test"
import type { Sql } from "../../src/database/types.ts"
import { createOutbox, type Outbox, type OutboxOptions } from "../../src/jobs/outbox.ts"
import type { OutsideWrites } from "../../src/jobs/outside.ts"
import { silentLog } from "../../src/lib/log.ts"
import { freshDatabase } from "../database.ts"
import { owner, stuck } from "./enqueued.ts"
import { bidding, type Platform, standIn } from "./platform.ts"

/** A database for the file; for each test an empty job table, a workspace with a key, and a platform. */
export interface Scene {
  sql: Sql
  by: { workspaceId: number; keyId: number }
  platform: Platform
  worker(options?: Partial<OutboxOptions>): Outbox
}

export function prepareScene(): Scene {
  setDefaultTimeout(30_000)
  const worker = (options: Partial<OutboxOptions> = {}) =>
    createOutbox({ sql: scene.sql, kinds: bidding(scene.platform.url), log: silentLog, random: () => 0, ...options })
  const scene = Object.assign({} as Scene, { worker })

  beforeAll(async () => {
    scene.sql = await freshDatabase()
  })

  beforeEach(async () => {
    await scene.sql`delete from job`
    scene.by = await owner(scene.sql)
    scene.platform = standIn()
  })

  afterEach(async () => {
    await scene.platform.stop()
    expect(await stuck(scene.sql)).toEqual([])
  })

  return scene
}

/** Returns a kind of write with these parts. */
export const kind = (send: () => Promise<Record<string, unknown>>, read?: () => Promise<unknown>): OutsideWrites =>
  new Map([["set_bid", read ? { read, send } : { send }]])
