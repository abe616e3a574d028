import type { Db } from "../../database/types.ts"

export interface TermPopularity {
  term: string
  /** Apple Ads' name of the genre. If several genres list the term, the one in which it ranks best. */
  genre: string
  rankInGenre: number
  /** 1 to 100 within its genre and overall; 1 to 5 as Apple Ads shows it. */
  inGenre: number
  overall100: number
  overall5: number
}

export interface PopularityWeek {
  /** The Sunday on which the week begins. */
  from: string
  genres: string[]
  /** The lowest overall figure in the list. The figure of a term that is not listed is below it. */
  lowest: number
}

/** Returns the latest week that was read for the country. Null if none was read. */
export async function readWeek(sql: Db, account: string, country: string): Promise<PopularityWeek | null> {
  const [week] = await sql<{ from: string | null; genres: string[]; lowest: number }[]>`
    select max(day)::text as from, coalesce(array_agg(distinct genre order by genre), '{}') as genres,
      min(overall_100) as lowest
    from ads_term_popularity
    where account_id = ${account} and country = ${country}`
  return week?.from ? { from: week.from, genres: week.genres, lowest: week.lowest } : null
}

interface PopularityScope {
  account: string
  country: string
  /** Null for all genres. */
  genre: string | null
}

/** Returns the most searched terms, by rank within a genre, or over all genres. */
export async function readMostSearched(
  sql: Db,
  { account, country, genre }: PopularityScope,
  limit: number,
): Promise<TermPopularity[]> {
  if (genre !== null)
    return await sql<TermPopularity[]>`
      select ${figures(sql)}
      from ads_term_popularity p
      where account_id = ${account} and country = ${country} and genre = ${genre}
      order by rank, term
      limit ${limit}`
  return await sql<TermPopularity[]>`
    select *
    from (
      select distinct on (term) ${figures(sql)}
      from ads_term_popularity p
      where account_id = ${account} and country = ${country}
      order by term, rank, genre
    ) best
    order by "overall100" desc, "rankInGenre", term
    limit ${limit}`
}

/** Returns those of these terms that are in the list, keyed by their text. */
export async function readTermPopularity(
  sql: Db,
  { account, country }: { account: string; country: string },
  terms: readonly string[],
): Promise<Map<string, TermPopularity>> {
  const rows = await sql<TermPopularity[]>`
    select distinct on (term) ${figures(sql)}
    from ads_term_popularity p
    where account_id = ${account} and country = ${country} and term = any(${terms as string[]}::text[])
    order by term, rank, genre`
  return new Map(rows.map((row) => [row.term, row]))
}

/** Popularity of terms in a country, from the workspace's own ad account. */
interface OwnPopularity {
  account: string
  /** The Sunday on which the week begins. Null if no week of the country was read. */
  from: string | null
  lowest: number | null
  listed: TermPopularity[]
}

/**
 * Returns the popularity from the workspace's first ads account; accounts with a key come first. Null if no account is
 * connected.
 */
export async function readOwnPopularity(
  sql: Db,
  workspaceId: number,
  country: string,
  terms: readonly string[],
): Promise<OwnPopularity | null> {
  const [row] = await sql<OwnPopularity[]>`
    select c.id as account, w.from, w.lowest, (
      select coalesce(jsonb_agg(to_jsonb(best) order by best.term), '[]')
      from (
        select distinct on (term) ${figures(sql)}
        from ads_term_popularity p
        where account_id = c.id and country = ${country} and term = any(${terms as string[]}::text[])
        order by term, rank, genre
      ) best
    ) as listed
    from (
      select id
      from connected_account
      where workspace_id = ${workspaceId} and kind = 'apple-ads'
      order by sealed is null, created_at, id
      limit 1
    ) c
    cross join lateral (
      select max(day)::text as from, min(overall_100) as lowest
      from ads_term_popularity
      where account_id = c.id and country = ${country}
    ) w`
  return row ?? null
}

function figures(sql: Db) {
  return sql`
    p.term, p.genre, p.rank as "rankInGenre", p.in_genre as "inGenre", p.overall_100 as "overall100",
    p.overall_5 as "overall5"`
}
