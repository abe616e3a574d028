import type { Platform, Side } from "../../core/observation/provenance.ts"
import type { Sql } from "../../database/types.ts"
import type { FactSource } from "../../lib/upstreams.ts"

/** The source, by platform, whose readings contain both name and subtitle as the page shows them. */
export const TEXT_SOURCES: Record<Platform, FactSource> = { ios: "apple-app-page", android: "play-details" }

/** The texts of the latest reading of an app's page. Null if the page does not show one. */
export interface ListingTexts {
  name: string
  /** On Google Play the short description. */
  subtitle: string | null
  promotionalText: string | null
  description: string | null
  seenAt: Date
}

/** Returns the texts. Null if the page was never read in this storefront. */
export async function readListingTexts(
  sql: Sql,
  app: number,
  { platform, storefront }: Side,
): Promise<ListingTexts | null> {
  const source = TEXT_SOURCES[platform]
  const [row] = await sql<ListingTexts[]>`
    select c.content ->> 'name' as name, nullif(c.content ->> 'subtitle', '') as subtitle,
      nullif(c.content ->> 'promotionalText', '') as "promotionalText",
      nullif(c.content ->> 'description', '') as description, r.seen_at as "seenAt"
    from (
      select seen_at, digest
      from listing_run
      where (app_id, storefront, source, section) = (${app}, ${storefront}, ${source}, 'page')
      order by first_seen_at desc
      limit 1
    ) r
    join listing_content c
      on (c.app_id, c.storefront, c.source, c.section, c.digest) = (${app}, ${storefront}, ${source}, 'page', r.digest)`
  return row ?? null
}
