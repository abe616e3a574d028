import { hash } from "node:crypto"
import { REVENUECAT_HOST } from "../../lib/upstreams.ts"
import { jsonOrNothing } from "../../measuring/parsing/json.ts"
import { type RawBody, rawBody } from "../../measuring/source.ts"
import { OutboundProblem } from "../../outbound/problem.ts"
import type { AccountReach } from "../account-kind.ts"
import { ConsoleProblem } from "../console.ts"
import type { ApiKey } from "../credentials.ts"

/** A read-only client of RevenueCat's API for one key. Throws ConsoleProblem. */
export interface RevenueCatApi {
  get(path: string, signal?: AbortSignal): Promise<RawBody>
  /** Returns the items of all pages of a list. */
  list(path: string): Promise<unknown[]>
}

const ANSWER_MS = 30_000
const MAX_BYTES = 4_000_000
const MAX_PAGES = 20

export function openRevenueCat({ apiKey }: ApiKey, reach: AccountReach): RevenueCatApi {
  const { address, outbound, now } = reach.to(REVENUECAT_HOST)
  const { port } = new URL(address)
  const get: RevenueCatApi["get"] = async (path, signal) => {
    const headers = { authorization: `Bearer ${apiKey}`, accept: "application/json" }
    const limits = { totalMs: ANSWER_MS, firstByteMs: ANSWER_MS, mostBytes: MAX_BYTES }
    const options = { headers, ...limits, ports: port === "" ? [] : [Number(port)], ...(signal && { signal }) }
    const answer = await outbound(`${address}${path}`, options).catch((error: unknown) => {
      if (!(error instanceof OutboundProblem)) throw error
      throw new ConsoleProblem("unavailable", `RevenueCat was not reached: ${error.message}`)
    })
    const { status, bytes } = answer
    if (status !== 200) throw problemOf(status, answer.headers, bytes)
    return rawBody({ bytes, sha256: hash("sha256", bytes, "buffer"), url: "", seenAt: now() })
  }
  return {
    get,
    async list(path) {
      const all: unknown[] = []
      let next: string | null = path
      for (let page = 0; next !== null && page < MAX_PAGES; page++) {
        const { items, next_page } = (jsonOrNothing((await get(next)).text) ?? {}) as Record<string, unknown>
        if (!Array.isArray(items)) throw new ConsoleProblem("unavailable", "a list of RevenueCat cannot be read")
        all.push(...items)
        // Uses only the path of the URL, so that the key goes to no other host.
        const url = typeof next_page === "string" ? URL.parse(next_page, address) : null
        next = url ? `${url.pathname}${url.search}` : null
      }
      return all
    },
  }
}

function problemOf(status: number, headers: Headers, bytes: Uint8Array): ConsoleProblem {
  if (status === 401)
    return new ConsoleProblem("unauthorized", "RevenueCat refuses the key: it is revoked, or of another kind")
  if (status === 403) return new ConsoleProblem("forbidden", "the key's permissions do not include this request")
  if (status === 429)
    return new ConsoleProblem("limited", "too many requests", { retryAfterMs: waitMs(headers, bytes) })
  if (status >= 500) return new ConsoleProblem("unavailable", `RevenueCat answers ${status}`)
  return new ConsoleProblem("refused", `RevenueCat answers ${status}`)
}

function waitMs(headers: Headers, bytes: Uint8Array): number | null {
  const seconds = headers.get("retry-after") ?? ""
  if (/^\d{1,6}$/.test(seconds)) return 1_000 * Number(seconds)
  const { backoff_ms: ms } = (jsonOrNothing(new TextDecoder().decode(bytes)) ?? {}) as { backoff_ms?: unknown }
  return typeof ms === "number" && Number.isSafeInteger(ms) && ms > 0 ? ms : null
}
