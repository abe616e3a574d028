import type { Sql } from "../database/types.ts"
import { Fault } from "../lib/faults.ts"
import type { Log } from "../lib/log.ts"
import type { Caller, Credits } from "./caller.ts"
import type { ChargeResult } from "./credits.ts"
import { createFailedAttempts } from "./failed-attempts.ts"
import { isShaped, keyDigest, parseKey } from "./keys.ts"
import { createKnownKeys, type KnownKey, type Proof } from "./known-keys.ts"

/** What a caller sends, or whom a page of ours has signed in. */
export type Credentials = SentCredentials | { grant: number }

interface SentCredentials {
  authorization: string | null
  apiKey: string | null
}

/** Access tokens are for the tool endpoint alone. */
export type Surface = "rest" | "tools" | "pages"

export interface Identify {
  /** Throws the Fault of the first thing wrong; rate_limited = too many unknown keys from that address. */
  identify(credentials: Credentials, address: string | null, surface?: Surface): Promise<Caller>
  /** The same of a key that was looked up a moment ago; null where the database must be asked. */
  atHand(credentials: Credentials, address: string | null, surface: Surface): Caller | null
  /** Brings the figures of the caller, and of its key's later calls, up to those of a charge. */
  charged(caller: Caller, paid: ChargeResult): void
  /** Brings the caller up to what the database holds now, for a refusal that a purchase may just have overtaken. */
  renew(caller: Caller): Promise<void>
}

export interface IdentifyOptions {
  sql: Sql
  /** What access tokens must have been given for: the address of the tool endpoint. */
  resource?: string
  now: () => Date
  log: Log
  /** How long a key's record may be used again; below 1 s, so that a revoked key stops within a second. */
  ttlMs?: number
  failuresPerMinute?: number
  /** Milliseconds of a clock that is never set back. */
  elapsedMs?: () => number
}

/** Finds out who calls; one query per key and `ttlMs` in this process. */
export function createIdentify(options: IdentifyOptions): Identify {
  const { sql, resource, now, log, ttlMs = 750, failuresPerMinute, elapsedMs = () => performance.now() } = options
  const known = createKnownKeys({ sql, resource, ttlMs, elapsedMs })
  const attempts = createFailedAttempts({ now, perMinute: failuresPerMinute })

  const find = async (proof: Proof | null, address: string | null) => {
    // a key that fails its own checksum costs no query and guesses nothing
    if (!proof) return null
    // a key once found is not an attempt: a caller that shares an address with a guesser goes on working
    if (proof.by === "grant" || known.has(proof)) return await known.find(proof)
    return await attempts.watch(address, () => known.find(proof))
  }

  const callerOf = (key: KnownKey, address: string | null, proof: Proof | null): Caller => {
    const refused = refusalOf(key, address, proof?.by === "token")
    if (!refused) return key.caller
    log("debug", "refused", { code: refused.code, workspace: key.caller.workspaceId, keyId: key.caller.keyId })
    throw refused
  }

  return {
    async identify(credentials, address, surface = "rest") {
      const proof = proofOf(credentials, surface, isWhole)
      const key = await find(proof, address)
      if (!key) throw new Fault(proof?.by === "token" ? "invalid_token" : "invalid_api_key")
      return callerOf(key, address, proof)
    },
    atHand(credentials, address, surface) {
      // one that is known by its digest is whole
      const proof = proofOf(credentials, surface, isShaped)
      const key = proof && known.atHand(proof)
      return key && callerOf(key, address, proof)
    },
    charged: known.charged,
    renew: known.renew,
  }
}

/** What a purchase or a new month can lift. */
const LIFTED = new Set<string>(["plan_required", "explorer_required", "credits_exhausted", "key_budget_reached"])

/** Refusals about money rest on figures up to 750 ms old: before one is given, the caller is looked up again. */
export function checkLatest(identify: Identify, caller: Caller, check: () => void): Promise<void> | undefined {
  try {
    check()
    return undefined
  } catch (error) {
    if (!(error instanceof Fault && LIFTED.has(error.code))) throw error
    return identify.renew(caller).then(check)
  }
}

/** The credits of the workspace that a fault of `identify` refused, as last known; null when it tells nothing of any. */
export function creditsKnownAt(fault: Fault): Credits | null {
  return creditsAt.get(fault) ?? null
}

const creditsAt = new WeakMap<Fault, Credits>()

/** What the one key sent shows; null when it cannot be any key of ours. Throws where none was sent, or one that is not for that surface. */
function proofOf(credentials: Credentials, surface: Surface, mayBeKey: (text: string) => boolean): Proof | null {
  if ("grant" in credentials) return { by: "grant", id: credentials.grant }
  const { authorization, apiKey } = credentials
  const sent = [bearer(authorization), apiKey?.trim()].filter(Boolean) as string[]
  const [text, other = text] = sent
  if (text === undefined) throw new Fault("missing_api_key")
  if (text !== other) return null
  if (TOKEN.test(text)) {
    if (surface !== "tools") throw new Fault("invalid_token")
    return { by: "token", digest: keyDigest(text) }
  }
  return mayBeKey(text) ? { by: "key", digest: keyDigest(text) } : null
}

const isWhole = (text: string) => parseKey(text) !== null

/** A token that is no access token, or is mistyped, is an invalid token all the same: its holder must sign in anew. */
const TOKEN = /^svc_(?:access|refresh)_/

// Any other scheme stays as it is: it was sent as a credential, and it is no key.
function bearer(authorization: string | null): string | undefined {
  return authorization?.trim().replace(/^bearer(\s+|$)/i, "")
}

/** Of a grant that is over its tokens are, and its client signs in anew where it hears that. */
const OVER = new Set<string>(["key_expired", "key_revoked", "key_leaked"])

function refusalOf({ caller, refused, addresses }: KnownKey, address: string | null, isToken: boolean): Fault | null {
  const code = refused ?? (addresses && !addresses.includes(address) ? "ip_not_allowed" : null)
  if (!code) return null
  if (isToken && OVER.has(code)) return new Fault("invalid_token")
  const fault = new Fault(code, code === "key_limit" ? { limit: caller.entitlements.liveKeys } : {})
  // the holder of a key that is no longer valid (401) is nobody the workspace's figures are for
  if (fault.status !== 401) creditsAt.set(fault, caller.credits)
  return fault
}
