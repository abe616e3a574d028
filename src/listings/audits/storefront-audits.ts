import { json } from "../../database/json.ts"
import type { Sql } from "../../database/types.ts"
import { STOREFRONTS } from "../../lib/storefronts.ts"
import { preferredRating } from "../../stores/read/rating-days.ts"
import { type ScannedStorefront, writtenIn } from "./audit.ts"

/** A new scan is refused for this long after a successful one. */
export const REFRESH_HOURS = 12
/**
 * Maximum duration of a scan. Storefronts that are not read by then stay unread. The table's triggers and views repeat
 * this figure and REFRESH_HOURS.
 */
export const SCAN_MINUTES = 60
/** A scan fails if more than one in this many storefronts was not read. */
export const FAILS_BEYOND_ONE_IN = 10

/**
 * A storefront's facts as the audit stores them. A fact is null if it is unknown. If `readAt` is null, every fact is
 * unknown.
 */
export interface AuditRow extends ScannedStorefront {
  readAt: string | null
  /** The page's language (BCP 47), which the request chose. */
  language: string | null
  screenshotsPad: number | null
  rating: number | null
  price: number | null
  currency: string | null
}

interface Audit {
  startedAt: Date
  finishedAt: Date
  rows: AuditRow[]
}

export interface AuditState {
  /** The last successful scan. A later scan that fails does not replace it. */
  last: Audit | null
  isYoung: boolean
  /** True if the latest finished scan failed. */
  failed: boolean
  /** Estimated seconds until the running scan ends. Null if none is running. */
  eta: number | null
}

/**
 * Returns the state of an app's scans (store_app id). Ends the running scan if all its storefronts are decided or its
 * time is up.
 */
export async function auditState(sql: Sql, appId: number): Promise<AuditState> {
  const scan = await scanUnderWay(sql, appId)
  const ended = scan !== null && (scan.left === 0 || scan.isOver) && (await endScan(sql, appId, scan))
  const [row] = await sql<[Audit & { isYoung: boolean | null; failed: boolean | null }]>`
    select g.started_at as "startedAt", g.finished_at as "finishedAt", g.rows, l.failed,
      g.finished_at > now() - ${REFRESH_HOURS}::int * interval '1 hour' as "isYoung"
    from (select) nothing
    left join lateral (
      select failed
      from storefront_audit
      where app_id = ${appId} and finished_at is not null
      order by started_at desc
      limit 1
    ) l on true
    left join lateral (
      select started_at, finished_at, rows
      from storefront_audit
      where app_id = ${appId} and finished_at is not null and not failed
      order by started_at desc
      limit 1
    ) g on true`
  const { failed, isYoung, startedAt, finishedAt, rows } = row
  const last = startedAt === null ? null : { startedAt, finishedAt, rows }
  return {
    last,
    isYoung: isYoung ?? false,
    failed: failed ?? false,
    eta: scan && !ended ? await estimateEnd(sql, appId, scan) : null,
  }
}

/**
 * Returns whether this workspace's app has pages that can be read: the app is on the App Store and is not a demo app.
 */
export async function isScannable(sql: Sql, trackedAppId: string): Promise<boolean> {
  const rows = await sql`
    select
    from measured_app
    where id = ${trackedAppId} and ios_app is not null`
  return rows.length > 0
}

/**
 * Starts a scan or joins the running one. Does nothing while the last successful scan is recent, or if the app cannot
 * be scanned.
 */
export async function beginScan(sql: Sql, trackedAppId: string): Promise<void> {
  await sql`
    insert into storefront_audit as held (app_id, storefronts, priority)
    select a.ios_app, ${STOREFRONTS as string[]}::text[], a.priority
    from measured_app a
    where a.id = ${trackedAppId} and a.ios_app is not null and not exists (
      select
      from storefront_audit
      where app_id = a.ios_app and not failed
        and finished_at > now() - ${REFRESH_HOURS}::int * interval '1 hour'
    )
    on conflict (app_id) where finished_at is null do update
    set priority = excluded.priority
    where held.priority > excluded.priority`
}

