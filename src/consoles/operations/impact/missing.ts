import * as v from "valibot"
import { described } from "../../../lib/schema.ts"
import type { AdsSpendAnswer } from "./ads-spend.ts"
import type { FunnelImpact } from "./funnel-outcomes.ts"
import { OUTCOMES } from "./outcome.ts"

export const Missing = described(
  v.array(v.strictObject({ what: v.picklist([...OUTCOMES, "ads_spend"]), why: v.string() })),
  "Missing data that would be used.",
)

interface FoundParts {
  funnel: FunnelImpact
  hasRanks: boolean
  hasSales: boolean
  spend: AdsSpendAnswer
}

const NO_WORDS = "The change of name or subtitle added or removed no word of a tracked keyword in that storefront."
const NO_SALES = "The console has no sales reports yet. A running server reads them within minutes."

/** Lists only missing data: an outcome that is too recent or too small has its own verdict. */
export function missingOf({ funnel, hasRanks, hasSales, spend }: FoundParts): v.InferOutput<typeof Missing> {
  const why = `${funnel.missing?.charAt(0).toUpperCase()}${funnel.missing?.slice(1)}.`
  const unread = (["search_impressions", "conversion"] as const).filter(
    (name) => !funnel.outcomes.some(({ outcome }) => outcome === name),
  )
  const unsold = (["downloads", "proceeds_per_download"] as const).map((what) => ({ what, why: NO_SALES }))
  return [
    ...unread.map((what) => ({ what, why })),
    ...(hasRanks ? [] : [{ what: "ranks" as const, why: NO_WORDS }]),
    ...(hasSales ? [] : unsold),
    ...adsMissing(spend),
  ]
}

function adsMissing(spend: AdsSpendAnswer) {
  const what = "ads_spend" as const
  if (spend === null) return [{ what, why: "No ads account has the app, so the effect of ads is unknown." }]
  if (spend.before !== null && spend.after !== null) return []
  return [{ what, why: "The ads spend is known for too few days around the change (see adsSpend)." }]
}
