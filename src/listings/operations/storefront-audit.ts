import * as v from "valibot"
import { planCovers } from "../../access/plans.ts"
import { type Context, nothing, ofApp, operation, pending } from "../../core/operation.ts"
import type { TrackedApp } from "../../core/tracked-app.ts"
import { Fault } from "../../lib/faults.ts"
import { described } from "../../lib/schema.ts"
import { Count, Time } from "../../tracking/shapes.ts"
import {
  type AuditState,
  auditState,
  beginScan,
  FAILS_BEYOND_ONE_IN,
  isScannable,
  REFRESH_HOURS,
  SCAN_MINUTES,
} from "../audits/storefront-audits.ts"
import { nullable, Row, Summary, tableOf } from "./storefront-audit-shapes.ts"

/** Rows on the free plan. */
const PREVIEW = 5

export const getStorefrontAudit = operation({
  id: "get_storefront_audit",
  method: "GET",
  path: "/apps/:appId/storefront-audit",
  group: "Your apps",
  toolset: "page",
  summary: "Audits the app's App Store page in every storefront: availability, language and gaps.",
  description:
    `Returns the last scan. With refresh it starts a new scan unless the last is younger than ${REFRESH_HOURS} ` +
    "hours, or joins the running one, and answers 202 with eta in seconds and the stored rows. A scan that leaves " +
    `more than one storefront in ${FAILS_BEYOND_ONE_IN} unread after ${SCAN_MINUTES} minutes fails with ` +
    "audit_failed until another is started. An app that is only on Google Play, or not read by this instance, " +
    `fails with not_measured. The Free plan lists the first ${PREVIEW} rows.`,
  effect: "measures",
  scope: "apps:read",
  plan: "free",
  price: 1,
  faults: ["audit_failed", "not_measured"],
  pending: true,
  input: ofApp({
    refresh: described(v.optional(v.boolean()), "True starts a new scan if the last is old enough."),
  }),
  narrow: { rows: ["rows"] },
  table: "rows",
  output: v.strictObject({
    measured: described(v.boolean(), "False if no scan was finished; everything is unknown."),
    running: described(v.boolean(), "True while a scan is running. The rows are then from the previous scan."),
    startedAt: nullable(Time, "Start of the scan. Null if never scanned."),
    finishedAt: nullable(
      Time,
      `Time of the scan's last reading. Pages read in the ${REFRESH_HOURS} hours before count. Null if never scanned.`,
    ),
    nextRefreshAt: nullable(
      Time,
      "Time from which refresh starts another scan. Null if it would start one now, or while one is running.",
    ),
    summary: nullable(Summary, "Summary of all rows, on every plan. Null if never scanned."),
    rows: described(
      v.array(Row),
      "One row per storefront: sold ones by ratings, most first and unknown last, then not_read, then not_sold; " +
        "ties by code. Empty if never scanned.",
    ),
    locked: described(Count, "Number of rows hidden by the plan. 0 on the Pro plan and above."),
    eta: v.optional(described(Count, "During a scan: expected seconds until the end.")),
  }),
}).run(async ({ app, refresh }, ctx) => {
  if (app.iosApp === null) throw new Fault("not_measured", { detail: NOT_ON_APP_STORE })
  const before = await auditState(ctx.sql, app.iosApp)
  const begins = refresh === true && (before.failed || !before.isYoung)
  const state = begins ? await beginAudit(app, before, ctx) : before
  if (state.failed && state.eta === null) throw new Fault("audit_failed")
  const answer = answerOf(state, planCovers(ctx.caller.plan, "pro") ? Number.POSITIVE_INFINITY : PREVIEW)
  if (state.eta !== null && (begins || !state.last)) return pending({ eta: state.eta }, answer)
  return state.last ? answer : nothing(answer)
})

const NOT_ON_APP_STORE = "This app is not on the App Store; the audit covers App Store storefronts only."
const NOT_READ = "This instance does not read it."

/**
 * Starts a scan. Throws `not_measured` if this instance does not read the app's page, because the scan would then fail
 * an hour later.
 */
async function beginAudit(app: TrackedApp, { eta }: AuditState, { sql, now, measure }: Context): Promise<AuditState> {
  if (eta === null) {
    const page = { kind: "listing", platform: "ios", storefront: app.countries[0], subject: app.iosId! } as const
    const isRead = await isScannable(sql, app.id)
    const read = isRead && (await measure(page, { maxAgeMs: now().getTime(), waitMs: 0 }))
    if (!read || (read.state === "failed" && read.why === "off")) throw new Fault("not_measured", { detail: NOT_READ })
  }
  await beginScan(sql, app.id)
  return await auditState(sql, app.iosApp!)
}

function answerOf({ last, isYoung, eta }: AuditState, most: number) {
  const { summary, rows } = last ? tableOf(last.rows) : { summary: null, rows: [] }
  const nextAt = last && isYoung ? new Date(last.finishedAt.getTime() + REFRESH_HOURS * HOUR_MS) : null
  return {
    measured: last !== null,
    running: eta !== null,
    startedAt: last?.startedAt.toISOString() ?? null,
    finishedAt: last?.finishedAt.toISOString() ?? null,
    nextRefreshAt: nextAt?.toISOString() ?? null,
    summary,
    rows: rows.slice(0, most),
    locked: Math.max(0, rows.length - most),
    ...(eta !== null && { eta }),
  }
}

const HOUR_MS = 3_600_000
