import { jsonOrNothing } from "../measuring/parsing/json.ts"
import { OutboundProblem } from "../outbound/problem.ts"
import type { OutboundAnswer, OutboundOptions, SafeFetch } from "../outbound/safe-fetch.ts"
import { clockProblem } from "./clock.ts"
import type { ConsoleKey } from "./credentials.ts"
import { signingKeyOf, signToken, TOKEN_USE_MS } from "./jwt.ts"
import { platformText } from "./platform-text.ts"

/** Address of the console's API and how to reach it. */
export interface ConsoleReach {
  outbound: SafeFetch
  /** A URL without a trailing slash. */
  address: string
  now: () => Date
}

export interface ConsoleAnswer {
  status: number
  bytes: Uint8Array
  url: string
  /** Requests left to the key in this hour. Null if the response does not include the number. */
  hourLeft: number | null
}

/** A client of the console for one key. */
export interface Console {
  /** Returns a response with status 200 or 404. Throws ConsoleProblem for any other. */
  get(path: string, signal?: AbortSignal): Promise<ConsoleAnswer>
  /** Returns the parsed document of a 200 response. Throws ConsoleProblem when there is none. */
  document(path: string, signal?: AbortSignal): Promise<Record<string, unknown>>
  /**
   * Creates a resource with a single request; if no response arrives, it may still have been created. Returns a 201
   * response. Throws ConsoleProblem for any other.
   */
  create(path: string, document: object): Promise<ConsoleAnswer>
  /**
   * Downloads a file from a URL that the console supplied, on any host. The request does not carry the key, and uses
   * HTTPS if the console does. Returns the response whatever its status. Throws ConsoleProblem `refused`.
   */
  download(url: string, signal?: AbortSignal): Promise<{ status: number; bytes: Uint8Array }>
  /**
   * Sends a change once, with a freshly signed token, and returns the response whatever its status. Throws
   * OutboundProblem.
   */
  send(change: ConsoleChange, signal?: AbortSignal): Promise<OutboundAnswer>
}

interface ConsoleChange {
  method: "POST" | "PATCH" | "DELETE"
  path: string
  body?: object | undefined
}

/**
 * `unauthorized`: a freshly signed token is rejected; `forbidden`: the key's role lacks the right; `agreement`: the
 * account holder must accept an agreement; `limited`: too many requests; `unavailable`: the platform was not reached,
 * it failed (5xx), or this machine's clock is wrong; `refused`: any other response, which concerns only its own
 * request.
 */
export type ConsoleTrouble = "unauthorized" | "forbidden" | "agreement" | "limited" | "unavailable" | "refused"

interface ProblemFacts {
  retryAfterMs?: number | null
  /** The platform's own description of the error, truncated and without control characters. */
  details?: readonly string[]
  /** Requests left to the key in this hour. Null if the response does not include the number. */
  hourLeft?: number | null
}

/** The message never contains the key. Text from the platform is quoted, truncated and without control characters. */
export class ConsoleProblem extends Error {
  override name = "ConsoleProblem"
  readonly trouble: ConsoleTrouble
  readonly retryAfterMs: number | null
  readonly details: readonly string[]
  readonly hourLeft: number | null

  constructor(trouble: ConsoleTrouble, message: string, facts: ProblemFacts = {}) {
    super(message)
    this.trouble = trouble
    this.retryAfterMs = facts.retryAfterMs ?? null
    this.details = facts.details ?? []
    this.hourLeft = facts.hourLeft ?? null
  }
}

const AUDIENCE = "appstoreconnect-v1"
/** A large seller's sales report has about 30 MB uncompressed, and a tenth of that compressed. */
const MAX_BYTES = 16_000_000
const ANSWER_MS = 30_000

/** Opens a client. Throws AccessProblem when the private key is not valid. */
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
    const currentToken = standing()
    let answer = await ask(reach, { path }, currentToken ?? (await freshToken()), signal)
    // The console sometimes rejects a token right after it was signed, or when the two clocks differ: sign a new one
    // and retry once.
    if (answer.status === 401) answer = await ask(reach, { path }, await freshToken(), signal)
    const problem = problemOf(answer, reach.now())
    if (problem) throw problem
    return answerOf(answer)
  }
  return {
    get,
    async document(path, signal) {
      const { status, bytes } = await get(path, signal)
      const found = status === 200 ? jsonOrNothing(new TextDecoder().decode(bytes)) : undefined
      if (status === 404) throw new ConsoleProblem("refused", "the console has nothing at this path")
      if (typeof found !== "object" || found === null)
        throw new ConsoleProblem("unavailable", "the console's answer cannot be read")
      return found as Record<string, unknown>
    },
    async create(path, document) {
      const body = JSON.stringify(document)
      const answer = await ask(reach, { path, method: "POST", body }, standing() ?? (await freshToken()))
      const problem = answer.status === 201 ? null : (problemOf(answer, reach.now()) ?? refusalOf(answer))
      if (problem) throw problem
      return answerOf(answer)
    },
    async download(url, signal) {
      if (URL.parse(url)?.protocol !== new URL(reach.address).protocol)
        throw new ConsoleProblem("refused", "the console named a file at an unsafe address")
      return await fileReached(reach, url, signal)
    },
    async send({ method, path, body }, signal) {
      const { port } = new URL(reach.address)
      return await reach.outbound(`${reach.address}${path}`, {
        method,
        headers: {
          authorization: `Bearer ${await freshToken()}`,
          accept: "application/json",
          ...(body && { "content-type": "application/json" }),
        },
        ...(body && { body: JSON.stringify(body) }),
        ports: port === "" ? [] : [Number(port)],
        totalMs: ANSWER_MS,
        firstByteMs: ANSWER_MS,
        mostBytes: MAX_BYTES,
        ...(signal && { signal }),
      })
    },
  }
}

