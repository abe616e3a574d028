import * as v from "valibot"
import type { Caller } from "../../access/caller.ts"
import { listChannels } from "../../alerts/delivery/channels.ts"
import { listRules } from "../../alerts/rules.ts"
import { RULE_TYPES } from "../../alerts/types.ts"
import { operation } from "../../core/operation.ts"
import { Fault } from "../../lib/faults.ts"
import { described } from "../../lib/schema.ts"
import { Count, Time } from "../../lib/shapes.ts"
import { saidStorefronts } from "../../lib/storefront-names.ts"
import { SOURCE_NAMES } from "../../lib/upstreams.ts"
import { readSourceStates } from "../../measuring/health.ts"
import { type OpenAlert, openAlerts } from "../../measuring/source-alarms.ts"
import { listAudit, listBroughtApps } from "../../writes/audit.ts"

export const shared = {
  method: "GET" as const,
  group: "Account" as const,
  toolset: "account" as const,
  effect: "reads" as const,
  price: 0,
  faults: [],
  input: v.strictObject({}),
}

const moment = v.nullable(Time)
const isoOf = (at: Date | null) => at?.toISOString() ?? null

export const listAlertRules = operation({
  ...shared,
  id: "list_alert_rules",
  path: "/page/alert-rules",
  summary: "Which alerts are delivered where.",
  scope: "apps:read",
  output: v.strictObject({
    types: described(v.array(v.string()), "Types of alerts that can have rules."),
    rules: v.array(
      v.strictObject({
        type: v.string(),
        channels: v.array(v.string()),
        dropBy: v.nullable(Count),
        keywordScope: v.nullable(v.string()),
        rivalScope: v.nullable(v.string()),
      }),
    ),
    channels: v.array(
      v.strictObject({
        id: v.string(),
        kind: v.string(),
        address: described(v.string(), "The part of the address that may be shown."),
        disabled: described(v.nullable(v.string()), "Why nothing is sent to the channel. Null if it is enabled."),
        lastOk: moment,
        lastFailure: moment,
        failure: v.nullable(v.string()),
        waiting: Count,
      }),
    ),
  }),
}).run(async (_, { sql, caller }) => {
  refuseLimited(caller)
  const channels = await listChannels(sql, caller.workspaceId)
  return {
    types: [...RULE_TYPES],
    rules: await listRules(sql, caller.workspaceId),
    channels: channels.map(({ id, kind, address, disabled, lastOk, lastFailure, failure, waiting }) => ({
      id,
      kind,
      address,
      disabled,
      failure,
      waiting,
      lastOk: isoOf(lastOk),
      lastFailure: isoOf(lastFailure),
    })),
  }
})

const WRITES_SHOWN = 50

export const listWrites = operation({
  ...shared,
  id: "list_writes",
  path: "/page/writes",
  summary: "Confirmed writes with their time and key, and what the demo did.",
  scope: null,
  output: v.strictObject({
    writes: v.array(
      v.strictObject({
        at: Time,
        by: described(
          v.nullable(v.string()),
          "The key's name, or who else made the write. Null if the key's record is gone.",
        ),
        action: v.string(),
        summary: described(v.string(), "What the person approved."),
        credits: Count,
        requestId: described(v.nullable(v.string()), "Null if no key requested the write."),
        approvedBy: described(v.nullable(v.string()), "Null if nobody was asked to approve it."),
      }),
    ),
  }),
}).run(async (_, { sql, caller }) => {
  refuseLimited(caller)
  const { workspaceId, scopes: rights } = caller
  const writes = await listAudit(sql, { workspaceId, rights, limit: WRITES_SHOWN })
  const confirmed = writes.map(({ at, key, action, summary, credits, requestId, approvedBy }) => ({
    at,
    by: key.name,
    action,
    summary,
    credits,
    requestId,
    approvedBy,
  }))
  const brought = (await listBroughtApps(sql, { workspaceId, limit: WRITES_SHOWN })).map(
    ({ origin, name, countries, at }) => ({
      at,
      by: `the ${origin}`,
      action: "add_app",
      summary: `Track "${name}" in ${saidStorefronts(countries)}.`,
      credits: 0,
      requestId: null,
      approvedBy: null,
    }),
  )
  const newest = [...confirmed, ...brought].sort((a, b) => b.at.getTime() - a.at.getTime()).slice(0, WRITES_SHOWN)
  return { writes: newest.map(({ at, ...write }) => ({ at: at.toISOString(), ...write })) }
})

export const listSources = operation({
  ...shared,
  id: "list_sources",
  path: "/page/sources",
  summary: "The status of each source of measurements.",
  scope: "server:operate",
  output: v.strictObject({
    sources: v.array(
      v.strictObject({
        source: v.string(),
        lastSuccess: described(moment, "Null if the source never answered."),
        answered24h: Count,
        failed24h: Count,
        lastFailure: v.nullable(v.strictObject({ at: Time, outcome: v.string() })),
        failuresInARow: Count,
      }),
    ),
    alerts: v.array(v.strictObject({ kind: v.string(), source: v.string(), since: Time })),
  }),
}).run(async (_, { sql }) => {
  const states = await readSourceStates(sql, SOURCE_NAMES.filter(isAsked))
  return {
    sources: states.map(({ source, answeredAt, answered24h, failed24h, failedAt, failure, failures }) => ({
      source,
      lastSuccess: isoOf(answeredAt),
      answered24h,
      failed24h,
      lastFailure: failedAt && failure ? { at: failedAt.toISOString(), outcome: failure } : null,
      failuresInARow: failures,
    })),
    alerts: (await openAlerts(sql)).filter(isOfSource).map(({ kind, subject: source, at }) => ({
      kind,
      source,
      since: at.toISOString(),
    })),
  }
})

/**
 * Returns whether this instance reads the source itself. Readings of other instances and Apple's monthly reports are
 * imported.
 */
const isAsked = (source: string) => !["import", "foreign", "apple-ads-report"].includes(source)

/** Returns whether the alert is about a source. Other alerts are about a workspace's connected accounts. */
const isOfSource = ({ subject }: OpenAlert) => (SOURCE_NAMES as readonly string[]).includes(subject)

/** Throws app_not_allowed if the caller is limited to some apps, because workspace-wide data is hidden from them. */
export function refuseLimited({ appList }: Caller): void {
  if (appList) throw new Fault("app_not_allowed")
}
