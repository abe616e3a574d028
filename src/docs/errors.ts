import { FAULT_CODES, FAULTS, type FaultCode } from "../lib/faults.ts"
import { type Html, html } from "../ui/html.ts"
import { layout, pagePolicy } from "../ui/layout.ts"
import { searchBox } from "./search-box.ts"

/** Allows the page's own style and the search form. */
export const ERRORS_POLICY = pagePolicy({ forms: ["'self'"] })

/**
 * The list of error codes by status, each with an anchor. Codes that are not in `raised` are marked as reserved by the
 * specification.
 */
export function errorsPage(raised: ReadonlySet<FaultCode>): string {
  const statuses = [...new Set(FAULT_CODES.map((code) => FAULTS[code].status))].sort((a, b) => a - b)
  return layout(
    "Error codes",
    "Every error code of the API by status, with its meaning and what to do.",
    html`${searchBox()}<p>Every error has the body <code>{"error", "message", "docs"}</code>; some have further fields,
listed below. Branch on <code>error</code>: codes are stable, messages may change. For invalid input, <code>field</code>
is the first invalid argument, <code>detail</code> has the received value and the allowed ones, and
<code>problems</code> lists every invalid argument. A 429 or 503 has <code>retry-after</code> in seconds. A failed call
costs nothing, except that Hive charges 1 credit for an answer with nothing measured yet.</p>
${statuses.map((status) => statusPart(status, raised))}`,
    { aside: html`${statuses.map(statusLinks)}` },
  )
}

function statusLinks(status: number): Html {
  const codes = FAULT_CODES.filter((code) => FAULTS[code].status === status)
  return html`<a class="chapter" href="#status-${status}">${status} ${STATUS_NAMES[status]}</a>
<ul>
${codes.map((code) => html`<li><a href="#${code}">${code}</a></li>\n`)}</ul>
`
}

function statusPart(status: number, raised: ReadonlySet<FaultCode>): Html {
  const codes = FAULT_CODES.filter((code) => FAULTS[code].status === status)
  return html`<h2 id="status-${status}">${status} ${STATUS_NAMES[status]}</h2>
${codes.map((code) => codePart(code, raised.has(code)))}`
}

function codePart(code: FaultCode, isRaised: boolean): Html {
  const { message, extra } = FAULTS[code]
  const fields = (extra as string[]).map((name, i) => html`${i > 0 && ", "}<code>${name}</code>`)
  return html`<section id="${code}">
<h3><a href="#${code}"><code>${code}</code></a></h3>
<p>${message}</p>
${[
  !isRaised && html`<p class="quiet">Not raised by this version.</p>\n`,
  ADVICE[code] && html`<p>${ADVICE[code]}</p>\n`,
  extra.length > 0 && html`<p class="quiet">Further fields: ${fields}</p>\n`,
]}</section>
`
}

export const STATUS_NAMES: Record<number, string> = {
  400: "Bad request",
  401: "Not authenticated",
  402: "Out of credits",
  403: "Not allowed",
  404: "Not found",
  405: "Wrong method",
  409: "Conflict",
  413: "Body too large",
  415: "Wrong media type",
  429: "Too many requests",
  500: "Internal error",
  502: "Upstream error",
  503: "Temporarily unavailable",
  504: "Timeout",
}

const NEW_KEY = "Create a new key in the settings of the workspace and replace this one."
const KEY_SETTINGS = "The owner of the workspace can change this in the settings of the key."
const WAIT_MONTH = "Wait until resetsAt, or get a higher plan or a credit pack."

/** Advice for codes whose message does not explain what to do. */
export const ADVICE: Partial<Record<FaultCode, string>> = {
  missing_api_key: "Send Authorization: Bearer <key> or x-api-key: <key>. Without a key, use /v1/sandbox.",
  invalid_api_key: "Check that the key is complete. If both headers are sent, they must have the same key.",
  invalid_token: "Sign in again.",
  key_expired: NEW_KEY,
  key_revoked: NEW_KEY,
  key_leaked: `${NEW_KEY} Then remove the old key from where it was published.`,
  key_paused: KEY_SETTINGS,
  key_budget_reached: `Other keys still work. ${KEY_SETTINGS}`,
  credits_exhausted: `Calls that cost 0 credits still work. ${WAIT_MONTH}`,
  key_limit: "Revoke a key that is no longer needed. The newest keys are on hold.",
  ip_not_allowed: KEY_SETTINGS,
  ip_list_required: "Set an IP allow list for the key.",
  plan_required: "The same key works on the tool endpoint. detail names the plan that the call needs.",
  scope_required: "Create a key with the scope in the field scope.",
  app_not_allowed: "GET /account lists the apps that this key can see.",
  test_key_read_only: "Use a live key to write.",
  workspace_suspended: "Ask the operator of this instance.",
  rate_limited: "Wait as many seconds as retry-after says. GET /account has the limit in ratePerSecond.",
  key_in_url: "URLs end up in logs and histories. Treat this key as leaked: create a new one and revoke it.",
  bad_country: "Use a storefront code of the app's store, such as us, gb or de. Case is ignored.",
  invalid_arguments: "Each entry of problems has the received value and the allowed ones.",
  hive_read_failed: "If it persists, report the x-request-id of the response to the operator.",
  hive_write_failed: "The reading was not saved, so the subject stays due. Wait as many seconds as retry-after says.",
  bad_day: "Omit the day for today.",
  bad_cursor: "If the cursor has expired, start again without one.",
  not_found: "GET /apps lists the ids of this workspace.",
  unknown_endpoint: "The reference at /docs lists every path.",
  method_not_allowed: "The header Allow has the supported method.",
  not_measured: "Try again later. Missing data is neither zero nor absence.",
  confirm_token_invalid: "Preview the action again. A token is valid for one confirm with the same key.",
  confirm_token_mismatch: "Show the new preview to the person who approves, and confirm that one.",
  in_progress: "Try again when the other write has finished.",
  body_too_large: "Send less in one call.",
  headers_too_large: "Split long lists, and send only headers and cookies that this service needs.",
  internal_error: "Try again. If it persists, report the x-request-id of the response to the operator.",
  unavailable: "Wait as many seconds as retry-after says.",
}
