import type { Buffer } from "node:buffer"
import { hash, randomBytes } from "node:crypto"
import type { Sql, Tx } from "../../database/types.ts"
import { letters, plainLetters } from "./letters.ts"

const LENGTH = 8

/**
 * Creates a code that signs the owner of a workspace in once, within ten minutes: "BCDF-GHJK". Only its hash is stored.
 */
export async function createCode(sql: Sql, workspaceId: number): Promise<string> {
  const code = letters(LENGTH, randomBytes)
  await sql`
    insert into sign_in_code (sha256, workspace_id, expires_at)
    values (${digestOf(code)}, ${workspaceId}, now() + interval '10 minutes')`
  return `${code.slice(0, 4)}-${code.slice(4)}`
}

/** Returns the link to the sign-in page with the code filled in. */
export function signInLinkOf(url: string, code: string): string {
  return `${url}/sign-in?code=${code}`
}

export async function createSignInLink(sql: Sql, workspaceId: number, url: string): Promise<string> {
  return signInLinkOf(url, await createCode(sql, workspaceId))
}

/**
 * Consumes a code and returns its workspace. Null if the code is unknown, used or expired, or its workspace is deleted
 * or suspended.
 */
export async function takeCode(tx: Tx, typed: string): Promise<number | null> {
  const code = plainLetters(typed)
  if (code.length !== LENGTH) return null
  const [row] = await tx<{ workspaceId: number }[]>`
    delete from sign_in_code c
    using workspace w
    where c.sha256 = ${digestOf(code)} and c.expires_at > now()
      and w.id = c.workspace_id and w.deleted_at is null and w.suspended_at is null
    returning c.workspace_id as "workspaceId"`
  return row?.workspaceId ?? null
}

function digestOf(code: string): Buffer {
  return hash("sha256", `sign-in code ${code}`, "buffer")
}
