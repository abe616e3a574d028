import { OWN } from "../core/observation/origins.ts"
import type { ListKey } from "../core/observation/subjects.ts"
import type { Sql } from "../database/types.ts"
import type { Log } from "../lib/log.ts"
import type { SourceName, Upstream } from "../lib/upstreams.ts"
import { PRIORITY } from "./priority.ts"

/** A source read over the network. Imported sources have no health. */
export interface CanarySource {
  name: SourceName
  upstream: Upstream
  on: boolean
}

type SourceAlertKind = "source_changed" | "source_blocked" | "source_mismatched"

/**
 * Begins or ends alerts by the stored state of a source: `source_changed` after five unparsed bodies in a row or two
 * failed canaries, `source_blocked` after an hour of refusals, `source_mismatched` after five answers to another
 * question. Only one process logs each change, once.
 */
export async function noteHealth(sql: Sql, source: SourceName, log: Log): Promise<void> {
  const alerts = await sql<{ kind: SourceAlertKind; detail: string; began: boolean }[]>`
    with state as (
      select unparsed, mismatched, refused_since, detail, exists (
        select from due d
        where d.kind = 'canary' and d.subject = ${source} and d.failures >= ${FALLS_IN_A_ROW}::int
        and d.failure = 'changed'
      ) as canary_fell
      from source_state
      where source = ${source}
    ), judged as (
      select 'source_changed' as kind, unparsed >= ${BODIES_IN_A_ROW}::int or canary_fell as begins,
        unparsed = 0 and not canary_fell as ends, case
          when unparsed >= ${BODIES_IN_A_ROW}::int
          then unparsed || ' answers in a row that this version cannot read: ' || coalesce(detail, 'no detail')
          else 'a question that always has results came back without them'
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
    else log("info", "source_alert_ended", { operation: source, reason: `${kind} is over` })
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

const SEARCH = "weather"
const BEGINNING = "insta"

/**
 * Questions that always have results, so that the answer shows whether a source still works. For hints, `term` is the
 * typed prefix. The App Store's hints are requested for a storefront outside the United States: the endpoint returns an
 * empty list for a language that the storefront does not have, and a request in American English would not reveal such
 * a mistake.
 */
const CANARIES: Partial<Record<SourceName, Omit<ListKey, "storefront"> & { storefront?: string }>> = {
  "apple-web-search": { platform: "ios", storefront: "us", term: SEARCH },
  "apple-store-search": { platform: "ios", storefront: "us", term: SEARCH },
  "apple-hints": { platform: "ios", storefront: "de", term: BEGINNING },
  "play-search": { platform: "android", term: SEARCH },
  "play-suggest": { platform: "android", term: BEGINNING },
}

/** Returns the canary of a source. Null if it has none. Google Play is asked only for EGRESS_COUNTRY. */
export function canaryOf(source: SourceName, egressCountry: string | undefined): ListKey | null {
  const canary = CANARIES[source]
  const storefront = canary?.storefront ?? egressCountry
  return canary && storefront ? { ...canary, storefront } : null
}

export interface CanaryParts {
  sources: readonly CanarySource[]
  egressCountry: string | undefined
}

/**
 * Schedules daily canaries while something is tracked on their platform. Rows of other countries stay as long as a
 * process reads them.
 */
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
        where t.origin = ${OWN} and case p.platform when 'ios' then t.ios_app else t.android_app end is not null
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
        and not exists (select from wanted w
          where (w.platform, w.storefront, w.subject) = (d.platform, d.storefront, d.subject))
        and (
          d.platform not in (select platform from tracked)
          or (d.storefront, d.subject) in (
            select c.storefront, c.subject
            from unnest(
              ${canaries.map(({ storefront }) => storefront)}::text[], ${canaries.map(({ name }) => name)}::text[]
            ) c (storefront, subject)
          )
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
