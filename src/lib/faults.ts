import * as v from "valibot"

/** Every error code: its status, its message, and its fields besides {error, message, docs}. */
export const FAULTS = {
  missing_api_key: row(401, "Send an API key in the Authorization or x-api-key header."),
  invalid_api_key: row(401, "This API key is not valid."),
  invalid_token: row(401, "This access token is invalid or has expired."),
  account_deleted: row(401, "The account behind this key was deleted."),
  key_expired: row(401, "This key has expired."),
  key_revoked: row(401, "This key was revoked."),
  key_leaked: row(401, "This key was revoked because it appeared in a public place."),
  key_budget_reached: row(402, "This key has used its monthly budget.", "limit", "used", "resetsAt"),
  credits_exhausted: row(402, "This month's API credits are used up.", "limit", "used", "resetsAt"),
  key_limit: row(403, "The workspace has more live keys than its plan allows, and this key is on hold.", "limit"),
  ip_not_allowed: row(403, "This address is not on the key's allow list."),
  key_paused: row(403, "This key is paused."),
  plan_required: row(403, "This needs a higher plan.", "detail"),
  scope_required: row(403, "This key lacks the scope that the call needs.", "scope"),
  app_not_allowed: row(403, "This key is limited to other apps."),
  explorer_required: row(403, "This endpoint is not open on this account.", "detail"),
  test_key_read_only: row(403, "A test key never writes."),
  workspace_suspended: row(403, "This workspace is suspended."),
  ip_list_required: row(403, "This workspace requires an IP allow list on every key."),
  write_limit_reached: row(403, "This write lies outside the action's guardrails.", "reason", "detail"),
  asc_required: row(403, "App Store Connect is not connected to this workspace.", "detail"),
  asc_role: row(403, "The App Store Connect key lacks the Admin or App Manager role."),
  ios_only: row(403, "This action needs the iOS side of the app."),
  rate_limited: row(429, "Too many requests in one second; wait a second, or as long as retry-after says.", "limit"),
  daily_hive_limit: row(429, "Today's Hive allowance is used up; it resets at 00:00 UTC.", "limit", "used", "resetsAt"),
  ai_limit: row(429, "This month's AI visibility runs are used up.", "limit", "resetsAt"),
  ai_text_limit: row(429, "This month's AI writing allowance is used up.", "resetsAt"),
  review_ai_limit: row(429, "This month's Review AI allowance is used up.", "resetsAt"),
  localize_quota: row(429, "The period's listing writes are used up.", "limit", "used", "period"),
  bad_country: wrong("The storefront must be a two-letter country code of the store."),
  unsupported_platform: wrong("This metric is measured on iOS only."),
  bad_days: wrong("The number of days must be a whole number within the bounds of this call."),
  hive_read_failed: row(400, "Hive could not read the observation; try again."),
  hive_write_failed: row(400, "Hive could not save the observation; try again."),
  bad_kind: wrong("The kind must be grossing, free, paid or ipad, where this call offers it."),
  bad_genre: wrong("The genre must be a store genre id or a category key."),
  bad_day: wrong("The day must be YYYY-MM-DD and no later than yesterday."),
  bad_goal: wrong("The goal must be downloads, rank or revenue."),
  bad_range: wrong("from and to must be YYYY-MM-DD, with from not after to."),
  bad_term: wrong("The keyword must have 1 to 150 characters, and be neither . nor .. alone."),
  bad_app_id: wrong("The app must be given as store id digits or a package name."),
  bad_query: wrong("The query must have 1 to 120 characters."),
  bad_id: wrong("The id must come from a search result."),
  no_filters: row(400, "At least one filter is required.", "filters"),
  bad_filter: wrong("This filter value is malformed, or its minimum is above its maximum."),
  bad_cursor: wrong("The cursor is malformed or expired; pass nextCursor unchanged."),
  bad_ids: wrong("ids must be a comma-separated list of as many apps as this call compares."),
  bad_metrics: wrong("metrics must be popularity, difficulty or both, each at most once."),
  bad_wait: wrong("wait must be whole seconds from 0 to 20."),
  bad_locale: wrong("The locale must be two letters, an underscore and two letters."),
  unknown_action: wrong("There is no such action."),
  invalid_arguments: wrong("An argument is missing, unknown or malformed."),
  confirm_token_invalid: wrong("This confirm token is unknown or was already used."),
  confirm_token_expired: row(400, "This confirm token has expired; preview the action again.", "detail"),
  key_in_url: row(400, "Never send a key in the URL; send it in a header, and replace this one.", "detail"),
  not_measured: row(404, "Nothing was measured here yet; missing data is not zero.", "detail"),
  not_connected: row(404, "This source is not connected to the workspace.", "detail"),
  not_found: row(404, "The workspace has no such app, or nothing under this id.", "detail"),
  unknown_endpoint: row(404, "There is no such endpoint."),
  job_not_found: row(404, "There is no such job in this workspace."),
  no_editable_version: row(404, "No iOS version is in an editable state.", "detail"),
  locale_not_found: row(404, "The version has no such locale.", "detail"),
  review_not_found: row(404, "There is no stored review with that id.", "detail"),
  no_job: row(404, "No localization is running for that locale; call without poll to start one."),
  method_not_allowed: row(405, "This endpoint does not answer that method."),
  confirm_token_mismatch: row(409, "The target changed after the preview; read the new preview.", "preview"),
  already_measuring: row(409, "A measurement for this app is already running."),
  in_progress: row(409, "Another write to this target is running."),
  changed_since_preview: row(409, "The listing changed in the console after the preview; nothing was written."),
  no_audit: row(409, "Localization needs a storefront audit first."),
  no_storefront: row(409, "No storefront of the app reads that locale."),
  asc_rejected: row(502, "App Store Connect refused the change.", "detail"),
  asc_unavailable: row(502, "App Store Connect could not be reached; try again."),
  ai_failed: row(502, "The AI writer's answer could not be read; try again."),
  audit_failed: row(502, "The storefront scan stopped midway; start it again with refresh."),
  hive_measurement_unavailable: row(
    503,
    "The measurement is not available now; nothing was used.",
    "detail",
    "metrics",
  ),
  hive_measurement_queue_failed: row(503, "The measurement could not be queued; nothing was charged."),
  hive_measurement_failed: row(503, "The source attempt failed; valid metrics remain in the answer.", "metrics"),
  hive_measurement_incomplete: row(503, "The job ended without a result for every requested metric.", "metrics"),
  hive_measurement_deferred: row(503, "The source deferred the job.", "metrics"),
  hive_measurement_not_started: row(503, "No measurement is running for this keyword; try again."),
  ai_not_configured: row(503, "The AI writer is not ready.", "detail"),
  measure_busy: row(503, "The store search is slow or cannot be reached; nothing was used.", "detail"),
  ai_timeout: row(504, "The AI writer was too slow; the allowance was returned."),
  // Codes that the specification does not list. Any server can return them.
  body_too_large: row(413, "The request body is larger than 64 KiB."),
  unsupported_media_type: row(415, "Send the body as application/json without content encoding."),
  headers_too_large: row(431, "The request line and headers are larger than 16 KiB."),
  internal_error: row(500, "Something failed here; the request id names it in the log."),
  unavailable: row(503, "The service cannot do this just now; try again.", "detail"),
} satisfies Record<string, FaultRow>

