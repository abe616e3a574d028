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

export function scene(): Scene {
  setDefaultTimeout(30_000)
  const worker = (options: Partial<OutboxOptions> = {}) =>
    createOutbox({ sql: on.sql, kinds: bidding(on.platform.url), log: silentLog, random: () => 0, ...options })
  const on = Object.assign({} as Scene, { worker })

  beforeAll(async () => {
    on.sql = await freshDatabase()
  })

  beforeEach(async () => {
    await on.sql`delete from job`
    on.by = await owner(on.sql)
    on.platform = standIn()
  })

  afterEach(async () => {
    await on.platform.stop()
    expect(await stuck(on.sql)).toEqual([])
  })

  return on
}

/** A kind of write with these parts. */
export const kind = (send: () => Promise<Record<string, unknown>>, read?: () => Promise<unknown>): OutsideWrites =>
  new Map([["set_bid", read ? { read, send } : { send }]])
