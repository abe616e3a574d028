import type { Sql } from "../database/types.ts"
import type { Log } from "../log.ts"
import type { Platform, SearchObservation } from "../observations/types.ts"
import { ReadFailure } from "../sources/source.ts"
import type { SourceName, Upstream } from "../vocabulary/upstreams.ts"
import { PRIORITY } from "./priority.ts"

/** A source that is asked over the network; what is imported has no health. */
export interface AskedSource {
  name: SourceName
  upstream: Upstream
  on: boolean
}

/**
 * Begins or ends the alert that the database's facts ask for: `source_changed` after five bodies in a row that were not
 * understood or two failed canaries, `source_blocked` after an hour of refusals, `source_mismatched` after five answers
 * to another question. One process logs it, once.
 */
export async function noteHealth(sql: Sql, source: SourceName, log: Log): Promise<void> {
  const alerts = await sql<{ kind: string; detail: string; began: boolean }[]>`
    with state as (
      select unparsed, mismatched, refused_since, detail, exists (
        select from due d where d.kind = 'canary' and d.subject = ${source} and d.failures >= ${FALLS_IN_A_ROW}::int and d.failure = 'changed'
      ) as canary_fell
      from source_state
      where source = ${source}
    ), judged as (
      select 'source_changed' as kind, unparsed >= ${BODIES_IN_A_ROW}::int or canary_fell as begins,
        unparsed = 0 and not canary_fell as ends, case
          when unparsed >= ${BODIES_IN_A_ROW}::int
          then unparsed || ' answers in a row that this version cannot read: ' || coalesce(detail, 'no detail')
          else 'a search that always has results came back without them'
        end as detail
      from state
      union all
      select 'source_blocked', refused_since <= now() - interval '1 hour', refused_since is null,
        'refused for an hour without an answer: ' || coalesce(detail, 'no detail')
      from state
      union all
      select 'source_mismatched', mismatched >= ${BODIES_IN_A_ROW}::int, mismatched = 0,
        mismatched || ' answers in a row to another question than was asked: ' || coalesce(detail, 'no detail')
      from state
    ), began as (
      insert into instance_alert (kind, subject, detail)
      select j.kind, ${source}, j.detail
      from judged j
      where j.begins and not exists (${openAlert(sql, source)})
      order by j.kind
      on conflict (kind, subject) where ended_at is null do nothing
      returning kind, detail
    ), ended as (
      update instance_alert a
      set ended_at = now()
      from judged j
      where a.kind = j.kind and a.subject = ${source} and a.ended_at is null and j.ends
      returning a.kind, a.detail
    )
    select kind, detail, true as began from began
    union all
    select kind, detail, false from ended
    order by kind, began
    limit 6`
  for (const { kind, detail, began } of alerts) {
    if (began) log("error", kind, { operation: source, reason: detail })
    else log("info", "source_recovered", { operation: source, reason: `${kind} is over` })
  }
}

const BODIES_IN_A_ROW = 5
const FALLS_IN_A_ROW = 2

function openAlert(sql: Sql, source: SourceName) {
  return sql`select from instance_alert a where a.kind = j.kind and a.subject = ${source} and a.ended_at is null`
}

export interface OpenAlert {
  kind: string
  subject: string
  detail: string
  at: Date
}

export async function openAlerts(sql: Sql): Promise<OpenAlert[]> {
  return await sql<OpenAlert[]>`
    select kind, subject, detail, at
    from instance_alert
    where ended_at is null
    order by at, id
    limit 1000`
}

/** A search whose result is never empty: what a source answers to it shows whether the source still works. */
interface Canary {
  platform: Platform
  storefront: string
  term: string
}

const CANARIES: Partial<Record<SourceName, Platform>> = {
  "apple-web-search": "ios",
  "apple-store-search": "ios",
  "play-search": "android",
}

/** Null for a source without one. Google Play's is asked for EGRESS_COUNTRY alone. */
export function canaryOf(source: SourceName, egressCountry: string | undefined): Canary | null {
  const platform = CANARIES[source]
  const storefront = platform === "android" ? egressCountry : "us"
  return platform && storefront ? { platform, storefront, term: "weather" } : null
}

// Google Play shows about 30 apps for such a term, the App Store more.
const FEWEST = 10

/** Throws ReadFailure, `changed`, for an answer so short that only what was read can be wrong. */
export function assertCanary({ term, storefront, results }: SearchObservation): void {
  if (results.length >= FEWEST) return
  throw new ReadFailure("changed", `${results.length} apps for ${JSON.stringify(term)} in ${storefront}`)
}

interface CanaryParts {
  sources: readonly AskedSource[]
  egressCountry: string | undefined
}

/** Daily canaries while something is tracked on their platform. Rows of other countries stay while they are read. */
export async function ensureCanaries(sql: Sql, { sources, egressCountry }: CanaryParts): Promise<void> {
  const canaries = sources.flatMap(({ name, on }) => {
    const canary = canaryOf(name, egressCountry)
    return canary ? [{ name, on, ...canary }] : []
  })
  const inUse = canaries.filter(({ on }) => on)
  await sql`
    with tracked as materialized (
      select p.platform
      from (values ('ios'), ('android')) p (platform)
      where exists (
        select
        from tracked_app t
        join workspace w on w.id = t.workspace_id
        where t.origin <> 'demo' and case p.platform when 'ios' then t.ios_app else t.android_app end is not null
          and w.suspended_at is null and w.deleted_at is null
      )
    ), wanted as materialized (
      select w.platform, w.storefront, w.subject
      from unnest(
        ${inUse.map(({ platform }) => platform)}::text[],
        ${inUse.map(({ storefront }) => storefront)}::text[],
        ${inUse.map(({ name }) => name)}::text[]
      ) w (platform, storefront, subject)
      join tracked using (platform)
    ), unwanted as materialized (
      select d.platform, d.storefront, d.subject
      from due d
      where d.kind = 'canary' and d.lease is null
        and not exists (select from wanted w where (w.platform, w.storefront, w.subject) = (d.platform, d.storefront, d.subject))
        and (
          d.platform not in (select platform from tracked)
          or d.storefront = any(${canaries.map(({ storefront }) => storefront)}::text[])
          or d.next_at < now() - interval '2 days'
        )
      order by d.platform, d.storefront, d.subject
      for update skip locked
    ), gone as (
      delete from due d
      using unwanted u
      where d.kind = 'canary' and (d.platform, d.storefront, d.subject) = (u.platform, u.storefront, u.subject)
    )
    insert into due (kind, platform, storefront, subject, priority)
    select 'canary', platform, storefront, subject, ${PRIORITY.paying}::int
    from wanted
    order by platform, storefront, subject
    on conflict do nothing`
}
