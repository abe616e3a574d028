import { clientAddress, type TrustedProxies } from "../access/addresses.ts"
import { creditHeaders } from "../access/credits.ts"
import { perSecondCounter } from "../access/limits/counter.ts"
import { isPassword, isUsablePassword } from "../access/passwords.ts"
import { findShareLink, type ShareLink } from "../access/share-links.ts"
import { CALM_TRIES, giveTryBack, takeTry } from "../access/share-tries.ts"
import { formTicket, isFormTicket, isUnlocked, type LockedLink, unlockedValue } from "../access/share-unlock.ts"
import { type Gate, isConnectionProblem } from "../database/gate.ts"
import type { Sql } from "../database/types.ts"
import { Fault } from "../faults.ts"
import type { Log } from "../log.ts"
import type { SharedReport } from "../observations/shared-report.ts"
import { readUpTo } from "../request-body.ts"
import { SHARE_POLICY } from "./share-layout.ts"
import { gonePage, noticePage, passwordPage, type Said } from "./share-notices.ts"
import { sharedPage } from "./share-page.ts"

export interface SharePageParts {
  sql: Sql
  gate: Pick<Gate, "run">
  trustedProxies: TrustedProxies
  publicUrl: string
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

async function linkPage(parts: SharePageParts, asked: Asked, address: string | null): Promise<Page> {
  const { sql, gate } = parts
  const token = asked.path.slice(FOLDER.length)
  const read = (unlocked: boolean) => gate.run(() => findShareLink(sql, token, { unlocked }))
  const link = await read(false)
  if (!link) return { status: 404, text: gonePage() }
  if (link.password === null) return contentPage(link)
  const locked: LockedLink = { token, password: link.password, expiresAt: link.expiresAt }
  const visit: Visit = { parts, asked, address, locked }
  const refused = isUnlocked(locked, cookieOf(asked.request)) ? null : await typedPage(visit, link.tries)
  if (refused) return refused
  // it may have expired while the password was looked at
  const open = await read(true)
  if (!open) return { status: 404, text: gonePage() }
  return { ...contentPage(open), headers: { "set-cookie": unlockedCookie(visit) } }
}

/** One reader at one link with a password. */
interface Visit {
  parts: SharePageParts
  asked: Asked
  address: string | null
  locked: LockedLink
}

/** The page that asks for the password or refuses the one that was typed; null when it is the right one. */
async function typedPage({ parts, asked: { request }, address, locked }: Visit, tries: number): Promise<Page | null> {
  const { sql, gate } = parts
  const page = (status: number, said: Said | null, headers = {}): Page => ({
    ...{ status, headers },
    text: passwordPage({ said, ticket: formTicket(locked, address, parts.now()) }),
  })
  if (request.method !== "POST") return page(200, null)
  const typed = await typedInto(request)
  if ("status" in typed) return typed
  // who floods a link sends no form that was shown to it first, and so takes none of the turns that are left
  if (tries >= CALM_TRIES && !isFormTicket(locked, address, parts.now(), typed.ticket))
    return page(429, "again", { "retry-after": "1" })
  const wait = await gate.run(() => takeTry(sql, locked.token, address))
  if (wait !== null) return page(429, { waitSeconds: wait }, { "retry-after": String(wait) })
  const right = isUsablePassword(typed.password) && (await isPassword(typed.password, locked.password))
  if (!right) return page(403, "wrong")
  await gate.run(() => giveTryBack(sql, locked.token, address))
  return null
}

const COOKIE = "unlocked"

function cookieOf(request: Request): string | undefined {
  const pairs = (request.headers.get("cookie") ?? "").split(";").map((pair) => pair.trim().split("="))
  return pairs.find(([name]) => name === COOKIE)?.[1]
}

/** Until the link expires, for this page alone, readable by no script. */
function unlockedCookie({ parts, asked, locked }: Visit): string {
  const seconds = Math.max(0, Math.floor((locked.expiresAt.getTime() - parts.now().getTime()) / 1_000))
  const attributes = ["HttpOnly", "SameSite=Lax", `Path=${asked.path}`, `Max-Age=${seconds}`]
  return [
    `${COOKIE}=${unlockedValue(locked)}`,
    ...attributes,
    ...(parts.publicUrl.startsWith("https:") ? ["Secure"] : []),
  ].join("; ")
}

function contentPage({ content, createdAt, expiresAt }: ShareLink): Page {
  return { status: 200, text: sharedPage({ report: content as SharedReport, createdAt, expiresAt }) }
}

const MOST_BYTES = 4_096

/** What was sent with the form, or the page that refuses it. */
async function typedInto(request: Request): Promise<{ password: string; ticket: string | null } | Page> {
  const type = request.headers.get("content-type")?.split(";")[0]?.trim().toLowerCase()
  if (type !== "application/x-www-form-urlencoded" || request.headers.has("content-encoding"))
    return notice(415, "Not understood", "Send the password with the form of this page.")
  const bytes = await readUpTo(request, MOST_BYTES)
  if (!bytes) return notice(413, "Too long", "No password is that long.")
  const fields = new URLSearchParams(bytes.toString("utf8"))
  const [password, ...more] = fields.getAll("password")
  if (password === undefined || more.length > 0)
    return notice(400, "Not understood", "Send the password with the form of this page.")
  return { password, ticket: fields.get("ticket") }
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
