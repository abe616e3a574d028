import type { Db, Sql, Tx } from "../../database/types.ts"
import { createPagesGrant, type Rights, setRights } from "../key-register.ts"
import { AccessProblem } from "../problem.ts"
import type { Right } from "../scopes.ts"
import { checkName } from "../workspaces.ts"
import { roleOf, scopesOf } from "./roles.ts"

/** A person in one workspace. */
export interface Member extends Rights {
  personId: number
  name: string
  isOperator: boolean
  hasPassphrase: boolean
  hasSecondFactor: boolean
  /** The preset with exactly these rights, or "custom". */
  role: string
  /** The person's last use of a page. Null if they never signed in, or not within the lifetime of a session. */
  usedAt: Date | null
  createdAt: Date
}

/** Returns the members of a workspace, oldest first. */
export async function listMembers(sql: Db, workspaceId: number): Promise<Member[]> {
  const rows = await sql<(Omit<Member, "role"> & { scopes: Right[] })[]>`
    select p.id as "personId", p.name, p.is_operator as "isOperator", p.passphrase is not null as "hasPassphrase",
      exists (
        select from second_factor f where f.person_id = p.id and f.confirmed_at is not null
      ) as "hasSecondFactor",
      k.scopes, k.app_list as "appList", m.created_at as "createdAt",
      (
        select max(s.used_at)
        from person_session s
        where s.person_id = p.id and s.workspace_id = m.workspace_id
      ) as "usedAt"
    from membership m
    join person p on p.id = m.person_id
    join api_key k on k.id = m.key_id
    where m.workspace_id = ${workspaceId}
    order by m.created_at, p.id
    limit 1000`
  return rows.map((row) => ({ ...row, role: roleOf(row.scopes) ?? "custom" }))
}

/** Finds a member by name, in any case. Throws AccessProblem. */
export async function findMember(sql: Db, workspaceId: number, name: string): Promise<Member> {
  const members = await listMembers(sql, workspaceId)
  const member = members.find((other) => other.name.toLowerCase() === name.trim().toLowerCase())
  if (!member) throw new AccessProblem(`the workspace has no person named ${JSON.stringify(name.slice(0, 100))}`)
  return member
}

interface NewMember extends Rights {
  workspaceId: number
  name: string
  /** The passphrase, as hashPassphrase returns it. Without one, the person can sign in only with a code. */
  hashed?: string
}

/** Creates a person and makes them a member. The first person of a server is its operator. Throws AccessProblem. */
export async function addPerson(tx: Tx, { name, hashed, ...member }: NewMember): Promise<number> {
  const [row] = await tx<{ id: number }[]>`
    insert into person (name, passphrase, is_operator)
    values (${checkName("person", name)}, ${hashed ?? null}, not exists (select from person where removed_at is null))
    on conflict (lower(name)) where removed_at is null do nothing
    returning id`
  if (!row) throw new AccessProblem(`there is already a person named ${JSON.stringify(name.trim())}`)
  await addMember(tx, { ...member, personId: row.id })
  return row.id
}

/** Makes a person a member of a workspace. Throws AccessProblem if they are one. */
export async function addMember(
  tx: Tx,
  { workspaceId, personId, ...rights }: Rights & { workspaceId: number; personId: number },
): Promise<void> {
  checkRights(rights)
  const person = await findPerson(tx, personId)
  const keyId = await createPagesGrant(tx, { ...rights, workspaceId, personId, name: pagesOf(person.name) })
  const { count } = await tx`
    insert into membership (person_id, workspace_id, key_id)
    values (${personId}, ${workspaceId}, ${keyId})
    on conflict (person_id, workspace_id) do nothing`
  if (count === 0) throw new AccessProblem(`${person.name} is a member of this workspace already`)
}

/** Finds a person by name, in any case and any workspace. Null if there is none. */
export async function findPersonId(sql: Db, name: string): Promise<number | null> {
  const [row] = await sql<{ id: number }[]>`
    select id
    from person
    where lower(name) = lower(${name.trim()}) and removed_at is null`
  return row?.id ?? null
}

/**
 * Changes the rights of a member, and within a second those of the member's assistants and keys. Withdraws the open
 * invitations that the member sent, because these may give rights that the member no longer has. Throws AccessProblem.
 */
export async function changeRights(tx: Tx, workspaceId: number, personId: number, rights: Rights): Promise<void> {
  checkRights(rights)
  await lockWorkspace(tx, workspaceId)
  const { keyId } = await findMembership(tx, workspaceId, personId)
  await setRights(tx, keyId, rights)
  await tx`
    delete from invitation
    where workspace_id = ${workspaceId} and invited_by = ${personId}`
  await checkStillManaged(tx, workspaceId)
}

export async function setOperator(tx: Tx, personId: number, isOperator: boolean): Promise<void> {
  await tx`
    update person
    set is_operator = ${isOperator}
    where id = ${personId}`
}

/**
 * Removes a person from a workspace: ends their sessions, assistants, keys and invitations there. A person without any
 * workspace is removed altogether. Throws AccessProblem.
 */
