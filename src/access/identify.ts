import type { Sql } from "../database/types.ts"
import { Fault } from "../lib/faults.ts"
import type { Log } from "../lib/log.ts"
import type { Caller, Credits } from "./caller.ts"
import type { ChargeResult } from "./credits.ts"
import { createFailedAttempts } from "./failed-attempts.ts"
import { isShaped, keyDigest, parseKey } from "./keys.ts"
import { createKnownKeys, type KnownKey, type Proof } from "./known-keys.ts"

/** The credentials that a caller sent, or the grant of an owner who is signed in to a page. */
export type Credentials = SentCredentials | { grant: number }

interface SentCredentials {
  authorization: string | null
  apiKey: string | null
}

/** Access tokens are valid at the tool endpoint only. */
export type Surface = "rest" | "tools" | "pages"

export interface Identify {
  /** Throws the Fault of the first failed check; rate_limited if too many unknown keys came from the address. */
  identify(credentials: Credentials, address: string | null, surface?: Surface): Promise<Caller>
  /** Like `identify`, but from the cache only. Null if the database must be read. */
  atHand(credentials: Credentials, address: string | null, surface: Surface): Caller | null
  /** Sets the caller's figures to those after a charge, also for later calls with the same key. */
  charged(caller: Caller, paid: ChargeResult): void
  /** Reloads the caller from the database, before refusing something that a purchase may just have allowed. */
  renew(caller: Caller): Promise<void>
}

export interface IdentifyOptions {
  sql: Sql
  /** The URL of the tool endpoint. Access tokens must have been issued for it. */
  resource?: string
  now: () => Date
  log: Log
  /** How long a key's record is cached. Below 1 s, so that a revoked key is refused within a second. */
  ttlMs?: number
  failuresPerMinute?: number
  /** Milliseconds of a monotonic clock. */
  elapsedMs?: () => number
}

/** Identifies callers. Reads the database at most once per key and `ttlMs` in this process. */
export function createIdentify(options: IdentifyOptions): Identify {
  const { sql, resource, now, log, ttlMs = 750, failuresPerMinute, elapsedMs = () => performance.now() } = options
  const cache = createKnownKeys({ sql, resource, ttlMs, elapsedMs })
  const attempts = createFailedAttempts({ now, perMinute: failuresPerMinute })

  const find = async (proof: Proof | null, address: string | null) => {
    // A key with a wrong checksum costs no query and does not count as a guess.
    if (!proof) return null
    // A call with a cached key is not an attempt, so that a caller who shares an address with a guesser can still call.
    if (proof.by === "grant" || cache.has(proof)) return await cache.find(proof)
    return await attempts.watch(address, () => cache.find(proof))
  }

  const callerOf = (key: KnownKey, address: string | null, proof: Proof | null): Caller => {
    const refused = refusalOf(key, address, proof?.by === "token")
    if (!refused) return key.caller
    log("debug", "key_refused", { code: refused.code, workspace: key.caller.workspaceId, keyId: key.caller.keyId })
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
      // A key that is cached by its digest has a valid checksum.
      const proof = proofOf(credentials, surface, isShaped)
      const key = proof && cache.atHand(proof)
      return key && callerOf(key, address, proof)
    },
    charged: cache.charged,
    renew: cache.renew,
  }
}

/** Refusals that a purchase or a new month can lift. */
const LIFTED = new Set<string>(["plan_required", "explorer_required", "credits_exhausted", "key_budget_reached"])

/**
 * Runs a check. If the check refuses the call for plan or credits, reloads the caller and runs it again, because the
 * cached figures are up to 750 ms old.
 */
export function checkLatest(identify: Identify, caller: Caller, check: () => void): Promise<void> | undefined {
  try {
    check()
    return undefined
  } catch (error) {
    if (!(error instanceof Fault && LIFTED.has(error.code))) throw error
    return identify.renew(caller).then(check)
  }
}

/**
 * Returns the last known credits of the workspace that a fault of `identify` refused. Null if the fault identifies no
 * workspace.
 */
export function creditsKnownAt(fault: Fault): Credits | null {
  return creditsAt.get(fault) ?? null
}

const creditsAt = new WeakMap<Fault, Credits>()

/**
 * Returns the proof for the one key that was sent, or null if it cannot be a valid key. Throws if no key was sent, or
 * if a token was sent to another endpoint than the tool endpoint.
 */
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

/** A refresh token or a mistyped token is also an invalid token: its client must sign in again. */
const TOKEN = /^svc_(?:access|refresh)_/

// Any other scheme stays in the text: it was sent as a credential and is not a valid key.
function bearer(authorization: string | null): string | undefined {
  return authorization?.trim().replace(/^bearer(\s+|$)/i, "")
}

/**
 * Refusals that mean that a token's grant has ended. The token is then reported as invalid, so that its client signs in
 * again.
 */
const OVER = new Set<string>(["key_expired", "key_revoked", "key_leaked"])

function refusalOf({ caller, refused, addresses }: KnownKey, address: string | null, isToken: boolean): Fault | null {
  const code = refused ?? (addresses && !addresses.includes(address) ? "ip_not_allowed" : null)
  if (!code) return null
  if (isToken && OVER.has(code)) return new Fault("invalid_token")
  const fault = new Fault(code, code === "key_limit" ? { limit: caller.entitlements.liveKeys } : {})
  // The sender of an invalid key (401) must not see the workspace's figures.
  if (fault.status !== 401) creditsAt.set(fault, caller.credits)
  return fault
}
