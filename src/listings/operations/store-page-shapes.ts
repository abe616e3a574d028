import * as v from "valibot"
import { described, named } from "../../lib/schema.ts"
import { Count, Source, StarCounts, Time } from "../../tracking/shapes.ts"
import type { LatestCounts, PageParts } from "../read/store-pages.ts"
import { ShelfShape } from "./listing-shapes.ts"

const Text = v.nullable(v.string())

/** Fields of both stores' pages. */
export const pageFields = {
  storeId: described(v.string(), "The store's own id of the app."),
  url: described(v.string(), "The page itself."),
  available: described(
    v.nullable(v.boolean()),
    "Whether the store's look-up found the app in the storefront; null = it was not looked up.",
  ),
  availableAt: described(v.nullable(Time), "When it was looked up last."),
  measured: described(v.boolean(), "False = the page was never read, which does not say that it is empty."),
  measuredAt: described(v.nullable(Time), "The latest reading; null = never."),
  unchangedSince: described(
    v.nullable(Time),
    "The first of the latest readings, one after the other, that found the same; null = never read.",
  ),
  source: described(
    v.nullable(Source),
    "Who read it: apple-app-page and play-details read the page itself, itunes-lookup the store's own summary of it, which lacks most parts.",
  ),
  language: described(Text, "BCP 47, of the texts; null = not said."),
  version: described(Text, "Null = not shown, or another for each kind of device."),
  versionReleasedAt: described(v.nullable(Time), "Null = the page does not say."),
  releaseNotes: described(Text, "Null = the page shows none."),
  price: described(v.nullable(v.number()), "0 = free; null = not shown."),
  currency: described(Text, "ISO 4217, of the price."),
  category: described(Text, "As the page names it; null = not shown."),
  ageRating: described(Text, "As written; null = not shown."),
  hasInAppPurchases: described(v.nullable(v.boolean()), "Null = the page does not say."),
  icon: described(Text, "An address; null = not shown."),
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
  rating: described(v.nullable(v.number()), "The average, 0 to 5; null = none, or not measured."),
  ratings: described(v.nullable(Count), "How many ratings; null = not measured."),
  ratingsAt: described(v.nullable(Time), "When these two were seen last."),
}

export function countShape({ rating, ratings, ratingsAt }: LatestCounts) {
  return { rating, ratings, ratingsAt: ratingsAt?.toISOString() ?? null }
}

/** Further fields of both stores' pages. */
export const shownFields = {
  similarAt: described(v.nullable(Time), "When the row of similar apps was read last; null = never."),
  similar: described(v.nullable(v.array(ShelfShape)), "The row of similar apps, in its order. Null = never read."),
  ...countFields,
}

/** The fields that the pages of both stores share. */
export const StorePage = named("StorePage", v.strictObject({ ...pageFields, ...shownFields }))

export const starsFields = {
  stars: described(
    v.nullable(StarCounts),
    "How many gave one star to five. The store's figures do not always add up to all ratings. Null = not measured.",
  ),
  starsAt: described(v.nullable(Time), "When the stars were seen last; null = never."),
}

export function starsShape({ stars, starsAt }: LatestCounts) {
  const [five, four, three, two, one] = stars ?? []
  const counted = { "1": one, "2": two, "3": three, "4": four, "5": five } as Record<
    "1" | "2" | "3" | "4" | "5",
    number
  >
  return { stars: stars && counted, starsAt: starsAt?.toISOString() ?? null }
}
