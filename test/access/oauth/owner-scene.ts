import type { Sql } from "../../../src/database/types.ts"
import { deleteRows, freshDatabase } from "../../database.ts"
import { type House, openHouse } from "../../house.ts"
import { trackOwn } from "../../world/tracked.ts"

export let sql: Sql
export let house: House
export let workspaceId: number
export let workspace: string
let made = 0

export async function openScene() {
  sql = await freshDatabase()
  house = openHouse({ sql })
}

export async function newOwner() {
  await deleteRows(sql, "oauth_client", "secret_try")
  workspace = `acme ${++made}`
  workspaceId = await house.workspace({ name: workspace, plan: "free" })
}

/** Another process with an empty cache: this one caches a caller for 750 ms. */
export const fresh = () => openHouse({ sql })

export const track = (iosId: string) => trackOwn(sql, { workspaceId, iosId })
