import { Buffer } from "node:buffer"
import { takeCode } from "../../access/oauth/code.ts"
import { OAuthProblem } from "../../access/oauth/problem.ts"
import { scopesIn } from "../../access/oauth/request.ts"
import { isResource, type OAuthParts } from "../../access/oauth/server.ts"
import { ACCESS_SECONDS, refreshTokens, revokeToken, type Tokens } from "../../access/oauth/tokens.ts"
import { AccessProblem } from "../../access/problem.ts"
import { isStorable } from "../../lib/text.ts"
import type { PageAnswer } from "../../ui/answer.ts"
import { fieldOf, readForm } from "../../ui/form.ts"
import type { PageVisit } from "../../ui/routes.ts"
import { jsonAnswer } from "./answers.ts"

/** Exchanges a code or a refresh token for tokens (RFC 6749, 4.1.3 and 6). Throws OAuthProblem. */
export async function openToken(parts: OAuthParts, { request }: PageVisit): Promise<PageAnswer> {
  const fields = await readFields(request)
  const clientId = clientIdOf(request, fields)
  if (!clientId) throw new OAuthProblem("invalid_client", "The client must say who it is: client_id is missing.", 401)
  const resource = fieldOf(fields, "resource")
  if (fields.has("resource") && !(resource !== undefined && isResource(parts.publicUrl, resource)))
    throw new OAuthProblem("invalid_target", "The resource is not this tool endpoint.")
  const grantType = fieldOf(fields, "grant_type")
  if (grantType === "authorization_code") return tokenAnswer(await issueForCode(parts, fields, clientId))
  if (grantType === "refresh_token") return tokenAnswer(await issueForRefresh(parts, fields, clientId))
  throw new OAuthProblem("unsupported_grant_type", "The grant type must be authorization_code or refresh_token.")
}

/** Revokes a token. A token that is unknown or belongs to another client counts as revoked (RFC 7009). */
export async function openRevocation({ sql, gate }: OAuthParts, { request }: PageVisit): Promise<PageAnswer> {
  const fields = await readFields(request)
  const token = fieldOf(fields, "token")
  const clientId = clientIdOf(request, fields)
  if (!token || !clientId) throw new OAuthProblem("invalid_request", "Send token and client_id.")
  await gate.run(() => sql.begin((tx) => revokeToken(tx, token, clientId)))
  return jsonAnswer(200, {})
}

/** Returns the client id from the form, or from HTTP Basic with an empty secret, because clients have no secrets. */
function clientIdOf({ headers }: Request, fields: URLSearchParams): string | undefined {
  if (fields.has("client_id")) return fieldOf(fields, "client_id")
  const [, encoded = ""] = /^basic ([\w+/]+=*)$/i.exec(headers.get("authorization") ?? "") ?? []
  const [, id] = /^([^:]+):$/.exec(Buffer.from(encoded, "base64").toString("utf8")) ?? []
  try {
    const decoded = id && decodeURIComponent(id.replaceAll("+", " "))
    return decoded && isStorable(decoded) ? decoded : undefined
  } catch {
    return undefined
  }
}

async function issueForCode(
  { sql, gate }: OAuthParts,
  fields: URLSearchParams,
  clientId: string,
): Promise<Tokens | null> {
  const [code, verifier] = [fieldOf(fields, "code"), fieldOf(fields, "code_verifier")]
  if (!code || !verifier || !/^[\w.~-]{43,128}$/.test(verifier))
    throw new OAuthProblem("invalid_request", "A code and the verifier of its challenge are needed, each once.")
  const exchange = { code, verifier, clientId, redirectUri: fieldOf(fields, "redirect_uri") }
  try {
    return await gate.run(() => sql.begin((tx) => takeCode(tx, exchange)))
  } catch (error) {
    // an app of the consent no longer exists
    if (error instanceof AccessProblem) return null
    throw error
  }
}

async function issueForRefresh(
  { sql, gate }: OAuthParts,
  fields: URLSearchParams,
  clientId: string,
): Promise<Tokens | null> {
  const refresh = fieldOf(fields, "refresh_token")
  if (!refresh) throw new OAuthProblem("invalid_request", "The refresh token is missing.")
  const scopes = scopesIn(fieldOf(fields, "scope") ?? null)
  return await gate.run(() => sql.begin((tx) => refreshTokens(tx, { refresh, clientId, scopes })))
}

function tokenAnswer(tokens: Tokens | null): PageAnswer {
  if (!tokens)
    throw new OAuthProblem("invalid_grant", "The code or refresh token is not valid, or not any more. Sign in again.")
  const { access, refresh, scopes } = tokens
  return jsonAnswer(200, {
    access_token: access,
    token_type: "Bearer",
    expires_in: ACCESS_SECONDS,
    refresh_token: refresh,
    scope: scopes.join(" "),
  })
}

const MAX_BYTES = 16_384

async function readFields(request: Request): Promise<URLSearchParams> {
  const fields = await readForm(request, MAX_BYTES)
  if (typeof fields === "string") throw new OAuthProblem("invalid_request", "Send a form of at most 16 KB without NUL.")
  return fields
}
