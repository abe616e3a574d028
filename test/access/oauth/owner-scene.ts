import type { Sql } from "../../../src/database/types.ts"
import { deleteRows, freshDatabase } from "../../database.ts"
import { openService, type Service } from "../../service.ts"
import { trackOwn } from "../../world/tracked.ts"

export let sql: Sql
export let service: Service
export let workspaceId: number
export let workspace: string
let count = 0

export async function openScene() {
  sql = await freshDatabase()
  service = openService({ sql })
}

export async function newOwner() {
  await deleteRows(sql, "oauth_client", "secret_try")
  workspace = `acme ${++count}`
  workspaceId = await service.workspace({ name: workspace, plan: "free" })
}

/** Another process with an empty cache: this one caches a caller for 750 ms. */
export const fresh = () => openService({ sql })

export const track = (iosId: string) => trackOwn(sql, { workspaceId, iosId })
