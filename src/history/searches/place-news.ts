import type { Sql } from "../../database/types.ts"
import { type KeywordRow, type MarketKeyword, type ShownKeyword, shownKeyword, withTerm } from "./market-keyword.ts"
import { inMarket, marketCount, type PlacedLists } from "./market-lists.ts"

/** Where an app stands: by the list's id its rank, and by what the keyword is ordered, as one number. */
export type Places = ReadonlyMap<number, number>
/** More than any popularity; 0 = none is known. */
export const POPULARITIES = 1_000
/** 0 = not looked for. */
export const rankIn = (place: number) => Math.floor(place / POPULARITIES)
export const popularityIn = (place: number) => place % POPULARITIES

/** Of more lists that are others at once everything is forgotten. */
const MOST_CHANGED = 500
/** Apps whose ranks can be looked for where they are shown. */
export const MOST_UNRANKED = 5

export interface NewsQuery {
  /** The snapshot of what is kept; null = nothing is. */
  since: string | null
  /** Apps whose places are asked for, with their ranks or without. */
  missing: readonly number[]
  ranked: boolean
  /** Lists of which what is shown is asked for, and with it the ranks of those that stand there. */
  unknown: Int32Array
  held: HeldApps
}

/** Apps of which not all ranks were looked for; at most MOST_UNRANKED. */
type HeldApps = readonly { app: number; places: Places }[]

/** Which of them stand there and have no rank, a bit for each. */
export function unrankedAt(list: number, held: HeldApps): number {
  let bits = 0
  for (let at = 0; at < held.length; at++) {
    const place = held[at]!.places.get(list)
    if (place !== undefined && place < POPULARITIES) bits |= 1 << at
  }
  return bits
}

export interface News extends Omit<NewsRow, "places" | "terms" | "shown"> {
  ranked: boolean
  /** Where each app that was asked for stands. */
  found: Map<number, Map<number, number>>
  keywords: KeywordLine[]
}

export function isOther({ changed }: News): boolean {
  return changed !== null
}

/** Nothing that is kept can be made good by it. */
export function isLost({ isBehind, changed }: News): boolean {
  return isBehind || (changed ?? []).length > MOST_CHANGED
}

interface NewsRow {
  snapshot: string
  /** The database has gone back to before what is kept, as a standby that takes over may. */
  isBehind: boolean
  /** Lists that the last snapshot does not show as they are: null = none. Without apps = it is none of these any more. */
  changed: [list: number, popularity: number, apps: number[] | null][] | null
  /** Of each missing app, as two arrays one behind the other: lists, and its places there. */
  places: string[] | null
  terms: string[] | null
  /** A line for each of them. */
  shown: string | null
}

/**
 * A transaction that the last snapshot does not show may have begun before it: each row says which one wrote it. Numbers yet
 * to come are those of a database that these rows were copied from. What is shown comes as few long values: rows take three
 * times as long, and a list for each column half as long again. Places come as texts of arrays: as bytes they take the database
 * a third as long again. All of it is taken apart as it arrives, while another statement is worked on.
 */
export async function readNews(sql: Sql, lists: PlacedLists, query: NewsQuery): Promise<News> {
  const { since, missing, ranked, unknown, held } = query
  const popularity = sql`case when popular_until < ${lists.today}::date then 0 else coalesce(popularity, 0) end`
  const place = ranked ? sql`array_position(app_ids, a.app) * ${POPULARITIES}::int + ${popularity}` : popularity
  const [row] = await sql<[NewsRow]>`
    select pg_current_snapshot()::text as snapshot,
      coalesce(pg_snapshot_xmax(pg_current_snapshot()) < pg_snapshot_xmax(${since}::pg_snapshot), false) as "isBehind", (
        select json_agg(json_build_array(c.list_id, n.popularity, n.app_ids))
        from (
          select list_id
          from list_news
          where storefront = ${lists.storefront} and platform = ${lists.platform}
            and changed >= pg_snapshot_xmin(${since}::pg_snapshot)
            and changed < pg_snapshot_xmax(pg_current_snapshot())
            and not pg_visible_in_snapshot(changed, ${since}::pg_snapshot)
          order by changed
          limit ${MOST_CHANGED + 1}
        ) c
        left join lateral (
          select ${popularity} as popularity, app_ids
          from list_now
          where list_id = c.list_id and ${inMarket(sql, lists)}
          offset 0
        ) n on true
      ) as changed, (
        select json_agg(p.places order by a.at)
        from unnest(${missing as number[]}::int[]) with ordinality a (app, at)
        cross join lateral (
          select array_agg(list_id)::text || array_agg(${place})::text as places
          from list_now
          where app_ids @> array[a.app] and ${inMarket(sql, lists)}
          offset 0
        ) p
      ) as places, k.*
    from (
      select json_agg(term) as terms, string_agg(
          concat(
            list_id, ' ', ${ranksOf(sql, held)}, depth, ' ', day, ' ', source, ' ', difficulty, ' ', difficulty_day, ' ', estimate,
            ' ', estimate_day, ' ', published, ' ', published_day, ' ', published_by, ' ',
            case origin when ${OWN} then ${JSON.stringify(OWN)} else to_json(origin)::text end
          ), ${LINE}
        ) as shown
      from unnest(${listed(unknown)}::text::int[], ${listed(unknown.map((list) => unrankedAt(list, held)))}::text::int[]) u (id, held)
      cross join lateral (
        select list_id, term, depth, day, source, origin, app_ids
        from list_now
        where list_id = u.id
        offset 0
      ) n
      left join lateral (
        select difficulty, difficulty_day, estimate, estimate_day, published, published_day, published_by
        from keyword_now
        where list_id = u.id
        offset 0
      ) f on true
    ) k`
  return newsIn(row, query, lists)
}

