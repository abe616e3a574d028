import { Buffer } from "node:buffer"
import { randomBytes as secureBytes } from "node:crypto"
import { AccessProblem } from "../access/problem.ts"
import type { Sealer } from "../access/sealed.ts"
import type { Sql } from "../database/types.ts"
import type { RandomBytes } from "../lib/text.ts"
import type { AccountKindName, AccountPart, AccountReach } from "./account-kind.ts"
import { accountKind } from "./account-kinds.ts"
import { type AccountKey, openKey, sealKey } from "./credentials.ts"
import { deleteDemoAccounts, demoProblem } from "./demo-accounts.ts"
import { type RightState, storeLook } from "./look.ts"
import { type AccountState, endAlerts, noteState, stateAfter } from "./state.ts"
import { makeFailedDue } from "./tasks.ts"
import { type ListedTrouble, listedTrouble, listedTroubles } from "./troubles.ts"

export interface Register {
  sql: Sql
  sealer: Sealer
  reach: AccountReach
  randomBytes?: RandomBytes
}

export interface AccountRow {
  id: string
  kind: AccountKindName
  /** The part of the key that is safe to display. */
  shown: string
  /** The selected account, if the key opens several. */
  part: string
  state: AccountState
  stateSince: Date
  why: string | null
  createdAt: Date
  lastOk: Date | null
  lastFailure: Date | null
  failure: string | null
  rights: RightState[]
  /** Whether the account accepts writes, and the part of a separate write key that is safe to display. */
  writes: boolean
  shownWrite: string | null
  writeLimits: Record<string, number>
  apps: { outsideId: string; name: string; appId: string | null; byHand: boolean }[]
  /** Failed requests and unreadable rows; at most 50. */
  troubles: ListedTrouble[]
}

const MAX_ACCOUNTS = 20

/** Thrown if the key opens several accounts and the caller did not select one. */
export class SeveralParts extends Error {
  override name = "SeveralParts"
  readonly parts: readonly AccountPart[]

  constructor(parts: readonly AccountPart[]) {
    super(`the key opens ${parts.length} accounts`)
    this.parts = parts
  }
}

/** Adds an account, after a test at the console. Throws AccessProblem, ConsoleProblem or SeveralParts. */
export async function addAccount(
  register: Register,
  workspaceId: number,
  added: { kind: AccountKindName; key: AccountKey; part: string | null },
): Promise<AccountRow> {
  const { sql, sealer, reach, randomBytes = secureBytes } = register
  const [kind, { key }] = [accountKind(added.kind), added]
  const chosen = added.part === null ? null : (kind.toPart?.(added.part) ?? added.part)
  kind.check(key, chosen)
  const id = `ac_${Buffer.from(randomBytes(9)).toString("hex")}`
  // Encrypts first, so that no request is sent if SECRET_KEY is missing.
  const sealed = await sealKey(sealer, id, key)
  const part = chosen ?? (await findOnlyPart(register, added.kind, key))
  const look = await kind.look(await kind.open(key, part, reach), part, reach.now())
  await sql.begin(async (tx) => {
    await deleteDemoAccounts(tx, workspaceId)
    const rows = await tx`
      insert into connected_account (id, workspace_id, kind, shown, part, sealed)
      select ${id}, ${workspaceId}, ${kind.name}, ${kind.shown(key)}, ${part}, ${sealed}
      where (
        select count(*)
        from connected_account
        where workspace_id = ${workspaceId} and state <> 'removed'
      ) < ${MAX_ACCOUNTS}::int
      returning id`
    if (rows.length === 0) throw new AccessProblem(`a workspace has at most ${MAX_ACCOUNTS} accounts`)
    await storeLook(tx, { id, workspaceId }, look)
    await noteState(tx, id, stateAfter(look, kind.needs))
  })
  return await findAccount(sql, workspaceId, id)
}

async function findOnlyPart({ reach }: Register, name: AccountKindName, key: AccountKey): Promise<string> {
  const kind = accountKind(name)
  const parts = (await kind.listParts?.(await kind.open(key, null, reach))) ?? []
  const [part, ...rest] = parts
  if (!part)
    throw new AccessProblem(`the key opens nothing that can be read; name the account with --${kind.part.option}`)
  if (rest.length > 0) throw new SeveralParts(parts)
  return part.id
}

/** Tests the rights of the key at the console. Records a failure before it throws AccessProblem or ConsoleProblem. */
export async function testAccount(register: Register, workspaceId: number, id: string): Promise<AccountRow> {
  const { sql, reach } = register
  const { sealed, part, ...account } = await findSealed(sql, workspaceId, id)
  const kind = accountKind(account.kind)
  const key = await openKey(register.sealer, id, sealed)
  const look = await kind.look(await kind.open(key, part, reach), part, reach.now())
  await sql.begin(async (tx) => {
    await tx`
      update connected_account
      set refused_since = null, next_at = case when state = 'paused' then null else now() end
      where id = ${id}`
    await storeLook(tx, { id, workspaceId }, look)
    await makeFailedDue(tx, id)
    await noteState(tx, id, stateAfter(look, kind.needs))
  })
  return await findAccount(sql, workspaceId, id)
}

