import type { Days } from "../../../lib/days.ts"
import { addDays } from "../../../lib/days.ts"
import { checkedRow, PutAside } from "../../../measuring/parsing/put-aside.ts"
import { type About, ReadFailure } from "../../../measuring/source.ts"
import {
  type AdsDayRow,
  type AdsDaysObservation,
  type AdsTermRow,
  type AdsTermsObservation,
  DayRow,
  TermRow,
} from "../../kinds/ads-metrics.ts"
import { NO_COUNTRY, NO_CURRENCY } from "../../kinds/reports-shape.ts"
import { decimal, decimalSum, millionths } from "../decimal.ts"
import {
  countOrNull,
  countryIn,
  idIn,
  idOrNothing,
  moneyIn,
  type PlatformRow,
  rowName,
  termIn,
  within,
  wordIn,
} from "./response-fields.ts"

/** All pages of a report. */
export interface ReportPages {
  rows: readonly PlatformRow[]
  /** The other properties of each page, such as the grand total. */
  pageFields: readonly PlatformRow[]
}

interface CampaignQuestion {
  account: string
  campaign: string
  window: Days
}

/** Raise this whenever reports are parsed differently. */
const PARSER = 2
const HEAD = { platform: "ios", parser: PARSER, origin: "own" } as const

type Figures = Pick<AdsDayRow, "impressions" | "taps" | "installs" | "newDownloads" | "spend" | "currency">

const dayRow = checkedRow<AdsDayRow>(DayRow)

/**
 * Returns each day of the period with the costs and results of the campaign and of its keywords. A day without rows had
 * no costs and results. The keywords may sum to less than the campaign, because automatic matches belong to no keyword.
 * Unreadable rows are skipped. Throws ReadFailure when the campaign's rows do not add up to the grand total.
 */
export function daysIn(
  { campaign: whole, keywords }: { campaign: ReportPages; keywords: ReportPages },
  { account, campaign, window }: CampaignQuestion,
  { seenAt, sha256 }: About,
  aside = new PutAside(),
): AdsDaysObservation[] {
  const byDay = new Map<string, AdsDayRow[]>()
  const add = (row: PlatformRow, ids: Pick<AdsDayRow, "group" | "keyword">, currency: string) => {
    const days = dailyOf(row, window).map((day) => [day.date, dayRow({ ...ids, ...figuresOfDay(row, day, currency) })])
    for (const [day, figures] of days as [string, AdsDayRow][]) byDay.set(day, [...(byDay.get(day) ?? []), figures])
  }
  const currency = currencyIn([...whole.rows, ...keywords.rows])
  const rest = restOf(whole.pageFields, totalsOf(whole.rows, currency), currency)
  if (rest) throw new ReadFailure("mismatched", addsUp(window))
  const before = byDay.size
  aside.each(whole.rows, rowName, (row) => add(row, {}, currency))
  if (whole.rows.length > 0 && byDay.size === before) aside.assertSome([])
  // Keywords may sum to less than their campaign, but never to more.
  restOf(keywords.pageFields, totalsOf(keywords.rows, currency), currency)
  const keywordName = (row: PlatformRow, place: number) => `keyword ${rowName(row, place)}`
  aside.each(keywords.rows, keywordName, (row) => {
    const metadata = within(row, "metadata")
    add(row, { group: idIn(metadata, "adGroupId"), keyword: idIn(metadata, "id") }, currency)
  })
  noteUnknown(byDay, aside)
  return daysOf(window).map((day) => {
    const rows = (byDay.get(day) ?? []).sort(byThing)
    const about = { kind: "ads_days", source: "apple-ads-days", account, campaign, day, seenAt, sha256, rows }
    return { ...HEAD, ...about } as AdsDaysObservation
  })
}

function noteUnknown(byDay: ReadonlyMap<string, readonly AdsDayRow[]>, aside: PutAside): void {
  for (const [day, rows] of [...byDay].sort()) {
    const unknown = FIGURES.filter((name) => rows.some((row) => row[name] === null))
    if (unknown.length > 0) aside.note(`${day} lacks ${unknown.join(", ")} in some rows`)
  }
}

const FIGURES = ["impressions", "taps", "installs", "newDownloads", "spend"] as const

