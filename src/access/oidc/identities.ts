import type { Buffer } from "node:buffer"
import { hash } from "node:crypto"
import type { Db, Tx } from "../../database/types.ts"
import { AccessProblem } from "../problem.ts"
import type { Subject } from "./provider.ts"

/** A subject of the OpenID provider that signs a person in. */
export interface Identity {
  issuer: string
  subject: string
  label: string
  createdAt: Date
}

/** Returns the identities of a person, oldest first. */
export async function listIdentities(sql: Db, personId: number): Promise<Identity[]> {
  return await sql<Identity[]>`
    select issuer, subject, label, created_at as "createdAt"
    from person_identity
    where person_id = ${personId}
    order by created_at, issuer, subject
    limit 100`
}

/** Links a subject to a person. Throws AccessProblem if it is linked to somebody else. */
export async function linkIdentity(tx: Tx, personId: number, { issuer, subject, label }: Subject): Promise<void> {
  const [row] = await tx<{ personId: number }[]>`
    insert into person_identity as i (issuer, subject, person_id, label)
    values (${issuer}, ${subject}, ${personId}, ${label})
    on conflict (issuer, subject) do update
    set label = case when i.person_id = excluded.person_id then excluded.label else i.label end
    returning person_id as "personId"`
  if (row?.personId !== personId) throw new AccessProblem("this sign-in is linked to somebody else")
}

/** Returns whether the person had that identity. */
export async function unlinkIdentity(
  sql: Db,
  personId: number,
  { issuer, subject }: Pick<Subject, "issuer" | "subject">,
): Promise<boolean> {
  const { count } = await sql`
    delete from person_identity
    where person_id = ${personId} and issuer = ${issuer} and subject = ${subject}`
  return count > 0
}

/** Returns the person whom a subject is linked to. Null if it is linked to nobody. */
export async function findLinkedPerson(sql: Db, { issuer, subject }: Subject): Promise<{ name: string } | null> {
  const [row] = await sql<{ name: string }[]>`
    select p.name
    from person_identity i
    join person p on p.id = i.person_id
    where i.issuer = ${issuer} and i.subject = ${subject} and p.removed_at is null`
  return row ?? null
}

/** The purpose of a visit to the provider. */
export interface OidcVisit {
  /** The path that opens afterwards. */
  next: string
  /** The session of the person who links an identity. Null if the visit is a sign-in. */
  sessionId: number | null
  /** The invitation that is accepted by signing in. */
  invitationId: number | null
  /** The name of the new person, with an invitation. */
  name: string | null
}

const VISIT_MINUTES = 10

/** Records a visit, which ends within ten minutes. Only the hash of its token is stored. */
export async function beginVisit(sql: Db, token: string, visit: OidcVisit): Promise<void> {
  const { next, sessionId, invitationId, name } = visit
  await sql`
    insert into oidc_visit (sha256, next, session_id, invitation_id, name, expires_at)
    values (
      ${digestOf(token)}, ${next}, ${sessionId}, ${invitationId}, ${name},
      now() + ${VISIT_MINUTES} * interval '1 minute'
    )`
}

/**
 * Uses up a visit, so that the provider's response to it cannot be used twice. Null if it is unknown, used or expired.
 */
export async function takeVisit(sql: Db, token: string): Promise<OidcVisit | null> {
  const [row] = await sql<OidcVisit[]>`
    delete from oidc_visit
    where sha256 = ${digestOf(token)} and expires_at > now()
    returning next, session_id as "sessionId", invitation_id as "invitationId", name`
  return row ?? null
}

function digestOf(token: string): Buffer {
  return hash("sha256", `oidc ${token}`, "buffer")
}
