import * as v from "valibot"
import {
  Country,
  Fact,
  LINE_PROVENANCE,
  ListingShape,
  LookedUpApp,
  list,
  Moment,
  PlatformName,
  SoldApp,
  Text,
  Whole,
} from "./line-parts.ts"
import { APPS_SOURCES, CHART_SOURCES, CHARTS, DEVICES, LISTING_SOURCES, REVIEWS_SOURCES } from "./types.ts"

/** Shapes of the lines of kinds that are not declared in a file of their own yet. */
export const SHAPES = {
  apps: v.strictObject({
    kind: v.literal("apps"),
    source: v.picklist(APPS_SOURCES, `must be one of ${APPS_SOURCES.join(", ")}`),
    platform: PlatformName,
    storefront: Country,
    seenAt: Moment,
    asked: list(Text),
    apps: list(LookedUpApp),
    ...LINE_PROVENANCE,
  }),
  chart: v.strictObject({
    kind: v.literal("chart"),
    source: v.picklist(CHART_SOURCES, `must be one of ${CHART_SOURCES.join(", ")}`),
    platform: PlatformName,
    storefront: Country,
    device: v.picklist(DEVICES, `must be ${DEVICES.join(" or ")}`),
    chart: v.picklist(CHARTS, `must be one of ${CHARTS.join(", ")}`),
    genre: Text,
    seenAt: Moment,
    apps: list(v.strictObject(SoldApp)),
    depth: v.optional(Whole),
    complete: v.optional(v.boolean("must be true or false"), true),
    ...LINE_PROVENANCE,
  }),
  reviews: v.strictObject({
    kind: v.literal("reviews"),
    source: v.picklist(REVIEWS_SOURCES, `must be one of ${REVIEWS_SOURCES.join(", ")}`),
    platform: PlatformName,
    storefront: Country,
    language: Fact,
    storeId: Text,
    seenAt: Moment,
    reviews: list(v.strictObject({ id: Text, stars: Whole, title: Fact, text: Text, version: Fact, at: Moment })),
    pages: v.optional(Whole),
    complete: v.optional(v.boolean("must be true or false")),
    ...LINE_PROVENANCE,
  }),
  listing: v.strictObject({
    kind: v.literal("listing"),
    source: v.picklist(LISTING_SOURCES, `must be one of ${LISTING_SOURCES.join(", ")}`),
    platform: PlatformName,
    storefront: Country,
    id: Text,
    seenAt: Moment,
    listing: ListingShape,
    ...LINE_PROVENANCE,
  }),
  developer: v.strictObject({
    kind: v.literal("developer"),
    source: v.literal("itunes-developer", "must be itunes-developer"),
    platform: PlatformName,
    storefront: Country,
    developerId: Text,
    seenAt: Moment,
    apps: list(LookedUpApp),
    complete: v.boolean("must be true or false"),
    ...LINE_PROVENANCE,
  }),
}

export type LineOf<Kind extends keyof typeof SHAPES> = v.InferOutput<(typeof SHAPES)[Kind]>