const termRowOf = checkedRow<AdsTermRow>(TermRow)

/**
 * Returns the search terms of the whole period. Withheld terms become one row for each keyword, ad group, source and
 * country. The part of the grand total that is in no row becomes one more row. Unreadable rows are skipped. Throws
 * ReadFailure when the rows exceed the grand total.
 */
export function termsIn(
  pages: ReportPages,
  { account, campaign, window }: CampaignQuestion,
  { seenAt, sha256 }: About,
  aside = new PutAside(),
): AdsTermsObservation {
  const currency = currencyIn(pages.rows)
  const rows = new Map<string, AdsTermRow>()
  aside.each(pages.rows, rowName, (row) => {
    const read = termRowOf(termRow(row, currency))
    const key = JSON.stringify([read.group, read.keyword, read.term, read.source, read.country])
    const previous = rows.get(key)
    rows.set(key, previous ? { ...read, ...summed([previous, read], currency) } : read)
  })
  if (pages.rows.length > 0) aside.assertSome([...rows.keys()])
  const rest = restOf(pages.pageFields, [...rows.values()], currency)
  const all = [...rows.values(), ...(rest ? [{ source: "UNDISCLOSED", country: NO_COUNTRY, ...rest }] : [])]
  const about = { kind: "ads_terms", source: "apple-ads-terms", account, campaign, day: window.to, seenAt, sha256 }
  return { ...HEAD, ...about, rows: all.sort(byThing) } as AdsTermsObservation
}

function termRow(row: PlatformRow, currency: string): AdsTermRow {
  const metadata = within(row, "metadata")
  const matched = within(metadata, "keyword")
  const keyword = idOrNothing(matched, "id")
  const term = termIn(metadata, "searchTermText")
  const group = idOrNothing(metadata, "adGroupId") ?? idOrNothing(within(matched, "adGroup"), "id")
  const source = wordIn(metadata, "searchTermSource") ?? (keyword === undefined ? "AUTO" : "TARGETED")
  return {
    ...(group !== undefined && { group }),
    ...(keyword !== undefined && { keyword }),
    ...(term !== undefined && { term }),
    source,
    country: countryIn(metadata, "countryOrRegion") ?? NO_COUNTRY,
    ...someFigures(figuresIn(within(row, "totalMetrics"), currency)),
  }
}

const addsUp = ({ from, to }: Days) => `the rows from ${from} to ${to} do not add up to the report's grand total`

/**
 * Returns the part of the grand total that is in no row. Null if there is none, or if the report has no grand total.
 * Throws ReadFailure when the rows exceed the grand total: some of them would then be counted twice.
 */
function restOf(pageFields: ReportPages["pageFields"], rows: readonly Figures[], currency: string): Figures | null {
  const total = pageFields.map((page) => within(page, "summary").grandTotal).find((found) => found !== undefined)
  if (typeof total !== "object" || total === null) return null
  const counted = figuresOrNull(() => figuresIn(total as PlatformRow, currency))
  if (!counted) return null
  const sum = summed(rows, currency)
  const apart = (name: CountName) => (counted[name] === null || sum[name] === null ? 0 : counted[name] - sum[name])
  // Each row is rounded separately, so allow a difference.
  const allowed = BigInt(rows.length) * 10_000n
  const spendApart =
    counted.spend === null || sum.spend === null ? 0n : millionths(counted.spend) - millionths(sum.spend)
  if (apart("impressions") < 0 || apart("taps") < 0 || -spendApart > allowed)
    throw new ReadFailure("mismatched", "the rows of the report exceed its grand total")
  if (apart("impressions") === 0 && apart("taps") === 0 && spendApart <= allowed) return null
  const rest = (name: CountName) => Math.max(0, apart(name))
  return {
    impressions: rest("impressions"),
    taps: rest("taps"),
    installs: rest("installs"),
    newDownloads: rest("newDownloads"),
    spend: decimal(spendApart > 0n ? spendApart : 0n),
    currency: counted.currency,
  }
}

function totalsOf(rows: readonly PlatformRow[], currency: string): Figures[] {
  return rows.flatMap((row) => figuresOrNull(() => figuresIn(within(row, "totalMetrics"), currency)) ?? [])
}

