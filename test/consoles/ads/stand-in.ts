import { createPublicKey, generateKeyPairSync, randomUUID, verify } from "node:crypto"
import { answerQuery, type JsonObject } from "./queries.ts"
import { changeThing, createThing } from "./writes.ts"

export interface MadeAdsKey {
  clientId: string
  teamId: string
  keyId: string
  /** The key in PEM format, as OpenSSL or createKeyPair writes it. */
  pem: string
}

export interface AdAccount {
  id: number
  name: string
  orgId: number
  roles: string[]
  timezone: string
  currency: string
}

/** Costs and results of keywords on a day in a country. `keywordId` is null for automatic matches. */
export interface DayMetrics {
  campaignId: number
  adGroupId: number
  keywordId: number | null
  countryOrRegion: string
  date: string
  spend: string
  impressions: number
  taps: number
  installs: number
}

/** Costs and results of a search term on a day in a country. `text` is null if the term is withheld. */
export interface TermMetrics extends DayMetrics {
  text: string | null
  source: "AUTO" | "TARGETED" | "SEARCH"
}

export interface AdsChange {
  transactionId: string
  entityType: string
  entityId: string
  eventType: "CREATE" | "UPDATE" | "DELETE"
  eventTime: string
  userType: "CUSTOMER" | "CUSTOMER_API" | "APPLE_SUPPORT"
  modifiedBy: string
  meta: JsonObject
  changes: { field: string; oldValues: string[]; newValues: string[] }[]
}

/** The platform's data. */
export interface AdsState {
  accounts: AdAccount[]
  campaigns: JsonObject[]
  adgroups: JsonObject[]
  keywords: JsonObject[]
  negatives: JsonObject[]
  days: DayMetrics[]
  terms: TermMetrics[]
  changes: AdsChange[]
  popularity: JsonObject[]
}

export interface AdsStandIn extends AdsState {
  url: string
  /** Creates the key of an API user. */
  key(): MadeAdsKey
  /** Creates an API user with a public key, like the form under Account Settings. */
  register(publicKey: string): Omit<MadeAdsKey, "pem">
  revoke(keyId: string): void
  /** Invalidates all access tokens. */
  forgetTokens(): void
  /**
   * Overrides the platform's response. Null keeps the platform's own response. A promise that never resolves simulates
   * a cut connection.
   */
  before: (call: { method: string; path: string; body: unknown }) => Response | Promise<Response> | null
  /** Replaces the response after the platform has processed the request. */
  after: (call: { method: string; path: string; body: unknown }, answer: Response) => Response | Promise<Response>
  /** Requests so far, for example "POST /v1/campaigns/query". */
  requests: string[]
  /** Changes so far with their bodies, as received. */
  sent: { method: string; path: string; body: JsonObject }[]
  tokensIssued: number
  remaining: number
  resetS: number
  stop(): Promise<void>
}

type ApiUser = Omit<MadeAdsKey, "pem"> & { publicKey: string; revoked: boolean }

const SECRET_LIFE_S = 180 * 86_400
const WITHOUT_CONTEXT = /^\/v1\/(me|acls|orgs\/[^/]+|advertiser-resources)$/

/**
 * A stand-in on localhost for the Apple Ads Platform API v1 and its token endpoint, with the same formats, limits and
 * refusals.
 */
export function adsStandIn(): AdsStandIn {
  const keys = new Map<string, ApiUser>()
  let tokens = new Map<string, number>()
  const state: AdsStandIn = {
    url: "",
    accounts: [],
    campaigns: [],
    adgroups: [],
    keywords: [],
    negatives: [],
    days: [],
    terms: [],
    changes: [],
    popularity: [],
    requests: [],
    sent: [],
    tokensIssued: 0,
    remaining: 600,
    resetS: 60,
    before: () => null,
    after: (_, answer) => answer,
    key() {
      const pair = generateKeyPairSync("ec", {
        namedCurve: "P-256",
        publicKeyEncoding: { type: "spki", format: "pem" },
        privateKeyEncoding: { type: "pkcs8", format: "pem" },
      })
      return { ...state.register(pair.publicKey), pem: pair.privateKey }
    },
    register(publicKey) {
      const ids = { clientId: `SEARCHADS.${randomUUID()}`, teamId: `SEARCHADS.${randomUUID()}`, keyId: randomUUID() }
      keys.set(ids.keyId, { ...ids, publicKey, revoked: false })
      return ids
    },
    revoke(keyId) {
      keys.get(keyId)!.revoked = true
      tokens = new Map()
    },
    forgetTokens() {
      tokens = new Map()
    },
    stop: () => server.stop(true),
  }
  const server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: (request) => answerRequest(request) })
  state.url = `http://127.0.0.1:${server.port}`
  const answerRequest = async (request: Request): Promise<Response> => {
    const url = new URL(request.url)
    const [path, method] = [decodeURIComponent(url.pathname), request.method]
    const text = await request.text()
    if (path === "/auth/oauth2/token") return grantToken(method, new URLSearchParams(text))
    const body = text === "" ? undefined : JSON.parse(text)
    const call = { method, path, body }
    state.requests.push(`${method} ${path}`)
    if (method === "PUT" || (method === "POST" && !path.endsWith("/query"))) state.sent.push(call)
    const override = state.before(call)
    if (override) return await override
    const answer = await state.after(call, route(request, call))
    answer.headers.set("RateLimit-Limit", "600")
    answer.headers.set("RateLimit-Remaining", String(Math.max(0, state.remaining)))
    answer.headers.set("RateLimit-Reset", String(state.resetS))
    return answer
  }
  const grantToken = (method: string, form: URLSearchParams): Response => {
    const key = [...keys.values()].find(({ clientId }) => clientId === form.get("client_id"))
    const fits =
      method === "POST" && form.get("grant_type") === "client_credentials" && form.get("scope") === "searchadsorg"
    if (!fits) return Response.json({ error: "invalid_request" }, { status: 400 })
    if (!key || key.revoked || !isSecretOf(key, form.get("client_secret") ?? ""))
      return Response.json({ error: "invalid_client" }, { status: 400 })
    const token = `token-${randomUUID()}`
    tokens.set(token, Date.now() + 3_600_000)
    state.tokensIssued++
    return Response.json({ access_token: token, token_type: "Bearer", expires_in: 3_600 })
  }
  const route = (
    request: Request,
    { method, path, body }: { method: string; path: string; body: JsonObject },
  ): Response => {
    const [, token = ""] = /^Bearer (\S+)$/.exec(request.headers.get("authorization") ?? "") ?? []
    if ((tokens.get(token) ?? 0) < Date.now()) return refusal(401, "UNAUTHORIZED", "The token is not valid.")
    state.remaining--
    if (state.remaining < 0) {
      const limited = refusal(429, "TOO_MANY_REQUESTS", "Rate limit exceeded.")
      limited.headers.set("Retry-After", String(state.resetS))
      return limited
    }
    const context = request.headers.get("x-ap-context")
    if (WITHOUT_CONTEXT.test(path)) {
      if (context !== null) return refusal(400, "INVALID_HEADER", "This is asked without a context.")
    } else {
      const [, id] = /^adAccountId=(\d+);?$/.exec(context ?? "") ?? []
      if (!state.accounts.some((account) => String(account.id) === id))
        return refusal(403, "FORBIDDEN", "The ad account is not accessible.")
    }
    return answerOf(state, { method, path, body })
  }
  return state
}

