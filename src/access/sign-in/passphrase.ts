import type { Sql } from "../../database/types.ts"
import { once } from "../../lib/prepared.ts"
import type { RandomBytes } from "../../lib/text.ts"
import { hashPassword, isPassword, isUsablePassword, LONGEST_PASSWORD } from "../passwords.ts"
import { AccessProblem } from "../problem.ts"
import { letters } from "./letters.ts"
import { endSessions } from "./session.ts"

/** Minimum in code points: shorter passphrases that people choose are often in lists for guessing. */
export const SHORTEST_PASSPHRASE = 12

/** Creates a passphrase of 20 letters (88 bits), in groups of five. */
export function makePassphrase(randomBytes: RandomBytes): string {
  return letters(20, randomBytes).replaceAll(/.{5}(?=.)/g, "$&-")
}

/** Returns the hash to store. Throws AccessProblem if the passphrase is too short, too long or no text. */
export async function hashPassphrase(passphrase: string): Promise<string> {
  if ([...passphrase].length < SHORTEST_PASSPHRASE || !isUsablePassword(passphrase))
    throw new AccessProblem(`a passphrase has ${SHORTEST_PASSPHRASE} to ${LONGEST_PASSWORD} characters`)
  return await hashPassword(passphrase)
}

/** Sets a person's passphrase and ends their sessions, except one that may stay. Throws AccessProblem. */
export async function setPassphrase(
  sql: Sql,
  personId: number,
  passphrase: string,
  { exceptSession = null }: { exceptSession?: number | null } = {},
): Promise<void> {
  await storePassphrase(sql, personId, await hashPassphrase(passphrase), exceptSession)
}

/** Removes the passphrase, so that only a code signs the person in. */
export async function removePassphrase(sql: Sql, personId: number): Promise<void> {
  await storePassphrase(sql, personId, null, null)
}

async function storePassphrase(
  sql: Sql,
  personId: number,
  hashed: string | null,
  exceptSession: number | null,
): Promise<void> {
  await sql.begin(async (tx) => {
    await tx`
      update person
      set passphrase = ${hashed}
      where id = ${personId}`
    await endSessions(tx, personId, exceptSession)
  })
}

/** A person, found by the name on the sign-in page. */
interface SignInPerson {
  id: number
  /** Null if they have no passphrase. */
  hashed: string | null
  /** The workspace that the person used last, or else joined first. */
  workspaceId: number
}

/** Returns the person with a name. Null if nobody has it, or every workspace of theirs is suspended. */
export async function findSignInPerson(sql: Sql, name: string): Promise<SignInPerson | null> {
  const [row] = await sql<SignInPerson[]>`
    select p.id, p.passphrase as hashed, m.workspace_id as "workspaceId"
    from person p
    join membership m on m.person_id = p.id
    join api_key k on k.id = m.key_id
    join workspace w on w.id = m.workspace_id
    left join lateral (
      select max(s.used_at) as used_at
      from person_session s
      where s.person_id = m.person_id and s.workspace_id = m.workspace_id
    ) s on true
    where lower(p.name) = lower(${name}) and p.removed_at is null
      and k.revoked_at is null and w.deleted_at is null and w.suspended_at is null
    order by s.used_at desc nulls last, m.created_at, m.workspace_id
    limit 1`
  return row ?? null
}

/**
 * Returns the name of the only person with a passphrase, so that the sign-in page need not ask for a name. Null if
 * there are several or none.
 */
export async function findOnlyName(sql: Sql): Promise<string | null> {
  const rows = await sql<{ name: string }[]>`
    select name
    from person
    where removed_at is null and passphrase is not null
    order by id
    limit 2`
  return rows.length === 1 ? (rows[0]?.name ?? null) : null
}

/** Whether this is the person's passphrase. */
export async function isPassphraseOf(sql: Sql, personId: number, typed: string): Promise<boolean> {
  const [row] = await sql<{ hashed: string | null }[]>`
    select passphrase as hashed
    from person
    where id = ${personId}`
  return await isPassphrase(typed, row?.hashed ?? null)
}

/**
 * Whether the text is the passphrase. Takes as long without a passphrase as with one, so that the response time does
 * not reveal which people exist.
 */
export async function isPassphrase(typed: string, hashed: string | null): Promise<boolean> {
  const usable = isUsablePassword(typed) ? typed : "?"
  const right = await isPassword(usable, hashed ?? (await nobodys()))
  return right && hashed !== null && usable === typed
}

const nobodys = once(() => hashPassword(crypto.randomUUID()))
