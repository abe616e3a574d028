import { addDays, type Days, dayOf, mondayOf } from "../../../lib/days.ts"

interface Filter {
  field: string
  operator: "EQUALS" | "IN" | "IS_NULL" | "BETWEEN"
  value?: string | readonly string[]
}

/** A query to the Apple Ads Platform API, without the page number. */
export interface AdsQuery {
  path: string
  body: Record<string, unknown> & { filters?: readonly Filter[] }
  /** Maximum number of rows per page. */
  pageSize: number
}

const THINGS = 1_000
const REPORTED = 5_000
const INSIGHTS = 10_000

/**
 * Queries campaigns of apps, and leaves out campaigns in Maps, which advertise a business. Deleted campaigns are not
 * listed.
 */
export function campaignsQuery(): AdsQuery {
  const filters: Filter[] = [{ field: "promotedObjectType", operator: "EQUALS", value: "APPSTORE_APP" }]
  return { path: "/v1/campaigns/query", body: { filters }, pageSize: THINGS }
}

export function groupsQuery(campaign: string): AdsQuery {
  return { path: "/v1/adgroups/query", body: { filters: [ofCampaign(campaign)] }, pageSize: THINGS }
}

export function keywordsQuery(campaign: string): AdsQuery {
  return { path: "/v1/keywords/query", body: { filters: [ofCampaign(campaign)] }, pageSize: THINGS }
}

/** Queries the campaign's own negative keywords if `groups` is null, otherwise those of the ad groups. */
export function negativesQuery(campaign: string, groups: readonly string[] | null): AdsQuery {
  const [only] = groups?.length === 1 ? groups : []
  const ofGroups: Filter[] = [
    only === undefined
      ? { field: "adGroupId", operator: "IN", value: groups ?? [] }
      : { field: "adGroupId", operator: "EQUALS", value: only },
  ]
  const ofItself: Filter[] = [ofCampaign(campaign), { field: "adGroupId", operator: "IS_NULL" }]
  return { path: "/v1/negative-keywords/query", body: { filters: groups ? ofGroups : ofItself }, pageSize: THINGS }
}

/** Queries the costs and results of a campaign or of its keywords, by day and country. */
export function dailyReport(of: "campaigns" | "keywords", campaign: string, { from, to }: Days): AdsQuery {
  // A single day needs no daily breakdown.
  const daily = from === to ? {} : { granularity: "DAILY" }
  return report(of, campaign, { start: from, end: to, timeZone: "ORTZ", ...daily })
}

/** Queries the whole period at once, because Apple then withholds fewer terms than for single days. */
export function searchTermsReport(campaign: string, { from, to }: Days): AdsQuery {
  return report("searchterms", campaign, { start: from, end: to, timeZone: "ORTZ" })
}

function report(entity: string, campaign: string, timeRange: object): AdsQuery {
  const body = {
    filters: [ofCampaign(campaign)],
    timeRange,
    groupBy: ["countryOrRegion"],
    options: { includeRows: ["GRAND_TOTAL"] },
  }
  return { path: `/v1/reports/apps/${entity}/query`, body, pageSize: REPORTED }
}

/** Queries the changes and their authors for whole UTC days; at most six months back. */
export function changesQuery({ from, to }: Days): AdsQuery {
  const between = { field: "eventTime", operator: "BETWEEN" as const, value: [from, addDays(to, 1)] }
  const entities = { field: "entityType", operator: "IN" as const, value: CHANGED_THINGS }
  const options = { needTotals: "false", timeZone: "UTC", metadata: "latest" }
  return { path: "/v1/change-history/query", body: { filters: [between, entities], options }, pageSize: THINGS }
}

const CHANGED_THINGS = ["Campaign", "AdGroup", "Keyword", "NegativeKeyword"]

export function changePath(detailId: string): string {
  return `/v1/change-history/${encodeURIComponent(detailId)}`
}

/** Queries the week that begins on a Sunday. The platform ignores any requested order. */
export function popularityQuery(country: string, sunday: string): AdsQuery {
  const body = {
    fields: ["rankInGenre", "searchPopularityInGenre", "searchPopularity1to100", "searchPopularity1to5"],
    filters: [{ field: "countryOrRegion", operator: "EQUALS" as const, value: country.toUpperCase() }],
    timeRange: { start: sunday, end: addDays(sunday, 6), granularity: "WEEKLY_SUN_SAT" },
  }
  return { path: "/v1/insights/apps/search-term-popularity/query", body, pageSize: INSIGHTS }
}

/**
 * Returns the first day of the last published week. Weeks end on Saturday and are published on the following Monday.
 */
export function publishedSunday(now: Date): string {
  return addDays(mondayOf(dayOf(now)), -8)
}

function ofCampaign(id: string): Filter {
  return { field: "campaignId", operator: "EQUALS", value: id }
}
