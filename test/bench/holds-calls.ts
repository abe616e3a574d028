// The calls of test/bench/holds.ts to the world of years-world.ts: every operation of the catalogue, for the app with
// the most keywords. Each is called with its default and, if larger, for the largest answer that a caller may request.

import type { Operation } from "../../src/core/operation.ts"
import type { Sql } from "../../src/database/types.ts"
import { actions } from "../../src/writes.ts"
import { inputOf, isReadOfApp } from "./years-calls.ts"

export interface BenchCall {
  name: string
  method: "GET" | "POST"
  path: string
  body?: object
  accept?: string
}

export interface Subjects {
  sql: Sql
  appId: string
  /** Store ids. */
  iosId: string
  rivalId: string
}

export function callsOf(operation: Operation, subjects: Subjects): BenchCall[] {
  const { id } = operation
  if (id === "preview_action") return actions.map((action) => previewOf(action, subjects))
  const isOfApp = isReadOfApp(operation) || operation.subject
  const usual = isOfApp ? inputOf(operation, subjects.appId, subjects.rivalId) : outside(id, subjects)
  const [largeCalls, rows] = [LARGE_CALLS[id], Object.hasOwn(operation, "narrow") ? NARROWED[id] : undefined]
  return [
    requestOf(operation, usual, id),
    ...(largeCalls ?? []).map((values) =>
      requestOf(operation, { ...usual, ...values }, `${id} ${JSON.stringify(values)}`),
    ),
    ...(rows ? [requestOf(operation, { ...usual, fields: rows }, `${id} fields=${rows}`)] : []),
    ...(TABLES.has(id)
      ? [{ ...requestOf(operation, { ...usual, ...LARGE_CALLS[id]?.[0] }, `${id} as CSV`), accept: "text/csv" }]
      : []),
    ...(TOOLS.has(id) ? [toolCall(id, { ...usual, ...LARGE_CALLS[id]?.[0] })] : []),
    ...(id === "fetch" ? recordsOf(operation, subjects) : []),
  ]
}

/** Inputs that request more than the default. */
const LARGE_CALLS: Record<string, Record<string, unknown>[]> = {
  search: [{ q: "keyword 1" }, { q: "e" }, { q: "nothing is called so" }],
  list_alerts: [{ limit: 500 }],
  get_rank_history: [{ days: 365 }, { days: 365, limit: 200 }],
  get_review_stats: [{ days: 365 }],
  search_reviews: [{ q: "somebody", limit: 200 }],
  get_chart_movers: [{ days: 30 }],
  get_weekly_plan: [{ goal: "rank", limit: 10 }],
  hive_get_chart: [{ estimates: true }],
  hive_get_keyword_ranks: [{ top: 200, days: 90 }],
}

/** Operations with the largest answers. */
const TOOLS = new Set(["get_portfolio_overview", "list_apps", "list_keyword_ranks", "get_rank_history", "list_alerts"])
const TABLES = new Set(["list_keyword_ranks", "get_rank_history"])

const NARROWED: Record<string, string> = { list_keyword_ranks: "term,rank" }

/** Inputs of operations about data that belongs to no workspace. */
function outside(id: string, { iosId, rivalId }: Subjects): Record<string, unknown> {
  const ofHive: Record<string, Record<string, unknown>> = {
    check_rank: { app: iosId, term: "keyword 13", cc: "us" },
    get_keyword_difficulty: { term: "keyword 13", cc: "us" },
    hive_get_chart: { genre: "6007", kind: "free" },
    hive_get_chart_movers: { genre: "6007", kind: "free" },
    hive_get_publisher: { publisherId: `9${rivalId}` },
    hive_get_similar_apps: { appId: iosId, country: "us" },
    hive_list_reviews: { appId: iosId },
    hive_get_app: { id: rivalId },
    hive_get_keyword_ranks: { term: "keyword 13" },
    hive_find_apps: { country: "us", genre: "6007", limit: 200 },
    hive_resolve_app: { q: "App 2" },
    hive_spy_app: { id: iosId },
    hive_get_keyword_gap: { ids: `${iosId},${rivalId}` },
    hive_research_keyword: { seed: "keyword 13" },
    hive_estimate_app: { id: rivalId },
    hive_get_keyword_metrics: { term: "keyword 13" },
    hive_get_keyword_metrics_history: { term: "keyword 13" },
    get_job: { jobId: "job_AAAAAAAAAAAAAAAAAAAA" },
    confirm_action: { confirmToken: `confirm_${"A".repeat(43)}` },
  }
  return ofHive[id] ?? {}
}

function recordsOf(operation: Operation, { appId, rivalId }: Subjects): BenchCall[] {
  const ids = [`kw:${appId}:us:keyword%2013`, `rival:${appId}:${rivalId}`]
  return ids.map((id) => requestOf(operation, { id }, `fetch ${id.split(":")[0]}`))
}

/** Returns the preview of an action, with the action's example for this app. */
function previewOf({ name, example }: (typeof actions)[number], { appId, rivalId }: Subjects): BenchCall {
  const keywords = Array.from({ length: 50 }, (_, i) => `new ${i}`)
  const args = {
    ...(example as object),
    ...(Object.hasOwn(example as object, "appId") && { appId }),
    ...(Object.hasOwn(example as object, "keywords") && { keywords }),
    ...(Object.hasOwn(example as object, "rivals") && { rivals: [`ios:${rivalId}`] }),
  }
  return { name: `preview ${name}`, method: "POST", path: "/v1/actions", body: { action: name, args } }
}

function toolCall(name: string, args: Record<string, unknown>): BenchCall {
  const body = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: args } }
  return { name: `tool ${name}`, method: "POST", path: "/mcp", body, accept: "application/json, text/event-stream" }
}

function requestOf({ method, path }: Operation, input: Record<string, unknown>, name: string): BenchCall {
  const named = new Set([...path.matchAll(/:(\w+)/g)].map(([, parameter]) => parameter as string))
  const filled = path.replaceAll(/:(\w+)/g, (_, parameter: string) => encodeURIComponent(String(input[parameter])))
  const rest = Object.entries(input).filter(([key]) => !named.has(key))
  if (method === "POST") return { name, method, path: `/v1${filled}`, body: Object.fromEntries(rest) }
  const query = new URLSearchParams(rest.map(([key, value]) => [key, String(value)])).toString()
  return { name, method: "GET", path: `/v1${filled}${query === "" ? "" : `?${query}`}` }
}
