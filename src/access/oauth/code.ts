import type { Buffer } from "node:buffer"
import { hash, randomBytes } from "node:crypto"
import type { Tx } from "../../database/types.ts"
import { revokeGrant } from "../grants.ts"
import { createGrant, type NewGrant } from "../key-register.ts"
import type { Scope } from "../scopes.ts"
import type { AuthorizationRequest } from "./request.ts"
import { createFamily, type Tokens } from "./tokens.ts"

interface AgreedTerms {
  /** The person who agreed. */
  personId: number
  workspaceId: number
  request: AuthorizationRequest
  name: string
  hint: string
  scopes: readonly Scope[]
  /** Null if every app is allowed. */
  appList: readonly string[] | null
}

/** Creates a single-use code for what a person approved. Valid for one minute. */
export async function createCode(tx: Tx, { personId, workspaceId, request, ...terms }: AgreedTerms): Promise<string> {
  const code = randomBytes(32).toString("base64url")
  const { client, redirectUri, challenge, resource } = request
  await tx`
    insert into oauth_code (
      sha256, person_id, workspace_id, client_id, redirect_uri, challenge, resource, name, hint, scopes, app_list,
      expires_at
    )
    values (
      ${digestOf(code)}, ${personId}, ${workspaceId}, ${client.id}, ${redirectUri}, ${challenge}, ${resource},
      ${terms.name}, ${terms.hint}, ${[...terms.scopes]}, ${terms.appList && [...terms.appList]},
      now() + interval '60 s'
    )`
  return code
}

/** The values that a client sends with a code. */
interface CodeExchange {
  code: string
  clientId: string
  /** Omitted by clients of OAuth 2.1, which are bound by PKCE. */
  redirectUri: string | undefined
  verifier: string
}

/**
 * Exchanges a code for a grant with its first tokens. Null if the code is unknown, used or expired, or belongs to
 * another client.
 */
export async function takeCode(tx: Tx, exchange: CodeExchange): Promise<Tokens | null> {
  const digest = digestOf(exchange.code)
  const [row] = await tx<CodeRow[]>`
    select c.person_id as "personId", c.workspace_id as "workspaceId", c.client_id as "clientId",
      c.redirect_uri as "redirectUri", c.challenge, c.resource, c.name, c.hint, c.scopes, c.app_list as "appList",
      c.key_id as "keyId",
      c.used_at is not null as "isUsed",
      c.expires_at > now() and w.deleted_at is null and w.suspended_at is null and m.key_id is not null as "isGood"
    from oauth_code c
    join workspace w on w.id = c.workspace_id
    left join membership m on m.person_id = c.person_id and m.workspace_id = c.workspace_id
    where c.sha256 = ${digest}
    for update of c`
  if (!row) return null
  // A reused code means it leaked: revoke the tokens issued for it (RFC 6749, 4.1.2).
  if (row.isUsed && row.keyId !== null) await revokeGrant(tx, row.keyId)
  if (row.isUsed) return null
  const keyId = row.isGood && isForWhom(row, exchange) ? await createGrant(tx, grantOf(row)) : null
  await tx`
    update oauth_code
    set used_at = now(), key_id = ${keyId}
    where sha256 = ${digest}`
  return keyId === null ? null : await createFamily(tx, { ...row, keyId })
}

interface CodeRow {
  personId: number
  workspaceId: number
  clientId: string
  redirectUri: string
  challenge: string
  resource: string
  name: string
  hint: string
  scopes: Scope[]
  appList: string[] | null
  keyId: number | null
  isUsed: boolean
  isGood: boolean
}

/**
 * Whether the exchange comes from the client and redirect address of the request, with the verifier of its challenge.
 */
function isForWhom(row: CodeRow, { clientId, redirectUri, verifier }: CodeExchange): boolean {
  const isSame = row.clientId === clientId && (redirectUri === undefined || redirectUri === row.redirectUri)
  return isSame && hash("sha256", verifier, "base64url") === row.challenge
}

function grantOf({ personId, workspaceId, name, hint, scopes, appList }: CodeRow): NewGrant {
  return { personId, workspaceId, name, hint, scopes, ...(appList && { appList }) }
}

function digestOf(code: string): Buffer {
  return hash("sha256", `authorization code ${code}`, "buffer")
}
