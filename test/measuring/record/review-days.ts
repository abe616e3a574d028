import type { Sql } from "../../../src/database/types.ts"

interface HeldReview {
  app: number
  feed: string
  id: string
  stars: number
  version: string | null
  at: Date
  first: Date
  seenAt: Date
}

/** Returns the expected rows of review_day, calculated from the reviews one by one. */
export async function daysByTruth(sql: Sql): Promise<object[]> {
  const reviews = await sql<HeldReview[]>`
    select app_id as app, feed, review_id as id, stars, version, at, first_seen_at as first, seen_at as "seenAt"
    from review_version
    where current`
  const days = Map.groupBy(reviews, ({ app, feed, at }) => `${app} ${feed} ${at.toISOString().slice(0, 10)}`)
  return [...days].map(([name, each]) => dayOf(name, each.sort(older))).sort(byName)
}

function older(a: HeldReview, b: HeldReview): number {
  return +a.at - +b.at || (a.id < b.id ? -1 : 1)
}

function byName(a: { name: string }, b: { name: string }): number {
  return a.name < b.name ? -1 : 1
}

function dayOf(name: string, each: readonly HeldReview[]) {
  const [oldest] = each as [HeldReview]
  const gaps = each.filter(({ first }, at) => at > 0 && each.slice(0, at).every(({ seenAt }) => seenAt < first))
  const tallies = Map.groupBy(each, ({ version, stars }) => `${version} ${stars}`)
  return {
    name,
    reviews: each.length,
    oldest: [oldest.at, oldest.first],
    first: latest(each.map(({ first }) => -first)),
    seen: latest(each.map(({ seenAt }) => +seenAt)),
    gap: gaps.length > 0 ? latest(gaps.map(({ first }) => +first)) : null,
    tallies: [...tallies].map(([tally, { length }]) => `${tally}: ${length}`).sort(),
  }
}

function latest(moments: readonly number[]): Date {
  return new Date(Math.abs(Math.max(...moments)))
}

/** Returns the stored rows. */
export async function readStoredDays(sql: Sql): Promise<object[]> {
  // JSON, because the client reads null within an array as the text NULL
  const rows = await sql`select *, to_json(versions) as versions from review_day`
  return rows
    .map((row) => ({
      name: `${row.app_id} ${row.feed} ${row.day}`,
      reviews: row.reviews,
      oldest: [row.oldest_at, row.oldest_first_seen_at],
      first: row.first_seen_at,
      seen: row.seen_at,
      gap: row.gap_seen_at,
      tallies: row.counts.map((n: number, at: number) => `${row.versions[at]} ${row.stars[at]}: ${n}`).sort(),
    }))
    .sort(byName)
}
