import * as v from "valibot"
import { list, Text } from "../../core/observation/line-parts.ts"
import { most, rule } from "../../core/observation/shape.ts"
import { Account, Amount, CountryCode, Currency, Money, ReportedDay } from "./reports-shape.ts"

/** Maximum number of rows. A campaign with 5,000 keywords in all storefronts has fewer. */
const MAX_ROWS = 500_000

/** The platform's numeric ids. */
export const AdsId = v.pipe(
  Text,
  rule("bad_text", "an id of Apple Ads is a number", (id) => /^\d{1,20}$/.test(id)),
)

/** A report of an ad account for one day. `rows` is complete; it is empty if the platform reported nothing. */
export function adsShape<Row extends v.GenericSchema<object>>(row: Row) {
  return v.strictObject({
    account: Account,
    day: ReportedDay,
    rows: v.pipe(list(row), most(MAX_ROWS, "rows")),
  })
}

/** Costs and results in a country. Null if the platform does not report the figure. */
export const Metrics = {
  country: CountryCode,
  impressions: v.nullable(Amount),
  taps: v.nullable(Amount),
  installs: v.nullable(Amount),
  newDownloads: v.nullable(Amount),
  spend: v.nullable(Money),
  currency: Currency,
}
