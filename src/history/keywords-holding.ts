import type { Sql } from "../database/types.ts"
import { uncut } from "../database/uncut.ts"
import { bestFirst } from "../observations/best-first.ts"
import type { Side } from "../observations/provenance.ts"
import { type RankSource, sourceOf } from "../observations/types.ts"

export interface Sought extends Side {
  /** The store_app id that is looked for. */
  holds: number
  /** Another, whose rank stands beside; null = none. */
  beside: number | null
  /** A workspace's app: its tracked keywords are looked at whatever else there is. */
  tracker: string
  /** The first UTC day of which an answer still counts. */
  since: string
}

/** A keyword whose latest day's answer holds an app. */
export interface HoldingKeyword {
  term: string
  rank: number
  /** Of the other app; null = not among the results read. */
  besideRank: number | null
  depth: number
  day: string
  source: RankSource
  /** By the tracker. */
  tracked: boolean
}

export interface Holding {
  /** The best ranks first. */
  keywords: HoldingKeyword[]
  /** Keywords whose answer was looked into. */
  searched: number
  /** False when there were more than could be looked at. */
  complete: boolean
}

/** Lists that one statement reads: of 200 places each they take both databases 9 ms, and 20,000 of them 0.2 s. */
const TOGETHER = 1_000
/** Lists of a storefront that are read at most, besides those of tracked keywords. */
export const MOST_LISTS = 50_000

/**
 * Every keyword of a storefront and platform, whoever tracks it, whose latest answer holds an app. There is no index of the
 * apps in answers, which would be as large as they are: the latest answer of each list is read, some thousand lists at a
 * time. `isOver` ends it early.
 */
export async function keywordsHolding(
  sql: Sql,
  sought: Sought,
  { isOver = () => false, most = MOST_LISTS }: { isOver?: () => boolean; most?: number } = {},
): Promise<Holding> {
  const tracked = await trackedTerms(sql, sought)
  const found: Holding = { keywords: [], searched: 0, complete: true }
  let after = ""
  /** Reads on until there are no more lists, or so many were looked at; tells which. */
  const readOn = async (only: "all" | "tracked", limit: number): Promise<boolean> => {
    for (let looked = 0; looked < limit && !isOver(); ) {
      const chunk = await readChunk(sql, sought, { only, after, size: Math.min(TOGETHER, limit - looked) })
      if (chunk.last === null) return true
      after = chunk.last
      looked += chunk.looked
      found.searched += chunk.searched
      for (const { source, ...row } of chunk.keywords)
        found.keywords.push({ ...row, source: sourceOf(source), tracked: tracked.has(row.term) })
    }
    return false
  }
  found.complete = await readOn("all", most)
  if (!found.complete) await readOn("tracked", tracked.size)
  found.keywords.sort((a, b) => a.rank - b.rank || (a.term < b.term ? -1 : 1))
  return found
}

async function trackedTerms(sql: Sql, { tracker, storefront }: Sought): Promise<Set<string>> {
  const rows = await sql<{ term: string }[]>`
    select term
    from tracked_term
    where app_id = ${tracker} and country = ${storefront}
    order by term
    limit 100000`.then(uncut(100_000))
  return new Set(rows.map(({ term }) => term))
}

interface Chunk {
  looked: number
  searched: number
  /** The last term looked at; null when there was none. */
  last: string | null
  keywords: (Omit<HoldingKeyword, "source" | "tracked"> & { source: number })[]
}

interface Part {
  /** Of the storefront's keywords, or of those that the tracker tracks. */
  only: "all" | "tracked"
  /** The term before the first. */
  after: string
  size: number
}

async function readChunk(sql: Sql, sought: Sought, part: Part): Promise<Chunk> {
  const { holds, beside, since } = sought
  const [chunk] = await sql<[Chunk]>`
    with looked as materialized (${listsOf(sql, sought, part)}), answer as materialized (
      select l.term, l.last_day, r.depth, r.source, r.rank, r.beside_rank
      from looked l
      cross join lateral (
        select depth, source, array_position(app_ids, ${holds}::int) as rank,
          array_position(app_ids, ${beside}::int) as beside_rank
        from search_results
        where list_id = l.id and day = l.last_day and day >= ${since}::date and complete
        order by ${bestFirst(sql)}
        limit 1
      ) r
      where l.last_day >= ${since}::date
    )
    select (select count(*) from looked) as looked, (select max(term) from looked) as last,
      (select count(*) from answer) as searched,
      coalesce((
        select json_agg(
          json_build_object(
            'term', term, 'rank', rank, 'besideRank', beside_rank, 'depth', depth, 'day', last_day, 'source', source
          )
          order by term
        )
        from answer
        where rank is not null
      ), '[]') as keywords`
  return chunk
}

function listsOf(sql: Sql, { platform, storefront, tracker }: Sought, { only, after, size }: Part) {
  if (only === "all")
    return sql`
      select id, term, last_day
      from list
      where platform = ${platform} and storefront = ${storefront} and term > ${after}
      order by term
      limit ${size}`
  return sql`
    select l.id, t.term, l.last_day
    from (
      select term
      from tracked_term
      where app_id = ${tracker} and country = ${storefront} and term > ${after}
      order by term
      limit ${size}
    ) t
    left join lateral (
      select id, last_day
      from list
      where (platform, storefront, term) = (${platform}, ${storefront}, t.term)
      offset 0
    ) l on true`
}
