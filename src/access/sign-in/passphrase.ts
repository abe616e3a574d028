import type { Sql } from "../../database/types.ts"
import { once } from "../../lib/prepared.ts"
import type { RandomBytes } from "../../lib/text.ts"
import { hashPassword, isPassword, isUsablePassword, LONGEST_PASSWORD } from "../passwords.ts"
import { AccessProblem } from "../problem.ts"
import { letters } from "./letters.ts"
import { endSessions } from "./session.ts"

/** Minimum in code points: shorter passphrases that people choose are often in lists for guessing. */
const SHORTEST = 12

/** Creates a passphrase of 20 letters (88 bits), in groups of five. */
export function makePassphrase(randomBytes: RandomBytes): string {
  return letters(20, randomBytes).replaceAll(/.{5}(?=.)/g, "$&-")
}

/** Sets the workspace's only passphrase and ends its sessions. Throws AccessProblem. */
export async function setPassphrase(sql: Sql, workspaceId: number, passphrase: string): Promise<void> {
  if ([...passphrase].length < SHORTEST || !isUsablePassword(passphrase))
    throw new AccessProblem(`a passphrase has ${SHORTEST} to ${LONGEST_PASSWORD} characters`)
  const hashed = await hashPassword(passphrase)
  await sql.begin(async (tx) => {
    await tx`
      insert into owner_passphrase (workspace_id, hashed)
      values (${workspaceId}, ${hashed})
      on conflict (workspace_id) do update
      set hashed = excluded.hashed, set_at = now()`
    await endSessions(tx, workspaceId)
  })
}

/** Removes the passphrase, so that only a code signs the owner in. */
export async function removePassphrase(sql: Sql, workspaceId: number): Promise<void> {
  await sql.begin(async (tx) => {
    await tx`
      delete from owner_passphrase
      where workspace_id = ${workspaceId}`
    await endSessions(tx, workspaceId)
  })
}

/** A workspace, found by the name on the sign-in page. */
interface SignInWorkspace {
  id: number
  /** Null if it has no passphrase. */
  hashed: string | null
}

/** Null if there is no workspace of that name, or it is suspended. */
export async function findSignInWorkspace(sql: Sql, name: string): Promise<SignInWorkspace | null> {
  const [row] = await sql<SignInWorkspace[]>`
    select w.id, p.hashed
    from workspace w
    left join owner_passphrase p on p.workspace_id = w.id
    where w.name = ${name} and w.deleted_at is null and w.suspended_at is null`
  return row ?? null
}

/** Takes as long without a passphrase as with one, so that the response time does not reveal which workspaces exist. */
export async function isPassphrase(typed: string, hashed: string | null): Promise<boolean> {
  const usable = isUsablePassword(typed) ? typed : "?"
  const right = await isPassword(usable, hashed ?? (await nobodys()))
  return right && hashed !== null && usable === typed
}

const nobodys = once(() => hashPassword(crypto.randomUUID()))
