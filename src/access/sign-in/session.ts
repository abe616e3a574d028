import type { Buffer } from "node:buffer"
import { hash } from "node:crypto"
import type { Db, Sql, Tx } from "../../database/types.ts"
import type { Right } from "../scopes.ts"

type SignInWay = "passphrase" | "code" | "invitation" | "proxy" | "oidc"

/** The session of a signed-in person. */
export interface Session {
  id: number
  personId: number
  person: string
  isOperator: boolean
  hasPassphrase: boolean
  /** Whether proofs also need a code of the person's second factor. */
  hasSecondFactor: boolean
  workspaceId: number
  workspace: string
  via: SignInWay
  /** The grant that pages use to call operations for the person. */
  keyId: number
  /** The person's rights in the workspace. */
  scopes: Right[]
  appList: string[] | null
  /** Whether a passphrase or code was typed in the last ten minutes. */
  isProved: boolean
  expiresAt: Date
}

/** How recently a person must have proved who they are before a sensitive change. */
const PROOF_MINUTES = 10

/** Whether the text has the form of a session token: 32 random bytes in base64url. */
export function isSessionToken(text: string): boolean {
  return /^[\w-]{43}$/.test(text)
}

export interface NewSession {
  personId: number
  workspaceId: number
  token: string
  via: SignInWay
  /** The browser's User-Agent header. Null if it sent none. */
  agent: string | null
  /** How long the session lasts without use. */
  days: number
  /** Whether the person has just given a code of their second factor. */
  isSecondGiven?: boolean
}

/**
 * Creates a session. False if the person is not a member of the workspace, if their grant there is revoked, or if they
 * have a second factor and have not given it. A sign-in by provider or proxy needs no second factor here, because these
 * have factors of their own.
 */
export async function createSession(tx: Tx, session: NewSession): Promise<boolean> {
  const { personId, workspaceId, token, via, agent, days, isSecondGiven = false } = session
  const needsSecond = !isSecondGiven && via !== "proxy" && via !== "oidc"
  const { count } = await tx`
    insert into person_session (sha256, person_id, workspace_id, via, agent, expires_at)
    select ${digestOf(token)}, m.person_id, m.workspace_id, ${via}, ${(agent ?? "").slice(0, 300)},
      now() + ${days}::int * interval '1 day'
    from membership m
    join api_key k on k.id = m.key_id
    where m.person_id = ${personId} and m.workspace_id = ${workspaceId} and k.revoked_at is null
      and not (${needsSecond} and exists (
        select from second_factor f where f.person_id = m.person_id and f.confirmed_at is not null
      ))`
  return count > 0
}

/** Returns a session. Null if it has expired, its grant is revoked, or its workspace is deleted or suspended. */
export async function readSession(sql: Sql, token: string): Promise<(Session & { isOld: boolean }) | null> {
  const [row] = await sql<(Session & { isOld: boolean })[]>`
    select s.id, p.id as "personId", p.name as person, p.is_operator as "isOperator",
      p.passphrase is not null as "hasPassphrase",
      exists (
        select from second_factor f where f.person_id = p.id and f.confirmed_at is not null
      ) as "hasSecondFactor",
      s.workspace_id as "workspaceId", w.name as workspace,
      s.via, m.key_id as "keyId", k.scopes, k.app_list as "appList", s.expires_at as "expiresAt",
      s.proved_at > now() - ${PROOF_MINUTES} * interval '1 minute'
        -- Only the proxy can prove who such a person is, and it does so with every request.
        or (s.via = 'proxy' and p.passphrase is null) as "isProved",
      s.used_at < now() - interval '1 hour' as "isOld"
    from person_session s
    join membership m on m.person_id = s.person_id and m.workspace_id = s.workspace_id
    join person p on p.id = s.person_id
    join workspace w on w.id = s.workspace_id
    join api_key k on k.id = m.key_id
    where s.sha256 = ${digestOf(token)} and s.expires_at > now()
      and k.revoked_at is null and w.deleted_at is null and w.suspended_at is null`
  return row ?? null
}

/** Renews a session that is used, at most once an hour. */
export async function renewSession(sql: Sql, token: string, days: number): Promise<void> {
  await sql`
    update person_session
    set used_at = now(), expires_at = now() + ${days}::int * interval '1 day'
    where sha256 = ${digestOf(token)}`
}

/** Records that the person has just proved who they are. */
export async function markProved(sql: Db, sessionId: number): Promise<void> {
  await sql`
    update person_session
    set proved_at = now()
    where id = ${sessionId}`
}

/** Switches the session to another workspace. False if the person is not a member of it. */
export async function switchWorkspace(sql: Sql, sessionId: number, workspaceId: number): Promise<boolean> {
  const { count } = await sql`
    update person_session s
    set workspace_id = m.workspace_id
    from membership m
    join api_key k on k.id = m.key_id
    where s.id = ${sessionId} and m.person_id = s.person_id and m.workspace_id = ${workspaceId}
      and k.revoked_at is null`
  return count > 0
}

export interface ListedSession {
  id: number
  person: string
  workspace: string
  via: SignInWay
  agent: string
  createdAt: Date
  usedAt: Date
  expiresAt: Date
}

/** Returns the sessions of one person, or of all people of a workspace, latest use first. */
export async function listSessions(
  sql: Db,
  { personId = null, workspaceId = null }: { personId?: number | null; workspaceId?: number | null },
): Promise<ListedSession[]> {
  return await sql<ListedSession[]>`
    select s.id, p.name as person, w.name as workspace, s.via, s.agent, s.created_at as "createdAt",
      s.used_at as "usedAt", s.expires_at as "expiresAt"
    from person_session s
    join person p on p.id = s.person_id
    join workspace w on w.id = s.workspace_id
    where s.expires_at > now() and (${personId}::int is null or s.person_id = ${personId})
      and (${workspaceId}::int is null or s.workspace_id = ${workspaceId})
    order by s.used_at desc, s.id desc
    limit 1000`
}

/**
 * Ends a session by its id. With a person, ends it only if it belongs to that person. False if there is no such
 * session.
 */
export async function endSessionById(sql: Db, id: number, personId: number | null): Promise<boolean> {
  const { count } = await sql`
    delete from person_session
    where id = ${id} and (${personId}::int is null or person_id = ${personId})`
  return count > 0
}

export async function endSession(sql: Sql, token: string): Promise<void> {
  await sql`
    delete from person_session
    where sha256 = ${digestOf(token)}`
}

/** Ends every session of a person, except one that may stay, and sign-ins that are not finished. */
export async function endSessions(tx: Db, personId: number, exceptId: number | null = null): Promise<void> {
  await tx`
    delete from pending_sign_in
    where person_id = ${personId}`
  await tx`
    delete from person_session
    where person_id = ${personId} and id is distinct from ${exceptId}::int`
}

function digestOf(token: string): Buffer {
  return hash("sha256", token, "buffer")
}
