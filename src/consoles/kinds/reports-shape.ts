import { hash } from "node:crypto"
import * as v from "valibot"
import { hold, isText } from "../../core/observation/invariants.ts"
import { Fact, list, Text, Whole } from "../../core/observation/line-parts.ts"
import { most, rule, ruleBy } from "../../core/observation/shape.ts"
import { isStorable } from "../../lib/text.ts"
import { isRealDay } from "../../lib/time.ts"

/** Maximum number of rows. A seller with a thousand products in all storefronts has fewer. */
const MAX_ROWS = 200_000

export const Account = v.pipe(
  Text,
  rule("bad_text", "an account's id is ac_ and 18 hex digits", (id) => /^ac_[0-9a-f]{18}$/.test(id)),
)

/** The console's day, in Pacific time. */
export const ReportedDay = v.pipe(
  Text,
  ruleBy((day, { seenAt }) => {
    hold(/^\d{4}-\d\d-\d\d$/.test(day) && isRealDay(day), "bad_time", "the day must be YYYY-MM-DD")
    hold(Date.parse(day) < seenAt.getTime(), "bad_time", "the day had not begun when its report was read")
  }),
)

/** A calendar day, possibly in the future. Omitted if there is none. */
export const CalendarDay = v.optional(
  v.pipe(
    Text,
    rule("bad_time", "the day must be YYYY-MM-DD", (day) => /^\d{4}-\d\d-\d\d$/.test(day) && isRealDay(day)),
  ),
)

/** A report of one account for one day. `rows` is complete; it is empty if the console reported nothing. */
export function reportShape<Row extends v.GenericSchema<object>>(row: Row) {
  return v.strictObject({
    account: Account,
    day: ReportedDay,
    rows: v.pipe(list(row), most(MAX_ROWS, "rows")),
  })
}

/** ISO 4217 code for no currency. Marks money for which the upstream names no currency. */
export const NO_CURRENCY = "XXX"
/** CLDR code for an unknown region. Marks a row for which the upstream names no country. */
export const NO_COUNTRY = "zz"

export const MAX_NAME = 500
export const MAX_SKU = 2_000
export const MAX_WORD = 100

const CODE = /^[A-Z]{3}$/
export const Name = v.pipe(
  Text,
  rule("bad_text", "a name must have 1 to 500 characters", (name) => isText(name, MAX_NAME)),
)
/** The seller's own id of an app or product. Apple's table of the sales report declares up to 2,000 characters. */
export const Sku = v.pipe(
  Text,
  rule("bad_text", "a SKU must have 1 to 2000 characters", (sku) => isText(sku, MAX_SKU)),
)
export const CountryCode = v.pipe(
  Text,
  rule("bad_storefront", "a country must be two lower-case letters", (code) => /^[a-z]{2}$/.test(code)),
)
export const Currency = v.pipe(
  Text,
  rule("bad_text", "a currency must be a code of ISO 4217", (code) => CODE.test(code)),
)
/** The text as printed, because a floating-point number could change the amount. */
export const Money = v.pipe(
  Text,
  rule("bad_figure", "money must be a decimal number", (text) => /^-?\d{1,12}(\.\d{1,6})?$/.test(text)),
)
export const Units = v.pipe(
  Whole,
  rule(
    "bad_figure",
    "units must be a whole number",
    (units) => Number.isSafeInteger(units) && Math.abs(units) < 2 ** 31,
  ),
)
export const Amount = v.pipe(
  Whole,
  rule(
    "bad_figure",
    "an amount must be a whole number from 0",
    (n) => Number.isSafeInteger(n) && n >= 0 && n < 2 ** 31,
  ),
)
export const Word = v.pipe(
  Fact,
  rule(
    "bad_text",
    "a code has 100 characters at most",
    (text) => text === undefined || (text.length <= MAX_WORD && isStorable(text)),
  ),
)

/**
 * Returns a digest of a report's rows, to compare two fetches. It leaves out the body, because error bodies have a new
 * id each time.
 */
export function reportDigest(rows: readonly object[]): Buffer {
  const text = JSON.stringify(
    rows.map((row) =>
      Object.entries(row)
        .filter(([, value]) => value !== undefined)
        .sort(),
    ),
  )
  return hash("sha256", text, "buffer")
}
