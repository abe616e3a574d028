import type { Buffer } from "node:buffer"
import { hash, randomBytes } from "node:crypto"
import type { Sql, Tx } from "../../database/types.ts"
import { ensureMember } from "../people/people.ts"
import { letters, plainLetters } from "./letters.ts"

const LENGTH = 8

/**
 * Creates a code that signs a person in once, within ten minutes: "BCDF-GHJK". Only its hash is stored. Without a name
 * it is for the workspace's first owner, who is created if the workspace has no people. Throws AccessProblem.
 */
export async function createCode(sql: Sql, workspaceId: number, name?: string): Promise<string> {
  const code = letters(LENGTH, randomBytes)
  await sql.begin(async (tx) => {
    const personId = await ensureMember(tx, workspaceId, name)
    await tx`
      insert into sign_in_code (sha256, person_id, workspace_id, expires_at)
      values (${digestOf(code)}, ${personId}, ${workspaceId}, now() + interval '10 minutes')`
  })
  return `${code.slice(0, 4)}-${code.slice(4)}`
}

/** Returns the link to the sign-in page with the code filled in. */
export function signInLinkOf(url: string, code: string): string {
  return `${url}/sign-in?code=${code}`
}

export async function createSignInLink(sql: Sql, workspaceId: number, url: string): Promise<string> {
  return signInLinkOf(url, await createCode(sql, workspaceId))
}

/** The person whom a code signs in, and where. */
interface CodeHolder {
  personId: number
  workspaceId: number
}

/**
 * Consumes a code and returns its person. Null if the code is unknown, used or expired, or its workspace is deleted
 * or suspended.
 */
export async function takeCode(tx: Tx, typed: string): Promise<CodeHolder | null> {
  const code = plainLetters(typed)
  if (code.length !== LENGTH) return null
  const [row] = await tx<CodeHolder[]>`
    delete from sign_in_code c
    using workspace w
    where c.sha256 = ${digestOf(code)} and c.expires_at > now()
      and w.id = c.workspace_id and w.deleted_at is null and w.suspended_at is null
    returning c.person_id as "personId", c.workspace_id as "workspaceId"`
  return row ?? null
}

function digestOf(code: string): Buffer {
  return hash("sha256", `sign-in code ${code}`, "buffer")
}
