import * as v from "valibot"
import type { Context } from "../../core/operation.ts"
import { addDays } from "../../lib/days.ts"
import { described, named } from "../../lib/schema.ts"
import { Day } from "../../tracking/shapes.ts"
import { readOwnPopularity } from "../read/ads-popularity.ts"

const Scale = v.pipe(v.number(), v.integer())

/** Optional, because its scale differs from that of popularity and would confuse callers that do not need it. */
export const adsPopularityInput = described(
  v.optional(v.boolean()),
  "True = Apple Ads' own popularity too, where the workspace's ads account is connected.",
)

/** Apple Ads' figures for keywords of a storefront, separate from our own figures and never mixed with them. */
export const AdsPopularity = described(
  v.nullable(
    named(
      "AdsPopularity",
      v.strictObject({
        state: described(
          v.picklist(["measured", "not_measured", "not_connected", "hidden"]),
          "not_measured: no week of that storefront was read, as of those that no app of the workspace is tracked in; not_connected: no ads account is; hidden: this key may not read ads.",
        ),
        account: described(v.nullable(v.string()), "The ads account that says it. Null in every state but measured."),
        from: described(v.nullable(Day), "The Sunday that the week begins on, UTC."),
        to: described(v.nullable(Day), "The Saturday that it ends with."),
        below: described(v.nullable(Scale), "What is not listed has at most this overall100, which is not zero."),
        terms: described(
          v.array(
            v.strictObject({
              term: described(v.string(), "The keyword."),
              overall100: described(v.nullable(Scale), "1 to 100 over all genres. Null = not listed."),
              overall5: described(v.nullable(Scale), "1 to 5, as Apple Ads shows it. Null = not listed."),
            }),
          ),
          "The keywords in their order.",
        ),
      }),
    ),
  ),
  "Of a week, by the workspace's own ads account: another scale. Null = not asked for, or Google Play.",
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
  const listed = new Map(figures.listed.map((one) => [one.term, one]))
  return {
    state: "measured",
    ...{ account, from, to: addDays(from, 6), below },
    terms: terms.map((term) => {
      const { overall100 = null, overall5 = null } = listed.get(term) ?? {}
      return { term, overall100, overall5 }
    }),
  }
}
