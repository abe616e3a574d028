import type {
  AdsDayRow,
  AdsDaysObservation,
  AdsTermRow,
  AdsTermsObservation,
} from "../../../observations/kinds/ads-metrics.ts"
import { addDays } from "../../../vocabulary/days.ts"
import { type About, ReadFailure } from "../../source.ts"
import { decimalSum, millionths } from "../decimal.ts"
import type { Window } from "./requests.ts"
import { countIn, countryIn, idIn, idOrNothing, moneyIn, type PlatformRow, termIn, within, wordIn } from "./said.ts"

/** A report, all of its pages. */
export interface ReportPages {
  rows: readonly PlatformRow[]
  /** What stands beside the rows of each page: the grand total among it. */
  beside: readonly PlatformRow[]
}

interface CampaignQuestion {
  account: string
  campaign: string
  window: Window
}

/** Raised whenever reports are read otherwise. */
const PARSER = 1
const HEAD = { platform: "ios", parser: PARSER, origin: "own" } as const

type Figures = Pick<AdsDayRow, "impressions" | "taps" | "installs" | "newDownloads" | "spend" | "currency">

/**
 * Each day of the window by itself: what the campaign cost and brought, and its keywords; a day without rows had none. What
 * Apple matches by itself is of no keyword, so that keywords may be less than their campaign. Throws ReadFailure.
 */
export function daysIn(
  { campaign: whole, keywords }: { campaign: ReportPages; keywords: ReportPages },
  { account, campaign, window }: CampaignQuestion,
  { seenAt, sha256 }: About,
): AdsDaysObservation[] {
  const byDay = new Map<string, AdsDayRow[]>()
  const add = (day: string, row: AdsDayRow) => byDay.set(day, [...(byDay.get(day) ?? []), row])
  for (const row of soundRows(whole, window)) {
    for (const [day, figures] of dailyOf(row, window)) add(day, { country: countryOf(row), ...figures })
  }
  for (const row of soundRows(keywords, window)) {
    const metadata = within(row, "metadata")
    const ids = { group: idIn(metadata, "adGroupId"), keyword: idIn(metadata, "id") }
    for (const [day, figures] of dailyOf(row, window)) add(day, { ...ids, country: countryOf(row), ...figures })
  }
  return daysOf(window).map((day) => {
    const rows = (byDay.get(day) ?? []).sort(byThing)
    const about = { kind: "ads_days", source: "apple-ads-days", account, campaign, day, seenAt, sha256, rows }
    return { ...HEAD, ...about } as AdsDaysObservation
  })
}

/** Of the whole window. What is withheld becomes one row for each keyword, ad group, source and country. Throws ReadFailure. */
export function termsIn(
  pages: ReportPages,
  { account, campaign, window }: CampaignQuestion,
  { seenAt, sha256 }: About,
): AdsTermsObservation {
  const rows = new Map<string, AdsTermRow>()
  for (const row of soundRows(pages, window)) {
    const said = termRow(row)
    const key = JSON.stringify([said.group, said.keyword, said.term, said.source, said.country])
    const held = rows.get(key)
    rows.set(key, held ? { ...said, ...summed([held, said]) } : said)
  }
  const sorted = [...rows.values()].sort(byThing)
  const about = { kind: "ads_terms", source: "apple-ads-terms", account, campaign, day: window.to, seenAt, sha256 }
  return { ...HEAD, ...about, rows: sorted } as AdsTermsObservation
}

function termRow(row: PlatformRow): AdsTermRow {
  const metadata = within(row, "metadata")
  const matched = within(metadata, "keyword")
  const keyword = idOrNothing(matched, "id")
  const term = termIn(metadata, "searchTermText")
  const group = idOrNothing(metadata, "adGroupId") ?? idIn(within(matched, "adGroup"), "id")
  return {
    ...{ group, ...(keyword !== undefined && { keyword }), ...(term !== undefined && { term }) },
    source: wordIn(metadata, "searchTermSource") ?? (keyword === undefined ? "AUTO" : "TARGETED"),
    ...{ country: countryOf(row), ...figuresIn(within(row, "totalMetrics")) },
  }
}

/** Rows whose sum is the grand total: a page that is missing would make every figure less than it is. */
function soundRows({ rows, beside }: ReportPages, { from, to }: Window): readonly PlatformRow[] {
  const total = beside.map((page) => within(page, "summary").grandTotal).find((said) => said !== undefined)
  if (total === undefined) throw new ReadFailure("changed", "a report of Apple Ads has no grand total")
  const said = figuresIn(total as PlatformRow, rows.length === 0)
  const sum = summed(rows.map((row) => figuresIn(within(row, "totalMetrics"))))
  const isWhole = sum.impressions === said.impressions && sum.taps === said.taps
  const apart = millionths(sum.spend) - millionths(said.spend)
  // each row is rounded by itself
  const allowed = BigInt(rows.length) * 10_000n
  if (!isWhole || apart > allowed || -apart > allowed)
    throw new ReadFailure("mismatched", `the rows from ${from} to ${to} do not add up to the report's grand total`)
  return rows
}

/** A window of one day has no days within. */
function dailyOf(row: PlatformRow, { from, to }: Window): [string, Figures][] {
  if (from === to) return [[from, figuresIn(within(row, "totalMetrics"))]]
  const days = Array.isArray(row.granularMetrics) ? (row.granularMetrics as PlatformRow[]) : []
  return days.map((day): [string, Figures] => {
    const date = String(day.date).slice(0, 10)
    if (date < from || date > to) throw new ReadFailure("mismatched", "a report is of other days than were asked for")
    return [date, figuresIn(day)]
  })
}

/** Money may be left out where there are no rows at all. */
function figuresIn(metrics: PlatformRow, isNothing = false): Figures {
  if (isNothing && Object.keys(metrics).length === 0) return NOTHING
  const money = moneyIn(metrics, "localSpend")
  if (!money) throw new ReadFailure("changed", "a report of Apple Ads says no spend")
  const installs =
    metrics.totalInstalls === undefined ? countIn(metrics, "tapInstalls") : countIn(metrics, "totalInstalls")
  const newDownloads = metrics.totalNewDownloads === undefined ? installs : countIn(metrics, "totalNewDownloads")
  const counts = { impressions: countIn(metrics, "impressions"), taps: countIn(metrics, "taps") }
  return { ...counts, installs, newDownloads, spend: money.amount, currency: money.currency }
}

const NOTHING: Figures = { impressions: 0, taps: 0, installs: 0, newDownloads: 0, spend: "0", currency: "USD" }

function summed(all: readonly Figures[]): Figures {
  const sum = (name: "impressions" | "taps" | "installs" | "newDownloads") =>
    all.reduce((total, figures) => total + figures[name], 0)
  return {
    ...{
      impressions: sum("impressions"),
      taps: sum("taps"),
      installs: sum("installs"),
      newDownloads: sum("newDownloads"),
    },
    spend: decimalSum(all.map(({ spend }) => spend)),
    currency: all[0]?.currency ?? NOTHING.currency,
  }
}

function countryOf(row: PlatformRow): string {
  return countryIn(within(row, "metadata"), "countryOrRegion")
}

function daysOf({ from, to }: Window): string[] {
  const days: string[] = []
  for (let day = from; day <= to; day = addDays(day, 1)) days.push(day)
  return days
}

/** A report is the same in whatever order its rows come. */
function byThing(a: object, b: object): number {
  const [one, other] = [JSON.stringify(sorted(a)), JSON.stringify(sorted(b))]
  return one < other ? -1 : one > other ? 1 : 0
}

function sorted(row: object): unknown[] {
  return Object.entries(row).sort()
}
