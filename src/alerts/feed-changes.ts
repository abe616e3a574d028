import { isDeepStrictEqual } from "node:util"
import { json } from "../database/json.ts"
import type { Tx } from "../database/types.ts"
import { addDays } from "../lib/days.ts"
import { type FindingOf, keyOf } from "./alert-type.ts"
import type { Place } from "./place.ts"
import { readPlaceFeeds } from "./types/review-wave.ts"
import { FEED_TYPES } from "./types.ts"

const OF_LANGUAGE: string[] = FEED_TYPES.filter(({ ofLanguage }) => ofLanguage).map(({ name }) => name)

/** The fields of a stored alert that are compared with the current findings. */
export interface FeedAlert extends FindingOf {
  id: number
  facts: Record<string, unknown>
  history: boolean
  isWithdrawn: boolean
  /** True if it was queued for a channel or marked as read. */
  isSeen: boolean
}

interface FeedQuery {
  types: readonly string[]
  from: string
  to: string
}

/**
 * Returns the stored alerts of a place and of some days. Reviews on Google Play have no storefront and may be read long
 * after their day; all other alerts are dated by their reading.
 */
export async function readStoredReadings(tx: Tx, place: Place, { types, from, to }: FeedQuery): Promise<FeedAlert[]> {
  const { workspaceId, appId, platform, storefront } = place
  const ofDay = types.filter((type) => !OF_LANGUAGE.includes(type))
  const ofLanguage = types.filter((type) => OF_LANGUAGE.includes(type))
  // an alert of a language belongs to each storefront that uses it
  const feeds = ofLanguage.length > 0 && platform === "android" ? await readPlaceFeeds(tx, place) : []
  return await tx<FeedAlert[]>`
    select id, type, subject, day, at, facts, history, withdrawn_at is not null as "isWithdrawn",
      not history and (read_at is not null or exists (select from delivery d where d.alert_id = a.id)) as "isSeen"
    from (
      (
        select *
        from alert
        where app_id = ${appId} and at >= ${`${from}T00:00:00Z`}::timestamptz
          and at < ${`${addDays(to, 1)}T00:00:00Z`}::timestamptz and platform = ${platform}
          and storefront = ${storefront} and type = any(${ofDay}::text[])
      )
      union all
      (
        select *
        from alert
        where workspace_id = ${workspaceId} and app_id = ${appId} and type = any(${ofLanguage}::text[])
          and platform = ${platform}
          and (storefront = ${storefront} or storefront is null and subject = any(${feeds}::text[]))
          and day between ${from} and ${to}
      )
    ) a
    order by at, id`
}

interface FeedChanges {
  added: readonly FindingOf[]
  changed: readonly { alert: FeedAlert; facts: object; at: Date }[]
  withdrawn: readonly FeedAlert[]
}

/** Stores the changes. `news` is the first day whose alerts are news rather than history. */
export async function updateFeed(tx: Tx, place: Place, news: string, changes: FeedChanges): Promise<void> {
  await withdraw(
    tx,
    changes.withdrawn.map(({ id }) => id),
  )
  for (const rows of chunksOf(changes.changed)) await update(tx, rows)
  for (const rows of chunksOf(changes.added)) await insert(tx, { place, news }, rows)
}

/** At most 250 rows per statement: 4,000 rows block the embedded database for 130 ms. */
const CHUNK = 250

function chunksOf<Row>(rows: readonly Row[]): Row[][] {
  return Array.from({ length: Math.ceil(rows.length / CHUNK) }, (_, at) => rows.slice(at * CHUNK, (at + 1) * CHUNK))
}

/**
 * Withdraws alerts. One that was queued for a channel or read is marked as withdrawn, and its waiting deliveries end.
 * Others are deleted.
 */
export async function withdraw(tx: Tx, ids: readonly number[]): Promise<void> {
  if (ids.length === 0) return
  // lock first: the transaction that queues deliveries locks the alerts too
  await tx`
    select
    from alert
    where id = any(${ids as number[]}::bigint[])
    order by id
    for update`
  await tx`
    delete from alert a
    where id = any(${ids as number[]}::bigint[])
      and (history or read_at is null and not exists (select from delivery d where d.alert_id = a.id))`
  const marked = await tx<{ id: number }[]>`
    update alert
    set withdrawn_at = now()
    where id = any(${ids as number[]}::bigint[]) and withdrawn_at is null
    returning id`
  if (marked.length === 0) return
  const left = marked.map(({ id }) => id)
  await tx`
    delete from alert_to_deliver
    where alert_id = any(${left}::bigint[])`
  await tx`
    update delivery
    set state = 'undelivered', next_at = null, ended_at = now(), failure = ${WITHDRAWN}
    where alert_id = any(${left}::bigint[]) and state = 'waiting'`
}

