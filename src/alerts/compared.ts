import * as v from "valibot"

/**
 * Facts that compare two measured days of one source. A rank is null if the app was absent from the results that were
 * read.
 */
export const compared = {
  source: v.string(),
  /** The earlier day, UTC. The later is the day of the alert. */
  against: v.string(),
  depth: v.number(),
  wasDepth: v.number(),
}