/** Replaces the key. The new key is tested first; the old one stays in use until then. */
export async function rotateKey(
  register: Register,
  workspaceId: number,
  id: string,
  fresh: AccountKey,
): Promise<AccountRow> {
  const { sql, sealer, reach } = register
  const { sealed, part, ...account } = await findSealed(sql, workspaceId, id)
  const kind = accountKind(account.kind)
  // If the caller gives all parts of the new key, the old key is not decrypted: it may be unreadable.
  const whole = Object.keys(kind.ids).every((name) => fresh[name] !== undefined)
  const key: AccountKey = { ...(whole ? {} : await openKey(sealer, id, sealed)), ...fresh }
  kind.check(key, part)
  const look = await kind.look(await kind.open(key, part, reach), part, reach.now())
  const renewed = await sealKey(sealer, id, key)
  await sql.begin(async (tx) => {
    const rows = await tx`
      update connected_account
      set sealed = ${renewed}, shown = ${kind.shown(key)}, refused_since = null, failures = 0,
        next_at = case when state = 'paused' then null else now() end
      where id = ${id} and sealed = ${sealed}
      returning id`
    if (rows.length === 0) throw new AccessProblem("the account was changed in the meantime; try again")
    await storeLook(tx, { id, workspaceId }, look)
    await makeFailedDue(tx, id)
    await noteState(tx, id, stateAfter(look, kind.needs))
  })
  return await findAccount(sql, workspaceId, id)
}

/** Maps an app of the account to a tracked app, or to none if it is null. Throws AccessProblem. */
export async function setMapping(
  sql: Sql,
  workspaceId: number,
  { id, outsideId, appId }: { id: string; outsideId: string; appId: string | null },
): Promise<AccountRow> {
  await findAccount(sql, workspaceId, id)
  const rows = await sql`
    update account_app
    set app_id = ${appId}, by_hand = true
    where account_id = ${id} and outside_id = ${outsideId} and (${appId}::text is null or exists (
      select from tracked_app where id = ${appId} and workspace_id = ${workspaceId}
    ))
    returning 1`
  if (rows.length === 0)
    throw new AccessProblem(
      "the account has no such app, or the workspace tracks no app with this id; see: appmeter account list",
    )
  return await findAccount(sql, workspaceId, id)
}

/** Pauses or resumes an account. A paused account sends no requests and keeps its data. Throws AccessProblem. */
export async function pauseAccount(sql: Sql, workspaceId: number, id: string, on: boolean): Promise<AccountRow> {
  await findSealed(sql, workspaceId, id)
  await sql.begin(async (tx) => {
    await noteState(tx, id, on ? { state: "paused", why: null } : { state: "connecting", why: null })
    await tx`
      update connected_account
      set next_at = case when ${on} then null else now() end, checked_at = null
      where id = ${id}`
  })
  return await findAccount(sql, workspaceId, id)
}

/**
 * Removes the account and destroys its encrypted key. Keeps the stored data unless `forget` is set. Throws
 * AccessProblem.
 */
export async function removeAccount(sql: Sql, workspaceId: number, id: string, forget: boolean): Promise<AccountRow> {
  const account = await findAccount(sql, workspaceId, id)
  await sql.begin(async (tx) => {
    await endAlerts(tx, [id], "removed")
    if (forget || account.state === "demo") await tx`delete from connected_account where id = ${id}`
    else
      await tx`
        update connected_account
        set state = 'removed', state_since = now(), why = null, sealed = null, sealed_write = null,
          shown_write = null, writes = false, next_at = null, lease = null,
          lease_until = null
        where id = ${id} and state <> 'removed'`
  })
  return account
}

export async function listAccounts(sql: Sql, workspaceId: number): Promise<AccountRow[]> {
  return await readAccounts(sql, workspaceId, null)
}

/** Returns an account. Throws AccessProblem when the workspace has no account with the id. */
export async function findAccount(sql: Sql, workspaceId: number, id: string): Promise<AccountRow> {
  const [account] = await readAccounts(sql, workspaceId, id)
  if (!account) throw noAccount(id)
  return account
}

interface SealedAccount {
  kind: AccountKindName
  part: string
  sealed: string
}

export async function findSealed(sql: Sql, workspaceId: number, id: string): Promise<SealedAccount> {
  const [row] = await sql<(Omit<SealedAccount, "sealed"> & { sealed: string | null; state: AccountState })[]>`
    select kind, part, sealed, state
    from connected_account
    where id = ${id} and workspace_id = ${workspaceId}`
  if (!row) throw noAccount(id)
  if (row.state === "demo") throw new AccessProblem(demoProblem(id))
  if (row.sealed === null) throw new AccessProblem(`${id} was removed, and its key destroyed; add it again`)
  return { ...row, sealed: row.sealed }
}

async function readAccounts(sql: Sql, workspaceId: number, id: string | null): Promise<AccountRow[]> {
  const rows = await sql<(Omit<AccountRow, "troubles"> & { troubles: Parameters<typeof listedTrouble>[0][] })[]>`
    select c.id, c.kind, c.shown, c.part, c.state, c.state_since as "stateSince", c.why, c.created_at as "createdAt",
      c.writes, c.shown_write as "shownWrite", c.write_limits as "writeLimits", c.last_ok as "lastOk",
      c.last_failure as "lastFailure", c.failure, (
        select coalesce(jsonb_agg(jsonb_build_object('name', r.name, 'state', r.state, 'why', r.why) order by r.name),
          '[]')
        from account_right r
        where r.account_id = c.id
      ) as rights, (
        select coalesce(jsonb_agg(
          jsonb_build_object('outsideId', a.outside_id, 'name', a.name, 'appId', a.app_id, 'byHand', a.by_hand)
          order by a.outside_id
        ), '[]')
        from account_app a
        where a.account_id = c.id
      ) as apps, ${listedTroubles(sql)} as troubles
    from connected_account c
    where c.workspace_id = ${workspaceId} and (${id}::text is null or c.id = ${id})
    order by c.created_at, c.id
    limit 1000`
  return rows.map((row) => ({ ...row, troubles: row.troubles.map(listedTrouble) }))
}

function noAccount(id: string): AccessProblem {
  return new AccessProblem(
    `the workspace has no account ${JSON.stringify(id.slice(0, 60))}; see: appmeter account list`,
  )
}
