import type { Sql } from "../../../src/database/types.ts"
import type { SearchObservation } from "../../../src/keywords/kinds/search-shape.ts"
import { RANK_SOURCES } from "../../../src/lib/upstreams.ts"
import { reading } from "../../measuring/record/measured.ts"
import { DAY_MS, dayAgo } from "../../world/clock.ts"

/** Number of days within which results count as current. */
export const ANSWER_DAYS = 30

/** A keyword's latest results, as found by an independent loop over the readings. */
export interface WalkedAnswer {
  term: string
  day: string
  source: string
  origin: string
  depth: number
  ids: string[]
}

/** Readings of many keywords, days, sources, origins and storefronts, some incomplete, from a fixed seed. */
export function scatteredReadings(count: number, apps: number): SearchObservation[] {
  let seed = 11
  const random = (below: number) => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648
    return Math.floor((seed / 2_147_483_648) * below)
  }
  return Array.from({ length: count }, () => {
    const source = RANK_SOURCES[random(RANK_SOURCES.length)] as (typeof RANK_SOURCES)[number]
    const android = source === "play-search" || (source === "import" && random(4) === 0)
    // low numbers are more frequent
    const ids = Array.from({ length: random(12) }, () => 10_001 + Math.min(random(apps), random(apps)))
    const results = [...new Set(ids)].map((id) => (android ? `com.example.a${id}` : String(id)))
    const at = new Date(Date.now() - random(45) * DAY_MS - random(1_000) * 1_000).toISOString()
    return reading(`${["wort ", "Zoo ", "été "][random(3)]}${random(40)}`.toLowerCase(), at, results, {
      source,
      platform: android ? "android" : "ios",
      storefront: random(4) === 0 ? "gb" : "us",
      depth: results.length + 1 + random(3),
      complete: random(7) > 0,
      origin: random(9) === 0 ? "demo" : source === "foreign" ? "elsewhere" : "own",
    })
  })
}

/** Returns the market's latest results in a storefront, found by a loop over all readings. */
export function walkedAnswers(
  readings: readonly SearchObservation[],
  platform: string,
  storefront: string,
): WalkedAnswer[] {
  const sameSide = readings.filter(
    (search) => search.platform === platform && search.storefront === storefront && search.complete,
  )
  const dayOf = (search: SearchObservation) => search.seenAt.toISOString().slice(0, 10)
  const latest = [...Map.groupBy(sameSide, ({ term }) => term)].map(([term, all]): WalkedAnswer => {
    const day = all.map(dayOf).sort().at(-1)!
    const [best] = all
      .filter((search) => dayOf(search) === day)
      .sort(
        (a, b) =>
          RANK_SOURCES.indexOf(a.source) - RANK_SOURCES.indexOf(b.source) ||
          Number(a.origin !== "own") - Number(b.origin !== "own") ||
          b.depth - a.depth ||
          b.seenAt.getTime() - a.seenAt.getTime(),
      )
    const { source, origin, depth, results } = best!
    return { term, day, source, origin, depth, ids: results.map(({ id }) => id) }
  })
  const since = dayAgo(ANSWER_DAYS - 1)
  return latest.filter(({ day }) => day >= since)
}

/**
 * Inserts the latest results of these keywords in the US App Store directly: recording a thousand readings takes a
 * second.
 */
export async function storeAnswers(sql: Sql, day: string, answers: { term: string; ids: string[] }[]): Promise<void> {
  const [terms, ids] = [answers.map(({ term }) => term), answers.map(({ ids }) => ids.join())]
  await sql`
    insert into store_app (platform, store_id)
    select distinct 'ios', id
    from unnest(${ids}::text[]) a (ids)
    cross join unnest(string_to_array(ids, ',')) id
    on conflict do nothing`
  await sql`
    insert into list (platform, storefront, term, first_day, last_day)
    select 'ios', 'us', term, ${day}, ${day}
    from unnest(${terms}::text[]) term
    on conflict (platform, storefront, term) do update
    set first_day = excluded.first_day, last_day = excluded.last_day`
  await sql`
    insert into list_now (list_id, day, seen_at, source, depth, platform, storefront, term, app_ids)
    select l.id, l.last_day, l.last_day::timestamp at time zone 'utc', 10, 200, platform, storefront, term, array(
      select s.id
      from unnest(string_to_array(a.ids, ',')) with ordinality shown (store_id, place)
      join store_app s on s.platform = 'ios' and s.store_id = shown.store_id
      order by place
    )
    from unnest(${terms}::text[], ${ids}::text[]) a (term, ids)
    join list l using (term)
    where l.platform = 'ios' and l.storefront = 'us'`
}

/** Orders by bytes, as the database does. */
export const byText = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b))
