import * as v from "valibot"
import { described } from "../../../lib/schema.ts"
import type { AdsSpendAnswer } from "./ads-spend.ts"
import type { FunnelImpact } from "./funnel-outcomes.ts"
import { OUTCOMES, type OutcomeFigures, type OutcomeName } from "./outcome.ts"

export const Missing = described(
  v.array(v.strictObject({ what: v.picklist([...OUTCOMES, "ads_spend"]), why: v.string() })),
  "Data that would be used but is missing.",
)

interface FoundParts {
  funnel: FunnelImpact
  hasRanks: boolean
  hasSales: boolean
  spend: AdsSpendAnswer
}

const NO_WORDS = "The change of name or subtitle added or removed no word of a tracked keyword in that storefront."
const NO_SALES = "The console has no sales reports yet. A running server reads them within minutes."

/** Lists the outcomes without data. An outcome that is too recent or too small has its own verdict instead. */
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

const NO_PLAY_IMPRESSIONS = "Google Play reports no impressions."
const NO_PLAY_ADS = "Ads for apps on Google Play are not read, so the effect of ads is unknown."
const NO_PLAY_FILE = "Google Play's monthly files have no figures of the app yet. A running server reads them."

/** Like missingOf, for an app on Google Play; `outcomes` are those with figures. */
export function missingOnPlay(outcomes: readonly OutcomeFigures[]): v.InferOutput<typeof Missing> {
  const has = (name: OutcomeName) => outcomes.some(({ outcome }) => outcome === name)
  const unread = (
    ["store_visitors", "acquisitions", "conversion", "downloads", "proceeds_per_download"] as const
  ).filter((name) => !has(name))
  return [
    { what: "search_impressions", why: NO_PLAY_IMPRESSIONS },
    ...(has("ranks") ? [] : [{ what: "ranks" as const, why: NO_WORDS }]),
    ...unread.map((what) => ({ what, why: NO_PLAY_FILE })),
    { what: "ads_spend", why: NO_PLAY_ADS },
  ]
}

function adsMissing(spend: AdsSpendAnswer) {
  const what = "ads_spend" as const
  if (spend === null) return [{ what, why: "No ads account has the app, so the effect of ads is unknown." }]
  if (spend.before !== null && spend.after !== null) return []
  return [{ what, why: "The ads spend is known for too few days around the change (see adsSpend)." }]
}
