import { Buffer } from "node:buffer"
import { randomBytes as secureBytes } from "node:crypto"
import { AccessProblem } from "../access/problem.ts"
import type { Sealer } from "../access/sealed.ts"
import type { Sql } from "../database/types.ts"
import type { RandomBytes } from "../vocabulary/text.ts"
import { type ConsoleReach, openConsole } from "./console.ts"
import { type ConsoleKey, openKey, sealKey } from "./credentials.ts"
import { type Look, lookAt, type RightState, storeLook } from "./look.ts"
import { type AccountState, endAlerts, noteState, stateAfter } from "./state.ts"

export interface Register {
  sql: Sql
  sealer: Sealer
  reach: ConsoleReach
  randomBytes?: RandomBytes
}

export interface AccountRow {
  id: string
  kind: "app-store-connect"
  /** As much of its key as may be shown. */
  shown: string
  vendor: string
  state: AccountState
  stateSince: Date
  why: string | null
  createdAt: Date
  lastOk: Date | null
  lastFailure: Date | null
  failure: string | null
  rights: RightState[]
  apps: { outsideId: string; name: string; appId: string | null; byHand: boolean }[]
}

const MOST_ACCOUNTS = 20

/** Checked at the console before anything is stored. Throws AccessProblem or ConsoleProblem. */
export async function addAccount(
  register: Register,
  workspaceId: number,
  { key, vendor }: { key: ConsoleKey; vendor: string },
): Promise<AccountRow> {
  const { sql, sealer, reach, randomBytes = secureBytes } = register
  checkIds(key, vendor)
  const id = `ac_${Buffer.from(randomBytes(9)).toString("hex")}`
  // first of all, so that without SECRET_KEY nothing is asked
  const sealed = await sealKey(sealer, id, key)
  const look = await lookAt(await openConsole(key, reach), vendor, reach.now())
  await sql.begin(async (tx) => {
    const rows = await tx`
      insert into connected_account (id, workspace_id, kind, shown, vendor, sealed)
      select ${id}, ${workspaceId}, 'app-store-connect', ${shownOf(key)}, ${vendor}, ${sealed}
      where (
        select count(*)
        from connected_account
        where workspace_id = ${workspaceId} and state <> 'removed'
      ) < ${MOST_ACCOUNTS}::int
      returning id`
    if (rows.length === 0) throw new AccessProblem(`a workspace has ${MOST_ACCOUNTS} accounts at most`)
    await storeLook(tx, { id, workspaceId }, look)
    await noteState(tx, id, stateAfter(look))
  })
  return await findAccount(sql, workspaceId, id)
}

/** Asks the console what the key may do now. Throws AccessProblem or ConsoleProblem; that is noted too. */
export async function testAccount(register: Register, workspaceId: number, id: string): Promise<AccountRow> {
  const { sql, reach } = register
  const account = await findSealed(sql, workspaceId, id)
  const key = await openKey(register.sealer, id, account.sealed)
  const look = await lookAt(await openConsole(key, reach), account.vendor, reach.now())
  await storeAndNote(register, { id, workspaceId }, look)
  return await findAccount(sql, workspaceId, id)
}

/** The new key is checked before it takes the place of the old one, which reads until then. */
export async function rotateKey(
  register: Register,
  workspaceId: number,
  id: string,
  fresh: Partial<ConsoleKey> & Pick<ConsoleKey, "privateKey">,
): Promise<AccountRow> {
  const { sql, sealer, reach } = register
  const { sealed, vendor } = await findSealed(sql, workspaceId, id)
  // also where the old one cannot be opened any more, if all of the new one is said
  const whole = fresh.issuer !== undefined && fresh.keyId !== undefined
  const key = { ...(whole ? {} : await openKey(sealer, id, sealed)), ...fresh } as ConsoleKey
  checkIds(key, vendor)
  const look = await lookAt(await openConsole(key, reach), vendor, reach.now())
  const renewed = await sealKey(sealer, id, key)
  await sql.begin(async (tx) => {
    const rows = await tx`
      update connected_account
      set sealed = ${renewed}, shown = ${shownOf(key)}, refused_since = null, failures = 0,
        next_at = case when state = 'paused' then null else now() end
      where id = ${id} and sealed = ${sealed}
      returning id`
    if (rows.length === 0) throw new AccessProblem("the account was changed meanwhile; try again")
    await storeLook(tx, { id, workspaceId }, look)
    await noteState(tx, id, stateAfter(look))
  })
  return await findAccount(sql, workspaceId, id)
}