/** Stored as the reason why a delivery ended. */
const WITHDRAWN = "the alert was withdrawn"

/**
 * Updates alerts; their id and read mark stay. An alert that is valid again is queued for delivery if it was never
 * sent.
 */
async function update(tx: Tx, rows: FeedChanges["changed"]): Promise<void> {
  await tx`
    update alert a
    set facts = r.facts, at = r.at, withdrawn_at = null
    from jsonb_to_recordset(${json(
      tx,
      rows.map(({ alert: { id }, facts, at }) => ({ id, facts, at: at.toISOString() })),
    )}) r (id bigint, facts jsonb, at timestamptz)
    where a.id = r.id`
  const again = rows.filter(({ alert }) => alert.isWithdrawn).map(({ alert }) => alert.id)
  if (again.length === 0) return
  await tx`
    delete from delivery
    where alert_id = any(${again}::bigint[]) and attempts = 0 and failure = ${WITHDRAWN}`
  await tx`
    insert into alert_to_deliver (alert_id)
    select a.id
    from alert a
    join alert_rule r on (r.workspace_id, r.type) = (a.workspace_id, a.type)
    where a.id = any(${again}::bigint[])
      and not exists (select from delivery d where d.alert_id = a.id)
    order by a.id
    on conflict do nothing`
}

async function insert(
  tx: Tx,
  { place, news }: { place: Place; news: string },
  rows: readonly FindingOf[],
): Promise<void> {
  await tx`
    insert into alert
      (workspace_id, app_id, type, platform, storefront, subject, day, at, facts, history, read_at)
    select ${place.workspaceId}::int, ${place.appId}, type, ${place.platform}, storefront, subject, day, at, facts,
      day < ${news}::date, case when day < ${news}::date then now() end
    from jsonb_to_recordset(${json(
      tx,
      rows.map((row) => rowOf(place, row)),
    )}) r (
      type text, storefront text, subject text, day date, at timestamptz, facts jsonb
    )
    order by at, type, storefront, subject
    on conflict do nothing`
}

function rowOf({ platform, storefront }: Place, { type, subject, day, at, facts }: FindingOf) {
  const hasNone = platform === "android" && OF_LANGUAGE.includes(type)
  return { type, storefront: hasNone ? null : storefront, subject, day, at: at.toISOString(), facts }
}

/** Input of `feedChanges`, which compares the stored alerts with the current findings. */
interface FeedComparison {
  storedAlerts: readonly FeedAlert[]
  found: readonly FindingOf[]
  /** True if an alert keeps its original names while the readings confirm it. */
  isStanding(stored: FeedAlert): boolean
  /** True if an alert stays even if no reading confirms it. */
  isFixed(stored: FeedAlert): boolean
  mayAdd(found: FindingOf): boolean
}

export function feedChanges({ storedAlerts, found, isStanding, isFixed, mayAdd }: FeedComparison): FeedChanges {
  const current = new Map<string, FindingOf>()
  for (const finding of found.toSorted((a, b) => a.at.getTime() - b.at.getTime())) {
    const key = keyOf(finding)
    if (!current.has(key)) current.set(key, finding)
  }
  const byKey = new Map(storedAlerts.map((item) => [keyOf(item), item]))
  const changed: { alert: FeedAlert; facts: object; at: Date }[] = []
  const withdrawn: FeedAlert[] = []
  for (const [key, one] of byKey) {
    const now = current.get(key)
    if (!now || (now.keepsOnly && !isStanding(one))) {
      if (!one.isWithdrawn && !isFixed(one)) withdrawn.push(one)
      continue
    }
    const facts = JSON.parse(JSON.stringify(isStanding(one) ? { ...now.facts, ...namesIn(one.facts) } : now.facts))
    const isSame = isDeepStrictEqual(facts, one.facts) && now.at.getTime() === one.at.getTime()
    if (!isSame || one.isWithdrawn) changed.push({ alert: one, facts, at: now.at })
  }
  const added = [...current].filter(([key, one]) => !byKey.has(key) && !one.keepsOnly && mayAdd(one))
  return { added: added.map(([, one]) => one), changed, withdrawn }
}

/** Facts that keep their original values: names, and whether the rival was named by hand. */
const TOLD_NAMES = ["name", "manual", "genreName"]

function namesIn(facts: Record<string, unknown>): object {
  return Object.fromEntries(TOLD_NAMES.flatMap((name) => (facts[name] == null ? [] : [[name, facts[name]]])))
}
