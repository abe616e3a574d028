import type { LookContext } from "../../core/action.ts"
import type { Side } from "../../core/observation/provenance.ts"
import type { TrackedApp } from "../../core/tracked-app.ts"
import { takeLocks } from "../../database/locks.ts"
import type { Db, Tx } from "../../database/types.ts"
import type { Days } from "../../lib/days.ts"
import { addDays } from "../../lib/days.ts"
import { Fault } from "../../lib/faults.ts"
import { STORES } from "../../lib/store-pages.ts"
import { readStorefrontFeeds } from "../../reviews/read/feeds.ts"
import { type FeedKey, type FeedState, milliseconds, readFeedState, startOf } from "../../reviews/read/reviews.ts"
import type { ExportDays } from "./days.ts"
import type { ExportDraft } from "./draft.ts"

/**
 * Maximum number of reviews per file. Copying them takes about a second on two busy cores, and the embedded database
 * runs nothing else meanwhile.
 */
const MAX_REVIEWS = 100_000

/**
 * Drafts an export of the current versions of reviews written in the range, newest first. A confirm locks the feeds, so
 * that no reviews are recorded until its transaction ends.
 */
export async function draftReviews(
  { sql, lock }: LookContext,
  app: TrackedApp,
  { platform, storefront }: Side,
  { from, to }: ExportDays,
): Promise<ExportDraft> {
  const appId = platform === "ios" ? app.iosApp : app.androidApp
  if (appId === null) {
    return { rows: 0, from, to, store: async () => {}, notes: [`The app is not tracked on ${STORES[platform]}.`] }
  }
  const [names] = await readStorefrontFeeds(sql, [{ platform, storefront, app: appId }])
  // recording reviews of these feeds takes the same locks
  const locked = (names as string[]).map((feed) => [appId, feed])
  if (lock) await takeLocks(sql, "reviews", locked)
  const feeds: ExportedFeed[] = []
  for (const feed of names as string[]) {
    const state = await readFeedState(sql, { appId, feed })
    feeds.push({ appId, feed, feedState: state, rows: await countReviews(sql, { appId, feed, from, to }) })
  }
  const rows = feeds.reduce((sum, feed) => sum + feed.rows, 0)
  if (rows > MAX_REVIEWS) {
    const reason = `A file can have ${MAX_REVIEWS} reviews at most, and these days have more. Choose fewer days.`
    throw new Fault("write_limit_reached", { reason })
  }
  const store = async (tx: Tx, id: number) => {
    let place = 0
    for (const feed of feeds) place = await storeReviews(tx, id, { ...feed, from, to }, { rows: feed.rows, place })
  }
  return { rows, from, to, store, notes: feeds.map((feed) => noteOn(platform, feed)) }
}

interface ExportedFeed extends FeedKey {
  feedState: FeedState
  rows: number
}

function noteOn(platform: string, { feed, feedState: { state, readAt } }: ExportedFeed): string {
  const whose = platform === "ios" ? `the storefront ${feed}` : `the language ${feed}, of all storefronts that read it`
  const coverage = {
    read: `They were last read at ${readAt?.toISOString()}.`,
    none: `The store reported at ${readAt?.toISOString()} that it has no reviews.`,
    some: "It is unknown how completely they were read.",
    never_read: "They were never read, so it is unknown whether there are any.",
  }[state]
  return `The file has the reviews of ${whose}. ${coverage}`
}

/** Counts the matching reviews, but at most one more than a file may have. */
async function countReviews(sql: Db, filter: FeedKey & Days): Promise<number> {
  const [row] = await sql<[{ rows: number }]>`
    select count(*) as rows
    from (
      select
      from review_version
      where ${isWanted(sql, filter)}
      limit ${MAX_REVIEWS + 1}
    ) r`
  return row.rows
}

const REVIEWS_A_PART = 500

/**
 * Copies the reviews of a feed into parts without leaving the database, several parts per statement. The first part
 * gets the place `place`. Returns the next free place.
 */
async function storeReviews(
  tx: Tx,
  id: number,
  filter: FeedKey & Days,
  { rows, place }: { rows: number; place: number },
): Promise<number> {
  await planByIndex(tx, true)
  const bounds = await readBounds(tx, filter)
  let copied = 0
  for (let from = 0; from < bounds.length; from += PARTS_AT_ONCE)
    copied += await copyParts(tx, id, filter, {
      from: place + from,
      bounds: bounds.slice(from, from + PARTS_AT_ONCE),
    })
  await planByIndex(tx, false)
  if (copied !== rows) throw new Error(`${copied} reviews were copied of ${rows} that were counted`)
  return place + bounds.length
}

const PARTS_AT_ONCE = 20

/**
 * Makes the planner use the index. Without statistics it would sort the whole feed for each part, which did not finish
 * within minutes for 200,000 reviews.
 */
async function planByIndex(tx: Tx, alone: boolean): Promise<void> {
  await tx`
    select set_config(name, ${alone ? "off" : "on"}, true)
    from unnest(array['enable_sort', 'enable_incremental_sort', 'enable_seqscan', 'enable_bitmapscan']) name`
}

/** The first review of a part. `at` is text because a Date has no microseconds. */
interface Bound {
  at: string
  id: string
}

async function readBounds(tx: Tx, filter: FeedKey & Days): Promise<Bound[]> {
  return await tx<Bound[]>`
    select at::text, review_id as id
    from (
      select at, review_id, row_number() over (order by at desc, review_id) as n
      from review_version
      where ${isWanted(tx, filter)}
    ) r
    where n % ${REVIEWS_A_PART}::int = 1
    order by n
    limit ${MAX_REVIEWS}`
}

async function copyParts(
  tx: Tx,
  id: number,
  filter: FeedKey & Days,
  { from, bounds }: { from: number; bounds: readonly Bound[] },
): Promise<number> {
  const [copied] = await tx<[{ rows: number }]>`
    with part as materialized (
      select ${from}::int + b.place - 1 as place, p.lines, p.rows
      from unnest(
        ${bounds.map(({ at }) => at)}::text[], ${bounds.map((bound) => bound.id)}::text[]
      ) with ordinality b (at, review_id, place)
      cross join lateral (
        select count(*) as rows,
          string_agg(
            json_build_array(
              review_id, stars, title, text, version, ${milliseconds(tx, "at")},
              ${milliseconds(tx, "seen_at")}, feed
            )::text,
            e'\\n' order by at desc, review_id
          ) as lines
        from (
          select *
          from review_version
          where ${isWanted(tx, filter)} and at <= b.at::timestamptz
            and (at < b.at::timestamptz or review_id >= b.review_id)
          order by at desc, review_id
          limit ${REVIEWS_A_PART}
        ) v
      ) p
    ), stored as (
      insert into export_part (export_id, place, lines)
      select ${id}, place, lines
      from part
    )
    select coalesce(sum(rows), 0)::int as rows
    from part`
  return copied.rows
}

function isWanted(sql: Db, { appId, feed, from, to }: FeedKey & Days) {
  return sql`app_id = ${appId} and feed = ${feed} and current
    and at >= ${startOf(from)} and at < ${startOf(addDays(to, 1))}`
}
