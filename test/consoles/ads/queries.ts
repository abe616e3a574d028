import { type AdsChange, type AdsState, type DayMetrics, listOf, refusal, type TermMetrics } from "./stand-in.ts"

// biome-ignore lint/suspicious/noExplicitAny: what goes over the wire
export type JsonObject = Record<string, any>

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

export function answerQuery(state: AdsState, path: string, body: JsonObject): Response {
  const { offset = 0, pageSize = 20 } = body.pagination ?? {}
  const [, maxSize] = MAX_PAGE_SIZES.find(([shape]) => shape.test(path))!
  if (pageSize > maxSize)
    return refusal(400, "INVALID_VALUE", `The page size is at most ${maxSize}.`, "pagination.pageSize")
  const filters: Filter[] = body.filters ?? []
  const page = <Row>(rows: Row[]) => rows.slice(offset, offset + pageSize)
  const answerList = (rows: JsonObject[]) => Response.json({ result: page(rows), pagination: { offset, pageSize } })
  if (path === "/v1/change-history/query") return changesOf(state, filters, answerList)
  if (path === "/v1/insights/apps/search-term-popularity/query") return popular(state, body, filters, page)
  const [, entity] = /^\/v1\/reports\/apps\/(\w+)\/query$/.exec(path) ?? []
  if (entity) return answerReport(state, entity, body, filters, page)
  const [, collection = ""] = /^\/v1\/([\w-]+)\/query$/.exec(path) ?? []
  const list = listOf(state, collection)
  if (!list) return refusal(404, "NOT_FOUND", "There is nothing to query.")
  const bound = filters.some(({ field }) => ["id", "adGroupId", "campaignId"].includes(field))
  if (collection !== "campaigns" && !bound)
    return refusal(400, "MISSING_FILTER", "adGroupId or campaignId is required.", "filters")
  if (collection === "keywords" && filters.some(({ operator }) => operator === "IS_NULL"))
    return refusal(400, "INVALID_OPERATOR", "IS_NULL is not supported.", "filters")
  const includesDeleted = filters.some(({ field }) => field === "deleted")
  return answerList(
    list.filter((item) => (includesDeleted || item.deleted !== true) && filters.every((filter) => fits(item, filter))),
  )
}

function fits(item: JsonObject, { field, operator, value }: Filter): boolean {
  const current = item[field]
  if (operator === "IS_NULL") return current === null || current === undefined
  return (Array.isArray(value) ? value : [value]).some((expected) => String(expected) === String(current))
}

function answerReport(
  state: AdsState,
  entity: string,
  { timeRange, groupBy = [], options = {} }: JsonObject,
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
  const inRange = facts.filter(
    (fact) => fact.date >= start && fact.date <= end && filters.every((filter) => fits(fact, filter)),
  )
  const rows = [...Map.groupBy(inRange, rowKey)].map(([, group]) => rowOf(state, group, { granularity, groupBy }))
  const summary = options.includeRows?.includes("GRAND_TOTAL") && { grandTotal: metricsOf(inRange, state) }
  return Response.json({ result: { rows: paged(rows), ...(summary && { summary }) } })
}

/** A keywords report leaves out automatic matches, and a campaigns report does not list them separately. */
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

function rowOf(state: AdsState, group: (DayMetrics | TermMetrics)[], { granularity, groupBy }: JsonObject): JsonObject {
  const [first] = group as [DayMetrics | TermMetrics]
  const keyword = state.keywords.find(({ id }) => id === first.keywordId)
  const ids = { campaignId: first.campaignId, ...(first.adGroupId > 0 && { adGroupId: first.adGroupId }) }
  const country = groupBy.includes("countryOrRegion") ? { countryOrRegion: first.countryOrRegion } : {}
  const metadata =
    "source" in first
      ? { searchTermText: first.text, searchTermSource: first.source, ...(keyword && { keyword }) }
      : { ...keyword }
  const daily = [...Map.groupBy(group, ({ date }) => date)].map(([date, facts]) => ({
    date,
    ...metricsOf(facts, state),
  }))
  return {
    metadata: { ...metadata, ...ids, ...country },
    totalMetrics: metricsOf(group, state),
    ...(granularity === "DAILY" && { granularMetrics: daily }),
  }
}

function metricsOf(facts: readonly DayMetrics[], { accounts }: AdsState): JsonObject {
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

function changesOf({ changes }: AdsState, filters: Filter[], listed: (rows: JsonObject[]) => Response): Response {
  const time = filters.find(({ field }) => field === "eventTime")
  if (!time) return refusal(400, "MISSING_FILTER", "A time-range filter on eventTime is required.", "filters")
  const [from = "", to = ""] = time.value as string[]
  const rest = filters.filter(({ field }) => field !== "eventTime")
  const selected = changes.filter((change) => {
    return change.eventTime >= from && change.eventTime < to && rest.every((filter) => fits(change, filter))
  })
  const grouped = Map.groupBy(selected, (change) =>
    [change.transactionId, change.eventType, change.entityType].join(" "),
  )
  return listed([...grouped].map(([, group]) => summaryOf(group)))
}

function summaryOf(group: readonly AdsChange[]): JsonObject {
  const [{ transactionId, eventType, eventTime, entityType, userType, modifiedBy }] = group as [AdsChange]
  const metas = group.map(({ entityId, meta }) => {
    return { [entityType]: entityId, detailId: `${entityType}.${entityId}.${transactionId}`, meta }
  })
  const count = group.reduce((sum, { changes }) => sum + changes.length, 0)
  return { transactionId, eventType, eventTime, entityType, count, metas, userType, modifiedBy }
}

function popular(
  { popularity }: AdsState,
  { timeRange, sorting }: JsonObject,
  filters: Filter[],
  paged: <Row>(rows: Row[]) => Row[],
): Response {
  if (sorting) return refusal(400, "UNKNOWN_PROPERTY", "sorting is not known.", "sorting")
  const { start, granularity } = timeRange ?? {}
  if (granularity !== "WEEKLY_SUN_SAT" || new Date(start).getUTCDay() !== 0)
    return refusal(400, "INVALID_VALUE", "A week starts on a Sunday.", "timeRange.start")
  const rows = popularity.filter((row) => row.week === start && filters.every((filter) => fits(row, filter)))
  return Response.json({ result: { rows: paged(rows) } })
}
