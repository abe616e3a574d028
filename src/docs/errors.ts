import { FAULT_CODES, FAULTS, type FaultCode } from "../lib/faults.ts"
import { type Html, html } from "../ui/html.ts"
import { layout, pagePolicy } from "../ui/layout.ts"

/** Allows only the page's own style. */
export const ERRORS_POLICY = pagePolicy()

/**
 * The list of error codes by status, each with an anchor. Codes outside `raised` are marked as reserved by the
 * specification.
 */
export function errorsPage(raised: ReadonlySet<FaultCode>): string {
  const statuses = [...new Set(FAULT_CODES.map((code) => FAULTS[code].status))].sort((a, b) => a - b)
  return layout(
    "Error codes",
    "Every error code of the API: its status, what it means, and what to do.",
    html`<p>Every error has the body <code>{"error", "message", "docs"}</code>; some add the fields named below.
Branch on <code>error</code>: codes are stable, messages may change. Where an input is refused, <code>field</code> is the first argument
that is wrong, <code>detail</code> says what came and what is allowed, and <code>problems</code> says the same of each that is. A 429 or 503 carries <code>retry-after</code> in seconds.
A call answered with one of these costs nothing, except that Hive takes 1 credit for an answer with nothing measured yet.</p>
<p>${statuses.map((status) => html`<a href="#status-${status}">${status}</a> `)}· <a href="/docs">all operations</a></p>
${statuses.map((status) => statusPart(status, raised))}`,
  )
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
${!isRaised && html`<p class="quiet">Not raised by this version.</p>\n`}${ADVICE[code] && html`<p>${ADVICE[code]}</p>\n`}${extra.length > 0 && html`<p class="quiet">Also carries ${fields}</p>\n`}</section>
`
}

export const STATUS_NAMES: Record<number, string> = {
  400: "Bad request",
  401: "Not signed in",
  402: "Out of credits",
  403: "Not allowed",
  404: "Not found",
  405: "Wrong method",
  409: "Conflict",
  413: "Body too large",
  415: "Wrong media type",
  429: "Too many",
  500: "Our failure",
  502: "Failure of another service",
  503: "Not available now",
  504: "Too slow",
}

const NEW_KEY = "Make a new key in the workspace's settings and replace this one."
const UNPAUSE = "Whoever runs the workspace can change this in the key's settings."
const WAIT_MONTH = "Wait for the time in resetsAt, or ask for a higher plan or a pack."

/** Advice for codes whose message does not explain what to do. */
export const ADVICE: Partial<Record<FaultCode, string>> = {
  missing_api_key: "Send Authorization: Bearer <key> or x-api-key: <key>. To look around without one, use /v1/sandbox.",
  invalid_api_key: "Check that the whole key was copied, and that both headers, if both are sent, hold the same key.",
  invalid_token: "Sign in again.",
  key_expired: NEW_KEY,
  key_revoked: NEW_KEY,
  key_leaked: `${NEW_KEY} Then remove the old one from where it was published.`,
  key_paused: UNPAUSE,
  key_budget_reached: `Other keys go on working. ${UNPAUSE}`,
  credits_exhausted: `Calls that cost 0 go on working. ${WAIT_MONTH}`,
  key_limit: "Revoke a key that is no longer needed: the newest ones are on hold.",
  ip_not_allowed: UNPAUSE,
  ip_list_required: "Give the key a list of the addresses it is used from.",
  plan_required: "The same key works on the tool endpoint; detail says which plan the call needs.",
  scope_required: "Make a key with the scope named in the field scope.",
  app_not_allowed: "GET /account lists the apps that this key may see.",
  test_key_read_only: "Use a live key to write.",
  workspace_suspended: "Ask whoever runs this instance.",
  rate_limited: "Wait as many seconds as retry-after says; GET /account shows the limit in ratePerSecond.",
  key_in_url: "URLs end up in logs and histories. Treat this key as leaked: make a new one and revoke it.",
  bad_country: "Codes are those of the storefronts of the app's store, such as us, gb or de, in either case.",
  invalid_arguments: "Each entry of problems says what came in a field and what is allowed there.",
  hive_read_failed: "If it stays, report the x-request-id of the response: the log names what is damaged.",
  hive_write_failed: "It was read, and stays due. Wait as many seconds as retry-after says.",
  bad_day: "Leave the day out to ask for today.",
  bad_cursor: "Start again without a cursor if it has expired.",
  not_found: "GET /apps lists the ids of this workspace.",
  unknown_endpoint: "The reference at /docs lists every path.",
  method_not_allowed: "The header Allow names the method that is answered.",
  not_measured: "Ask again later. Missing data is neither zero nor absence.",
  confirm_token_invalid: "Preview the action again; a token works once and for one key.",
  confirm_token_mismatch: "Show the new preview to whoever approves, and confirm that one.",
  in_progress: "Try again when the other write has finished.",
  body_too_large: "Send less in one call.",
  headers_too_large: "Send lists in parts, and leave out headers and cookies that are not for this service.",
  internal_error: "Try again; if it stays, report the x-request-id of the response.",
  unavailable: "Wait as many seconds as retry-after says.",
}
