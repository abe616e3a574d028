import { kind } from "../../core/kind.ts"
import { checkIds } from "../../core/observation/invariants.ts"
import {
  LISTING_SOURCES,
  type ListingObservation,
  type ListingQuestion,
  shape,
} from "../../stores/kinds/listing-shape.ts"
import { storeListings } from "../store/listing.ts"

/**
 * The facts of an app's store page in one storefront. All readings are stored; consecutive readings with the same
 * content form a run.
 */
export const listing = kind<ListingObservation, ListingQuestion>({
  name: "listing",
  sources: LISTING_SOURCES,
  private: false,
  demo: "invented",
  shape,
  question: {
    about: ({ id }) => id,
    checkSubject: (subject, platform) => checkIds(platform, [subject], "requested apps"),
    sources: ["apple-app-page"],
  },
  names: ({ id, listing: { similar = [], moreByDeveloper = [] } }) => ({
    apps: [id, ...[...similar, ...moreByDeveloper].map((app) => app.id)],
    series: [id],
  }),
  market: ({ id, listing: { hasInAppPurchases } }) =>
    hasInAppPurchases === undefined ? [] : [{ id, facts: { hasInAppPurchases } }],
  async store(tx, readings, ids) {
    const { shown, outdated } = await storeListings(tx, readings, ids)
    return { placed: shown.filter(({ placed }) => placed).map(({ from }) => from), shown, outdated }
  },
  latest: (sql, { platform, storefront, subject }, since) => sql`
    select max(r.seen_at) as "seenAt"
    from store_app a
    join listing_run r on r.app_id = a.id
    where (a.platform, a.store_id) = (${platform}, ${subject}) and r.storefront = ${storefront}
      and r.source = 'apple-app-page' and r.section in ('page', 'stale') and r.seen_at >= ${since}`,
  example: {
    source: "apple-app-page",
    platform: "ios",
    storefront: "us",
    id: "897446215",
    seenAt: "2025-10-25T03:25:01Z",
    listing: {
      name: "Canva",
      language: "en-US",
      subtitle: "Design, photo & video",
      version: "4.1",
      hasInAppPurchases: true,
      events: [{ id: "6000001", title: "Spring", startsAt: "2025-10-20T08:00:00Z" }],
    },
  },
})
