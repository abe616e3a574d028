import * as v from "valibot"
import { checkListing } from "../check-listing.ts"
import { checkIds } from "../invariants.ts"
import { kind } from "../kind.ts"
import { listingOf } from "../line-readers.ts"
import { SHAPES } from "../line-shapes.ts"
import { deriveJumps } from "../rating-jumps.ts"
import { storeListings } from "../record-listing.ts"
import { LISTING_SOURCES, type ListingObservation } from "../types.ts"

export interface ListingQuestion {
  storefront: string
  /** Store id. */
  id: string
}

export const listing = kind<ListingObservation, ListingQuestion>({
  name: "listing",
  sources: LISTING_SOURCES,
  private: false,
  figures: true,
  shape: v.strictObject({}),
  lineShape: SHAPES.listing,
  readLine: listingOf as never,
  check: checkListing,
  question: {
    about: ({ id }) => id,
    checkSubject: (subject, platform) => checkIds(platform, [subject], "apps that were asked for"),
    sources: ["apple-app-page"],
  },
  names: ({ id, listing: { similar = [], moreByDeveloper = [] } }) => ({
    apps: [id, ...[...similar, ...moreByDeveloper].map((app) => app.id)],
    series: [id],
  }),
  market: ({ id, listing: { hasInAppPurchases } }) =>
    hasInAppPurchases === undefined ? [] : [{ id, facts: { hasInAppPurchases } }],
  async store(tx, readings, known) {
    const shown = await storeListings(tx, readings, known)
    return { placed: shown.filter(({ placed }) => placed).map(({ from }) => from), shown }
  },
  derive: (tx, { rated }, known) => deriveJumps(tx, rated, known),
  example: {},
})
