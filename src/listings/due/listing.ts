import { dueKind, type ReadPort, type Subject } from "../../measuring/due-kind.ts"
import { putForwardApps } from "../../measuring/put-forward.ts"
import { itunesLookup } from "../../stores/apple/itunes-lookup.ts"
import { listing } from "../kinds/listing.ts"
import { appleAppPage } from "../sources/apple-app-page.ts"

/**
 * Reads the pages of tracked apps, and of their rivals if turns remain. A missing page changes nothing: only the
 * look-up decides whether the app is sold.
 */
export const listingOnAppStore = dueKind({
  name: "listing",
  observes: listing,
  mayFindNothing: true,
  platform: "ios",
  upstream: appleAppPage.upstream,
  together: 1,
  requests: 1,
  everyDays: 1,
  async read([subject], port) {
    const { storefront, subject: id } = subject
    if (await isNotSold(port, subject)) return []
    return [await port.ask(appleAppPage, { storefront, id })]
  },
  putsForward: putForwardApps,
})

/**
 * For this many hours, a look-up that did not find the app proves that the app is not sold. Look-ups are daily, so
 * after that time newer ones are missing, and the page is read again.
 */
const LOOK_UP_COUNTS_HOURS = 72

async function isNotSold({ sql, now }: ReadPort, { platform, storefront, subject }: Subject): Promise<boolean> {
  const rows = await sql`
    select
    from store_app a
    join app_storefront s on s.app_id = a.id
    where a.platform = ${platform} and a.store_id = ${subject} and s.storefront = ${storefront}
      and s.source = ${itunesLookup.name} and not s.available
      and s.seen_at > ${now()}::timestamptz - ${LOOK_UP_COUNTS_HOURS}::int * interval '1 hour'`
  return rows.length > 0
}
