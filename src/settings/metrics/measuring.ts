import type { Sql } from "../../database/types.ts"
import { remembered } from "./database.ts"
import { gauge, type Metric, type Sample } from "./text.ts"

interface MeasuringParts {
  sql: Sql
  now: () => Date
  /** Missing requests per day because of rate limits, by upstream. */
  shortfalls: () => Promise<readonly { upstream: string; short: number }[]>
}

/** Maximum count of subjects and of deliveries, per kind. */
const MAX_COUNTED = 10_000

/**
 * Reads the state of measuring, over all processes. Cached for some seconds. If the database does not answer within a
 * second, the metrics are omitted, because unknown is not zero. Never throws.
 */
export function createMeasuringReader({ sql, now, shortfalls }: MeasuringParts): () => Promise<Metric[]> {
  return remembered(now, async (gate) => {
    const [figures, short] = await Promise.all([gate.run(() => ask(sql)).catch(() => []), shortfalls()])
    return [...figures, shortOf(short)]
  })
}

async function ask(sql: Sql): Promise<Metric[]> {
  return [
    ...(await readSources(sql)),
    ...(await readDue(sql)),
    await countAlerts(sql),
    await countReaders(sql),
    ...(await countDeliveries(sql)),
  ]
}

async function readSources(sql: Sql): Promise<Metric[]> {
  const rows = await sql<{ source: string; answeredAt: number | null; failures: number; ok: number; failed: number }[]>`
    select s.source, extract(epoch from s.answered_at)::float8 as "answeredAt", s.failures,
      coalesce(h.answered, 0)::int as ok, coalesce(h.failed, 0)::int as failed
    from source_state s
    left join lateral (
      select sum(answered) as answered, sum(failed) as failed
      from source_hour
      where source = s.source and hour > now() - interval '24 hours'
    ) h on true
    order by s.source
    limit 200`
  const each = (value: (row: (typeof rows)[number]) => number | null): Sample[] =>
    rows.flatMap((row) => {
      const figure = value(row)
      return figure === null ? [] : [{ labels: { source: row.source }, value: figure }]
    })
  return [
    gauge(
      "appmeter_source_answered_timestamp_seconds",
      "Time of the last answer of a source, in seconds since 1970-01-01T00:00Z.",
      each(({ answeredAt }) => answeredAt),
    ),
    gauge(
      "appmeter_source_failures_in_a_row",
      "Failed readings of a source since its last answer.",
      each(({ failures }) => failures),
    ),
    gauge(
      "appmeter_source_readings_last_day",
      "Readings of a source in the last 24 hours, by outcome.",
      rows.flatMap(({ source, ok, failed }) => [
        { labels: { source, outcome: "answered" }, value: ok },
        { labels: { source, outcome: "failed" }, value: failed },
      ]),
    ),
  ]
}

/** Reads the number and age of due rows with one index step per kind, store and priority, however many rows are due. */
async function readDue(sql: Sql): Promise<Metric[]> {
  const rows = await sql<{ kind: string; platform: string; waiting: number; oldest: number }[]>`
    with recursive place as (
      (
        select kind, platform, priority
        from due
        where lease is null
        order by kind, platform, priority
        limit 1
      )
      union all
      select n.kind, n.platform, n.priority
      from place p
      cross join lateral (
        select d.kind, d.platform, d.priority
        from due d
        where d.lease is null and (d.kind, d.platform, d.priority) > (p.kind, p.platform, p.priority)
        order by d.kind, d.platform, d.priority
        limit 1
      ) n
    )
    select p.kind, p.platform, sum(w.waiting)::int as waiting, max(w.oldest)::float8 as oldest
    from place p
    cross join lateral (
      select count(*) as waiting, coalesce(extract(epoch from now() - min(next_at)), 0) as oldest
      from (
        select next_at
        from due d
        where d.lease is null and (d.kind, d.platform, d.priority) = (p.kind, p.platform, p.priority)
          and d.next_at <= now()
        order by next_at
        limit ${MAX_COUNTED}
      ) f
    ) w
    group by p.kind, p.platform
    order by p.kind, p.platform
    limit 200`
  const labelled = (value: (row: (typeof rows)[number]) => number) =>
    rows.map((row) => ({ labels: { kind: row.kind, platform: row.platform }, value: value(row) }))
  return [
    gauge(
      "appmeter_due",
      `Subjects that are due for a reading, counted up to ${MAX_COUNTED} per priority.`,
      labelled(({ waiting }) => waiting),
    ),
    gauge(
      "appmeter_due_oldest_seconds",
      "Time that the oldest due subject has waited; 0 if none is due.",
      labelled(({ oldest }) => oldest),
    ),
  ]
}

async function countAlerts(sql: Sql): Promise<Metric> {
  const rows = await sql<{ kind: string; value: number }[]>`
    select kind, count(*)::int as value
    from instance_alert
    where ended_at is null
    group by kind
    order by kind
    limit 100`
  const samples = rows.map(({ kind, value }) => ({ labels: { kind }, value }))
  return gauge(
    "appmeter_source_alerts_open",
    "Open alerts about sources. The command appmeter sources lists them.",
    samples,
  )
}

/** Counts the processes that sent a heartbeat, which they do every 30 s. */
async function countReaders(sql: Sql): Promise<Metric> {
  const [row] = await sql<[{ value: number }]>`
    select count(*)::int as value
    from reader
    where seen_at > now() - interval '75 seconds'`
  return gauge("appmeter_readers", "Processes of the instance that read the stores.", [{ value: row.value }])
}

async function countDeliveries(sql: Sql): Promise<Metric[]> {
  const rows = await sql<{ kind: string; waiting: number; undelivered: number; disabled: number }[]>`
    select c.kind, sum(w.waiting)::int as waiting, sum(u.undelivered)::int as undelivered,
      count(c.disabled)::int as disabled
    from channel c
    cross join lateral (
      select count(*) as waiting
      from (
        select
        from delivery d
        where d.channel_id = c.id and d.state = 'waiting'
        limit ${MAX_COUNTED}
      ) f
    ) w
    cross join lateral (
      select count(*) as undelivered
      from (
        select
        from delivery d
        where d.channel_id = c.id and d.state = 'undelivered' and d.ended_at > now() - interval '24 hours'
        limit ${MAX_COUNTED}
      ) f
    ) u
    group by c.kind
    order by c.kind
    limit 20`
  const labelled = (value: (row: (typeof rows)[number]) => number) =>
    rows.map((row) => ({ labels: { channel: row.kind }, value: value(row) }))
  return [
    gauge(
      "appmeter_deliveries_waiting",
      `Alerts waiting for delivery, counted up to ${MAX_COUNTED} per channel.`,
      labelled(({ waiting }) => waiting),
    ),
    gauge(
      "appmeter_deliveries_undelivered_last_day",
      "Alerts whose delivery was given up in the last 24 hours.",
      labelled(({ undelivered }) => undelivered),
    ),
    gauge(
      "appmeter_channels_disabled",
      "Channels that are disabled, because they did not accept alerts.",
      labelled(({ disabled }) => disabled),
    ),
  ]
}

function shortOf(short: readonly { upstream: string; short: number }[]): Metric {
  const samples = short.map(({ upstream, short: value }) => ({ labels: { upstream }, value }))
  return gauge(
    "appmeter_requests_short_per_day",
    "Requests a day that are due but exceed the request rate of an upstream; no series if all fit.",
    samples,
  )
}
