import type { Buffer } from "node:buffer"
import type { Sql, Tx } from "../database/types.ts"
import type { RandomBytes } from "../lib/text.ts"
import { parseAddressList } from "./addresses.ts"
import { type CallerKind, type KeyKind, keyDigest, keyHint, makeKey, parseKey } from "./keys.ts"
import { olderLiveKeys } from "./known-keys.ts"
import { type Entitlements, entitlementsOf, type Plan } from "./plans.ts"
import { AccessProblem } from "./problem.ts"
import { DEFAULT_SCOPES, type Right, SCOPES, type Scope } from "./scopes.ts"
import { checkAmount, checkName, findWorkspace } from "./workspaces.ts"

export interface NewKey {
  workspace: string
  kind: KeyKind
  /** 1 to 100 characters. Several keys may share a name. */
  name: string
  /** Default: all but hive:measure. */
  scopes?: readonly Scope[]
  /** Addresses and networks that may use the key. Default: any. */
  ipAllowList?: readonly string[]
  /** Ids of the workspace's apps that the key is limited to. Default: every app. */
  appList?: readonly string[] | undefined
  monthlyBudget?: number
  expiresAt?: Date
  /**
   * The person whom the key belongs to. The key never has a right that this person lacks, and ends with their
   * membership.
   */
  personId?: number
}

/** Why a key cannot be used, if so. A key that is paused or on hold can become usable again, the others cannot. */
type KeyState = "usable" | "paused" | "on_hold" | "expired" | "revoked" | "leaked"

export interface ApiKey {
  id: number
  workspaceId: number
  kind: CallerKind
  name: string
  /** The first and the last 4 characters of the key. For a grant, the host of its assistant. */
  hint: string
  /** The person whom the key belongs to. Null if it was created on the machine. */
  person: string | null
  scopes: Right[]
  ipAllowList: string[] | null
  appList: string[] | null
  monthlyBudget: number | null
  used: number
  expiresAt: Date | null
  createdAt: Date
  state: KeyState
}

/** Creates a key. `secret` is the whole key: it is not stored and cannot be shown again. Throws AccessProblem. */
export async function createKey(
  sql: Sql,
  newKey: NewKey,
  randomBytes: RandomBytes,
): Promise<{ key: ApiKey; secret: string }> {
  checkKey(newKey)
  const workspace = await findWorkspace(sql, newKey.workspace)
  const secret = makeKey(newKey.kind, randomBytes)
  const stored = { secret: keyDigest(secret), hint: keyHint(secret) }
  const id = await sql.begin((tx) => insertKey(tx, { ...newKey, ...stored, workspaceId: workspace.id }))
  return { key: await findKey(sql, id), secret }
}

export interface NewGrant {
  workspaceId: number
  name: string
  /** The host of the assistant that uses the grant. */
  hint: string
  scopes: readonly Scope[]
  appList?: readonly string[] | undefined
  expiresAt?: Date
  personId: number
}

/** Creates a key without a secret and returns its id. Throws AccessProblem for invalid values, as createKey does. */
export async function createGrant(tx: Tx, grant: NewGrant): Promise<number> {
  checkKey({ ...grant, kind: "live", workspace: "" })
  return await insertKey(tx, { ...grant, kind: "grant", secret: null })
}

/** The rights of a person in a workspace. */
export interface Rights {
  scopes: readonly Right[]
  /** Null if every app is allowed, including later ones. */
  appList: readonly string[] | null
}

/** Creates the grant with which the pages call operations for a person. `key list` shows it under the person's name. */
export async function createPagesGrant(
  tx: Tx,
  { scopes, appList, ...grant }: Rights & { workspaceId: number; personId: number; name: string },
): Promise<number> {
  const values = { ...grant, scopes, kind: "grant" as const, hint: "pages", secret: null }
  return await insertKey(tx, { ...values, ...(appList && { appList }) })
}

/** Changes the rights of the grant of a person's pages. Throws AccessProblem. */
export async function setRights(tx: Tx, keyId: number, { scopes, appList }: Rights): Promise<void> {
  const [key] = await tx<{ workspaceId: number }[]>`
    update api_key
    set scopes = ${unique(scopes)}, app_list = ${unique(appList ?? undefined)}
    where id = ${keyId}
    returning workspace_id as "workspaceId"`
  if (key && appList) await checkApps(tx, key.workspaceId, appList)
}

