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

export function prepareScene(): Scene {
  const scene = Object.assign({} as Scene, { tracked, preview, confirm, applied, everything, audits, ledger })

  beforeAll(async () => {
    scene.sql = await freshDatabase()
    scene.service = openService({ sql: scene.sql })
  })

  beforeEach(async () => {
    scene.workspace = await scene.service.workspace({ plan: "pro" })
    scene.key = await scene.service.key(scene.workspace)
    scene.app = await tracked(["tea"], "1437843273", scene.workspace)
  })

  function tracked(keywords: string[], iosId: string, workspaceId: number) {
    const app = { workspaceId, iosId, name: "Kettle", countries: ["us", "de"], keywords, origin: "own" }
    return trackOwn(scene.sql, app)
  }

  function preview(action: string, args: object = {}, by = scene.key) {
    return scene.service.call("/v1/actions", { key: by, method: "POST", body: { action, args } })
  }

  function confirm(confirmToken: string, by = scene.key) {
    return scene.service.call("/v1/actions/confirm", { key: by, method: "POST", body: { confirmToken } })
  }

  async function applied(action: string, args: object) {
    const previewed = await preview(action, args)
    expect([previewed.status, previewed.body.error]).toEqual([200, undefined])
    return await confirm(previewed.body.confirmToken)
  }

  async function everything() {
    return (await everyRow(scene.sql, "confirm_token")).join("\n")
  }

  async function audits() {
    return await scene.sql`select * from audit where workspace_id = ${scene.workspace} order by id`
  }

  async function ledger() {
    const rows = await scene.sql<{ operation: string; cost: number }[]>`
      select operation, cost from ledger where workspace_id = ${scene.workspace} order by id`
    return rows.map((row) => ({ ...row }))
  }

  return scene
}
