import * as v from "valibot"

/** Facts of two measured days of one source. A rank is null where the app was absent, as far as was read. */
export const compared = {
  source: v.string(),
  /** The earlier day, UTC; the later is the alert's own. */
  against: v.string(),
  depth: v.number(),
  wasDepth: v.number(),
}
