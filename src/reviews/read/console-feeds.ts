import { consoleFeedOf, consoleLanguage, NO_LANGUAGE } from "../../core/observation/feed-name.ts"
import type { Db } from "../../database/types.ts"
import { isAlsoSpokenIn, reviewLanguage } from "../../lib/review-language.ts"
import { readPlayConsoles } from "../../tracking/tracked-app.ts"

interface ConsoleFeed {
  feed: string
  /** BCP 47; "und" if the console names no language. */
  language: string
}

/**
 * Returns the feeds that a Google Play Console of the workspace has for its app, one per language. If several accounts
 * have the app, returns the feeds of the oldest account, because all accounts list the same reviews.
 */
export async function readConsoleFeeds(
  sql: Db,
  { trackedApp, appId }: { trackedApp: string; appId: number },
): Promise<ConsoleFeed[]> {
  for (const account of await readPlayConsoles(sql, trackedApp)) {
    const rows = await sql<{ feed: string }[]>`
      select feed
      from review_feed
      where app_id = ${appId} and starts_with(feed, ${consoleFeedOf(account, "")})
      order by feed`
    if (rows.length > 0) return rows.map(({ feed }) => ({ feed, language: consoleLanguage(feed) ?? NO_LANGUAGE }))
  }
  return []
}

/**
 * Returns whether a console's reviews in a language belong to a storefront. The console names no country, so all
 * storefronts with the language share the reviews, as on the store's page. Reviews without a language are shown in
 * every storefront.
 */
export function isSpokenIn(language: string, storefront: string): boolean {
  if (language === NO_LANGUAGE || language === reviewLanguage(storefront)) return true
  return isAlsoSpokenIn(language, storefront)
}
