import { ADS_HOST, APPLE_ID_HOST } from "../../lib/upstreams.ts"
import { jsonOrNothing } from "../../measuring/parsing/json.ts"
import { OutboundProblem } from "../../outbound/problem.ts"
import type { OutboundAnswer, OutboundOptions } from "../../outbound/safe-fetch.ts"
import type { AccountReach } from "../account-kind.ts"
import { clockProblem } from "../clock.ts"
import type { ConsoleReach } from "../console.ts"
import type { AdsKey } from "../credentials.ts"
import { signingKeyOf, signToken } from "../jwt.ts"
import { AdsProblem, problemIn, secondsIn } from "./problem.ts"

export interface AdsAnswer {
  /** The content of the response envelope. Undefined if there is none. */
  result: unknown
  bytes: Uint8Array
  /** Requests left, and the time until the limit resets. Null if the response does not include it. */
  left: number | null
  resetMs: number | null
}

/** A client of the Apple Ads Platform API for one ad account. Paths begin with /v1. All methods throw AdsProblem. */
export interface Ads {
  get(path: string, signal?: AbortSignal): Promise<AdsAnswer>
  /** Sends a query with a body. It changes nothing, so it is retried with a new token if the old one is rejected. */
  query(path: string, body: object, signal?: AbortSignal): Promise<AdsAnswer>
  /** Sends a change exactly once, without retries. */
  send(method: "POST" | "PUT", path: string, body: object, signal?: AbortSignal): Promise<AdsAnswer>
}

/** Paths that belong to no ad account and are requested without one. */
const WITHOUT_CONTEXT = /^\/v1\/(me|acls|orgs\/[^/]+|advertiser-resources)(\?|$)/
const AUDIENCE = "https://appleid.apple.com"
const SCOPE = "searchadsorg"
/** A report page with 5,000 rows has about 5 MB. */
const MAX_BYTES = 32_000_000
const ANSWER_MS = 30_000

/**
 * Opens a client. Without an ad account only paths outside ad accounts can be requested. Throws AccessProblem when the
 * private key is not valid.
 */
export async function openAds(key: AdsKey, adAccount: string | null, reach: AccountReach): Promise<Ads> {
  const signing = await signingKeyOf(key.privateKey)
  const tokenFor = tokens(key, signing, reach)
  const ask = async ({ method, path, body, signal }: AdsRequest, token: string) =>
    await exchange(reach.to(ADS_HOST), path, {
      method,
      headers: { ...contextOf(path, adAccount), ...JSON_HEADERS, authorization: `Bearer ${token}` },
      ...(body && { body: JSON.stringify(body) }),
      ...(signal && { signal }),
    })
  const question = async (request: AdsRequest) => {
    const first = await ask(request, await tokenFor())
    const answer = first.status === 401 ? await ask(request, await tokenFor("anew")) : first
    try {
      return answerIn(answer, reach.now())
    } catch (error) {
      // An unreadable response must not affect other requests, so it counts as refused.
      if (error instanceof AdsProblem && error.trouble === "unavailable" && answer.status < 400)
        throw new AdsProblem("refused", error.message, { status: answer.status })
      throw error
    }
  }
  return {
    get: (path, signal) => question({ method: "GET", path, signal }),
    query: (path, body, signal) => question({ method: "POST", path, body, signal }),
    send: async (method, path, body, signal) =>
      answerIn(await ask({ method, path, body, signal }, await tokenFor()), reach.now()),
  }
}

interface AdsRequest {
  method: "GET" | "POST" | "PUT"
  path: string
  body?: object
  signal: AbortSignal | undefined
}

function contextOf(path: string, adAccount: string | null): Record<string, string> {
  if (WITHOUT_CONTEXT.test(path)) return {}
  if (adAccount === null) throw new Error("this path needs an ad account")
  return { "x-ap-context": `adAccountId=${adAccount}` }
}

const JSON_HEADERS = { accept: "application/json", "content-type": "application/json" }
/** Renews a token this long before it expires, so that it does not expire during a request. */
const MARGIN_MS = 2 * 60_000

/** Returns a function that gives an access token, reused until it expires. */
function tokens(key: AdsKey, signing: CryptoKey, reach: AccountReach): (anew?: "anew") => Promise<string> {
  const { clientId, teamId, keyId } = key
  let token: { text: string; untilMs: number } | null = null
  return async (anew) => {
    const at = reach.now()
    if (anew === undefined && token && at.getTime() < token.untilMs) return token.text
    const claims = { issuer: teamId, subject: clientId, keyId, audience: AUDIENCE }
    const form = {
      grant_type: "client_credentials",
      client_id: clientId,
      client_secret: await signToken(signing, claims, at),
      scope: SCOPE,
    }
    const answer = await exchange(reach.to(APPLE_ID_HOST), "/auth/oauth2/token", {
      method: "POST",
      headers: { accept: "application/json", "content-type": "application/x-www-form-urlencoded" },
      body: new URLSearchParams(form).toString(),
    })
    token = tokenIn(answer, at)
    return token.text
  }
}

function tokenIn(answer: OutboundAnswer, at: Date): { text: string; untilMs: number } {
  const problem = problemIn(answer, at)
  const clock = problem?.trouble === "refused" ? clockProblem(answer.headers, at) : null
  if (problem && clock !== null) throw new AdsProblem("unavailable", `Apple refuses the key: ${clock}`, problem)
  if (problem?.trouble === "refused")
    throw new AdsProblem(
      "unauthorized",
      "Apple refuses the key: it is revoked, or it belongs to another client, team or key id",
      problem,
    )
  if (problem) throw problem
  const { access_token: text, expires_in: seconds } = documentIn(answer)
  if (typeof text !== "string" || typeof seconds !== "number")
    throw new AdsProblem("unavailable", "the response to a token request cannot be read")
  return { text, untilMs: at.getTime() + seconds * 1_000 - MARGIN_MS }
}

async function exchange({ outbound, address }: ConsoleReach, path: string, options: OutboundOptions) {
  const { port } = new URL(address)
  const limits = { totalMs: ANSWER_MS, firstByteMs: ANSWER_MS, mostBytes: MAX_BYTES }
  try {
    return await outbound(`${address}${path}`, { ...limits, ports: port === "" ? [] : [Number(port)], ...options })
  } catch (error) {
    if (!(error instanceof OutboundProblem)) throw error
    throw new AdsProblem("unavailable", `Apple Ads was not reached: ${error.message}`, { isSent: error.isSent })
  }
}

/** An error in the envelope is a refusal, whatever the HTTP status. */
function answerIn(answer: OutboundAnswer, now: Date): AdsAnswer {
  const problem = problemIn(answer, now)
  if (problem) throw problem
  const { result } = documentIn(answer)
  const { headers, bytes } = answer
  const reset = secondsIn(headers.get("ratelimit-reset"))
  return {
    result,
    bytes,
    left: secondsIn(headers.get("ratelimit-remaining")),
    resetMs: reset === null ? null : reset * 1_000,
  }
}

/** Throws AdsProblem when a response is not a JSON document. The request may have taken effect nevertheless. */
function documentIn({ bytes }: OutboundAnswer): Record<string, unknown> {
  const found = jsonOrNothing(new TextDecoder().decode(bytes))
  if (typeof found !== "object" || found === null)
    throw new AdsProblem("unavailable", "the answer of Apple Ads cannot be read")
  return found as Record<string, unknown>
}
