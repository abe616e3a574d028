import { Buffer } from "node:buffer"
import { clientAddress, type TrustedProxies } from "../access/addresses.ts"
import { creditHeaders } from "../access/credits.ts"
import { perSecondCounter } from "../access/limits/counter.ts"
import { isPassword, isUsablePassword } from "../access/passwords.ts"
import { findShareLink, giveTryBack, type ShareLink, takeTry } from "../access/share-links.ts"
import { type Gate, isConnectionProblem } from "../database/gate.ts"
import type { Sql } from "../database/types.ts"
import { Fault } from "../faults.ts"
import type { Log } from "../log.ts"
import type { SharedReport } from "../observations/shared-report.ts"
import { SHARE_POLICY } from "./share-layout.ts"
import { gonePage, noticePage, passwordPage } from "./share-notices.ts"
import { sharedPage } from "./share-page.ts"

export interface SharePageParts {
  sql: Sql
  gate: Gate
  trustedProxies: TrustedProxies
  now: () => Date
  log: Log
}

/** A request, as far as these pages look at it. */
export interface Asked {
  request: Request
  requestId: string
  path: string
  keyInUrl: boolean
  /** Address of the other end of the connection. */
  peer: string | null
}

/** Answers what lies below /share/ with a page, whatever happens there; undefined for any other path. */
export function createSharePages(parts: SharePageParts): (asked: Asked) => Promise<Response> | undefined {
  const count = perSecondCounter()
  return (asked) => {
    if (!asked.path.startsWith(FOLDER) || asked.keyInUrl) return undefined
    const address = clientAddress(asked.peer, asked.request.headers.get("x-forwarded-for"), parts.trustedProxies)
    const allowed = count(address ?? "unknown", PER_SECOND, parts.now()).allowed
    const page = allowed ? shown(parts, asked, address) : Promise.resolve(tooMany(1))
    return page.then((page) => responseOf(asked, page, parts.now()))
  }
}

const FOLDER = "/share/"

/** Requests from one address. Nobody guesses a token, but each try asks the database. */
const PER_SECOND = 20

const METHODS = ["GET", "HEAD", "POST"]

interface Page {
  status: number
  text: string
  headers?: Record<string, string>
}

async function shown(parts: SharePageParts, asked: Asked, address: string | null): Promise<Page> {
  const { request, requestId } = asked
  if (!METHODS.includes(request.method))
    return { ...notice(405, "Not possible", "A shared page can be read."), headers: { allow: METHODS.join(", ") } }
  try {
    return await linkPage(parts, asked, address)
  } catch (error) {
    if (!isConnectionProblem(error) && !(error instanceof Fault && error.status === 503)) throw error
    parts.log("warn", "unavailable", { requestId, reason: String((error as Error).message) })
    const page = notice(503, "Not available just now", "This page cannot be shown at the moment. Try again soon.")
    return { ...page, headers: { "retry-after": "2" } }
  }
}

async function linkPage({ sql, gate }: SharePageParts, asked: Asked, address: string | null): Promise<Page> {
  const { request, path } = asked
  const token = path.slice(FOLDER.length)
  const found = (unlocked: boolean) => gate.run(() => findShareLink(sql, token, { unlocked }))
  const link = await found(false)
  if (!link) return { status: 404, text: gonePage() }
  if (link.password === null) return contentPage(link)
  if (request.method !== "POST") return { status: 200, text: passwordPage({ wrong: false }) }
  const typed = await passwordOf(request)
  if (typeof typed !== "string") return typed
  const wait = await gate.run(() => takeTry(sql, token, address))
  if (wait !== null) return tooMany(wait)
  const right = isUsablePassword(typed) && (await isPassword(typed, link.password))
  if (!right) return { status: 403, text: passwordPage({ wrong: true }) }
  await gate.run(() => giveTryBack(sql, token, address))
  // it may have expired while the password was looked at
  const open = await found(true)
  return open ? contentPage(open) : { status: 404, text: gonePage() }
}

function contentPage({ content, createdAt, expiresAt }: ShareLink): Page {
  return { status: 200, text: sharedPage({ report: content as SharedReport, createdAt, expiresAt }) }
}

const MOST_BYTES = 4_096

/** What was typed into the form, or the page that refuses what was sent. */
async function passwordOf(request: Request): Promise<string | Page> {
  const type = request.headers.get("content-type")?.split(";")[0]?.trim().toLowerCase()
  if (type !== "application/x-www-form-urlencoded" || request.headers.has("content-encoding"))
    return notice(415, "Not understood", "Send the password with the form of this page.")
  const bytes = await readUpTo(request, MOST_BYTES)
  if (!bytes) return notice(413, "Too long", "No password is that long.")
  const [password, ...more] = new URLSearchParams(bytes.toString("utf8")).getAll("password")
  if (password === undefined || more.length > 0)
    return notice(400, "Not understood", "Send the password with the form of this page.")
  return password
}

async function readUpTo(request: Request, most: number): Promise<Buffer | null> {
  if (Number(request.headers.get("content-length") ?? 0) > most) return null
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of request.body ?? []) {
    size += chunk.length
    if (size > most) return null
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

function tooMany(seconds: number): Page {
  const wait = seconds === 1 ? "a second" : `${seconds} seconds`
  const page = notice(429, "Too many tries", `Wait ${wait}, then try again.`)
  return { ...page, headers: { "retry-after": String(seconds) } }
}

function notice(status: number, title: string, text: string): Page {
  return { status, text: noticePage(title, text) }
}

/** Never kept, indexed, framed or named to another site. HEAD has the same headers and no body. */
function responseOf({ request, requestId }: Asked, { status, text, headers }: Page, now: Date): Response {
  const bytes = new TextEncoder().encode(text)
  const all = new Headers({
    ...creditHeaders(null, now),
    "cache-control": "private, no-store",
    "content-length": String(bytes.length),
    "content-security-policy": SHARE_POLICY,
    "content-type": "text/html; charset=utf-8",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-request-id": requestId,
    "x-robots-tag": "noindex, nofollow",
    ...headers,
  })
  return new Response(request.method === "HEAD" ? null : bytes, { status, headers: all })
}
