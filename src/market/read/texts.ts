import type { Fragment } from "postgres"
import type { Db, Sql } from "../../database/types.ts"
import { gramsOfSearch, NAME, PUBLISHER, partOf, spaced, wordsOf } from "../../stores/app-text.ts"

/**
 * The apps (store_app ids, as app_id) in whose names, or whose publisher's, every word of a text occurs: three letters or more
 * anywhere within a word, one or two at a word's beginning, scripts without spaces anywhere. Found by the index and
 * then compared, so that nothing in the text is a wildcard. A text without a letter or digit is found nowhere.
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

/** Each part in a clause of its own: asked of an array it took most of the time. */
function hasParts(sql: Db, text: Fragment, words: readonly string[]): Fragment {
  return words.map((word) => sql`strpos(${text}, ${partOf(word)}) > 0`).reduce((all, one) => sql`${all} and ${one}`)
}

/** How an app's text meets what somebody looks for, the nearest first. */
export const NEARNESS = ["name", "prefix", "words", "publisher"] as const
export type Nearness = (typeof NEARNESS)[number]

interface AppByText {
  /** Its store_app id. */
  app: number
  nearness: Nearness
}

/** So many are put in order: of more, the nearest, and of those of one nearness the ones that were known first. */
export const MOST_COMPARED = 1_000

/**
 * The apps with a text (appsWithText), the nearest first: it is one of their names, a name begins with it, every word occurs in
 * their names, or some only in their publisher's. One more than MOST_COMPARED at most.
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
    limit ${MOST_COMPARED + 1}`
  return rows.map(({ app, nearness }) => ({ app, nearness: NEARNESS[nearness] as Nearness }))
}
