import * as v from "valibot"
import { Country, LINE_PROVENANCE, ListingShape, Moment, PlatformName, Text } from "./line-parts.ts"
import { LISTING_SOURCES } from "./types.ts"

/** Shapes of the lines of kinds that are not declared in a file of their own yet. */
export const SHAPES = {
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
