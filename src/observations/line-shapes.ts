import * as v from "valibot"
import { Country, LINE_PROVENANCE, ListingShape, LookedUpApp, list, Moment, PlatformName, Text } from "./line-parts.ts"
import { APPS_SOURCES, LISTING_SOURCES } from "./types.ts"

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
}

export type LineOf<Kind extends keyof typeof SHAPES> = v.InferOutput<(typeof SHAPES)[Kind]>