export async function listKeys(sql: Sql, workspaceName: string): Promise<ApiKey[]> {
  const workspace = await findWorkspace(sql, workspaceName)
  return await listWorkspaceKeys(sql, workspace.id)
}

export async function listWorkspaceKeys(sql: Sql, workspaceId: number): Promise<ApiKey[]> {
  const rows = await sql<KeyRow[]>`
    ${columns(sql)}
    where k.workspace_id = ${workspaceId}
    order by k.id
    limit 1000`
  return rows.map(keyOf)
}

interface PersonKey extends Pick<ApiKey, "id" | "name" | "kind" | "hint" | "scopes"> {
  workspace: string
}

/** Returns the assistants and keys of a person in every workspace that are not revoked, newest first. */
export async function listPersonKeys(sql: Sql, personId: number): Promise<PersonKey[]> {
  return await sql<PersonKey[]>`
    select k.id, k.name, k.kind, k.hint, k.scopes, w.name as workspace
    from api_key k
    join workspace w on w.id = k.workspace_id
    where k.person_id = ${personId} and k.revoked_at is null and w.deleted_at is null
      and (k.expires_at is null or k.expires_at > now())
      and not exists (select from membership m where m.key_id = k.id)
    order by k.id desc
    limit 200`
}

export async function findKey(sql: Sql, id: number): Promise<ApiKey> {
  checkId(id)
  const [row] = await sql<KeyRow[]>`
    ${columns(sql)}
    where k.id = ${id}`
  if (!row) throw noKey(id)
  return keyOf(row)
}

/** Returns a key. Throws AccessProblem unless it belongs to the workspace. */
export async function findWorkspaceKey(sql: Sql, workspaceId: number, id: number): Promise<ApiKey> {
  const key = await findKey(sql, id)
  if (key.workspaceId !== workspaceId) throw noKey(id)
  return key
}

export async function revokeKey(sql: Sql, id: number): Promise<ApiKey> {
  checkId(id)
  await sql`
    update api_key set revoked_at = coalesce(revoked_at, now())
    where id = ${id}`
  return await findKey(sql, id)
}

export async function pauseKey(sql: Sql, id: number): Promise<ApiKey> {
  checkId(id)
  await sql`
    update api_key set paused_at = coalesce(paused_at, now())
    where id = ${id}`
  return await findKey(sql, id)
}

export async function resumeKey(sql: Sql, id: number): Promise<ApiKey> {
  checkId(id)
  await sql`
    update api_key set paused_at = null
    where id = ${id}`
  return await findKey(sql, id)
}

export async function markLeaked(sql: Sql, idOrSecret: number | string): Promise<ApiKey> {
  const id = typeof idOrSecret === "number" ? idOrSecret : await findKeyId(sql, idOrSecret)
  checkId(id)
  await sql`
    update api_key set
      leaked_at = coalesce(leaked_at, now()),
      revoked_at = coalesce(revoked_at, now())
    where id = ${id}`
  return await findKey(sql, id)
}

function checkKey({ kind, name, scopes, ipAllowList, appList, monthlyBudget, expiresAt }: NewKey): void {
  if (kind !== "live" && kind !== "test") throw new AccessProblem("a key's kind must be live or test")
  checkName("key", name)
  const unknown = scopes?.find((scope) => !SCOPES.includes(scope))
  if (unknown !== undefined)
    throw new AccessProblem(`there is no such scope; the scopes are ${SCOPES.join(", ")}`, "scopes")
  if (ipAllowList?.length === 0)
    throw new AccessProblem(
      "an empty allow list would admit nobody; leave the list out to admit every address",
      "ipAllowList",
    )
  parseAddressList(ipAllowList ?? [])
  if (appList?.length === 0)
    throw new AccessProblem("an empty app list would show no app; leave the list out to show every app", "appList")
  if (monthlyBudget !== undefined) checkAmount("a monthly budget", monthlyBudget, 0, "monthlyBudget")
  if (expiresAt && Number.isNaN(expiresAt.getTime()))
    throw new AccessProblem("the expiry is not a valid time", "expiresAt")
}

type KeyValues = Omit<NewKey, "workspace" | "kind" | "scopes"> & {
  scopes?: readonly Right[]
  workspaceId: number
  kind: CallerKind
  secret: Buffer | null
  hint: string
}

