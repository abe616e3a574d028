import { takeLocks } from "../database/locks.ts"
import type { Tx } from "../database/types.ts"
import { DEMO_FEED } from "./feed-name.ts"

/** Clears the demo's reviews: their feeds hold nothing of anybody else. Returns how many readings went, and their apps. */
export async function removeDemoReviews(tx: Tx): Promise<{ count: number; apps: number[] }> {
  const feeds = await tx<{ app: number; feed: string }[]>`
    select app_id as app, feed
    from review_feed
    where starts_with(feed, ${DEMO_FEED})
    order by app_id, feed`
  if (feeds.length === 0) return { count: 0, apps: [] }
  await takeLocks(
    tx,
    "reviews",
    feeds.map(({ app, feed }) => [app, feed]),
  )
  const [apps, names] = [feeds.map(({ app }) => app), feeds.map(({ feed }) => feed)]
  const { count } = await tx`
    delete from review_read
    where (app_id, feed) in (select * from unnest(${apps}::int[], ${names}::text[]))`
  await tx`
    delete from review_version
    where (app_id, feed) in (select * from unnest(${apps}::int[], ${names}::text[]))`
  await tx`
    delete from review_day
    where (app_id, feed) in (select * from unnest(${apps}::int[], ${names}::text[]))`
  await tx`
    delete from review_feed
    where (app_id, feed) in (select * from unnest(${apps}::int[], ${names}::text[]))`
  return { count, apps: [...new Set(apps)] }
}
