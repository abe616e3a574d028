import { OutboundProblem } from "../outbound/problem.ts"
import type { OutboundAnswer, OutboundOptions, SafeFetch } from "../outbound/safe-fetch.ts"
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

interface ConsoleAnswer {
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
  /**
   * Makes something at the console, once: what is not answered may have been made. Answers 201; anything else is a
   * ConsoleProblem.
   */
  create(path: string, document: object): Promise<ConsoleAnswer>
  /**
   * A file at an address that the console named, wherever that is: asked without the key, and only over a safe connection where the
   * console itself is. Any status is an answer. Throws ConsoleProblem `unavailable`.
   */
  download(url: string, signal?: AbortSignal): Promise<{ status: number; bytes: Uint8Array }>
  /** Sends a change once, with a token that was just made, and gives whatever is answered. Throws OutboundProblem. */
  send(change: ConsoleChange, signal?: AbortSignal): Promise<OutboundAnswer>
}

interface ConsoleChange {
  method: "POST" | "PATCH" | "DELETE"
  path: string
  body?: object | undefined
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
    let answer = await ask(reach, { path }, kept ?? (await freshToken()), signal)
    // a token is refused now and then right after it was made, and where two clocks differ
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
      if (status === 404) throw new ConsoleProblem("refused", "the console has nothing there")
      if (typeof found !== "object" || found === null)
        throw new ConsoleProblem("unavailable", "the console's answer cannot be read")
      return found as Record<string, unknown>
    },
    async create(path, document) {
      const body = JSON.stringify(document)
      const answer = await ask(reach, { path, method: "POST", body }, standing() ?? (await freshToken()))
      const problem = answer.status === 201 ? null : (problemOf(answer, reach.now()) ?? unexpected(answer.status))
      if (problem) throw problem
      return answerOf(answer)
    },
    async download(url, signal) {
      if (URL.parse(url)?.protocol !== new URL(reach.address).protocol)
        throw new ConsoleProblem("unavailable", "the console named a file at an address that is not safe")
      return await reached(reach, url, {}, signal)
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
        ...{ totalMs: ANSWER_MS, firstByteMs: ANSWER_MS, mostBytes: MOST_BYTES },
        ...(signal && { signal }),
      })
    },
  }
}

function answerOf({ status, bytes, url, headers }: OutboundAnswer): ConsoleAnswer {
  return { status, bytes, url, hourLeft: hourLeftOf(headers.get("x-rate-limit")) }
}

function unexpected(status: number): ConsoleProblem {
  return new ConsoleProblem("refused", `the console answers ${status}`)
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
  // what stands in for the console may have its files at any port; the console itself has no port of its own
  const ports = new URL(address).port === "" ? [] : [new URL(address), new URL(url)].map(({ port }) => Number(port))
  const limits = { totalMs: ANSWER_MS, firstByteMs: ANSWER_MS, mostBytes: MOST_BYTES }
  try {
    return await outbound(url, { ...sent, ports, ...limits, ...(signal && { signal }) })
  } catch (error) {
    if (!(error instanceof OutboundProblem)) throw error
    throw new ConsoleProblem("unavailable", `the console was not reached: ${error.message}`)
  }
}

/** Null for what is an answer: 200 and 404. */
export function problemOf({ status, headers, bytes }: OutboundAnswer, now: Date): ConsoleProblem | null {
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
  return unexpected(status)
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