async function insertKey(tx: Tx, values: KeyValues): Promise<number> {
  const { workspaceId, kind, name, secret, hint } = values
  const { scopes = DEFAULT_SCOPES, ipAllowList, appList, monthlyBudget, expiresAt, personId } = values
  if (appList) await checkApps(tx, workspaceId, appList)
  const [row] = await tx<[{ id: number; expired: boolean | null }]>`
    insert into api_key (
      workspace_id, person_id, kind, name, secret_sha256, hint, scopes, ip_allow_list, app_list, expires_at
    )
    values (
      ${workspaceId}, ${personId ?? null}, ${kind}, ${name.trim()}, ${secret}, ${hint},
      ${unique(scopes)}, ${unique(ipAllowList)}, ${unique(appList)}, ${expiresAt ?? null}
    )
    returning id, expires_at <= now() as expired`
  const { id, expired } = row
  if (expired) throw new AccessProblem("the expiry lies in the past", "expiresAt")
  await tx`
    insert into key_month (key_id, workspace_id, month, budget)
    values (${id}, ${workspaceId}, date_trunc('month', now() at time zone 'utc')::date, ${monthlyBudget ?? null})`
  return id
}

async function checkApps(tx: Tx, workspaceId: number, appList: readonly string[]): Promise<void> {
  const rows = await tx<{ id: string }[]>`
    select id
    from tracked_app
    where workspace_id = ${workspaceId} and id = any(${[...appList]}::text[])`
  const existing = new Set(rows.map(({ id }) => id))
  const foreign = appList.find((id) => !existing.has(id))
  if (foreign !== undefined) {
    throw new AccessProblem(`the workspace has no app with id ${JSON.stringify(foreign.slice(0, 64))}`, "appList")
  }
}

function unique<Text extends string>(texts: readonly Text[] | undefined): Text[] | null {
  return texts ? [...new Set(texts.map((text) => text.trim() as Text))] : null
}

interface KeyRow extends Omit<ApiKey, "state"> {
  ended: "expired" | "leaked" | "revoked" | "paused" | null
  plan: Plan
  overrides: Partial<Entitlements>
  olderLiveKeys: number
}

// The order of reasons is that of known-keys.ts, which decides whether a key is refused. This one is only for display.
function columns(sql: Sql) {
  return sql`
    select k.id, k.workspace_id as "workspaceId", k.kind, k.name, k.hint, p.name as person, k.scopes,
      k.ip_allow_list as "ipAllowList", k.app_list as "appList", b.budget as "monthlyBudget", b.key_used as used,
      k.expires_at as "expiresAt", k.created_at as "createdAt",
      case
        when k.expires_at <= now() then 'expired'
        when k.leaked_at is not null then 'leaked'
        when k.revoked_at is not null then 'revoked'
        when k.paused_at is not null then 'paused'
      end as ended,
      w.plan, w.overrides, ${olderLiveKeys(sql)} as "olderLiveKeys"
    from api_key k
    join workspace w on w.id = k.workspace_id
    join key_month m on m.key_id = k.id
    join account a on a.workspace_id = k.workspace_id
    left join person p on p.id = k.person_id
    cross join lateral balance(a, m) b`
}

function keyOf({ ended, plan, overrides, olderLiveKeys, ...key }: KeyRow): ApiKey {
  const isOnHold = key.kind === "live" && olderLiveKeys >= entitlementsOf(plan, overrides).liveKeys
  return { ...key, state: ended ?? (isOnHold ? "on_hold" : "usable") }
}

async function findKeyId(sql: Sql, secret: string): Promise<number> {
  const text = secret.trim()
  if (!parseKey(text)) throw new AccessProblem("this is not a key of this program; give the whole key, or its id")
  const [row] = await sql<{ id: number }[]>`
    select id
    from api_key
    where secret_sha256 = ${keyDigest(text)}`
  if (!row) throw new AccessProblem("this instance has not created this key")
  return row.id
}

function checkId(id: number): void {
  if (!Number.isSafeInteger(id) || id < 1 || id > 2_147_483_647) throw noKey(id)
}

function noKey(id: number): AccessProblem {
  return new AccessProblem(`there is no key with id ${id}`)
}
