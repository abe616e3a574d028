import { type AdsChange, type AdsState, type DayMetrics, listOf, refusal, type TermMetrics } from "./stand-in.ts"

// biome-ignore lint/suspicious/noExplicitAny: what goes over the wire
export type Said = Record<string, any>

interface Filter {
  field: string
  operator: string
  value?: string | string[]
}

const MAX_PAGE_SIZES: [RegExp, number][] = [
  [/^\/v1\/reports\//, 5_000],
  [/^\/v1\/insights\//, 10_000],
  [/./, 1_000],
]

export function answerQuery(state: AdsState, path: string, body: Said): Response {
  const { offset = 0, pageSize = 20 } = body.pagination ?? {}
  const [, most] = MAX_PAGE_SIZES.find(([shape]) => shape.test(path))!
  if (pageSize > most) return refusal(400, "INVALID_VALUE", `The page size is at most ${most}.`, "pagination.pageSize")
  const filters: Filter[] = body.filters ?? []
  const paged = <Row>(rows: Row[]) => rows.slice(offset, offset + pageSize)
  const listed = (rows: Said[]) => Response.json({ result: paged(rows), pagination: { offset, pageSize } })
  if (path === "/v1/change-history/query") return changesOf(state, filters, listed)
  if (path === "/v1/insights/apps/search-term-popularity/query") return popular(state, body, filters, paged)
  const [, entity] = /^\/v1\/reports\/apps\/(\w+)\/query$/.exec(path) ?? []
  if (entity) return reported(state, entity, body, filters, paged)
  const [, thing = ""] = /^\/v1\/([\w-]+)\/query$/.exec(path) ?? []
  const list = listOf(state, thing)
  if (!list) return refusal(404, "NOT_FOUND", "There is nothing to query.")
  const bound = filters.some(({ field }) => ["id", "adGroupId", "campaignId"].includes(field))
  if (thing !== "campaigns" && !bound)
    return refusal(400, "MISSING_FILTER", "adGroupId or campaignId is required.", "filters")
  if (thing === "keywords" && filters.some(({ operator }) => operator === "IS_NULL"))
    return refusal(400, "INVALID_OPERATOR", "IS_NULL is not supported.", "filters")
  const isAsked = filters.some(({ field }) => field === "deleted")
  return listed(list.filter((one) => (isAsked || one.deleted !== true) && filters.every((by) => fits(one, by))))
}

function fits(thing: Said, { field, operator, value }: Filter): boolean {
  const held = thing[field]
  if (operator === "IS_NULL") return held === null || held === undefined
  return (Array.isArray(value) ? value : [value]).some((one) => String(one) === String(held))
}

function reported(
  state: AdsState,
  entity: string,
  { timeRange, groupBy = [], options = {} }: Said,
  filters: Filter[],
  paged: <Row>(rows: Row[]) => Row[],
): Response {
  const { start, end, timeZone, granularity } = timeRange ?? {}
  if (!filters.some(({ field }) => field === "campaignId"))
    return refusal(400, "MISSING_FILTER", "A campaignId filter is required.", "filters")
  if (entity === "searchterms" && timeZone !== "ORTZ")
    return refusal(400, "INVALID_VALUE", "Search terms are reported in ORTZ alone.", "timeRange.timeZone")
  if (granularity === "DAILY" && !(start < end))
    return refusal(400, "INVALID_VALUE", "The range must be greater than one day.", "timeRange")
  if (groupBy.length > 0 && options.includeRows?.includes("EMPTY_METRICS"))
    return refusal(400, "INVALID_VALUE", "EMPTY_METRICS is not supported with groupBy.", "options.includeRows")
  const facts = factsOf(state, entity)
  const within = facts.filter((fact) => fact.date >= start && fact.date <= end && filters.every((by) => fits(fact, by)))
  const rows = [...Map.groupBy(within, rowKey)].map(([, own]) => rowOf(state, own, { granularity, groupBy }))
  const summary = options.includeRows?.includes("GRAND_TOTAL") && { grandTotal: metricsOf(within, state) }
  return Response.json({ result: { rows: paged(rows), ...(summary && { summary }) } })
}

/** A keywords report leaves out automatic matches, and a campaigns report does not separate them. */
function factsOf({ terms, days }: AdsState, entity: string): (DayMetrics | TermMetrics)[] {
  if (entity === "searchterms") return terms
  if (entity === "keywords") return days.filter(({ keywordId }) => keywordId !== null)
  return days.map((fact) => ({ ...fact, adGroupId: 0, keywordId: null }))
}

function rowKey(fact: DayMetrics | TermMetrics): string {
  const { campaignId, adGroupId, keywordId, countryOrRegion } = fact
  const term = "source" in fact ? [fact.source, fact.text] : []
  return JSON.stringify([campaignId, adGroupId, keywordId, countryOrRegion, ...term])
}

function rowOf(state: AdsState, own: (DayMetrics | TermMetrics)[], { granularity, groupBy }: Said): Said {
  const [first] = own as [DayMetrics | TermMetrics]
  const keyword = state.keywords.find(({ id }) => id === first.keywordId)
  const ids = { campaignId: first.campaignId, ...(first.adGroupId > 0 && { adGroupId: first.adGroupId }) }
  const country = groupBy.includes("countryOrRegion") ? { countryOrRegion: first.countryOrRegion } : {}
  const metadata =
    "source" in first
      ? { searchTermText: first.text, searchTermSource: first.source, ...(keyword && { keyword }) }
      : { ...keyword }
  const daily = [...Map.groupBy(own, ({ date }) => date)].map(([date, facts]) => ({ date, ...metricsOf(facts, state) }))
  return {
    metadata: { ...metadata, ...ids, ...country },
    totalMetrics: metricsOf(own, state),
    ...(granularity === "DAILY" && { granularMetrics: daily }),
  }
}

function metricsOf(facts: readonly DayMetrics[], { accounts }: AdsState): Said {
  const sum = (name: "impressions" | "taps" | "installs") => facts.reduce((total, fact) => total + fact[name], 0)
  const cents = facts.reduce((total, { spend }) => total + Math.round(Number(spend) * 10_000), 0)
  const [impressions, taps, installs] = [sum("impressions"), sum("taps"), sum("installs")]
  return {
    localSpend: { amount: String(cents / 10_000), currency: accounts[0]?.currency ?? "USD" },
    impressions,
    taps,
    ttr: impressions > 0 ? taps / impressions : 0,
    tapInstalls: installs,
    viewInstalls: 0,
    totalInstalls: installs,
    totalNewDownloads: installs,
    totalRedownloads: 0,
  }
}

function changesOf({ changes }: AdsState, filters: Filter[], listed: (rows: Said[]) => Response): Response {
  const time = filters.find(({ field }) => field === "eventTime")
  if (!time) return refusal(400, "MISSING_FILTER", "A time-range filter on eventTime is required.", "filters")
  const [from = "", to = ""] = time.value as string[]
  const rest = filters.filter(({ field }) => field !== "eventTime")
  const own = changes.filter((one) => {
    return one.eventTime >= from && one.eventTime < to && rest.every((by) => fits(one, by))
  })
  const grouped = Map.groupBy(own, (one) => [one.transactionId, one.eventType, one.entityType].join(" "))
  return listed([...grouped].map(([, of]) => summaryOf(of)))
}

function summaryOf(of: readonly AdsChange[]): Said {
  const [{ transactionId, eventType, eventTime, entityType, userType, modifiedBy }] = of as [AdsChange]
  const metas = of.map(({ entityId, meta }) => {
    return { [entityType]: entityId, detailId: `${entityType}.${entityId}.${transactionId}`, meta }
  })
  const count = of.reduce((sum, { changes }) => sum + changes.length, 0)
  return { transactionId, eventType, eventTime, entityType, count, metas, userType, modifiedBy }
}

function popular(
  { popularity }: AdsState,
  { timeRange, sorting }: Said,
  filters: Filter[],
  paged: <Row>(rows: Row[]) => Row[],
): Response {
  if (sorting) return refusal(400, "UNKNOWN_PROPERTY", "sorting is not known.", "sorting")
  const { start, granularity } = timeRange ?? {}
  if (granularity !== "WEEKLY_SUN_SAT" || new Date(start).getUTCDay() !== 0)
    return refusal(400, "INVALID_VALUE", "A week starts on a Sunday.", "timeRange.start")
  const rows = popularity.filter((row) => row.week === start && filters.every((by) => fits(row, by)))
  return Response.json({ result: { rows: paged(rows) } })
}
