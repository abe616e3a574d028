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
 * Creates the first workspace and its keys. If an earlier start was killed before `markShown`, replaces the keys of its
 * workspace. Null if there is any other workspace. Only one process may call this at a time: see `claimFirstStart`.
 */
export async function createFirstKeys(sql: Sql, settings: FirstWorkspace): Promise<FirstKeys | null> {
  const workspace = await createFirstWorkspace(sql, settings)
  if (!workspace) return null
  const keys = await listKeys(sql, NAME)
  const unseen = keys.filter(({ name, state }) => state !== "revoked" && FIRST.includes(name))
  for (const { id } of unseen) await revokeKey(sql, id)
  const create = async (kind: "live" | "test") =>
    (await createKey(sql, { workspace: NAME, kind, name: nameOf(kind) }, randomBytes)).secret
  return { workspace, liveKey: await create("live"), testKey: await create("test") }
}

/** Returns true if there is no workspace, or if the keys of the first start were not shown yet. */
export async function isFirstStart(sql: Sql): Promise<boolean> {
  return (await readMarker(sql)) === "made" || (await listWorkspaces(sql)).length === 0
}

/** Must be called after the keys were printed. From then on they are never replaced. */
export async function markShown(sql: Sql): Promise<void> {
  await mark(sql, "shown")
}

/** Returns a function that releases the claim. Null if another process is at its first start. */
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
  // marked before the workspace exists, so that a start killed in between is repeated
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
