import type { Buffer } from "node:buffer"
import { hash, randomBytes } from "node:crypto"
import type { Db, Tx } from "../../database/types.ts"
import type { Rights } from "../key-register.ts"
import { AccessProblem } from "../problem.ts"
import type { Right } from "../scopes.ts"
import { checkName } from "../workspaces.ts"
import { checkRights } from "./people.ts"
import { roleOf } from "./roles.ts"

const DAYS = 7

interface NewInvitation extends Rights {
  workspaceId: number
  /** The suggested name. The person may choose another. */
  name: string
  /** Null from the command line. */
  invitedBy: number | null
}

/** Creates an invitation for one use within seven days. Returns its secret; only the hash is stored. */
export async function createInvitation(sql: Db, invitation: NewInvitation): Promise<string> {
  const { workspaceId, name, invitedBy, scopes, appList } = invitation
  checkRights(invitation)
  const secret = randomBytes(32).toString("base64url")
  await sql`
    insert into invitation (sha256, workspace_id, name, scopes, app_list, invited_by, expires_at)
    values (
      ${digestOf(secret)}, ${workspaceId}, ${checkName("person", name)}, ${[...scopes]}, ${appList && [...appList]},
      ${invitedBy}, now() + ${DAYS} * interval '1 day'
    )`
  return secret
}

/** Returns the page that accepts an invitation. */
export function invitationLinkOf(url: string, secret: string): string {
  return `${url}/invitation?code=${secret}`
}

export interface Invitation {
  id: number
  name: string
  role: string
  /** The person who sent it. Null from the command line. */
  invitedBy: string | null
  expiresAt: Date
}

/** Returns the open invitations of a workspace, oldest first. */
export async function listInvitations(sql: Db, workspaceId: number): Promise<Invitation[]> {
  const rows = await sql<(Omit<Invitation, "role"> & { scopes: Right[] })[]>`
    select i.id, i.name, i.scopes, p.name as "invitedBy", i.expires_at as "expiresAt"
    from invitation i
    left join person p on p.id = i.invited_by
    where i.workspace_id = ${workspaceId} and i.expires_at > now()
    order by i.id
    limit 1000`
  return rows.map(({ scopes, ...row }) => ({ ...row, role: roleOf(scopes) ?? "custom" }))
}

export async function withdrawInvitation(sql: Db, workspaceId: number, id: number): Promise<boolean> {
  const { count } = await sql`
    delete from invitation
    where workspace_id = ${workspaceId} and id = ${id}`
  return count > 0
}

export interface OpenInvitation extends Rights {
  id: number
  workspaceId: number
  workspace: string
  name: string
}

/** The secret of an invitation's link, or the id of an invitation whose link was opened before. */
type InvitationProof = string | { id: number }

/** Returns an invitation. Null if it is unknown, used or expired, or its workspace is deleted or suspended. */
export async function readInvitation(sql: Db, proof: InvitationProof): Promise<OpenInvitation | null> {
  const [digest, id] = typeof proof === "string" ? [digestOf(proof), null] : [null, proof.id]
  const [row] = await sql<OpenInvitation[]>`
    select i.id, i.workspace_id as "workspaceId", w.name as workspace, i.name, i.scopes, i.app_list as "appList"
    from invitation i
    join workspace w on w.id = i.workspace_id
    where (i.sha256 = ${digest}::bytea or i.id = ${id}::int) and i.expires_at > now()
      and w.deleted_at is null and w.suspended_at is null`
  return row ?? null
}

/** Uses up an invitation and returns it. Null as in readInvitation. */
export async function takeInvitation(tx: Tx, proof: InvitationProof): Promise<OpenInvitation | null> {
  const invitation = await readInvitation(tx, proof)
  if (!invitation) return null
  const { count } = await tx`
    delete from invitation
    where id = ${invitation.id}`
  return count > 0 ? invitation : null
}

/** Throws AccessProblem if a person would give a right or an app that they do not have themselves. */
export function checkGiven(person: Rights, given: Rights): void {
  const more = given.scopes.find((scope) => !person.scopes.includes(scope))
  if (more !== undefined) throw new AccessProblem(`you cannot give ${more}, which you do not have yourself`)
}

function digestOf(secret: string): Buffer {
  return hash("sha256", `invitation ${secret}`, "buffer")
}
