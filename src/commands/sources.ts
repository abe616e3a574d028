import type { Budget } from "../measuring/budget.ts"
import { type CountryAnswers, effectOf, readCountries } from "../measuring/countries.ts"
import { readHealth, type SourceHealth } from "../measuring/health.ts"
import { type OpenAlert, openAlerts } from "../measuring/source-alarms.ts"
import type { MeasuringSettings } from "../settings/settings.ts"
import type { Command } from "./cli/command.ts"
import { fitted, show, table } from "./cli/show.ts"
import { assertMade } from "./cli/whole-database.ts"
import { useDatabase } from "./cli/with-database.ts"
import { EFFECTS } from "./doctor/countries.ts"
import { measuredBy } from "./process/measured-kinds.ts"

export const sources: Command = {
  name: "sources",
  summary: "Show data source status, rate-limit shortfalls and open alerts.",
  details: "Exit code 1 while a source is broken.",
  examples: [
    ["sources", "last responses, failures, request rate and canaries"],
    ["sources --json | jq '.sources[] | select(.failuresInARow > 0)'", "only sources that are failing"],
  ],
  async run(invocation) {
    const { settings } = invocation
    assertMade(settings)
    const parts = measuredBy(settings.measuring)
    const [health, alerts, answers] = await useDatabase(invocation, async (sql) => [
      await readHealth(sql, parts),
      await openAlerts(sql),
      await readCountries(sql, parts.egress),
    ])
    const budgets = budgetsOf(health)
    const short = budgets.filter((budget) => budget.short > 0)
    const broken = health.filter(({ on, source }) => on && alerts.some(({ subject }) => subject === source))
    const countries = { effect: effectOf(answers), answers }
    const value = { healthy: broken.length === 0, sources: health, short, countries, alerts }
    const lines = () => [
      ...sourceLines(health, settings.measuring),
      "",
      ...budgetLines(budgets),
      ...countryLines(answers),
      ...alertLines(alerts),
    ]
    show(invocation, value, () => lines().map((line) => fitted(line, invocation.terminal.columns())))
    return broken.length === 0 ? 0 : 1
  },
}

/** Returns each upstream's budget once. */
function budgetsOf(health: readonly SourceHealth[]): Budget[] {
  const budgets = new Map(health.flatMap(({ budget }) => (budget ? [[budget.upstream, budget] as const] : [])))
  return [...budgets.values()]
}

function sourceLines(health: readonly SourceHealth[], { sourcesOff }: MeasuringSettings): string[] {
  const headings = [
    "SOURCE",
    "UPSTREAM",
    "ENABLED",
    "LAST SUCCESS",
    "24 H",
    "LAST FAILURE",
    "IN A ROW",
    "REASON",
    "GAP",
    "CANARY",
  ]
  const rows = health.map((one) => [
    one.source,
    one.upstream,
    one.on ? "yes" : `no: ${sourcesOff.includes(one.source) ? "SOURCES_OFF" : "no EGRESS_COUNTRY"}`,
    moment(one.lastSuccess),
    lastDay(one),
    moment(one.lastFailure?.at ?? null),
    one.failuresInARow,
    one.lastFailure ? [one.lastFailure.outcome, one.lastFailure.detail].filter(Boolean).join(": ") : null,
    gap(one),
    one.canary && `${one.canary.subject}, ${one.canary.storefront}: ${one.canary.state}`,
  ])
  return table(headings, rows)
}

/** Returns the share of answered reads and the number of stale answers in the last day. */
function lastDay({ successRate24h, stale24h }: SourceHealth): string | null {
  const share = successRate24h === null ? [] : [`${Math.floor(successRate24h * 1_000) / 10} %`]
  return [...share, ...(stale24h > 0 ? [`${stale24h} stale`] : [])].join(", ") || null
}

function gap({ pace: { gapMs, baseGapMs, waitingUntil } }: SourceHealth): string {
  const slowed = gapMs > baseGapMs ? `, normally ${baseGapMs}` : ""
  return `${gapMs} ms${slowed}${waitingUntil ? `, paused until ${moment(waitingUntil)}` : ""}`
}

/** Returns the time in UTC, to the second. */
function moment(at: Date | null): string | null {
  return at && `${at.toISOString().slice(0, 19)}Z`
}

function budgetLines(budgets: readonly Budget[]): string[] {
  const rows = budgets.map((one) => [one.upstream, one.asked, one.paying, one.can, one.short])
  return table(["REQUESTS A DAY TO", "DUE", "PAID PLANS", "POSSIBLE", "SHORT"], rows)
}

function countryLines(answers: readonly CountryAnswers[]): string[] {
  if (answers.length === 0) return []
  const rows = answers.map((one) => [
    one.asked.toUpperCase(),
    one.answered.toUpperCase(),
    one.reads,
    moment(one.firstAt),
    moment(one.lastAt),
  ])
  const headings = ["GOOGLE PLAY REQUESTED", "RECEIVED", "PAGES", "FIRST", "LATEST"]
  return ["", ...table(headings, rows), `So far ${EFFECTS[effectOf(answers)]}.`]
}

function alertLines(alerts: readonly OpenAlert[]): string[] {
  if (alerts.length === 0) return []
  const rows = alerts.map(({ kind, subject, at, detail }) => [kind, subject, moment(at), detail])
  return ["", ...table(["ALERT", "SUBJECT", "SINCE", "DETAIL"], rows)]
}