export type FaultCode = keyof typeof FAULTS

/** Faults that any call can raise. Operations do not declare them. */
export const UNIVERSAL_FAULTS = [
  "missing_api_key",
  "invalid_api_key",
  "invalid_token",
  "account_deleted",
  "key_expired",
  "key_revoked",
  "key_leaked",
  "key_budget_reached",
  "credits_exhausted",
  "key_limit",
  "ip_not_allowed",
  "key_paused",
  "plan_required",
  "workspace_suspended",
  "ip_list_required",
  "rate_limited",
  "invalid_arguments",
  "key_in_url",
  "unknown_endpoint",
  "method_not_allowed",
  "body_too_large",
  "unsupported_media_type",
  "headers_too_large",
  "internal_error",
  "unavailable",
] as const satisfies FaultCode[]

export const EXTRA = {
  scope: v.string(),
  field: v.string(),
  limit: v.number(),
  used: v.number(),
  reason: v.string(),
  resetsAt: v.pipe(v.string(), v.isoTimestamp()),
  period: v.string(),
  filters: v.array(v.string()),
  detail: v.string(),
  problems: v.array(v.strictObject({ field: v.string(), code: v.string(), detail: v.string() })),
  preview: v.record(v.string(), v.unknown()),
  metrics: v.record(v.string(), v.unknown()),
}

export type ExtraName = keyof typeof EXTRA
export type FaultExtra = { [K in ExtraName]?: v.InferOutput<(typeof EXTRA)[K]> }

interface FaultRow {
  status: number
  message: string
  extra: ExtraName[]
}

function row(status: number, message: string, ...extra: ExtraName[]): FaultRow {
  return { status, message, extra }
}

/**
 * Returns the row of a fault for invalid input. Its fields are the first invalid field, its detail, and all problems.
 */
function wrong(message: string): FaultRow {
  return row(400, message, "field", "detail", "problems")
}

/** A refusal or failure with a code of the table. Any other thrown error becomes internal_error. */
export class Fault extends Error {
  readonly code: FaultCode
  readonly extra: FaultExtra
  /** Seconds for the retry-after header. Every 429 and 503 has one. */
  readonly retryAfter: number | undefined
  /** For 405: the allowed methods. */
  readonly allow: string | undefined

  constructor(code: FaultCode, extra: FaultExtra = {}, headers: { retryAfter?: number; allow?: string } = {}) {
    super(FAULTS[code].message)
    this.name = "Fault"
    this.code = code
    this.extra = extra
    this.allow = headers.allow
    this.retryAfter = headers.retryAfter ?? (this.status === 429 || this.status === 503 ? 1 : undefined)
  }

  get status(): number {
    return FAULTS[this.code].status
  }

  /** Returns `problems` for a fault thrown after the schema's checks: a list with only this problem. */
  private alone(): FaultExtra {
    const { field, detail, problems } = this.extra
    if (field === undefined || problems) return {}
    return { problems: [{ field, code: this.code, detail: detail ?? FAULTS[this.code].message }] }
  }

  /** Returns {error, message, docs} and the code's fields, in the order of the table. */
  body(docsBase: string): FaultBody {
    const { message, extra } = FAULTS[this.code]
    const body: FaultBody = { error: this.code, message, docs: `${docsBase}/docs/errors#${this.code}` }
    const values = { ...this.extra, ...this.alone() }
    for (const name of extra) if (values[name] !== undefined) Object.assign(body, { [name]: values[name] })
    return body
  }
}

type FaultBody = { error: FaultCode; message: string; docs: string } & FaultExtra

export const FAULT_CODES = Object.keys(FAULTS) as FaultCode[]
