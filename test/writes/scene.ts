import { beforeAll, beforeEach, expect } from "bun:test"
import type { Sql } from "../../src/database/types.ts"
import { freshDatabase } from "../database.ts"
import { everyRow } from "../every-row.ts"
import { type Answer, openService, type Service } from "../service.ts"
import { trackOwn } from "../world/tracked.ts"

/** A database for the file. Each test gets a workspace with a key and one app, "Kettle", in us and de with "tea". */
export interface Scene {
  sql: Sql
  service: Service
  workspace: number
  key: string
  app: string
  /** Tracks another app in a workspace. */
  tracked(keywords: string[], iosId: string, workspaceId: number): Promise<string>
  preview(action: string, args?: object, by?: string): Promise<Answer>
  confirm(confirmToken: string, by?: string): Promise<Answer>
  /** Previews and confirms a write. */
  applied(action: string, args: object): Promise<Answer>
  /** Returns all rows of all tables except tokens, which previews create. */
  everything(): Promise<string>
  audits(): Promise<Record<string, unknown>[]>
  ledger(): Promise<{ operation: string; cost: number }[]>
}

export function scene(): Scene {
  const on = Object.assign({} as Scene, { tracked, preview, confirm, applied, everything, audits, ledger })

  beforeAll(async () => {
    on.sql = await freshDatabase()
    on.service = openService({ sql: on.sql })
  })

  beforeEach(async () => {
    on.workspace = await on.service.workspace({ plan: "pro" })
    on.key = await on.service.key(on.workspace)
    on.app = await tracked(["tea"], "1437843273", on.workspace)
  })

  function tracked(keywords: string[], iosId: string, workspaceId: number) {
    const app = { workspaceId, iosId, name: "Kettle", countries: ["us", "de"], keywords, origin: "own" }
    return trackOwn(on.sql, app)
  }

  function preview(action: string, args: object = {}, by = on.key) {
    return on.service.call("/v1/actions", { key: by, method: "POST", body: { action, args } })
  }

  function confirm(confirmToken: string, by = on.key) {
    return on.service.call("/v1/actions/confirm", { key: by, method: "POST", body: { confirmToken } })
  }

  async function applied(action: string, args: object) {
    const previewed = await preview(action, args)
    expect([previewed.status, previewed.body.error]).toEqual([200, undefined])
    return await confirm(previewed.body.confirmToken)
  }

  async function everything() {
    return (await everyRow(on.sql, "confirm_token")).join("\n")
  }

  async function audits() {
    return await on.sql`select * from audit where workspace_id = ${on.workspace} order by id`
  }

  async function ledger() {
    const rows = await on.sql<{ operation: string; cost: number }[]>`
      select operation, cost from ledger where workspace_id = ${on.workspace} order by id`
    return rows.map((row) => ({ ...row }))
  }

  return on
}
