import * as v from "valibot"
import type { Context } from "../../core/operation.ts"
import { addDays } from "../../lib/days.ts"
import { described, named } from "../../lib/schema.ts"
import { Day } from "../../tracking/shapes.ts"
import { readOwnPopularity } from "../read/ads-popularity.ts"

const Scale = v.pipe(v.number(), v.integer())

/**
 * Off by default, because Apple's scale differs from that of popularity and would confuse callers that do not need it.
 */
export const adsPopularityInput = described(
  v.optional(v.boolean()),
  "True adds the popularity from Apple Ads, if an ads account is connected.",
)

/** Apple Ads' figures for keywords of a storefront, separate from our own figures and never mixed with them. */
export const AdsPopularity = described(
  v.nullable(
    named(
      "AdsPopularity",
      v.strictObject({
        state: described(
          v.picklist(["measured", "not_measured", "not_connected", "hidden"]),
          "not_measured: no week of that storefront was read, for example because no app of the workspace is " +
            "tracked there; not_connected: no ads account is connected; hidden: this key cannot read ads.",
        ),
        account: described(v.nullable(v.string()), "The ads account. Null unless state is measured."),
        from: described(v.nullable(Day), "First day of the week, a Sunday (UTC)."),
        to: described(v.nullable(Day), "Last day of the week, a Saturday (UTC)."),
        below: described(v.nullable(Scale), "An unlisted term has at most this overall100. It need not be zero."),
        terms: described(
          v.array(
            v.strictObject({
              term: described(v.string(), "The keyword."),
              overall100: described(v.nullable(Scale), "1 to 100 over all genres. Null if not listed."),
              overall5: described(v.nullable(Scale), "1 to 5, as shown by Apple Ads. Null if not listed."),
            }),
          ),
          "The keywords, in their order.",
        ),
      }),
    ),
  ),
  "Weekly popularity from the ads account, on its own scale. Null if not requested, or for " + "Google Play.",
)

const NONE = { account: null, from: null, to: null, below: null, terms: [] }

/** Reads the figures of the workspace's own ads account for a storefront of the App Store. */
export async function readAdsPopularity(
  terms: readonly string[],
  country: string,
  { sql, caller }: Pick<Context, "sql" | "caller">,
): Promise<v.InferOutput<typeof AdsPopularity>> {
  if (!caller.scopes.includes("ads:read")) return { state: "hidden", ...NONE }
  const figures = await readOwnPopularity(sql, caller.workspaceId, country, terms)
  if (!figures) return { state: "not_connected", ...NONE }
  const { account, from, lowest: below } = figures
  if (from === null) return { state: "not_measured", ...NONE }
  const listed = new Map(figures.listed.map((item) => [item.term, item]))
  return {
    state: "measured",
    account,
    from,
    to: addDays(from, 6),
    below,
    terms: terms.map((term) => {
      const { overall100 = null, overall5 = null } = listed.get(term) ?? {}
      return { term, overall100, overall5 }
    }),
  }
}