function figuresOrNull(read: () => Figures): Figures | null {
  try {
    return read()
  } catch (error) {
    if (error instanceof ReadFailure) return null
    throw error
  }
}

interface ReportedDay {
  date: string
  metrics: PlatformRow
}

/**
 * Returns the days of a row. A report about a single day has no daily breakdown. Throws ReadFailure when the row has
 * other days than the requested ones.
 */
function dailyOf(row: PlatformRow, { from, to }: Days): ReportedDay[] {
  const days = Array.isArray(row.granularMetrics) ? (row.granularMetrics as PlatformRow[]) : []
  if (from === to && days.length === 0) return [{ date: from, metrics: within(row, "totalMetrics") }]
  return days.map((metrics) => {
    const date = String(metrics?.date).slice(0, 10)
    if (date < from || date > to) throw new ReadFailure("mismatched", "it has other days than the requested ones")
    return { date, metrics }
  })
}

/** The country is in the row's metadata, or in the figures of each day. */
function figuresOfDay(row: PlatformRow, { metrics }: ReportedDay, currency: string) {
  const country =
    countryIn(metrics, "countryOrRegion") ??
    countryIn(within(metrics, "metadata"), "countryOrRegion") ??
    countryIn(within(row, "metadata"), "countryOrRegion")
  return { country: country ?? NO_COUNTRY, ...someFigures(figuresIn(metrics, currency)) }
}

/** Throws ReadFailure when the row has no figures at all. */
function someFigures(figures: Figures): Figures {
  if (FIGURES.some((name) => figures[name] !== null)) return figures
  throw new ReadFailure("changed", "it has no figures")
}

/** Returns the account's currency, from the first row with money. */
function currencyIn(rows: readonly PlatformRow[]): string {
  for (const row of rows) {
    const days = Array.isArray(row.granularMetrics) ? (row.granularMetrics as PlatformRow[]) : []
    for (const metrics of [within(row, "totalMetrics"), ...days]) {
      const { currency } = within(metrics ?? {}, "localSpend")
      if (typeof currency === "string" && /^[A-Z]{3}$/.test(currency)) return currency
    }
  }
  return NO_CURRENCY
}

/** Returns the figures. A figure that is missing in the response is null. Throws ReadFailure for an invalid figure. */
function figuresIn(metrics: PlatformRow, currency: string): Figures {
  const money = moneyIn(metrics, "localSpend")
  const installs =
    metrics.totalInstalls === undefined ? countOrNull(metrics, "tapInstalls") : countOrNull(metrics, "totalInstalls")
  return {
    impressions: countOrNull(metrics, "impressions"),
    taps: countOrNull(metrics, "taps"),
    installs,
    newDownloads: metrics.totalNewDownloads === undefined ? installs : countOrNull(metrics, "totalNewDownloads"),
    spend: money?.amount ?? null,
    currency: money?.currency ?? currency,
  }
}

type CountName = "impressions" | "taps" | "installs" | "newDownloads"

/** Returns the sums. A sum is null if one of its figures is null. */
function summed(all: readonly Figures[], currency: string): Figures {
  const sum = (name: CountName) =>
    all.reduce<number | null>(
      (total, { [name]: count }) => (total === null || count === null ? null : total + count),
      0,
    )
  const spends = all.map(({ spend }) => spend)
  return {
    impressions: sum("impressions"),
    taps: sum("taps"),
    installs: sum("installs"),
    newDownloads: sum("newDownloads"),
    spend: spends.every((spend) => spend !== null) ? decimalSum(spends) : null,
    currency: all[0]?.currency ?? currency,
  }
}

function daysOf({ from, to }: Days): string[] {
  const days: string[] = []
  for (let day = from; day <= to; day = addDays(day, 1)) days.push(day)
  return days
}

/** Sorts the rows, so that the same report gives the same digest whatever the order of its rows. */
function byThing(a: object, b: object): number {
  const [one, other] = [JSON.stringify(sorted(a)), JSON.stringify(sorted(b))]
  return one < other ? -1 : one > other ? 1 : 0
}

function sorted(row: object): unknown[] {
  return Object.entries(row).sort()
}
