import { isStorable } from "../../lib/text.ts"
import { SCOPES, type Scope } from "../scopes.ts"
import { findClient, type OAuthClient } from "./clients.ts"
import { OAuthProblem } from "./problem.ts"
import { isRegistered } from "./redirects.ts"
import { isResource, type OAuthParts, resourceOf } from "./server.ts"

/** A validated authorization request. */
export interface AuthorizationRequest {
  client: OAuthClient
  redirectUri: string
  state: string | null
  /** The requested scopes that exist. */
  scopes: Scope[]
  challenge: string
  resource: string
}

/** A refusal that may be sent to the client, because its redirect address was verified before. */
export class RefusedRequest extends OAuthProblem {
  override name = "RefusedRequest"
  readonly to: RefusedClient

  constructor(code: string, message: string, to: RefusedClient) {
    super(code, message)
    this.to = to
  }
}

interface AuthorizationAnswer {
  redirectUri: string
  state: string | null
}

interface RefusedClient extends AuthorizationAnswer {
  client: OAuthClient
}

/**
 * Verifies the client and its redirect address first: until then nothing is sent anywhere and the owner sees the
 * problem (OAuthProblem). Later problems are sent to the client (RefusedRequest).
 */
export async function readRequest(parts: OAuthParts, query: string): Promise<AuthorizationRequest> {
  const fields = new URLSearchParams(query)
  const [clientId, redirectUri] = ["client_id", "redirect_uri"].map((name) => onlyOne(fields, name))
  if (!clientId || !redirectUri || !isStorable(clientId))
    throw new OAuthProblem("invalid_request", "The request must contain client_id and redirect_uri exactly once.")
  const client = await findClient(parts, clientId)
  if (!isRegistered(redirectUri, client.redirectUris))
    throw new OAuthProblem(
      "invalid_request",
      "The redirect address is not registered for this client. Nothing was sent to it.",
    )
  const to = { client, redirectUri, state: onlyOne(fields, "state") ?? null }
  const refuse = (code: string, message: string): never => {
    throw new RefusedRequest(code, message, to)
  }
  for (const name of new Set(fields.keys()))
    if (fields.getAll(name).length > 1) refuse("invalid_request", "A parameter was sent twice.")
  if (fields.get("response_type") !== "code") refuse("unsupported_response_type", "The response type must be code.")
  const challenge = fields.get("code_challenge") ?? ""
  if (fields.get("code_challenge_method") !== "S256" || !/^[\w-]{43}$/.test(challenge))
    refuse("invalid_request", "A code challenge with the method S256 is required.")
  const resource = fields.get("resource")
  if (resource !== null && !isResource(parts.publicUrl, resource))
    refuse("invalid_target", "The resource is not this tool endpoint.")
  return { ...to, challenge, scopes: scopesIn(fields.get("scope")), resource: resourceOf(parts.publicUrl) }
}

/** Ignores unknown scopes: the token response lists the granted ones. */
export function scopesIn(text: string | null): Scope[] {
  const words = new Set((text ?? "").split(" "))
  return SCOPES.filter((scope) => words.has(scope))
}

/**
 * Returns the redirect URL with the answer. It includes the issuer, so that a client of several servers can tell them
 * apart.
 */
export function answerAddress(
  publicUrl: string,
  { redirectUri, state }: AuthorizationAnswer,
  answerFields: Record<string, string>,
): string {
  const fields = new URLSearchParams({ ...answerFields, ...(state !== null && { state }), iss: publicUrl })
  return `${redirectUri}${redirectUri.includes("?") ? "&" : "?"}${fields}`
}

function onlyOne(fields: URLSearchParams, name: string): string | undefined {
  const [value, ...more] = fields.getAll(name)
  return more.length === 0 ? value : undefined
}
