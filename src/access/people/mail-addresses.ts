import type { Buffer } from "node:buffer"
import { hash, randomBytes } from "node:crypto"
import type { Db, Sql } from "../../database/types.ts"
import { mailAddressOf } from "../../outbound/mail/address.ts"
import type { Rights } from "../key-register.ts"
import { AccessProblem } from "../problem.ts"
import { letters, plainLetters } from "../sign-in/letters.ts"
import { takeTry } from "../tries.ts"

/** The addresses of a person. */
interface MailAddress {
  /** Null if none was confirmed yet. */
  address: string | null
  /** The address whose code was not entered yet. Null if there is none. */
  pending: string | null
  /** Why the mail server refused the confirmed address. Null if it did not. */
  refused: string | null
  refusedAt: Date | null
}

/** A member who can get mail, and the grant with the member's rights in the workspace. */
export interface MailRecipient extends Rights {
  personId: number
  workspaceId: number
  keyId: number
  person: string
  workspace: string
  address: string
}

const LENGTH = 8
const CODE_MINUTES = 60
/** Codes that a person may have mailed in a day, so that nobody can flood a stranger's address. */
const MAX_CODES = 5

export async function readMailAddress(sql: Db, personId: number): Promise<MailAddress> {
  const [row] = await sql<MailAddress[]>`
    select address, case when code_until > now() then pending end as pending, refused, refused_at as "refusedAt"
    from mail_address
    where person_id = ${personId}`
  return row ?? { address: null, pending: null, refused: null, refusedAt: null }
}

/**
 * Returns the given members who have a confirmed address that the mail server did not refuse. Leaves out former
 * members, and workspaces that are deleted or suspended.
 */
export async function readMailRecipients(
  sql: Db,
  members: readonly { personId: number; workspaceId: number }[],
): Promise<MailRecipient[]> {
  const [people, workspaces] = [members.map(({ personId }) => personId), members.map(({ workspaceId }) => workspaceId)]
  return await sql<MailRecipient[]>`
    select m.person_id as "personId", m.workspace_id as "workspaceId", m.key_id as "keyId", p.name as person,
      w.name as workspace, a.address, k.scopes, k.app_list as "appList"
    from unnest(${people}::int[], ${workspaces}::int[]) t (person_id, workspace_id)
    join membership m using (person_id, workspace_id)
    join api_key k on k.id = m.key_id
    join person p on p.id = m.person_id
    join workspace w on w.id = m.workspace_id
    join mail_address a on a.person_id = m.person_id
    where a.address is not null and a.refused is null and p.removed_at is null and w.deleted_at is null
      and w.suspended_at is null
    order by m.key_id
    limit ${members.length}`
}

/**
 * Stores an address as pending and returns the code to mail to it, "BCDF-GHJK", which is valid for an hour. Only the
 * hash of the code is stored. The confirmed address stays valid until the code is entered. Throws AccessProblem.
 */
export async function requestMailCode(
  sql: Sql,
  personId: number,
  typed: string,
): Promise<{ address: string; code: string }> {
  const address = mailAddressOf(typed)
  if (address === null)
    throw new AccessProblem(
      "this is not a mail address; write it as name@example.com, with an international domain in its xn-- form",
      "address",
    )
  const code = letters(LENGTH, randomBytes)
  const { count } = await sql`
    insert into mail_address as m (person_id, pending, code_sha256, code_until, codes)
    values (${personId}, ${address}, ${digestOf(personId, code)}, now() + ${CODE_MINUTES}::int * interval '1 minute', 1)
    on conflict (person_id) do update
    set pending = excluded.pending, code_sha256 = excluded.code_sha256, code_until = excluded.code_until,
      codes = case when m.codes_from < now() - interval '1 day' then 1 else m.codes + 1 end,
      codes_from = case when m.codes_from < now() - interval '1 day' then now() else m.codes_from end
    where m.codes < ${MAX_CODES}::int or m.codes_from < now() - interval '1 day'`
  if (count === 0) throw new AccessProblem(`at most ${MAX_CODES} codes are mailed in a day; try again tomorrow`)
  return { address, code: `${code.slice(0, 4)}-${code.slice(4)}` }
}

/** Makes the pending address the confirmed one. Throws AccessProblem if the code is wrong or expired. */
export async function confirmMailAddress(sql: Sql, personId: number, typed: string): Promise<string> {
  const scope = `mail code of ${personId}`
  const wait = await takeTry(sql, { scope, address: null, secret: scope })
  if (wait !== null) throw new AccessProblem(`too many codes were tried; wait ${wait} s`, "code")
  const [row] = await sql<{ address: string }[]>`
    update mail_address
    set address = pending, pending = null, code_sha256 = null, code_until = null, refused = null, refused_at = null
    where person_id = ${personId} and code_sha256 = ${digestOf(personId, plainLetters(typed))} and code_until > now()
    returning address`
  if (!row) throw new AccessProblem("this is not the code that was mailed last, or it is older than an hour", "code")
  return row.address
}

/** Deletes both addresses, which ends digests and alerts by mail. */
export async function removeMailAddress(sql: Sql, personId: number): Promise<void> {
  await sql`
    delete from mail_address
    where person_id = ${personId}`
}

/** Records that the mail server refused an address permanently. */
export async function noteRefusedAddress(sql: Db, personId: number, address: string, why: string): Promise<void> {
  await sql`
    update mail_address
    set refused = ${why}, refused_at = now()
    where person_id = ${personId} and address = ${address} and refused is null`
}

/** Records that the mail server accepted an address that it had refused. */
export async function noteAcceptedAddress(sql: Db, personId: number, address: string): Promise<void> {
  await sql`
    update mail_address
    set refused = null, refused_at = null
    where person_id = ${personId} and address = ${address} and refused is not null`
}

function digestOf(personId: number, code: string): Buffer {
  return hash("sha256", `mail code ${personId} ${code}`, "buffer")
}
