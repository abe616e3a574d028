import * as v from "valibot"
import { Amount, CountryCode, Name, ReportedDay, reportShape } from "./reports-shape.ts"

export const AnalyticsRow = v.strictObject({
  /** As the report calls what happened: an impression, a page view, a kind of download. */
  event: Name,
  /** Where people came from, as the report calls it. */
  from: Name,
  /** Left out where the report names none that is a country. */
  country: v.optional(CountryCode),
  count: Amount,
})
export type AnalyticsRow = v.InferOutput<typeof AnalyticsRow>

const shape = reportShape(AnalyticsRow)

/** A day of a report about one app, as the file of one processing date has it. */
export const analyticsShape = v.strictObject({
  ...shape.entries,
  /** The store's id. */
  app: Name,
  /** A later one replaces the whole day. */
  processed: ReportedDay,
})
