import * as v from "valibot"
import { described, named } from "../../lib/schema.ts"
import { Count, Source, StarCounts, Time } from "../../tracking/shapes.ts"
import type { LatestCounts, PageParts } from "../read/store-pages.ts"
import { ShelfShape } from "./listing-shapes.ts"

const Text = v.nullable(v.string())

/** Fields of both stores' pages. */
export const pageFields = {
  storeId: described(v.string(), "Store id of the app."),
  url: described(v.string(), "The store page."),
  available: described(
    v.nullable(v.boolean()),
    "True if the store lists the app in this storefront. Null if not looked up.",
  ),
  availableAt: described(v.nullable(Time), "Time of the latest look-up."),
  measured: described(v.boolean(), "False if the page was never read. This does not mean that it is empty."),
  measuredAt: described(v.nullable(Time), "Time of the latest reading. Null if never read."),
  unchangedSince: described(
    v.nullable(Time),
    "Time of the first of the latest consecutive readings with the same content. Null if never read.",
  ),
  source: described(
    v.nullable(Source),
    "Source of the reading. apple-app-page and play-details read the page itself; itunes-lookup is the store's " +
      "summary and lacks most parts.",
  ),
  language: described(Text, "BCP 47 language of the texts. Null if unknown."),
  version: described(Text, "Null if not shown, or different for each device."),
  versionReleasedAt: described(v.nullable(Time), "Null if unknown."),
  releaseNotes: described(Text, "Null if not shown."),
  price: described(v.nullable(v.number()), "0 means free. Null if not shown."),
  currency: described(Text, "ISO 4217 code of the price."),
  category: described(Text, "Name of the category on the page. Null if not shown."),
  ageRating: described(Text, "Age rating as written on the page. Null if not shown."),
  hasInAppPurchases: described(v.nullable(v.boolean()), "Null if unknown."),
  icon: described(Text, "URL of the icon. Null if not shown."),
}

const PageShape = v.strictObject(pageFields)

/** Returns the fields of a page except the app's id and URL. */
export function pageShape({
  looked,
  page,
  release,
}: Omit<PageParts, "counts">): Omit<v.InferInput<typeof PageShape>, "storeId" | "url"> {
  const content = page?.page
  return {
    available: looked?.available ?? null,
    availableAt: looked?.availableAt.toISOString() ?? null,
    measured: page !== undefined,
    measuredAt: page?.seenAt.toISOString() ?? null,
    unchangedSince: page?.unchangedSince.toISOString() ?? null,
    source: page?.source ?? null,
    language: content?.language ?? null,
    version: content?.version ?? null,
    versionReleasedAt: release.releasedAt?.toISOString() ?? null,
    releaseNotes: release.notes,
    price: content?.price ?? null,
    currency: content?.currency ?? null,
    category: content?.category ?? null,
    ageRating: content?.ageRating ?? null,
    hasInAppPurchases: content?.hasInAppPurchases ?? null,
    icon: content?.icon ?? null,
  }
}

const countFields = {
  rating: described(v.nullable(v.number()), "Average rating, 0 to 5. Null if there is none or it was not measured."),
  ratings: described(v.nullable(Count), "Number of ratings. Null if not measured."),
  ratingsAt: described(v.nullable(Time), "Time of the latest reading of rating and ratings."),
}

export function countShape({ rating, ratings, ratingsAt }: LatestCounts) {
  return { rating, ratings, ratingsAt: ratingsAt?.toISOString() ?? null }
}

/** Further fields of both stores' pages. */
export const shownFields = {
  similarAt: described(v.nullable(Time), "Time of the latest reading of the row of similar apps. Null if never read."),
  similar: described(v.nullable(v.array(ShelfShape)), "The row of similar apps, in order. Null if never read."),
  ...countFields,
}

/** The fields that the pages of both stores share. */
export const StorePage = named("StorePage", v.strictObject({ ...pageFields, ...shownFields }))

export const starsFields = {
  stars: described(
    v.nullable(StarCounts),
    "Number of ratings with 1 to 5 stars. The store's figures do not always add up to all ratings. Null if not " +
      "measured.",
  ),
  starsAt: described(v.nullable(Time), "Time of the latest reading of the stars. Null if never read."),
}

export function starsShape({ stars, starsAt }: LatestCounts) {
  const [five, four, three, two, one] = stars ?? []
  const counted = { "1": one, "2": two, "3": three, "4": four, "5": five } as Record<
    "1" | "2" | "3" | "4" | "5",
    number
  >
  return { stars: stars && counted, starsAt: starsAt?.toISOString() ?? null }
}
