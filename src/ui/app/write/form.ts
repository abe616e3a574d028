import { Fault } from "../../../lib/faults.ts"
import { ownValue } from "../../../lib/objects.ts"
import { bareText, readStoreLink, storeIdInLink, whyNoApp } from "../../../lib/store-pages.ts"
import { type Html, type HtmlPart, html } from "../../html.ts"
import { momentTime } from "../../times.ts"
import { counted, spoken } from "../../words.ts"
import type { Desk, Page } from "../desk.ts"
import { card } from "../parts.ts"

/** The preview of a write, as the operation returns it. */
interface WritePreview {
  action: string
  preview: { summary: string; notes: string[] }
  /** The changes, one line per field. */
  lines: string[]
  credits: number
  destructive: boolean
  confirmToken: string
  expiresAt: string
  approval: { id: string } | null
}

/** A form that leads to the preview of a write. False if the visitor may change nothing. */
export function writeForm(
  desk: Desk,
  {
    action,
    back,
    fixed = {},
    button,
    isTable = false,
  }: { action: string; back: string; fixed?: Record<string, string>; button: string; isTable?: boolean },
  fields: HtmlPart = "",
): Html | false {
  if (desk.formFields.length === 0) return false
  const hidden = hiddenFields([...desk.formFields, ["action", action], ["back", back], ...Object.entries(fixed)])
  if (isTable)
    return html`<form method="post" action="${desk.base}/write">${hidden}${fields}<p class="pages"><button class="main" type="submit">${button}</button></p></form>
`
  return html`<form class="filters" method="post" action="${desk.base}/write">${hidden}${fields}<button type="submit">${button}</button></form>
`
}

function hiddenFields(fields: readonly (readonly [name: string, value: string])[]): Html[] {
  return fields.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)
}

/** Shows the changes of a write and the button that confirms it. Nothing changes before that. */
export function previewPage(desk: Desk, shown: WritePreview, back: string): Page {
  const { action, preview, lines, credits, destructive, confirmToken, expiresAt, approval } = shown
  return {
    title: "Make this change?",
    at: "none",
    body: card(
      preview.summary,
      html`<div class="inside">${lines.length > 0 && html`<ul>${lines.map((line) => html`<li><bdi>${line}</bdi></li>`)}</ul>`}${preview.notes.map((note) => html`<p class="quiet">${note}</p>`)}${approval && html`<p>It must be approved first: open <a href="${desk.base}/changes" target="_blank" rel="noopener">Changes</a>, approve it there, and come back.</p>`}
<p class="small quiet">${spoken(action)} · ${counted(credits, "credit")} · until ${momentTime(expiresAt)}${destructive && html` · <span class="tag warn">takes something away, or shows it to the world</span>`}</p></div>
<form class="filters" method="post" action="${desk.base}/write">${hiddenFields([...desk.formFields, ["back", back], ["confirmToken", confirmToken]])}<button class="main" type="submit">Yes, do it</button> <a class="button" href="${back}">No, back</a></form>`,
    ),
  }
}

/** Shows the address of a share link, which is shown only once. */
export function donePage({ url, expiresAt }: { url: string; expiresAt: string }, back: string): Page {
  return {
    title: "Done",
    at: "none",
    body: card(
      "The page to share",
      html`<div class="inside"><p><a href="${url}">${url}</a></p><p class="quiet">Whoever has this address sees it, until ${momentTime(expiresAt)}. It is not shown again; <code>appmeter link withdraw</code> ends it before.</p><p><a href="${back}">Back</a></p></div>`,
    ),
  }
}

/** Returns the arguments of a write from the fields of its form. Null if pages do not offer the write. */
export function argumentsIn(action: string, fields: URLSearchParams): Record<string, unknown> | null {
  return ownValue(ARGUMENTS, action)?.(fields) ?? null
}

const ARGUMENTS: Record<string, (fields: URLSearchParams) => Record<string, unknown>> = {
  add_app: (fields) => ({
    ...storeIdIn(fields.get("app") ?? ""),
    countries: countriesIn(fields),
    ...listed("keywords", fields),
  }),
  add_keywords: (fields) => ({ ...ofApp(fields), keywords: linesIn(fields, "keywords") }),
  remove_keywords: (fields) => ({ ...ofApp(fields), keywords: linesIn(fields, "keywords") }),
  add_rivals: (fields) => ({ ...ofApp(fields), rivals: linesIn(fields, "rivals").map(rivalIn) }),
  remove_rivals: (fields) => ({ ...ofApp(fields), rivals: linesIn(fields, "rivals").map(rivalIn) }),
  create_share_link: (fields) => ({
    ...ofApp(fields),
    country: fields.get("country") ?? "",
    ...numbered("days", fields),
    ...given("password", fields),
  }),
  mark_alerts_read: () => ({ read: true }),
  create_alert_rule: (fields) => ({
    type: fields.get("type") ?? "",
    ...numbered("dropBy", fields),
    ...given("keywordScope", fields),
    ...given("rivalScope", fields),
  }),
  delete_alert_rule: (fields) => ({ type: fields.get("type") ?? "" }),
}

/** Returns the typed storefronts. If the field is empty, returns that of the link, or us. */
function countriesIn(fields: URLSearchParams): string[] {
  const typed = wordsIn(fields.get("countries") ?? "", /[\s,;]+/).map((country) => country.toLowerCase())
  const link = readStoreLink(fields.get("app") ?? "")
  if (typed.length > 0) return typed
  return [link !== null && "id" in link ? (link.storefront ?? "us") : "us"]
}

const ofApp = (fields: URLSearchParams) => ({ appId: fields.get("appId") ?? "" })

function given(name: string, fields: URLSearchParams): Record<string, string> {
  const value = fields.get(name) ?? ""
  return value === "" ? {} : { [name]: value }
}

function numbered(name: string, fields: URLSearchParams): Record<string, number> {
  const value = fields.get(name)?.trim() ?? ""
  return value === "" ? {} : { [name]: Number(value) }
}

const wordsIn = (text: string, between: RegExp) => [
  ...new Set(
    text
      .split(between)
      .map((one) => one.trim())
      .filter(Boolean),
  ),
]
/** Splits text from one field or from several selected fields. */
const linesIn = (fields: URLSearchParams, name: string) => wordsIn(fields.getAll(name).join("\n"), /[\r\n,;]+/)

function listed(name: string, fields: URLSearchParams): Record<string, string[]> {
  const lines = linesIn(fields, name)
  return lines.length > 0 ? { [name]: lines } : {}
}

/**
 * Returns the app id of a store link, or the id itself. Digits are an App Store id. Throws invalid_arguments if the
 * link is not an app's.
 */
function storeIdIn(text: string): { iosId: string } | { androidPkg: string } {
  const why = whyNoApp(text)
  if (why !== null) throw new Fault("invalid_arguments", { field: "app", detail: why })
  const id = storeIdInLink(text) ?? bareText(text)
  return /^\d+$/.test(id) ? { iosId: id } : { androidPkg: id }
}

function rivalIn(text: string): string {
  if (/^(?:ios|android):/.test(text)) return text
  const id = storeIdIn(text)
  return "iosId" in id ? `ios:${id.iosId}` : `android:${id.androidPkg}`
}
