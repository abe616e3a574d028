import { createHmac, randomBytes } from "node:crypto"
import type { Tx } from "../../database/types.ts"
import type { RandomBytes } from "../../lib/text.ts"
import { DAY_MS } from "../../lib/time.ts"
import { extendGrant, revokeGrant } from "../grants.ts"
import { keyDigest, makeKey, parseToken } from "../keys.ts"
import type { Scope } from "../scopes.ts"

/** The tokens of a grant that a client receives. */
export interface Tokens {
  access: string
  refresh: string
  scopes: readonly Scope[]
}

export const ACCESS_SECONDS = 3_600
const REFRESH_DAYS = 60
const GRANT_DAYS = 365

/**
 * Grace period in which a used refresh token is exchanged for the same successor again, because a response may be lost
 * or two calls may cross.
 */
const GRACE_S = 30

/** Creates the first tokens of a grant, which then lasts a year. */
export async function createFamily(
  tx: Tx,
  {
    keyId,
    clientId,
    resource,
    scopes,
  }: { keyId: number; clientId: string; resource: string; scopes: readonly Scope[] },
): Promise<Tokens> {
  const [grant] = await tx<[{ endsAt: Date }]>`
    insert into oauth_grant (key_id, client_id, resource, salt, ends_at)
    values (${keyId}, ${clientId}, ${resource}, ${randomBytes(32)}, now() + ${GRANT_DAYS} * interval '1 day')
    returning ends_at as "endsAt"`
  const refresh = makeKey("refresh", randomBytes)
  await storeRefresh(tx, { keyId, refresh, endsAt: grant.endsAt })
  return { access: await createAccess(tx, { keyId, resource, scopes }), refresh, scopes }
}

/** The values that a client sends to renew its tokens. */
interface Renewal {
  refresh: string
  clientId: string
  /** A subset of the grant's scopes. Empty for all of them. */
  scopes: readonly Scope[]
}

/**
 * Exchanges a refresh token, which is valid once, for new tokens. Null if it is invalid. If a token is reused after the
 * grace period, it was stolen: the grant is revoked, because its client and the thief cannot be told apart.
 */
export async function refreshTokens(tx: Tx, { refresh, clientId, scopes }: Renewal): Promise<Tokens | null> {
  if (parseToken(refresh) !== "refresh") return null
  const [storedToken] = await tx<RefreshRow[]>`
    select r.key_id as "keyId", r.used_at as "usedAt", r.used_at < now() - ${GRACE_S} * interval '1 s' as "isStolen",
      r.expires_at > now() and g.client_id = ${clientId} and k.revoked_at is null as "isGood",
      g.salt, g.resource, g.ends_at as "endsAt",
      array(select s from unnest(k.scopes) s where s = any(o.scopes)) as scopes
    from refresh_token r
    join oauth_grant g on g.key_id = r.key_id
    join api_key k on k.id = r.key_id
    join membership m on m.person_id = k.person_id and m.workspace_id = k.workspace_id
    join api_key o on o.id = m.key_id
    where r.sha256 = ${keyDigest(refresh)}
    for update of r`
  if (storedToken?.isStolen) await revokeGrant(tx, storedToken.keyId)
  if (!storedToken?.isGood || storedToken.isStolen) return null
  const { keyId, resource, salt, endsAt } = storedToken
  const next = makeKey("refresh", bytesOf(salt, refresh))
  if (storedToken.usedAt === null) {
    await tx`
      update refresh_token
      set used_at = now()
      where sha256 = ${keyDigest(refresh)}`
    await storeRefresh(tx, { keyId, refresh: next, endsAt })
  }
  const given = scopes.length === 0 ? storedToken.scopes : storedToken.scopes.filter((scope) => scopes.includes(scope))
  return { access: await createAccess(tx, { keyId, resource, scopes: given }), refresh: next, scopes: given }
}

/** Revokes the grant of an access or refresh token. Ignores tokens of another client. */
export async function revokeToken(tx: Tx, token: string, clientId: string): Promise<void> {
  const kind = parseToken(token)
  if (kind === null) return
  const [grant] = await tx<{ keyId: number }[]>`
    select t.key_id as "keyId"
    from ${kind === "access" ? tx`access_token` : tx`refresh_token`} t
    join oauth_grant g on g.key_id = t.key_id
    where t.sha256 = ${keyDigest(token)} and g.client_id = ${clientId}`
  if (grant) await revokeGrant(tx, grant.keyId)
}

interface RefreshRow {
  keyId: number
  usedAt: Date | null
  isStolen: boolean | null
  isGood: boolean
  salt: Uint8Array
  resource: string
  endsAt: Date
  scopes: Scope[]
}

async function createAccess(
  tx: Tx,
  { keyId, resource, scopes }: { keyId: number; resource: string; scopes: readonly Scope[] },
): Promise<string> {
  const access = makeKey("access", randomBytes)
  await tx`
    insert into access_token (sha256, key_id, resource, scopes, expires_at)
    values (${keyDigest(access)}, ${keyId}, ${resource}, ${[...scopes]}, now() + ${ACCESS_SECONDS} * interval '1 s')`
  return access
}

/** Stores a refresh token. The grant expires with its newest refresh token. */
async function storeRefresh(
  tx: Tx,
  { keyId, refresh, endsAt }: { keyId: number; refresh: string; endsAt: Date },
): Promise<void> {
  const until = new Date(Math.min(Date.now() + REFRESH_DAYS * DAY_MS, endsAt.getTime()))
  await tx`
    insert into refresh_token (sha256, key_id, expires_at)
    values (${keyDigest(refresh)}, ${keyId}, ${until})`
  await extendGrant(tx, keyId, until)
}

/** Returns bytes that are unpredictable without both the salt (in the database) and the token (with the client). */
function bytesOf(salt: Uint8Array, token: string): RandomBytes {
  let block = 0
  return (length) => createHmac("sha256", salt).update(`${block++} ${token}`).digest().subarray(0, length)
}
