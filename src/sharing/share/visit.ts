import { isPassword, isUsablePassword } from "../../access/passwords.ts"
import { CALM_TRIES, countTries, giveTryBack, type SecretTry, takeTry } from "../../access/tries.ts"
import { fieldOf, readForm } from "../../ui/form.ts"
import type { LinkAnswer, LinkKind, Visit } from "../link-kind.ts"
import { SHARE_POLICY } from "./layout.ts"
import { gonePage, noticePage, passwordPage, type TryOutcome } from "./notices.ts"
import { sharedPage } from "./page.ts"
import type { SharedReport } from "./report.ts"
import { findShareLink, type ShareLink } from "./store.ts"
import { formTicket, isFormTicket, isUnlocked, type LockedLink, unlockedValue } from "./unlock.ts"

export const sharedPages: LinkKind = {
  path: "/share/*",
  methods: ["GET", "HEAD", "POST"],
  headers: { "content-security-policy": SHARE_POLICY, "cross-origin-resource-policy": "same-origin" },
  async open(visit) {
    const { parts, request, token } = visit
    const read = (unlocked: boolean) => parts.gate.run(() => findShareLink(parts.sql, token, { unlocked }))
    const link = await read(false)
    if (!link) return GONE
    if (link.password === null) return contentPage(link)
    const locked: LockedLink = { token, password: link.password, expiresAt: link.expiresAt }
    const refused = isUnlocked(locked, cookieOf(request)) ? null : await checkPassword(visit, locked)
    if (refused) return refused
    // the link may have expired while the password was checked
    const open = await read(true)
    return open ? { ...contentPage(open), headers: { "set-cookie": unlockedCookie(visit, locked) } } : GONE
  },
  refused({ code }) {
    if (code === "method_not_allowed") return notice(405, "Not possible", "A shared page can be read.")
    if (code === "rate_limited") return notice(429, "Too many tries", "Wait a second, then try again.")
    const page = notice(503, "Not available just now", "This page cannot be shown at the moment. Try again soon.")
    return { ...page, headers: { "retry-after": "2" } }
  },
}

const GONE: LinkAnswer = { status: 404, body: gonePage() }

/** Returns the password form or the page that refuses the submitted password. Null if the password is correct. */
async function checkPassword(
  { parts: { sql, gate, now }, request, address }: Visit,
  locked: LockedLink,
): Promise<LinkAnswer | null> {
  const page = (status: number, outcome: TryOutcome | null, headers = {}): LinkAnswer => ({
    status,
    headers,
    body: passwordPage({ outcome, ticket: formTicket(locked, address, now()) }),
  })
  if (request.method !== "POST") return page(200, null)
  const typed = await readPassword(request)
  if ("status" in typed) return typed
  const link = `link ${locked.token}`
  // most requests of a flood have no valid form ticket; refusing them early leaves the remaining tries to people
  if (!isFormTicket(locked, address, now(), typed.ticket)) {
    const tries = await gate.run(() => countTries(sql, link))
    if (tries >= CALM_TRIES) return page(429, "again", { "retry-after": "1" })
  }
  const tried: SecretTry = { scope: link, address, secret: link }
  const wait = await gate.run(() => takeTry(sql, tried))
  if (wait !== null) return page(429, { waitSeconds: wait }, { "retry-after": String(wait) })
  const right = isUsablePassword(typed.password) && (await isPassword(typed.password, locked.password))
  if (!right) return page(403, "wrong")
  await gate.run(() => giveTryBack(sql, tried))
  return null
}

const COOKIE = "unlocked"

function cookieOf(request: Request): string | undefined {
  const pairs = (request.headers.get("cookie") ?? "").split(";").map((pair) => pair.trim().split("="))
  return pairs.find(([name]) => name === COOKIE)?.[1]
}

/** The cookie is valid until the link expires, for this page only, and hidden from scripts. */
function unlockedCookie({ parts, path }: Visit, locked: LockedLink): string {
  const seconds = Math.max(0, Math.floor((locked.expiresAt.getTime() - parts.now().getTime()) / 1_000))
  const attributes = ["HttpOnly", "SameSite=Lax", `Path=${path}`, `Max-Age=${seconds}`]
  return [
    `${COOKIE}=${unlockedValue(locked)}`,
    ...attributes,
    ...(parts.publicUrl.startsWith("https:") ? ["Secure"] : []),
  ].join("; ")
}

function contentPage({ content, createdAt, expiresAt }: ShareLink): LinkAnswer {
  return { status: 200, body: sharedPage({ report: content as SharedReport, createdAt, expiresAt }) }
}

const MAX_BYTES = 4_096

/** Returns the submitted password and ticket, or the page that refuses the form. */
async function readPassword(request: Request): Promise<{ password: string; ticket: string | null } | LinkAnswer> {
  const fields = await readForm(request, MAX_BYTES)
  if (fields === "type") return notice(415, "Not understood", FORM_ALONE)
  if (fields === "size") return notice(413, "Too long", "This password is too long.")
  if (fields === "text") return notice(400, "Not understood", FORM_ALONE)
  const password = fieldOf(fields, "password")
  if (password === undefined) return notice(400, "Not understood", FORM_ALONE)
  return { password, ticket: fields.get("ticket") }
}

const FORM_ALONE = "Send the password with the form of this page."

function notice(status: number, title: string, text: string): LinkAnswer {
  return { status, body: noticePage(title, text) }
}
