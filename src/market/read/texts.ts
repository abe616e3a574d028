import type { Fragment } from "postgres"
import type { Db, Sql } from "../../database/types.ts"
import { gramsOfSearch, NAME, PUBLISHER, partOf, spaced, wordsOf } from "../../stores/app-text.ts"

/**
 * SQL query for the apps (store_app ids, as app_id) whose names or publisher contain every word of a text. Words of
 * three letters or more match anywhere within a word, shorter ones only at a word's beginning, scripts without spaces
 * anywhere. The index finds candidates, which are then compared literally, so the text has no wildcards. A text without
 * letters and digits matches nothing.
 */
export function appsWithText(sql: Db, text: string): Fragment {
  const words = wordsOf(text)
  if (words.length === 0) return sql`select app_id from app_text where false`
  return sql`
    select app_id
    from app_text
    where ${holdsWords(sql, words)}`
}

function holdsWords(sql: Db, words: readonly string[]): Fragment {
  return sql`grams @> ${gramsOfSearch(words)}::int[] and ${hasParts(sql, sql`folded`, words)}`
}

/** Returns one clause per part, because comparing with an array took most of the time. */
function hasParts(sql: Db, text: Fragment, words: readonly string[]): Fragment {
  return words.map((word) => sql`strpos(${text}, ${partOf(word)}) > 0`).reduce((all, item) => sql`${all} and ${item}`)
}

/** How an app matches a text, nearest first. */
export const NEARNESS = ["name", "prefix", "words", "publisher"] as const
export type Nearness = (typeof NEARNESS)[number]

interface AppByText {
  /** store_app id. */
  app: number
  nearness: Nearness
}

/**
 * Maximum number of matches that are sorted. If there are more, the nearest matches are sorted, and among equally near
 * ones those first seen earliest.
 */
export const MAX_COMPARED = 1_000

/**
 * Returns the apps that match a text (see `appsWithText`), nearest first: the text is one of their names, a name begins
 * with it, every word occurs in their names, or some occur only in the publisher's. At most MAX_COMPARED + 1.
 */
export async function findAppsByText(sql: Sql, text: string): Promise<AppByText[]> {
  const words = wordsOf(text)
  if (words.length === 0) return []
  const rows = await sql<{ app: number; nearness: number }[]>`
    with found as materialized (
      select app_id, folded, split_part(folded, ${PUBLISHER}, 1) as names
      from app_text
      where ${holdsWords(sql, words)}
    )
    select app_id as app, case
        when strpos(names, ${NAME + spaced(words) + NAME}) > 0 then 0
        when strpos(names, ${NAME + spaced(words)}) > 0 then 1
        when ${hasParts(sql, sql`names`, words)} then 2
        else 3
      end as nearness
    from found
    order by nearness, app_id
    limit ${MAX_COMPARED + 1}`
  return rows.map(({ app, nearness }) => ({ app, nearness: NEARNESS[nearness] as Nearness }))
}
