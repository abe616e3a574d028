import type { Tx } from "../database/types.ts"
import type { KindName, Subject } from "./due-kind.ts"

/**
 * Schedules the findings of the apps that track one of these terms in the storefront. Findings that are due earlier
 * keep their time.
 */
export async function putForwardTerms(tx: Tx, subjects: readonly Subject[], afterMs: number): Promise<void> {
  await putForward(tx, findingsOfTerms(tx, subjects), afterMs)
}

/** Schedules findings of these apps, and of the apps that have them as rivals. */
export async function putForwardApps(tx: Tx, subjects: readonly Subject[], afterMs: number): Promise<void> {
  await putForward(tx, findingsOfApps(tx, subjects), afterMs)
}

export async function putForwardLookUp(tx: Tx, subjects: readonly Subject[], afterMs: number): Promise<void> {
  const { platform, names } = placeOf(subjects)
  await putForward(
    tx,
    tx`
      ${findingsOfApps(tx, subjects)}
      union all
      select d.kind, d.platform, d.storefront, d.subject, d.priority
      from store_app s
      join measured_app a on ${ownApp(tx, platform)} = s.id
      join due d on d.kind = 'app_ads' and d.platform = s.platform and d.storefront = a.countries[1]
        and d.subject = s.store_id
      where s.platform = ${platform} and s.store_id = any(${names}::text[]) and d.measured_at is null
        and d.failures = 0`,
    afterMs,
  )
}

/** Schedules findings of an app in all its storefronts: on Google Play they share the reviews of a language. */
export async function putForwardReviews(tx: Tx, subjects: readonly Subject[], afterMs: number): Promise<void> {
  await putForward(tx, findingsOfFeeds(tx, subjects), afterMs)
}

/** Schedules findings of the apps in a chart's storefront and genre. The chart of all genres has no findings. */
export async function putForwardChart(tx: Tx, subjects: readonly Subject[], afterMs: number): Promise<void> {
  await putForward(tx, findingsOfCharts(tx, subjects), afterMs)
}

/** The query for the apps that a reading concerns, by the kind of the reading. Other kinds have no findings. */
export const CONCERNS = {
  search: findingsOfTerms,
  app: findingsOfApps,
  listing: findingsOfApps,
  chart: findingsOfCharts,
  reviews: findingsOfFeeds,
  assistant_answer: findingsOfTerms,
} satisfies Partial<Record<KindName | "assistant_answer", unknown>>

export async function putForwardImported(
  tx: Tx,
  kind: keyof typeof CONCERNS,
  subjects: readonly Subject[],
  afterMs: number,
): Promise<void> {
  await putForward(tx, CONCERNS[kind](tx, subjects), afterMs)
}

function placeOf(subjects: readonly Subject[]) {
  const [{ platform, storefront }] = subjects as [Subject]
  return { platform, storefront, names: subjects.map(({ subject }) => subject) }
}

function ownApp(tx: Tx, platform: Subject["platform"]) {
  return platform === "ios" ? tx`a.ios_app` : tx`a.android_app`
}

function findingsOfTerms(tx: Tx, subjects: readonly Subject[]) {
  const { platform, storefront, names } = placeOf(subjects)
  return tx`
    select 'findings' as kind, s.platform, t.country as storefront, s.store_id as subject, a.priority
    from tracked_term t
    join measured_app a on a.id = t.app_id
    join store_app s on s.id = ${ownApp(tx, platform)}
    where t.country = ${storefront} and t.term = any(${names}::text[])`
}

/** Selects all storefronts of an app: on Google Play they share the reviews of a language. */
function findingsOfFeeds(tx: Tx, subjects: readonly Subject[]) {
  const { platform, names } = placeOf(subjects)
  return tx`
    select 'findings' as kind, s.platform, c.storefront, s.store_id as subject, a.priority
    from store_app s
    join measured_app a on ${ownApp(tx, platform)} = s.id
    cross join lateral unnest(a.countries) c (storefront)
    where s.platform = ${platform} and s.store_id = any(${names}::text[])`
}

function findingsOfCharts(tx: Tx, subjects: readonly Subject[]) {
  const { platform, storefront, names } = placeOf(subjects)
  const genres = names.map((name) => name.split(" ").at(-1) as string)
  return tx`
    select 'findings' as kind, s.platform, ${storefront} as storefront, s.store_id as subject, a.priority
    from measured_app a
    join store_app s on s.id = ${ownApp(tx, platform)}
    where ${storefront} = any(a.countries) and s.genre = any(${genres}::text[])`
}

function findingsOfApps(tx: Tx, subjects: readonly Subject[]) {
  const { platform, storefront, names } = placeOf(subjects)
  const read = tx`s.platform = ${platform} and s.store_id = any(${names}::text[])`
  return tx`
    select 'findings' as kind, s.platform, ${storefront} as storefront, s.store_id as subject, a.priority
    from store_app s
    join measured_app a on ${ownApp(tx, platform)} = s.id
    where ${read} and ${storefront} = any(a.countries)
    union all
    select 'findings', o.platform, r.storefront, o.store_id, a.priority
    from store_app s
    join app_rival r on r.rival = s.id and r.storefront = ${storefront} and r.platform = s.platform
    join measured_app a on a.id = r.app_id
    join store_app o on o.id = ${ownApp(tx, platform)}
    where ${read}`
}

/**
 * Minimum delay. It makes the new time later than the start of every running claim, so that findings are calculated
 * again if their claim did not include this data.
 */
const MIN_MS = 10

async function putForward(tx: Tx, rows: ReturnType<typeof findingsOfApps>, afterMs: number): Promise<void> {
  // not now(), which is when the transaction began: the row may have been claimed since
  await tx`
    insert into due as held (kind, platform, storefront, subject, priority, next_at)
    select kind, platform, storefront, subject, min(priority),
      clock_timestamp() + ${Math.max(MIN_MS, afterMs)}::float8 * interval '1 millisecond'
    from (${rows}) r
    group by kind, platform, storefront, subject
    order by kind, platform, storefront, subject
    on conflict (kind, platform, storefront, subject) do update
    set next_at = excluded.next_at
    where held.lease is not null or held.next_at > excluded.next_at`
}