function newsIn({ places, terms, shown, ...heard }: NewsRow, query: NewsQuery, lists: PlacedLists): News {
  return {
    ...{ ...heard, ranked: query.ranked },
    found: new Map(query.missing.map((app, at) => [app, unpacked(places![at]!)])),
    keywords: shown === null ? [] : keywordsIn(terms!, shown, query, lists),
  }
}

const OWN = "own"
const LINE = "\n"

/** As PostgreSQL reads an array: the driver takes ten times as long for one. */
function listed(numbers: Int32Array): string {
  return `{${numbers.join()}}`
}

/** One statement for any number of them. */
function ranksOf(sql: Sql, held: HeldApps) {
  return Array.from({ length: MOST_UNRANKED }, (_, at) => held[at]?.app ?? null)
    .map((app, at) => sql`case when u.held & ${1 << at}::int > 0 then array_position(app_ids, ${app}::int) end, ' '`)
    .reduce((before, rank) => sql`${before}, ${rank}`)
}

interface KeywordLine {
  list: number
  keyword: MarketKeyword
  /** App and rank by turns, of those that had none. */
  ranks: number[]
}

function keywordsIn(terms: string[], shown: string, { held }: NewsQuery, lists: PlacedLists): KeywordLine[] {
  // many are alike but for their term
  const known = new Map<string, ShownKeyword>()
  return shown.split(LINE).map((line, at) => {
    let end = line.indexOf(" ")
    const list = Number(line.slice(0, end))
    const ranks: number[] = []
    for (let place = 0; place < MOST_UNRANKED; place++) {
      const begin = end + 1
      end = line.indexOf(" ", begin)
      if (end > begin) ranks.push(held[place]!.app, Number(line.slice(begin, end)))
    }
    const rest = line.slice(end + 1)
    const one = known.get(rest) ?? shownKeyword(rowIn(rest), lists)
    known.set(rest, one)
    return { list, keyword: withTerm(terms[at]!, one), ranks }
  })
}

function rowIn(text: string): KeywordRow {
  const [
    depth,
    day,
    source,
    difficulty,
    difficultyDay,
    estimate,
    estimateDay,
    published,
    publishedDay,
    publishedBy,
    ...origin
  ] = text.split(" ")
  return {
    depth: Number(depth),
    day: day!,
    source: Number(source),
    origin: JSON.parse(origin.join(" ")),
    difficulty: numberIn(difficulty!),
    difficultyDay: difficultyDay || null,
    estimate: numberIn(estimate!),
    estimateDay: estimateDay || null,
    published: numberIn(published!),
    publishedDay: publishedDay || null,
    publishedBy: (publishedBy as KeywordRow["publishedBy"]) || null,
  }
}

const numberIn = (text: string) => (text === "" ? null : Number(text))

/** Null = it stands nowhere. */
function unpacked(arrays: string | null): Map<number, number> {
  const [lists, places] = (arrays?.slice(1, -1).split("}{") ?? ["", ""]).map((array) => JSON.parse(`[${array}]`))
  const byList = new Map<number, number>()
  for (let at = 0; at < lists.length; at++) byList.set(lists[at], places[at])
  return byList
}

/** How many lists there are, and as of when. */
export async function readCount(sql: Sql, lists: PlacedLists): Promise<{ lists: number; snapshot: string }> {
  const [row] = await sql<[{ lists: number; snapshot: string }]>`
    select ${marketCount(sql, lists)} as lists, pg_current_snapshot()::text as snapshot`
  return row
}

/** By the order in which snapshots were taken: of the earlier one more is yet to begin, or more is under way. */
export function byAge(one: { snapshot: string }, other: { snapshot: string }): number {
  const [[, begin, underWay], [, laterBegin, laterUnderWay]] = [one.snapshot.split(":"), other.snapshot.split(":")]
  return Number(BigInt(begin!) - BigInt(laterBegin!)) || laterUnderWay!.length - underWay!.length
}
