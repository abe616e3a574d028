import * as v from "valibot"
import { Amount, CountryCode, Name, ReportedDay, reportShape } from "./reports-shape.ts"

export const AnalyticsRow = v.strictObject({
  /** The report's name of the event: an impression, a page view, a type of download. */
  event: Name,
  /** The report's name of the traffic source. */
  from: Name,
  /** Omitted if the report's territory is not a country. */
  country: v.optional(CountryCode),
  count: Amount,
})
export type AnalyticsRow = v.InferOutput<typeof AnalyticsRow>

const shape = reportShape(AnalyticsRow)

/** One day of a report about one app, from the file of one processing date. */
export const analyticsShape = v.strictObject({
  ...shape.entries,
  /** The store's id. */
  app: Name,
  /** Processing date of the file. A file with a later date replaces the whole day. */
  processed: ReportedDay,
})