interface Scan {
  /** A string, because a Date would lose some of the database's precision. */
  startedAt: string
  storefronts: string[]
  priority: number
  /** Number of storefronts that are not decided yet. */
  left: number
  isOver: boolean
  /** Seconds until the scan times out. */
  leftS: number
}

async function scanUnderWay(sql: Sql, appId: number): Promise<Scan | null> {
  const [scan] = await sql<Scan[]>`
    select x.started_at::text as "startedAt", x.storefronts, x.priority, cardinality(x.storefronts) - (
        select count(*)
        from storefront_evidence(x.app_id, x.storefronts, ${since(sql)})
      )::int as left,
      x.started_at <= now() - ${SCAN_MINUTES}::int * interval '1 minute' as "isOver",
      extract(epoch from x.started_at - now())::float8 + ${SCAN_MINUTES * 60}::int as "leftS"
    from storefront_audit x
    where x.app_id = ${appId} and x.finished_at is null`
  return scan ?? null
}

/** Selects the start of the period whose readings count for scan `x`. The period starts before the scan does. */
function since(sql: Sql) {
  return sql`x.started_at - ${REFRESH_HOURS}::int * interval '1 hour'`
}

/**
 * Ends the scan as of its last reading. If several calls run at once, only one ends the scan. Returns false if
 * storefronts are still pending.
 */
async function endScan(sql: Sql, appId: number, { startedAt, storefronts, isOver }: Scan): Promise<boolean> {
  const found: AuditReading[] = []
  for (let at = 0; at < storefronts.length; at += AT_ONCE)
    found.push(...(await readPages(sql, { appId, startedAt, storefronts: storefronts.slice(at, at + AT_ONCE) })))
  const rows = rowsOf(found)
  const read = rows.flatMap(({ readAt }) => readAt ?? [])
  const isDecided = read.length === rows.length
  if (!isDecided && !isOver) return false
  const failed = (rows.length - read.length) * FAILS_BEYOND_ONE_IN > rows.length
  const lastAt = read.toSorted().at(-1) ?? null
  await sql`
    with ended as (
      update storefront_audit
      set failed = ${failed}, rows = ${json(sql, rows)}, finished_at = case
          when ${isDecided} then least(${hourAfter(sql)}, greatest(started_at, ${lastAt}::timestamptz))
          else ${hourAfter(sql)}
        end
      where app_id = ${appId} and started_at = ${startedAt}::text::timestamptz and finished_at is null
      returning app_id, started_at, failed
    )
    delete from storefront_audit x
    using ended e
    where x.app_id = e.app_id and x.started_at < e.started_at and (x.failed or not e.failed)`
  return true
}

function hourAfter(sql: Sql) {
  return sql`started_at + ${SCAN_MINUTES}::int * interval '1 minute'`
}

type AuditReading = Omit<AuditRow, "writtenIn" | "readAt"> & { readAt: Date | null; description: string | null }

/**
 * The embedded database runs one statement at a time, so the work is split into chunks between which other statements
 * can run.
 */
const AT_ONCE = 50

interface ScanQuery extends Pick<Scan, "startedAt" | "storefronts"> {
  appId: number
}

