import type { Outcome } from "../core/observation/attempt.ts"
import type { Sql } from "../database/types.ts"
import { valueAt } from "../lib/objects.ts"
import type { SourceName, Upstream } from "../lib/upstreams.ts"
import { type Budget, type BudgetParts, readBudget } from "./budget.ts"
import { outcomeOfDue } from "./rescheduling.ts"
import { type CanaryParts, canaryOf } from "./source-alarms.ts"

export interface SourceHealth {
  source: SourceName
  upstream: Upstream
  on: boolean
  lastSuccess: Date | null
  /** Reads of the last 24 clock hours. */
  answered24h: number
  failed24h: number
  /** 0 to 1. Null if nothing was read. */
  successRate24h: number | null
  /**
   * Number of apps for which the source returned a stale response in the last 24 hours: a cached response that is older
   * than an earlier one.
   */
  stale24h: number
  lastFailure: { at: Date; outcome: Outcome; detail: string | null } | null
  /** Failed reads since the last success. */
  failuresInARow: number
  /** The budget of the source's upstream. Null if no measured kind sends its first request to that upstream. */
  budget: Budget | null
  pace: Pace
  /** Null if the source has no canary, or if nothing that the source could read is tracked. */
  canary: CanaryHealth | null
}

interface Pace {
  gapMs: number
  baseGapMs: number
  /** End of the pause after a refusal. Null if it is over. */
  waitingUntil: Date | null
}

interface CanaryHealth {
  subject: string
  storefront: string
  lastMeasured: Date | null
  /** "waiting": not measured yet. */
  state: "waiting" | "answers" | Outcome
}

export type HealthParts = BudgetParts & CanaryParts

export async function readHealth(sql: Sql, parts: HealthParts): Promise<SourceHealth[]> {
  const { sources, gapsMs, egressCountry } = parts
  const [states, paces, canaries, budgets] = [
    await readSourceStates(
      sql,
      sources.map(({ name }) => name),
    ),
    await readPaces(sql, parts),
    await readCanaries(sql),
    await readBudget(sql, parts),
  ]
  const stale = await readStale(sql)
  const stateOf = new Map(states.map((state) => [state.source, state]))
  return sources.map(({ name: source, upstream, on }) => {
    const { answered24h, failed24h, answeredAt, failedAt, failure, detail, failures } = valueAt(stateOf, source)
    const reads = answered24h + failed24h
    const gapMs = gapsMs.get(upstream) ?? 0
    const canary = canaryOf(source, egressCountry)
    const row = canaries.find(({ subject, storefront }) => subject === source && storefront === canary?.storefront)
    return {
      source,
      upstream,
      on,
      lastSuccess: answeredAt,
      answered24h,
      failed24h,
      successRate24h: reads === 0 ? null : answered24h / reads,
      stale24h: stale.get(source) ?? 0,
      lastFailure: failedAt && failure ? { at: failedAt, outcome: failure, detail } : null,
      failuresInARow: failures,
      budget: budgets.find((budget) => budget.upstream === upstream) ?? null,
      pace: paces.get(upstream) ?? { gapMs, baseGapMs: gapMs, waitingUntil: null },
      canary: canary && row ? canaryHealth(canary.term, row) : null,
    }
  })
}

/** The recent state of a source. `answeredAt` is null if the source never answered, `failedAt` if it never failed. */
interface SourceState {
  source: SourceName
  answeredAt: Date | null
  failedAt: Date | null
  failure: Outcome | null
  detail: string | null
  failures: number
  answered24h: number
  failed24h: number
}

export async function readSourceStates(sql: Sql, sources: readonly SourceName[]): Promise<SourceState[]> {
  return await sql<SourceState[]>`
    select n.source, s.answered_at as "answeredAt", s.failed_at as "failedAt", s.failure, s.detail,
      coalesce(s.failures, 0) as failures, coalesce(h.answered, 0)::int as "answered24h",
      coalesce(h.failed, 0)::int as "failed24h"
    from unnest(${[...sources]}::text[]) n (source)
    left join source_state s using (source)
    left join lateral (
      select sum(answered) as answered, sum(failed) as failed
      from source_hour
      where source = n.source and hour > now() - interval '24 hours'
    ) h on true
    order by n.source
    limit 100`
}

async function readStale(sql: Sql): Promise<Map<string, number>> {
  const rows = await sql<{ source: string; apps: number }[]>`
    select source, count(*)::int as apps
    from (
      select source, app_id
      from app_storefront
      where stale_at > now() - interval '24 hours'
      union
      select source, app_id
      from listing_run
      where section = 'stale' and seen_at > now() - interval '24 hours'
    ) s
    group by source
    limit 100`
  return new Map(rows.map(({ source, apps }) => [source, apps]))
}

async function readPaces(sql: Sql, { egress }: HealthParts): Promise<Map<Upstream, Pace>> {
  const rows = await sql<(Pace & { upstream: Upstream })[]>`
    select upstream, gap_ms as "gapMs", base_gap_ms as "baseGapMs",
      case when refusals > 0 and next_at > now() then next_at end as "waitingUntil"
    from pace
    where egress = ${egress}
    order by upstream
    limit 100`
  return new Map(rows.map(({ upstream, ...pace }) => [upstream, pace]))
}

interface CanaryRow {
  subject: string
  storefront: string
  measuredAt: Date | null
  failure: Outcome | null
  failures: number
}

async function readCanaries(sql: Sql): Promise<CanaryRow[]> {
  return await sql<CanaryRow[]>`
    select subject, storefront, measured_at as "measuredAt", ${outcomeOfDue(sql)} as failure, failures
    from due
    where kind = 'canary'
    order by platform, storefront, subject
    limit 1000`
}

function canaryHealth(subject: string, { storefront, measuredAt, failure, failures }: CanaryRow): CanaryHealth {
  const calm = measuredAt ? "answers" : "waiting"
  return { subject, storefront, lastMeasured: measuredAt, state: failures > 0 && failure ? failure : calm }
}
