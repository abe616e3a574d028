import type { Days } from "../../../lib/days.ts"
import { addDays, dayOf } from "../../../lib/days.ts"
import { jsonOrNothing } from "../../../measuring/parsing/json.ts"
import { type About, type RawBody, ReadFailure } from "../../../measuring/source.ts"
import type { AdsPopularityObservation } from "../../kinds/ads-insights.ts"
import type { AdsDaysObservation, AdsTermsObservation } from "../../kinds/ads-metrics.ts"
import type { AdsCampaignsObservation, AdsKeywordsObservation } from "../../kinds/ads-things.ts"
import { popularityIn } from "./insights.ts"
import { daysIn, type ReportPages, termsIn } from "./reports.ts"
import {
  type AdsQuery,
  campaignsQuery,
  dailyReport,
  groupsQuery,
  keywordsQuery,
  negativesQuery,
  popularityQuery,
  searchTermsReport,
} from "./requests.ts"
import { type PlatformRow, rowsIn } from "./response-fields.ts"
import { campaignsIn, negativeGroups, thingsIn } from "./things.ts"

/** Kinds whose bodies are stored. Bodies of changes are not, because they name the people who made them. */
export type StoredAdsBody =
  | AdsCampaignsObservation
  | AdsKeywordsObservation
  | AdsDaysObservation
  | AdsTermsObservation
  | AdsPopularityObservation

/** Maximum number of days. No request ever covered more. */
const FURTHEST_DAYS = 100

/**
 * Parses the stored body of a reading again: it has the responses to all queries of the reading, in order. Throws
 * ReadFailure.
 */
export function adsIn(stored: StoredAdsBody, body: Pick<RawBody, "text"> & About): StoredAdsBody {
  const answers = new Answers(body.text)
  const { account } = stored
  switch (stored.kind) {
    case "ads_campaigns":
      return campaignsIn(answers.to(campaignsQuery()).rows, account, body)
    case "ads_keywords":
      return thingsOf(answers, stored, body)
    case "ads_terms": {
      const window = { from: stored.day, to: stored.day }
      const pages = answers.to(searchTermsReport(stored.campaign, window))
      return termsIn(pages, { account, campaign: stored.campaign, window }, body)
    }
    case "ads_popularity": {
      const { country, day: sunday } = stored
      return popularityIn(answers.to(popularityQuery(country, sunday)).rows, { account, country, sunday }, body)
    }
    case "ads_days":
      return dayOfBody(answers, stored, body)
  }
}

function thingsOf(answers: Answers, { account, campaign }: AdsKeywordsObservation, about: About) {
  const groups = answers.to(groupsQuery(campaign)).rows
  const keywords = answers.to(keywordsQuery(campaign)).rows
  const ofItself = answers.to(negativesQuery(campaign, null)).rows
  const ids = negativeGroups(groups)
  const together = ids.length > 0 ? answers.to(negativesQuery(campaign, ids)) : null
  const ofGroups = together?.isRefused
    ? ids.flatMap((id) => answers.to(negativesQuery(campaign, [id])).rows)
    : (together?.rows ?? [])
  return thingsIn({ groups, keywords, negatives: [...ofItself, ...ofGroups] }, { account, campaign }, about)
}

/** A body covers many days. A day without rows in the body had no activity. */
function dayOfBody(answers: Answers, { account, campaign, day }: AdsDaysObservation, about: About): AdsDaysObservation {
  const seen = dayOf(about.seenAt)
  const window: Days = { from: addDays(seen, -FURTHEST_DAYS), to: addDays(seen, 1) }
  const whole = answers.to(dailyReport("campaigns", campaign, window))
  const keywords = answers.to(dailyReport("keywords", campaign, window))
  const days = daysIn({ campaign: whole, keywords }, { account, campaign, window }, about)
  const reading = days.find((item) => item.day === day)
  if (!reading) throw new ReadFailure("changed", "this version finds no reading of the day in the stored body")
  return reading
}

/**
 * Assigns the responses to the queries. A query has one response for each page, up to the first page that is not full.
 */
class Answers {
  readonly #left: unknown[]

  constructor(text: string) {
    const answers = jsonOrNothing(text)
    if (!Array.isArray(answers)) throw new ReadFailure("changed", "the body is not a list of responses")
    this.#left = [...answers]
  }

  to({ pageSize: usual }: AdsQuery): ReportPages & { isRefused: boolean } {
    const pages: { rows: PlatformRow[]; pageFields: PlatformRow[]; isRefused: boolean } = {
      rows: [],
      pageFields: [],
      isRefused: false,
    }
    const marks = this.#left[0] as { refused?: unknown; pageSize?: unknown; result?: unknown } | null | undefined
    // ads/reach.ts adds marks for refused queries, and for queries that were sent with smaller pages.
    const isMark = typeof marks === "object" && marks !== null && marks.result === undefined
    if (isMark) this.#left.shift()
    if (isMark && marks.refused === true) return { ...pages, isRefused: true }
    const pageSize = isMark && typeof marks.pageSize === "number" ? marks.pageSize : usual
    for (;;) {
      const result = (this.#left.shift() as { result?: unknown } | null | undefined)?.result
      const rows = rowsIn(result)
      if (!rows) throw new ReadFailure("changed", "the body lacks a response to one of the queries")
      pages.rows.push(...rows)
      pages.pageFields.push(Array.isArray(result) ? {} : (result as PlatformRow))
      if (rows.length < pageSize) return pages
    }
  }
}
