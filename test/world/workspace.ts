import { createWorkspace } from "../../src/access/workspaces.ts"
import type { Sql } from "../../src/database/types.ts"
import type { Service } from "../service.ts"

let count = 0

/** Creates a Pro workspace with a name of its own. Returns its id. */
export async function newWorkspace(sql: Sql): Promise<number> {
  return (await createWorkspace(sql, { name: `measured ${process.pid} ${++count}`, plan: "pro" })).id
}

/** Creates a Pro workspace with Hive Explorer and a key. Returns the key's secret. */
export async function explorerKey(service: Service, overrides: Record<string, number> = {}): Promise<string> {
  const workspace = await service.workspace({
    explorer: true,
    plan: "pro",
    overrides: { ratePerSecond: 100_000, ...overrides },
  })
  return await service.key(workspace)
}
