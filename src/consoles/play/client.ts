import { type GOOGLE_STORAGE_HOST, GOOGLE_TOKEN_HOST, type PLAY_PUBLISHER_HOST } from "../../lib/upstreams.ts"
import { jsonOrNothing } from "../../measuring/parsing/json.ts"
import { OutboundProblem } from "../../outbound/problem.ts"
import type { OutboundAnswer, OutboundOptions } from "../../outbound/safe-fetch.ts"
import type { AccountReach } from "../account-kind.ts"
import { ConsoleProblem } from "../console.ts"
import type { PlayKey } from "../credentials.ts"
import { signToken } from "../jwt.ts"
import { problemOf, tokenProblemOf } from "./problem.ts"
import { openServiceAccount, type ServiceAccount, serviceAccountIn } from "./service-account.ts"

type PlayHost = typeof GOOGLE_STORAGE_HOST | typeof PLAY_PUBLISHER_HOST

/** Parameters of a query. Undefined parameters are omitted. */
type Query = Readonly<Record<string, string | undefined>>

/**
 * A client of Google Play Console for one key. Paths begin with / and have no query. The caller must encode parts from
 * outside with encodeURIComponent.
 */
export interface Play {
  /**
   * Returns a response with status 200 or 404. A rejected token is renewed once. Throws ConsoleProblem for any other
   * status.
   */
  get(host: PlayHost, path: string, query?: Query, signal?: AbortSignal): Promise<OutboundAnswer>
  /** Returns the JSON object of a 200 response. Null for 404. Throws ConsoleProblem. */
  document(host: PlayHost, path: string, query?: Query, signal?: AbortSignal): Promise<Record<string, unknown> | null>
  /**
   * Sends a change once, with a token that is still valid, and returns the response whatever its status;
   * problemOf(answer, now) gives its meaning. Throws ConsoleProblem if Google gives no token, so that nothing was sent.
   * Throws OutboundProblem, whose `isSent` tells whether the change may have arrived.
   */
  post(host: PlayHost, path: string, body: object, signal?: AbortSignal): Promise<OutboundAnswer>
}

/**
 * The audience of token requests. It stays the same if the host is replaced by another address, because Google checks
 * it.
 */
const AUDIENCE = `https://${GOOGLE_TOKEN_HOST}/token`
const SCOPES = ["devstorage.read_only", "androidpublisher"].map((name) => `https://www.googleapis.com/auth/${name}`)
const GRANT = "urn:ietf:params:oauth:grant-type:jwt-bearer"
const ANSWER_MS = 30_000
/** Maximum size of a packed file. */
export const MAX_BYTES = 32_000_000
/** Renews a token this long before it expires, so that it does not expire during a request. */
const MARGIN_MS = 2 * 60_000

/** Opens a client. Throws AccessProblem when the file is not the key of a service account. */
export async function openPlay({ serviceAccount }: PlayKey, reach: AccountReach): Promise<Play> {
  const account = serviceAccountIn(serviceAccount)
  const tokenOf = tokens(account, await openServiceAccount(account), reach)
  const ask = async (host: PlayHost, path: string, token: string, options: OutboundOptions) =>
    await exchange(reach, host, path, {
      ...options,
      headers: { accept: "application/json", ...options.headers, authorization: `Bearer ${token}` },
    })
  const get: Play["get"] = async (host, path, query = {}, signal) => {
    const options = signal ? { signal } : {}
    const to = `${path}${queryOf(query)}`
    let answer = await ask(host, to, await tokenOf(), options).catch(notReached)
    if (answer.status === 401) answer = await ask(host, to, await tokenOf("anew"), options).catch(notReached)
    const problem = problemOf(answer, reach.now())
    if (problem) throw problem
    return answer
  }
  return {
    get,
    async document(host, path, query, signal) {
      const { status, bytes } = await get(host, path, query, signal)
      if (status === 404) return null
      const found = jsonOrNothing(new TextDecoder().decode(bytes))
      if (typeof found === "object" && found !== null && !Array.isArray(found)) return found as Record<string, unknown>
      throw new ConsoleProblem("refused", "Google's answer cannot be read")
    },
    async post(host, path, body, signal) {
      return await ask(host, path, await tokenOf(), {
        method: "POST",
        body: JSON.stringify(body),
        headers: { "content-type": "application/json" },
        ...(signal && { signal }),
      })
    },
  }
}

function queryOf(query: Query): string {
  const given = Object.entries(query).filter((pair): pair is [string, string] => pair[1] !== undefined)
  return given.length === 0 ? "" : `?${new URLSearchParams(given)}`
}

/** Returns a function that gives an access token, reused until shortly before it expires (RFC 7523, 2.1). */
function tokens(
  { email, keyId }: ServiceAccount,
  key: CryptoKey,
  reach: AccountReach,
): (anew?: "anew") => Promise<string> {
  let token: { text: string; untilMs: number } | null = null
  return async (anew) => {
    const at = reach.now()
    if (anew === undefined && token && at.getTime() < token.untilMs) return token.text
    const assertion = await signToken(key, { issuer: email, keyId, audience: AUDIENCE, scope: SCOPES.join(" ") }, at)
    const answer = await exchange(reach, GOOGLE_TOKEN_HOST, "/token", {
      method: "POST",
      headers: { accept: "application/json", "content-type": "application/x-www-form-urlencoded" },
      body: new URLSearchParams({ grant_type: GRANT, assertion }).toString(),
    }).catch(notReached)
    token = tokenIn(answer, at)
    return token.text
  }
}

function tokenIn(answer: OutboundAnswer, at: Date): { text: string; untilMs: number } {
  const problem = tokenProblemOf(answer, at)
  if (problem) throw problem
  const body = jsonOrNothing(new TextDecoder().decode(answer.bytes)) as Record<string, unknown> | null | undefined
  const { access_token: text, expires_in: seconds } = body ?? {}
  if (typeof text !== "string" || !/^[\x21-\x7e]+$/.test(text) || typeof seconds !== "number")
    throw new ConsoleProblem("unavailable", "Google's response to a token request cannot be read")
  return { text, untilMs: at.getTime() + seconds * 1_000 - MARGIN_MS }
}

async function exchange(
  reach: AccountReach,
  host: PlayHost | typeof GOOGLE_TOKEN_HOST,
  path: string,
  options: OutboundOptions,
): Promise<OutboundAnswer> {
  const { outbound, address } = reach.to(host)
  const { port } = new URL(address)
  const limits = { totalMs: ANSWER_MS, firstByteMs: ANSWER_MS, mostBytes: MAX_BYTES }
  return await outbound(`${address}${path}`, { ...limits, ports: port === "" ? [] : [Number(port)], ...options })
}

function notReached(error: unknown): never {
  if (!(error instanceof OutboundProblem)) throw error
  if (error.code === "too_large") throw new ConsoleProblem("refused", `the answer has more than ${MAX_BYTES} bytes`)
  throw new ConsoleProblem("unavailable", `Google was not reached: ${error.message}`)
}
