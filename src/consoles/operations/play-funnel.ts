import type { Sql } from "../../database/types.ts"
import { playTrafficSource, type TrafficSource } from "../formulas/funnel.ts"
import { type AppAccount, daysUpTo, type ReportQuery } from "../read/app-accounts.ts"
import { type PlayVisits, readPlayStanding, readPlayVisits } from "../read/read-play.ts"

interface PlayFunnelQuery extends ReportQuery {
  days: number
  source: TrafficSource | null
}

/** Counts of the store page on Google Play, which reports no impressions and no returning users. */
interface PlayCounts {
  impressions: null
  /** Visitors who did not have the app. */
  pageViews: number | null
  taps: null
  /** Those of the visitors who installed the app. */
  firstDownloads: number | null
  redownloads: null
}

/**
 * Returns the visitors and installs of the store page. Google counts them by country or by traffic source, never by
 * both: counts of a country and counts of a source are from different files.
 */
export async function readPlayFunnel(sql: Sql, account: AppAccount, query: PlayFunnelQuery) {
  const [byCountry, bySource, ...standings] = await Promise.all([
    readPlayVisits(sql, account, "play_store_country", query),
    readPlayVisits(sql, account, "play_store_sources", query),
    readPlayStanding(sql, account, "play_store_country", query),
    readPlayStanding(sql, account, "play_store_sources", query),
  ])
  const { country, source } = query
  const countries = byCountry.filter((row) => country === null || row.country === country)
  const sources = bySource
    .map((row) => ({ ...row, source: playTrafficSource(row.from ?? "") }))
    .filter((row) => source === null || row.source === source)
  const [ofCountries, ofSources] = standings.map(({ reported }) => new Set(reported)) as [Set<string>, Set<string>]
  const isByBoth = country !== null && source !== null
  const [rows, reported] = source === null ? [countries, ofCountries] : [sources, ofSources]
  const isKnown = (day: string) => !isByBoth && reported.has(day)
  const byDay = Map.groupBy(rows, ({ day }) => day)
  const days = daysUpTo(query.to, query.days)
  const all = days.filter(isKnown).flatMap((day) => byDay.get(day) ?? [])
  return {
    standings,
    completeTo: isByBoth ? null : (days.findLast(isKnown) ?? null),
    totals: countsIn(all, days.some(isKnown)),
    days: days.map((day) => ({ day, complete: isKnown(day), ...countsIn(byDay.get(day) ?? [], isKnown(day)) })),
    countries:
      source === null
        ? [...Map.groupBy(countries, (row) => row.country)].map(([name, of]) => ({ country: name, ...countsIn(of) }))
        : [],
    trafficSources:
      country === null
        ? [...Map.groupBy(sources, (row) => row.source)].map(([name, of]) => ({ source: name, ...countsIn(of) }))
        : [],
  }
}

/** Sums the counts. A reported day without a row had no visitors. A withheld count makes the sum unknown. */
function countsIn(rows: readonly PlayVisits[], isReported = true): PlayCounts {
  const sum = (name: "visitors" | "acquisitions") =>
    rows.reduce<number | null>((total, row) => {
      const count = row[name]
      return total === null || count === null ? null : total + count
    }, 0)
  return {
    impressions: null,
    pageViews: isReported ? sum("visitors") : null,
    taps: null,
    firstDownloads: isReported ? sum("acquisitions") : null,
    redownloads: null,
  }
}
