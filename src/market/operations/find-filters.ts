import * as v from "valibot"
import { GenreId } from "../../charts/operations/chart-genres.ts"
import { CHARTS } from "../../lib/charts.ts"
import { Fault } from "../../lib/faults.ts"
import { Country, wholeNumber } from "../../lib/fields.ts"
import { keysOf } from "../../lib/objects.ts"
import { coded, described } from "../../lib/schema.ts"
import { wordsOf } from "../../stores/app-text.ts"

/** The maximum depth of any chart. */
export const DEEPEST = 1_000
const MAX_MONTHS = 240
/** Maximum number of rows that can be reached by paging. */
const MAX_ROWS = 10_000
const DEFAULT_COUNTRIES = ["us"]

export const KINDS = ["grossing", ...CHARTS.filter((kind) => kind !== "grossing"), "ipad"] as const

/** Only the minimum of a range has a description. The description covers the maximum, too. */
const whole = (least: number, most: number, text?: string) =>
  filterOf(v.pipe(v.number(), v.integer(), v.minValue(least), v.maxValue(most)), text)
const figure = (text?: string) => filterOf(v.number(), text)

function filterOf<S extends v.GenericSchema<number>>(schema: S, text: string | undefined) {
  return v.optional(coded(text === undefined ? schema : described(schema, text), "bad_filter"))
}

/** A call needs at least one of these filters. */
const filters = {
  genre: described(
    v.optional(coded(v.pipe(v.array(GenreId), v.minLength(1), v.maxLength(3)), "bad_genre")),
    "Genre of the charts; 36 means overall.",
  ),
  country: v.optional(
    coded(v.pipe(v.array(Country), v.minLength(1), v.maxLength(5)), "bad_country"),
    DEFAULT_COUNTRIES,
  ),
  kind: v.optional(coded(v.pipe(v.picklist(KINDS), v.description("ipad: the free iPad chart.")), "bad_kind")),
  released: whole(1, MAX_MONTHS, "First seen within this number of months."),
  rankMin: whole(1, DEEPEST, "Bounds of the app's best rank on all selected charts, shown as `rank`."),
  rankMax: whole(1, DEEPEST),
  revenueMin: figure("US dollars per month."),
  revenueMax: figure(),
  downloadsMin: figure("Per month."),
  downloadsMax: figure(),
  growthMin: figure("Percent in 30 days."),
  growthMax: figure(),
  text: v.optional(
    coded(
      v.pipe(
        v.string(),
        v.maxLength(120),
        v.check((text) => wordsOf(text).length > 0),
        v.description("Words that must all occur in a name or the publisher's name."),
      ),
      "bad_filter",
    ),
  ),
  publisher: v.optional(
    coded(v.pipe(v.string(), v.minLength(1), v.maxLength(255), v.description("publisherId.")), "bad_filter"),
  ),
}

export const FindInput = v.strictObject({
  ...filters,
  estimates: v.optional(v.pipe(v.boolean(), v.description("True adds estimates."))),
  limit: v.optional(wholeNumber(1, 200, "Apps per page.", "invalid_arguments"), 50),
  page: v.optional(wholeNumber(1, MAX_ROWS, `limit × page must be at most ${MAX_ROWS}.`, "invalid_arguments"), 1),
})
export type FindQuery = v.InferOutput<typeof FindInput>

const RANGES = ["rank", "revenue", "downloads", "growth"] as const

/**
 * Returns the filters unchanged. Throws no_filters without any filter, bad_filter for an empty range, and
 * invalid_arguments beyond MAX_ROWS.
 */
export function checkFilters(query: FindQuery): FindQuery {
  const names = keysOf(filters)
  if (!names.some((name) => isFilter(query, name))) throw new Fault("no_filters", { filters: names })
  for (const range of RANGES) {
    const [least, most] = [query[`${range}Min`], query[`${range}Max`]]
    if (least === undefined || most === undefined || least <= most) continue
    const detail = `${range}Min (${least}) is above ${range}Max (${most}).`
    throw new Fault("bad_filter", { field: `${range}Min`, detail })
  }
  if (query.limit * query.page > MAX_ROWS) {
    const detail = `limit × page must be at most ${MAX_ROWS}: use narrower filters.`
    throw new Fault("invalid_arguments", { field: "page", detail })
  }
  return query
}

/** The default country does not count as a filter. */
function isFilter(query: FindQuery, name: keyof typeof filters): boolean {
  if (name === "country") return query.country.join() !== DEFAULT_COUNTRIES.join()
  return query[name] !== undefined
}