export async function removeMember(tx: Tx, workspaceId: number, personId: number): Promise<void> {
  await lockWorkspace(tx, workspaceId)
  await findMembership(tx, workspaceId, personId)
  // Without a membership every key of the person is refused; revoking also shows that in lists.
  await tx`
    update api_key
    set revoked_at = coalesce(revoked_at, now())
    where person_id = ${personId} and workspace_id = ${workspaceId}`
  // Cascades to sessions, unfinished sign-ins, sign-in codes and invitations.
  await tx`
    delete from membership
    where person_id = ${personId} and workspace_id = ${workspaceId}`
  await checkStillManaged(tx, workspaceId)
  await tx`
    update person p
    set removed_at = now(), passphrase = null, is_operator = false
    where p.id = ${personId} and not exists (select from membership m where m.person_id = p.id)`
  await tx`
    delete from person_identity i
    using person p
    where p.id = ${personId} and i.person_id = p.id and p.removed_at is not null`
  await tx`
    delete from second_factor f
    using person p
    where p.id = ${personId} and f.person_id = p.id and p.removed_at is not null`
  await tx`
    delete from mail_address a
    using person p
    where p.id = ${personId} and a.person_id = p.id and p.removed_at is not null`
}

/** Changes a person's name, which they sign in with. Throws AccessProblem. */
export async function renamePerson(sql: Sql, personId: number, name: string): Promise<void> {
  const { count } = await sql`
    update person
    set name = ${checkName("person", name)}
    where id = ${personId} and not exists (
      select from person o where lower(o.name) = lower(${name.trim()}) and o.id <> ${personId} and o.removed_at is null
    )`
  if (count === 0) throw new AccessProblem(`there is already a person named ${JSON.stringify(name.trim())}`)
}

/**
 * Returns the person whom a code created on the machine signs in: the named person, or the workspace's first owner, who
 * is created if the workspace has no people. Creates a new grant for pages if theirs was revoked. Throws AccessProblem.
 */
export async function ensureMember(tx: Tx, workspaceId: number, name?: string): Promise<number> {
  await lockWorkspace(tx, workspaceId)
  const members = await listMembers(tx, workspaceId)
  const member = name === undefined ? members.find(canManage) : await findMember(tx, workspaceId, name)
  if (!member)
    return await addPerson(tx, {
      workspaceId,
      name: await freeName(tx, workspaceId),
      scopes: scopesOf("owner"),
      appList: null,
    })
  const { personId, scopes, appList } = member
  const { isRevoked } = await findMembership(tx, workspaceId, personId)
  if (isRevoked) {
    const rights = { scopes, appList }
    const keyId = await createPagesGrant(tx, { ...rights, workspaceId, personId, name: pagesOf(member.name) })
    await tx`
      update membership
      set key_id = ${keyId}
      where person_id = ${personId} and workspace_id = ${workspaceId}`
  }
  return personId
}

/** Returns the workspaces of a person, by name. */
export async function listWorkspacesOf(sql: Db, personId: number): Promise<{ id: number; name: string }[]> {
  return await sql<{ id: number; name: string }[]>`
    select w.id, w.name
    from membership m
    join workspace w on w.id = m.workspace_id
    where m.person_id = ${personId} and w.deleted_at is null and w.suspended_at is null
    order by w.name, w.id
    limit 100`
}

function canManage({ scopes }: Pick<Rights, "scopes">): boolean {
  return scopes.includes("workspace:manage")
}

/** Throws AccessProblem unless the rights are a valid combination. */
export function checkRights({ scopes, appList }: Rights): void {
  if (scopes.length === 0) throw new AccessProblem("a person needs at least one scope")
  if (scopes.includes("server:operate"))
    throw new AccessProblem("server:operate cannot be given; every operator has it")
  if (canManage({ scopes }) && appList)
    throw new AccessProblem("a person who manages the workspace cannot be limited to some of its apps")
  if (appList?.length === 0)
    throw new AccessProblem("an empty app list would show no app; leave the list out to show every app")
}

function pagesOf(name: string): string {
  return [...`pages of ${name}`].slice(0, 100).join("")
}

async function findPerson(tx: Tx, personId: number): Promise<{ name: string }> {
  const [row] = await tx<{ name: string }[]>`
    select name
    from person
    where id = ${personId} and removed_at is null
    for update`
  if (!row) throw new AccessProblem("this person was removed")
  return row
}

async function findMembership(tx: Tx, workspaceId: number, personId: number) {
  const [row] = await tx<{ keyId: number; isRevoked: boolean }[]>`
    select m.key_id as "keyId", k.revoked_at is not null as "isRevoked"
    from membership m
    join api_key k on k.id = m.key_id
    where m.person_id = ${personId} and m.workspace_id = ${workspaceId}`
  if (!row) throw new AccessProblem("this person is not a member of the workspace")
  return row
}

/** Serialises changes of a workspace's people, so that two of them cannot leave it without an owner. */
async function lockWorkspace(tx: Tx, workspaceId: number): Promise<void> {
  await tx`
    select id
    from workspace
    where id = ${workspaceId}
    for update`
}

async function checkStillManaged(tx: Tx, workspaceId: number): Promise<void> {
  const members = await listMembers(tx, workspaceId)
  if (!members.some(canManage)) throw new AccessProblem("a workspace needs at least one person who manages it")
}

/** Returns "owner" for the first person of a server, otherwise a name derived from the workspace's name. */
async function freeName(tx: Tx, workspaceId: number): Promise<string> {
  const [row] = await tx<{ name: string }[]>`
    select c.name
    from workspace w
    cross join lateral (
      values (1, 'owner'), (2, left(w.name, 80)), (3, left(w.name, 80) || ' ' || w.id)
    ) c (place, name)
    where w.id = ${workspaceId}
      and not exists (select from person p where lower(p.name) = lower(c.name) and p.removed_at is null)
    order by c.place
    limit 1`
  if (!row) throw new AccessProblem("name the person; the default names are taken")
  return row.name
}
