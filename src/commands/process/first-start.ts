import { randomBytes } from "node:crypto"
import { createKey, listKeys, revokeKey } from "../../access/key-register.ts"
import { createWorkspace, findWorkspace, listWorkspaces, type Workspace } from "../../access/workspaces.ts"
import { holdLock } from "../../database/locks.ts"
import type { Database, Sql } from "../../database/types.ts"
import type { FirstWorkspace } from "../../settings/settings.ts"

export interface FirstKeys {
  workspace: Workspace
  liveKey: string
  testKey: string
}

/**
 * Null where there is a workspace. Keys that a killed start had not shown are revoked and made anew; `markShown` ends
 * that. One process at a time: see `claimFirstStart`.
 */
export async function createFirstKeys(sql: Sql, asked: FirstWorkspace): Promise<FirstKeys | null> {
  const workspace = await createFirstWorkspace(sql, asked)
  if (!workspace) return null
  const made = await listKeys(sql, NAME)
  const unseen = made.filter(({ name, state }) => state !== "revoked" && FIRST.includes(name))
  for (const { id } of unseen) await revokeKey(sql, id)
  const make = async (kind: "live" | "test") =>
    (await createKey(sql, { workspace: NAME, kind, name: nameOf(kind) }, randomBytes)).secret
  return { workspace, liveKey: await make("live"), testKey: await make("test") }
}

/** Whether `createFirstKeys` has anything to do. */
export async function isFirstStart(sql: Sql): Promise<boolean> {
  return (await readMarker(sql)) === "made" || (await listWorkspaces(sql)).length === 0
}

/** To be called once the keys have left the process: from then on they are never replaced. */
export async function markShown(sql: Sql): Promise<void> {
  await mark(sql, "shown")
}

/** Returns what ends the claim; null where another process is at its first start. */
export async function claimFirstStart({ sql }: Database): Promise<(() => Promise<void>) | null> {
  return await holdLock(sql, "first start")
}

const NAME = "default"

const nameOf = (kind: "live" | "test") => `first ${kind} key`
const FIRST = [nameOf("live"), nameOf("test")]

async function createFirstWorkspace(
  sql: Sql,
  { plan, explorer, overrides }: FirstWorkspace,
): Promise<Workspace | null> {
  const present = await listWorkspaces(sql)
  if (present.length > 0) {
    if ((await readMarker(sql)) !== "made" || !present.some(({ name }) => name === NAME)) return null
    return await findWorkspace(sql, NAME)
  }
  // before the workspace: a start that is killed after either of them is repeated
  await mark(sql, "made")
  return await createWorkspace(sql, { name: NAME, plan, explorer, overrides })
}

async function readMarker(sql: Sql): Promise<string | undefined> {
  const [row] = await sql<{ value: string }[]>`
    select value
    from instance
    where key = 'first_keys'`
  return row?.value
}

async function mark(sql: Sql, value: "made" | "shown"): Promise<void> {
  await sql`
    insert into instance (key, value)
    values ('first_keys', ${value})
    on conflict (key) do update set value = excluded.value`
}
