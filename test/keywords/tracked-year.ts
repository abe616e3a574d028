import type { Sql } from "../../src/database/types.ts"
import { addDays, monthOf } from "../../src/lib/days.ts"
import { UNMEASURED } from "../../src/lib/month-bytes.ts"
import { trackOwn } from "../world/tracked.ts"

const WORDS = ["tea", "timer", "tides", "calm", "habit", "budget", "photo", "widget", "recipe", "sleep"]
const DAYS = 365

/**
 * Tracks an app with `keywords` keywords whose ranks of a year up to `today` move realistically: by a few places on
 * most days, with one day in 25 unmeasured and some on which the app is absent. Deterministic.
 */
export async function trackYear(sql: Sql, workspaceId: number, keywords: number, today: string): Promise<string> {
  const terms = Array.from({ length: keywords }, (_, i) => `${WORDS[i % 10]} ${WORDS[(i * 7 + 3) % 10]} ${i}`)
  const tracked = { workspaceId, iosId: "900000001", countries: ["us"], keywords: terms, origin: "own" }
  const app = await trackOwn(sql, tracked)
  const first = addDays(today, 1 - DAYS)
  await sql`
    insert into list (platform, storefront, term, first_day, last_day)
    select 'ios', 'us', term, ${first}, ${today}
    from unnest(${terms}::text[]) term
    on conflict (platform, storefront, term) do update
    set first_day = excluded.first_day, last_day = excluded.last_day`
  const rows = terms.flatMap((term, place) => monthsOf(term, ranksOf(place), first))
  await sql`
    select open_month(m::date)
    from generate_series(${monthOf(first)}::date, ${today}::date, '1 month') m`
  await sql`
    insert into list_month (list_id, month, sources, depths)
    select distinct l.id, r.month, decode(repeat('0a', 31), 'hex'), decode(repeat('c8', 31), 'hex')
    from unnest(${rows.map(({ term }) => term)}::text[], ${rows.map(({ month }) => month)}::date[]) r (term, month)
    join list l on l.platform = 'ios' and l.storefront = 'us' and l.term = r.term`
  await sql`
    insert into rank_month (app_id, list_id, month, ranks)
    select a.ios_app, l.id, r.month, decode(r.ranks, 'hex')
    from unnest(
      ${rows.map(({ term }) => term)}::text[], ${rows.map(({ month }) => month)}::date[],
      ${rows.map(({ ranks }) => ranks)}::text[]
    ) r (term, month, ranks)
    join list l on l.platform = 'ios' and l.storefront = 'us' and l.term = r.term
    cross join tracked_app a
    where a.id = ${app}`
  await sql`
    insert into list_now (list_id, day, seen_at, source, depth, platform, storefront, term, app_ids)
    select id, last_day, last_day::timestamp at time zone 'utc', 10, 200, platform, storefront, term, '{}'
    from list
    where platform = 'ios' and storefront = 'us' and term = any(${terms}::text[])
    on conflict do nothing`
  return app
}

/** Returns a byte per day: a random walk between places 1 and 200. */
function ranksOf(seed: number): number[] {
  const random = randomFrom(seed + 1)
  let rank = 1 + Math.floor(random() * 150)
  return Array.from({ length: DAYS }, () => {
    const step = random() < 0.4 ? 0 : Math.round((random() - 0.5) * 8)
    rank = Math.min(200, Math.max(1, rank + step))
    const chance = random()
    return chance < 0.04 ? UNMEASURED : chance < 0.06 ? 0 : rank
  })
}

function monthsOf(term: string, ranks: readonly number[], first: string) {
  const months = new Map<string, Uint8Array>()
  for (const [at, rank] of ranks.entries()) {
    const day = addDays(first, at)
    const month = monthOf(day)
    const bytes = months.get(month) ?? new Uint8Array(31).fill(UNMEASURED)
    bytes[Number(day.slice(8)) - 1] = rank
    months.set(month, bytes)
  }
  return [...months].map(([month, bytes]) => ({ term, month, ranks: bytes.toHex() }))
}

/** Returns a linear congruential generator, so that every runtime gives the same numbers. */
function randomFrom(seed: number): () => number {
  let state = (seed * 2_654_435_761) % 4_294_967_296
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296
    return state / 4_294_967_296
  }
}
