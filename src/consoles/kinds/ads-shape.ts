import * as v from "valibot"
import { list, Text } from "../../core/observation/line-parts.ts"
import { most, rule } from "../../core/observation/shape.ts"
import { Account, Amount, CountryCode, Currency, Money, ReportedDay } from "./reports-shape.ts"

/** Of a campaign with five thousand keywords in all storefronts. */
const MOST_ROWS = 500_000

/** As the platform numbers its things. */
export const AdsId = v.pipe(
  Text,
  rule("bad_text", "an id of Apple Ads is a number", (id) => /^\d{1,20}$/.test(id)),
)

/** What an ad account says of a day; `rows` are all it says, and none where it says that there was nothing. */
export function adsShape<Row extends v.GenericSchema<object>>(row: Row) {
  return v.strictObject({
    account: Account,
    day: ReportedDay,
    rows: v.pipe(list(row), most(MOST_ROWS, "rows")),
  })
}

/** Cost and results in a country. Null if the platform does not name the figure. */
export const Metrics = {
  country: CountryCode,
  impressions: v.nullable(Amount),
  taps: v.nullable(Amount),
  installs: v.nullable(Amount),
  newDownloads: v.nullable(Amount),
  spend: v.nullable(Money),
  currency: Currency,
}
