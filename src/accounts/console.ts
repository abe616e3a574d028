import { OutboundProblem } from "../outbound/problem.ts"
import type { OutboundAnswer, SafeFetch } from "../outbound/safe-fetch.ts"
import { jsonOrNothing } from "../sources/json.ts"
import type { ConsoleKey } from "./credentials.ts"
import { signingKeyOf, signToken, TOKEN_USE_MS } from "./jwt.ts"

/** Where the console's API is, and how it is reached. */
export interface ConsoleReach {
  outbound: SafeFetch
  /** Without a slash at the end. */
  address: string
  now: () => Date
}

export interface ConsoleAnswer {
  status: number
  bytes: Uint8Array
  url: string
  /** Requests that the key has left in this hour; null = not said. */
  hourLeft: number | null
}

/** One key's way to the console. */
export interface Console {
  /** Answers 200 and 404 alike; anything else is a ConsoleProblem. */
  get(path: string, signal?: AbortSignal): Promise<ConsoleAnswer>
  /** The document of a 200. Throws ConsoleProblem, also for what is none. */
  document(path: string, signal?: AbortSignal): Promise<Record<string, unknown>>
}

/**
 * `unauthorized`: a token that was signed just now is refused; `forbidden`: the key's role lacks the right; `agreement`: one
 * waits for the account holder; `limited`: too many requests; `unavailable`: no answer, or none that can be read;
 * `refused`: anything else.
 */
export type ConsoleTrouble = "unauthorized" | "forbidden" | "agreement" | "limited" | "unavailable" | "refused"

/** Its message is ours and holds neither the key nor text of the console's. */
export class ConsoleProblem extends Error {
  override name = "ConsoleProblem"
  readonly trouble: ConsoleTrouble
  readonly retryAfterMs: number | null

  constructor(trouble: ConsoleTrouble, message: string, retryAfterMs: number | null = null) {
    super(message)
    this.trouble = trouble
    this.retryAfterMs = retryAfterMs
  }
}

const AUDIENCE = "appstoreconnect-v1"
/** A sales report of a large seller, inflated, is some 30 MB; packed a tenth of it. */
const MOST_BYTES = 16_000_000
const ANSWER_MS = 30_000

/** Throws AccessProblem where the key is none. */
export async function openConsole({ issuer, keyId, privateKey }: ConsoleKey, reach: ConsoleReach): Promise<Console> {
  const key = await signingKeyOf(privateKey)
  let token: { text: string; madeMs: number } | null = null
  const freshToken = async () => {
    const at = reach.now()
    token = { text: await signToken(key, { issuer, keyId, audience: AUDIENCE }, at), madeMs: at.getTime() }
    return token.text
  }
  const standing = () => (token && reach.now().getTime() - token.madeMs < TOKEN_USE_MS ? token.text : null)
  const get: Console["get"] = async (path, signal) => {
    const kept = standing()
    let answer = await ask(reach, path, kept ?? (await freshToken()), signal)
    // a token is refused now and then right after it was made, and where two clocks differ
    if (answer.status === 401) answer = await ask(reach, path, await freshToken(), signal)
    const problem = problemOf(answer, reach.now())
    if (problem) throw problem
    const { status, bytes, url } = answer
    return { status, bytes, url, hourLeft: hourLeftOf(answer.headers.get("x-rate-limit")) }
  }
  return {
    get,
    async document(path, signal) {
      const { status, bytes } = await get(path, signal)
      const found = status === 200 ? jsonOrNothing(new TextDecoder().decode(bytes)) : undefined
      if (status === 404) throw new ConsoleProblem("refused", "the console has nothing there")
      if (typeof found !== "object" || found === null)
        throw new ConsoleProblem("unavailable", "the console's answer cannot be read")
      return found as Record<string, unknown>
    },
  }
}

async function ask({ outbound, address }: ConsoleReach, path: string, token: string, signal?: AbortSignal) {
  const { port } = new URL(address)
  const options = {
    headers: { authorization: `Bearer ${token}`, accept: "application/json, application/a-gzip" },
    ports: port === "" ? [] : [Number(port)],
    ...{ totalMs: ANSWER_MS, firstByteMs: ANSWER_MS, mostBytes: MOST_BYTES },
  }
  try {
    return await outbound(`${address}${path}`, { ...options, ...(signal && { signal }) })
  } catch (error) {
    if (!(error instanceof OutboundProblem)) throw error
    throw new ConsoleProblem("unavailable", `the console was not reached: ${error.message}`)
  }
}

/** Null for what is an answer. */
function problemOf({ status, headers, bytes }: OutboundAnswer, now: Date): ConsoleProblem | null {
  if (status === 200 || status === 404) return null
  if (status === 401)
    return new ConsoleProblem("unauthorized", "the console refuses the key: revoked, or another issuer or key id")
  if (status === 403)
    return codesIn(bytes).some((code) => code.startsWith("FORBIDDEN.REQUIRED_AGREEMENTS"))
      ? new ConsoleProblem("agreement", "an agreement waits for the account holder, in the console's business section")
      : new ConsoleProblem("forbidden", "the key's role does not include this")
  if (status === 429)
    return new ConsoleProblem("limited", "too many requests", retryAfterOf(headers.get("retry-after"), now))
  if (status >= 500) return new ConsoleProblem("unavailable", `the console answers ${status}`)
  return new ConsoleProblem("refused", `the console answers ${status}`)
}

/** Of an error body, `errors[].code`. */
function codesIn(bytes: Uint8Array): string[] {
  return errorsIn(bytes).flatMap(({ code }) => (typeof code === "string" ? [code] : []))
}

export function errorsIn(bytes: Uint8Array): Record<string, unknown>[] {
  const body = jsonOrNothing(new TextDecoder().decode(bytes)) as { errors?: unknown } | undefined
  const errors = Array.isArray(body?.errors) ? body.errors : []
  return errors.filter((error) => typeof error === "object" && error !== null)
}

/** "user-hour-lim:3500;user-hour-rem:499;" → 499 */
function hourLeftOf(header: string | null): number | null {
  const [, left] = /\buser-hour-rem:(\d{1,9})\b/.exec(header ?? "") ?? []
  return left === undefined ? null : Number(left)
}

function retryAfterOf(header: string | null, now: Date): number | null {
  if (header === null) return null
  if (/^\d{1,6}$/.test(header.trim())) return Number(header) * 1_000
  const at = Date.parse(header)
  return Number.isNaN(at) ? null : Math.max(0, at - now.getTime())
}