/** Checks the client secret: ES256, issued by the client for Apple's host, valid for at most 180 days. */
function isSecretOf({ clientId, teamId, keyId, publicKey }: ApiUser, jwt: string): boolean {
  const [, head = "", claims = "", signature = ""] = /^([\w-]+)\.([\w-]+)\.([\w-]+)$/.exec(jwt) ?? []
  const { alg, kid } = partOf(head)
  const { iss, sub, aud, iat, exp } = partOf(claims) as Record<string, number & string>
  const now = Date.now() / 1_000
  const named = alg === "ES256" && kid === keyId && iss === teamId && sub === clientId
  const timed = aud === "https://appleid.apple.com" && iat! <= now && exp! > now && exp! - iat! <= SECRET_LIFE_S
  const sealed = { key: createPublicKey(publicKey), dsaEncoding: "ieee-p1363" as const }
  return (
    named && timed && verify("sha256", Buffer.from(`${head}.${claims}`), sealed, Buffer.from(signature, "base64url"))
  )
}

function partOf(text: string): Record<string, unknown> {
  try {
    return JSON.parse(Buffer.from(text, "base64url").toString())
  } catch {
    return {}
  }
}

/** Returns an error in the platform's format. */
export function refusal(status: number, code: string, message: string, field?: string): Response {
  const detail = { code, message, ...(field && { info: { field } }) }
  return Response.json({ error: { code, message, details: [detail] } }, { status })
}

function answerOf(state: AdsState, call: { method: string; path: string; body: JsonObject }): Response {
  const { method, path, body } = call
  if (method === "GET" && path === "/v1/me") return Response.json({ result: { userId: 98765432, orgId: 40669820 } })
  if (method === "GET" && path === "/v1/acls") {
    const acls = state.accounts.map(({ id, name, orgId, roles }) => ({ adAccount: { id, name, orgId }, roles }))
    return Response.json({ result: { acls } })
  }
  const [, collection = "", id] = /^\/v1\/([\w-]+)\/([^/]+)$/.exec(path) ?? []
  if (method === "GET" && collection === "ad-accounts")
    return answerFound(state.accounts.find((item) => String(item.id) === id))
  if (method === "GET" && collection === "change-history") return changeDetail(state, id ?? "")
  if (method === "POST" && path.endsWith("/query")) return answerQuery(state, path, body)
  if (method === "GET") return answerFound(listOf(state, collection)?.find((item) => String(item.id) === id))
  if (method === "POST" && /^\/v1\/[\w-]+$/.test(path)) return createThing(state, path.slice(4), body)
  if (method === "PUT" && id !== undefined) return changeThing(state, collection, id, body)
  return refusal(404, "NOT_FOUND", "There is nothing there.")
}

/** Returns the list of resources for a path. */
export function listOf(state: AdsState, collection: string): JsonObject[] | undefined {
  const { campaigns, adgroups, keywords, negatives } = state
  return { campaigns, adgroups, keywords, "negative-keywords": negatives }[collection]
}

function answerFound(item: object | undefined): Response {
  return item ? Response.json({ result: item }) : refusal(404, "NOT_FOUND", "There is no such thing.")
}

function changeDetail({ changes }: AdsState, detailId: string): Response {
  const change = changes.find((item) => `${item.entityType}.${item.entityId}.${item.transactionId}` === detailId)
  if (!change) return refusal(404, "NOT_FOUND", "There is no such change.")
  const { meta: entityMetaData, changes: fields, ...rest } = change
  const details = [{ transactionId: change.transactionId, changes: fields }]
  return Response.json({ dataType: "ChangeDetail", result: [{ ...rest, detailId, entityMetaData, details }] })
}