async function storeAndNote({ sql }: Register, account: { id: string; workspaceId: number }, look: Look) {
  await sql.begin(async (tx) => {
    await tx`update connected_account set refused_since = null, next_at = case when state = 'paused' then null else now() end where id = ${account.id}`
    await storeLook(tx, account, look)
    await noteState(tx, account.id, stateAfter(look))
  })
}

/** Says by hand which tracked app an app of the account is; with null, that it is none. Throws AccessProblem. */
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
      "the account has no such app, or the workspace tracks none of that id; see: appmeter account list",
    )
  return await findAccount(sql, workspaceId, id)
}

/** Nothing is asked while it is paused; what was read stays. Throws AccessProblem. */
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

/** Destroys the sealed key. What was read stays, unless it is to be forgotten: then nothing does. Throws AccessProblem. */
export async function removeAccount(sql: Sql, workspaceId: number, id: string, forget: boolean): Promise<AccountRow> {
  const account = await findAccount(sql, workspaceId, id)
  await sql.begin(async (tx) => {
    await endAlerts(tx, [id], "removed")
    if (forget) await tx`delete from connected_account where id = ${id}`
    else
      await tx`
        update connected_account
        set state = 'removed', state_since = now(), why = null, sealed = null, next_at = null, lease = null,
          lease_until = null
        where id = ${id} and state <> 'removed'`
  })
  return account
}

export async function listAccounts(sql: Sql, workspaceId: number): Promise<AccountRow[]> {
  return await readAccounts(sql, workspaceId, null)
}

/** Throws AccessProblem when the workspace has none of that id. */
export async function findAccount(sql: Sql, workspaceId: number, id: string): Promise<AccountRow> {
  const [account] = await readAccounts(sql, workspaceId, id)
  if (!account) throw noAccount(id)
  return account
}

async function findSealed(sql: Sql, workspaceId: number, id: string): Promise<{ sealed: string; vendor: string }> {
  const [row] = await sql<{ sealed: string | null; vendor: string }[]>`
    select sealed, vendor
    from connected_account
    where id = ${id} and workspace_id = ${workspaceId}`
  if (!row) throw noAccount(id)
  if (row.sealed === null) throw new AccessProblem(`${id} was removed, and its key destroyed; add it again`)
  return { ...row, sealed: row.sealed }
}

async function readAccounts(sql: Sql, workspaceId: number, id: string | null): Promise<AccountRow[]> {
  return await sql<AccountRow[]>`
    select c.id, c.kind, c.shown, c.vendor, c.state, c.state_since as "stateSince", c.why, c.created_at as "createdAt",
      c.last_ok as "lastOk", c.last_failure as "lastFailure", c.failure, (
        select coalesce(jsonb_agg(jsonb_build_object('name', r.name, 'state', r.state, 'why', r.why) order by r.name), '[]')
        from account_right r
        where r.account_id = c.id
      ) as rights, (
        select coalesce(jsonb_agg(
          jsonb_build_object('outsideId', a.outside_id, 'name', a.name, 'appId', a.app_id, 'byHand', a.by_hand)
          order by a.outside_id
        ), '[]')
        from account_app a
        where a.account_id = c.id
      ) as apps
    from connected_account c
    where c.workspace_id = ${workspaceId} and (${id}::text is null or c.id = ${id})
    order by c.created_at, c.id
    limit 1000`
}

function checkIds({ issuer, keyId }: ConsoleKey, vendor: string): void {
  const isUuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(issuer)
  if (!isUuid) throw new AccessProblem("an issuer id is a UUID, as the console shows it above its team keys")
  if (!/^[A-Z0-9]{8,20}$/.test(keyId)) throw new AccessProblem("a key id has some 10 capital letters and digits")
  if (!/^\d{5,12}$/.test(vendor))
    throw new AccessProblem("a vendor number has some 8 digits, as Payments and Financial Reports shows it")
}

function shownOf({ keyId }: ConsoleKey): string {
  return `key …${keyId.slice(-4)}`
}

function noAccount(id: string): AccessProblem {
  return new AccessProblem(
    `the workspace has no account ${JSON.stringify(id.slice(0, 60))}; see: appmeter account list`,
  )
}