function answerOf({ status, bytes, url, headers }: OutboundAnswer): ConsoleAnswer {
  return { status, bytes, url, hourLeft: hourLeftOf(headers.get("x-rate-limit")) }
}

const MAX_DETAIL = 200

/** Returns a problem such as "the console answers 410 (GONE: This report can no longer be had)". */
function refusalOf({ status, bytes, headers }: OutboundAnswer): ConsoleProblem {
  const details = detailsIn(bytes)
  const [first] = details.filter((text) => text !== "")
  const message = `the console answers ${status}${first === undefined ? "" : ` (${first})`}`
  return new ConsoleProblem("refused", message, { details, hourLeft: hourLeftOf(headers.get("x-rate-limit")) })
}

/** The file host is not the console, so its failure must not affect other requests. */
async function fileReached(reach: ConsoleReach, url: string, signal?: AbortSignal): Promise<OutboundAnswer> {
  try {
    return await reached(reach, url, {}, signal)
  } catch (error) {
    if (!(error instanceof ConsoleProblem)) throw error
    throw new ConsoleProblem("refused", error.message.replace("the console", "the file's host"))
  }
}

/** Returns the text of each error in a body, truncated and without control characters. */
export function detailsIn(bytes: Uint8Array): string[] {
  return errorsIn(bytes).map(({ code, detail }) => {
    return [code, detail].flatMap((text) => (typeof text === "string" ? platformText(text, MAX_DETAIL) : [])).join(": ")
  })
}

interface ConsoleRequest {
  path: string
  method?: "POST"
  body?: string
}

async function ask(reach: ConsoleReach, { path, ...sent }: ConsoleRequest, token: string, signal?: AbortSignal) {
  const headers = {
    authorization: `Bearer ${token}`,
    accept: "application/json, application/a-gzip",
    ...(sent.body !== undefined && { "content-type": "application/json" }),
  }
  return await reached(reach, `${reach.address}${path}`, { ...sent, headers }, signal)
}

async function reached(
  { outbound, address }: ConsoleReach,
  url: string,
  sent: Pick<OutboundOptions, "method" | "headers" | "body">,
  signal?: AbortSignal,
): Promise<OutboundAnswer> {
  // Returns whether a file may be fetched from the URL. A test server may serve its files at any port; the real console
  // uses the default port.
  const ports = new URL(address).port === "" ? [] : [new URL(address), new URL(url)].map(({ port }) => Number(port))
  const limits = { totalMs: ANSWER_MS, firstByteMs: ANSWER_MS, mostBytes: MAX_BYTES }
  try {
    return await outbound(url, { ...sent, ports, ...limits, ...(signal && { signal }) })
  } catch (error) {
    if (!(error instanceof OutboundProblem)) throw error
    throw new ConsoleProblem("unavailable", `the console was not reached: ${error.message}`)
  }
}

/** Returns the problem that a response reports. Null for the statuses 200 and 404, which count as success. */
export function problemOf(answer: OutboundAnswer, now: Date): ConsoleProblem | null {
  const { status, headers, bytes } = answer
  const facts = { hourLeft: hourLeftOf(headers.get("x-rate-limit")) }
  if (status === 200 || status === 404) return null
  if (status === 401) {
    const clock = clockProblem(headers, now)
    if (clock !== null) return new ConsoleProblem("unavailable", `the console refuses the key: ${clock}`)
    return new ConsoleProblem(
      "unauthorized",
      "the console refuses the key: it is revoked, or it belongs to another issuer or key id",
    )
  }
  if (status === 403)
    return codesIn(bytes).some((code) => code.startsWith("FORBIDDEN.REQUIRED_AGREEMENTS"))
      ? new ConsoleProblem(
          "agreement",
          "an agreement is waiting for the account holder in the console's Business section",
        )
      : new ConsoleProblem("forbidden", "the key's role does not include this request", facts)
  if (status === 429) {
    const retryAfterMs = retryAfterOf(headers.get("retry-after"), now)
    return new ConsoleProblem("limited", "too many requests", { ...facts, retryAfterMs })
  }
  if (status >= 500) return new ConsoleProblem("unavailable", `the console answers ${status}`)
  return refusalOf(answer)
}

/** Returns `errors[].code` of an error body. */
function codesIn(bytes: Uint8Array): string[] {
  return errorsIn(bytes).flatMap(({ code }) => (typeof code === "string" ? [code] : []))
}

export function errorsIn(bytes: Uint8Array): Record<string, unknown>[] {
  const body = jsonOrNothing(new TextDecoder().decode(bytes)) as { errors?: unknown } | undefined
  const errors = Array.isArray(body?.errors) ? body.errors : []
  return errors.filter((error) => typeof error === "object" && error !== null)
}

/** Returns the requests left, such as 499 for "user-hour-lim:3500;user-hour-rem:499;". */
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
