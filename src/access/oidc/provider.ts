import { createHmac } from "node:crypto"
import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  type ClientAuth,
  ClientSecretBasic,
  ClientSecretPost,
  type Configuration,
  type CustomFetch,
  calculatePKCECodeChallenge,
  clockTolerance,
  customFetch,
  discovery,
  enableNonRepudiationChecks,
  None,
} from "openid-client"
import { OutboundProblem } from "../../outbound/problem.ts"
import { type SafeFetch, safeFetch } from "../../outbound/safe-fetch.ts"

/** The OpenID provider that the operator named. */
export interface OidcSettings {
  issuer: string
  clientId: string
  /** Undefined for a public client, which PKCE protects alone. */
  clientSecret: string | undefined
  /** The name of the provider on the sign-in button. */
  name: string
}

/** An account at the provider. */
export interface Subject {
  issuer: string
  subject: string
  /** The account's name at the provider. It is shown only to its person and identifies nobody. */
  label: string
}

/** Why a sign-in with the provider failed. */
export class OidcProblem extends Error {
  override name = "OidcProblem"
  /** False if the provider answered with an error or with something that does not belong to this visit. */
  readonly isUnreachable: boolean

  constructor(reason: string, isUnreachable: boolean) {
    super(reason)
    this.isUnreachable = isUnreachable
  }
}

export interface OidcProvider {
  name: string
  /** Returns the provider's page for a visit. Throws OidcProblem. */
  begin(visitToken: string): Promise<URL>
  /** Redeems the code that the provider sent the browser back with. Throws OidcProblem. */
  finish(visitToken: string, query: string): Promise<Subject>
}

interface ProviderParts extends OidcSettings {
  publicUrl: string
  /** Fetches addresses that are not on the issuer's host. */
  fetch: SafeFetch
}

export const OIDC_CALLBACK_PATH = "/sign-in/oidc/callback"

/** How long a discovery document is fresh. Keys are read again when the provider uses an unknown one. */
const DISCOVERY_MS = 3_600_000
const TIMEOUT_SECONDS = 10
const TOLERATED_CLOCK_SECONDS = 30

export function createOidcProvider(parts: ProviderParts): OidcProvider {
  const { name, publicUrl } = parts
  const redirectUri = `${publicUrl}${OIDC_CALLBACK_PATH}`
  const configured = createDiscovery(parts)
  return {
    name,
    async begin(visitToken) {
      const { state, nonce, verifier } = secretsOf(visitToken)
      return await reporting(async () =>
        buildAuthorizationUrl(await configured(), {
          redirect_uri: redirectUri,
          scope: "openid profile email",
          state,
          nonce,
          code_challenge: await calculatePKCECodeChallenge(verifier),
          code_challenge_method: "S256",
        }),
      )
    },
    async finish(visitToken, query) {
      const { state, nonce, verifier } = secretsOf(visitToken)
      return await reporting(async () => {
        const tokens = await authorizationCodeGrant(await configured(), new URL(`${redirectUri}?${query}`), {
          expectedState: state,
          expectedNonce: nonce,
          pkceCodeVerifier: verifier,
          idTokenExpected: true,
        })
        const claims = tokens.claims()
        if (!claims) throw new OidcProblem("the answer has no ID token", false)
        const { iss: issuer, sub: subject } = claims
        const named = [claims.email, claims.preferred_username, claims.name].find((claim) => typeof claim === "string")
        return { issuer, subject, label: (named || subject).slice(0, 200) }
      })
    },
  }
}

/** Checks that the provider answers with its discovery document. Throws OidcProblem. */
export async function checkOidcProvider(settings: OidcSettings, fetch: SafeFetch): Promise<void> {
  await reporting(() => discover({ ...settings, fetch }))
}

/** Returns a function that discovers the provider at first use, and again after an hour or a failure. */
function createDiscovery(parts: ProviderParts): () => Promise<Configuration> {
  let cached: { configuration: Promise<Configuration>; until: number } | null = null
  return async () => {
    if (!cached || cached.until < Date.now())
      cached = { configuration: discover(parts), until: Date.now() + DISCOVERY_MS }
    const { configuration } = cached
    try {
      return await configuration
    } catch (error) {
      if (cached?.configuration === configuration) cached = null
      throw error
    }
  }
}

async function discover(parts: Omit<ProviderParts, "publicUrl">): Promise<Configuration> {
  const { issuer, clientId, clientSecret } = parts
  const isPlain = issuer.startsWith("http:")
  return await discovery(
    new URL(issuer),
    clientId,
    { [clockTolerance]: TOLERATED_CLOCK_SECONDS },
    clientSecret === undefined ? None() : secretInUsualWay(clientSecret),
    {
      [customFetch]: guarded(issuer, parts.fetch),
      timeout: TIMEOUT_SECONDS,
      execute: [enableNonRepudiationChecks, ...(isPlain ? [allowInsecureRequests] : [])],
    },
  )
}

/** Sends the secret as the provider's document allows. Basic is the standard's default. */
function secretInUsualWay(secret: string): ClientAuth {
  return (server, ...rest) => {
    const methods = server.token_endpoint_auth_methods_supported ?? ["client_secret_basic"]
    const auth = methods.includes("client_secret_basic") ? ClientSecretBasic(secret) : ClientSecretPost(secret)
    auth(server, ...rest)
  }
}

/**
 * Lets the library send its requests through the outbound guard. The operator named the issuer, so that its host may be
 * on a private network and at any port. Other hosts in its document may not.
 */
function guarded(issuer: string, fetch: SafeFetch): CustomFetch {
  const { hostname } = new URL(issuer)
  return async (address, { method, headers, body, signal }) => {
    const url = new URL(address)
    const send: SafeFetch =
      url.hostname === hostname
        ? (target, options) => safeFetch(target, { ...options, allowPrivate: ANYWHERE, ports: [Number(url.port)] })
        : fetch
    const answer = await send(address, {
      method: method === "POST" ? "POST" : "GET",
      headers,
      ...(body != null && { body: String(body) }),
      ...(signal && { signal }),
    })
    const received = new Headers(answer.headers)
    // The body is inflated already.
    received.delete("content-encoding")
    received.delete("content-length")
    return new Response(answer.bytes.length > 0 ? new Uint8Array(answer.bytes) : null, {
      status: answer.status,
      headers: received,
    })
  }
}

const ANYWHERE = { includes: () => true }

/**
 * Derives the values that a visit sends to the provider, so that neither the database nor the provider could repeat the
 * visit.
 */
function secretsOf(visitToken: string): { state: string; nonce: string; verifier: string } {
  const derived = (purpose: string) => createHmac("sha256", visitToken).update(purpose).digest("base64url")
  return { state: derived("state"), nonce: derived("nonce"), verifier: derived("verifier") }
}

async function reporting<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof OidcProblem) throw error
    const causes = causesOf(error)
    const reason = causes.map(({ message }) => message).join(": ")
    throw new OidcProblem(
      reason,
      causes.some((cause) => cause instanceof OutboundProblem || hasServerStatus(cause)),
    )
  }
}

/** Whether the response has a status of 500 or more, which a gateway sends while the provider is down. */
function hasServerStatus(cause: Error): boolean {
  const { status } = cause as { status?: unknown }
  return typeof status === "number" && status >= 500
}

/** Returns the errors that caused an error, which the library nests. Their messages contain no tokens. */
function causesOf(error: unknown): Error[] {
  const causes: Error[] = []
  for (let cause = error; cause instanceof Error && causes.length < 5; cause = cause.cause) causes.push(cause)
  return causes
}