async function readPages(sql: Sql, { appId, startedAt, storefronts }: ScanQuery): Promise<AuditReading[]> {
  return await sql<AuditReading[]>`
    select p.storefront as country,
      case when e.sold then 'sold' when not e.sold then 'not_sold' else 'not_read' end as state,
      e.seen_at as "readAt", c.language, c.name, c.subtitle, left(c.description, 1000) as description,
      md5(jsonb_build_array(c.name, c.subtitle, c.description)::text) as text,
      jsonb_array_length(c.screenshots -> 'phone') as "screenshotsPhone",
      jsonb_array_length(c.screenshots -> 'pad') as "screenshotsPad",
      n.rating, n.ratings, c.price, c.currency
    from storefront_audit x
    cross join unnest(${storefronts}::text[]) p (storefront)
    -- One storefront per call: with all of them, the function would examine all of them for each row.
    left join storefront_evidence(x.app_id, array[p.storefront], ${since(sql)}) e on true
    left join lateral (
      select t.*
      from (
        select digest
        from listing_run
        where e.sold and (app_id, storefront, source, section) = (x.app_id, p.storefront, 'apple-app-page', 'page')
        order by first_seen_at desc
        limit 1
      ) r
      join listing_content h on (h.app_id, h.storefront, h.source, h.section, h.digest)
        = (x.app_id, p.storefront, 'apple-app-page', 'page', r.digest)
      -- One call for all fields: each single access would decompress the whole content again.
      cross join lateral jsonb_to_record(h.content) t (
        language text, name text, subtitle text, description text, price float8, currency text, screenshots jsonb
      )
    ) c on true
    left join lateral (
      select rating::numeric::float8 as rating, ratings
      from rating_count
      where e.sold and app_id = x.app_id and storefront = p.storefront and ratings is not null
      order by day desc, ${preferredRating(sql)}
      limit 1
    ) n on true
    where x.app_id = ${appId} and x.started_at = ${startedAt}::text::timestamptz
    order by p.storefront
    limit 1000`
}

function rowsOf(found: readonly AuditReading[]): AuditRow[] {
  const languages = new Map<string | null, string | null>()
  return found.map(({ description, readAt, text: digest, ...row }) => {
    const text = row.state === "sold" ? digest : null
    if (!languages.has(description)) languages.set(description, writtenIn(description))
    return { ...row, text, readAt: readAt?.toISOString() ?? null, writtenIn: languages.get(description) ?? null }
  })
}

/** Kinds that share the upstream of app pages. */
const BESIDE = ["search", "canary", "listing"]
/** Interval between requests, assumed until the upstream has a pace. */
const GAP_MS = 1_000
/** Seconds that a reading takes once its turn comes. */
const READ_S = 2

/**
 * Estimates the seconds until all pending storefronts, and the readings that are due before them, had their turn.
 * Failed readings wait for their retry.
 */
async function estimateEnd(sql: Sql, appId: number, scan: Scan): Promise<number> {
  const [row] = await sql<[{ before: number; gapMs: number | null; pauseS: number | null; retryS: number | null }]>`
    select (
        select count(*)::int
        from (
          select
          from due d
          where d.platform = 'ios' and d.kind = any(${BESIDE}::text[]) and d.priority <= ${scan.priority}
            and d.lease is null and d.next_at < ${scan.startedAt}::text::timestamptz
          limit ${SCAN_MINUTES * 60}
        ) b
      ) as before,
      1 / sum(1.0 / greatest(1, p.gap_ms))::float8 as "gapMs",
      extract(epoch from min(p.next_at) - now())::float8 as "pauseS", (
        select extract(epoch from max(d.next_at) - now())::float8
        from store_app s
        cross join unnest(${STOREFRONTS as string[]}::text[]) c (storefront)
        join due d on (d.kind, d.platform, d.storefront, d.subject) = ('listing', s.platform, c.storefront, s.store_id)
        where s.id = ${appId} and d.failures > 0 and d.failure <> 'not_found'
      ) as "retryS"
    from pace p
    where p.upstream = 'apps.apple.com' and p.next_at > now() - interval '1 day'`
  const { before, gapMs, pauseS, retryS } = row
  const turnsS = Math.max(0, pauseS ?? 0) + ((before + scan.left) * (gapMs ?? GAP_MS)) / 1_000 + READ_S
  return Math.max(1, Math.ceil(Math.min(scan.leftS, Math.max(turnsS, retryS ?? 0))))
}
