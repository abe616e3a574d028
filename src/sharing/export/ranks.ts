import type { LookContext } from "../../core/action.ts"
import type { Side } from "../../core/observation/provenance.ts"
import { ownId } from "../../core/ranked-app.ts"
import type { TrackedApp } from "../../core/tracked-app.ts"
import type { Db, Tx } from "../../database/types.ts"
import type { MonthBytes } from "../../keywords/formulas/timeline.ts"
import { readRankMonths } from "../../keywords/read/rank-months.ts"
import { readKeywordsNow, type TrackedKeyword } from "../../keywords/read/ranks.ts"
import { metricsOf, UNMEASURED } from "../../keywords/store/keyword-figures.ts"
import { addDays, commonDays, type Days, dayOf, daysInMonth, monthsOf } from "../../lib/days.ts"
import { Fault } from "../../lib/faults.ts"
import { pointsOf, UNMEASURED as UNMEASURED_DAY } from "../../lib/month-bytes.ts"
import { STORES } from "../../lib/store-pages.ts"
import { counted } from "../../tracking/limits.ts"
import type { ExportDays } from "./days.ts"
import type { ExportDraft } from "./draft.ts"
import { keywordLine, monthLine } from "./rows.ts"
import { addParts } from "./store.ts"

/**
 * Drafts an export of an app's keywords in one storefront of one store, with the figures that list_keyword_ranks shows.
 */
export async function draftKeywords({ sql, now }: LookContext, app: TrackedApp, side: Side): Promise<ExportDraft> {
  const { day, keywords } = await readKeywordsNow(sql, app, side)
  const today = dayOf(now)
  const lineOf = (keyword: TrackedKeyword) => {
    const { figures } = keyword
    return keywordLine(keyword, figures ? metricsOf(figures, side.platform, today) : UNMEASURED)
  }
  return {
    rows: keywords.length,
    from: day,
    to: day,
    store: (tx, id) => storeLines(tx, id, keywords, KEYWORDS_A_PART, lineOf),
    notes: [
      "measured false: not measured on that day; measured true without a rank: absent from the results read.",
      ...whyUnmeasured(app, side),
    ],
  }
}

const KEYWORDS_A_PART = 1_000

/** Drafts an export of an app's rank history in one storefront of one store: every measured day, keyword by keyword. */
export async function draftHistory(
  { sql }: LookContext,
  app: TrackedApp,
  side: Side,
  { from, to }: ExportDays,
): Promise<ExportDraft> {
  const measured: MeasuredTerms = { rows: 0, terms: new Map() }
  for (const month of await readMonths(sql, app, side, { from, to })) {
    await addMonth(measured, sql, app, side, { month, from, to })
    if (measured.rows > MAX_POINTS) {
      const reason = `A file has at most ${MAX_POINTS} rows of history, and these days have more. Choose fewer days.`
      throw new Fault("write_limit_reached", { reason })
    }
  }
  const lineOf = ({ term, month, bytes }: TermMonth) => monthLine(term, month, bytes)
  const store = (tx: Tx, id: number) => storeLines(tx, id, [...measured.terms.values()].flat(), MONTHS_A_PART, lineOf)
  return {
    rows: measured.rows,
    from,
    to,
    store,
    notes: [
      "Days on which a keyword was not measured have no row; measured true without a rank: absent from the " +
        "results read.",
      ...withoutRows(measured),
      ...whyUnmeasured(app, side),
    ],
  }
}

/**
 * Maximum number of rows per file. The confirm counts and copies them all: one million rows take about 1.5 s on two
 * busy cores, and the embedded database runs nothing else meanwhile.
 */
const MAX_POINTS = 1_500_000

/** A part has at most 6,200 rows: 200 months of 31 days. */
const MONTHS_A_PART = 200

interface MeasuredTerms {
  /** Number of measured days. */
  rows: number
  /** Each tracked term with the months in which it was measured, oldest first. */
  terms: Map<string, TermMonth[]>
}

interface TermMonth {
  term: string
  month: string
  bytes: MonthBytes
}

/** Returns the first day of each month in which any of the terms may have a measurement, oldest first. */
async function readMonths(
  sql: Db,
  { id }: TrackedApp,
  { platform, storefront }: Side,
  { from, to }: Days,
): Promise<string[]> {
  const [row] = await sql<{ first: string | null; last: string | null }[]>`
    select min(l.first_day) as first, max(l.last_day) as last
    from tracked_term k
    cross join lateral (
      select first_day, last_day
      from list
      where (platform, storefront, term) = (${platform}, k.country, k.term)
      offset 0
    ) l
    where k.app_id = ${id} and k.country = ${storefront}`
  const measured = row?.first && row.last ? commonDays({ from, to }, { from: row.first, to: row.last }) : null
  return measured ? monthsOf(measured) : []
}

/**
 * Adds one month of all terms. Months are read one by one, so the memory for a read depends only on the number of
 * terms.
 */
async function addMonth(
  measured: MeasuredTerms,
  sql: Db,
  app: TrackedApp,
  side: Side,
  { month, from, to }: Days & { month: string },
): Promise<void> {
  for (const { term, months } of await readRankMonths(sql, app, side, [month])) {
    const termMonths = measured.terms.get(term) ?? []
    measured.terms.set(term, termMonths)
    const bytes = months.get(month)
    const days = bytes ? measuredDays(month, bytes, { from, to }) : 0
    if (!bytes || days === 0) continue
    measured.rows += days
    termMonths.push({ term, month, bytes })
  }
}

/**
 * Counts the measured days of a month. A whole month is counted from its bytes without decoding the points, because an
 * export may have a million of them.
 */
function measuredDays(month: string, bytes: MonthBytes, { from, to }: Days): number {
  const days = daysInMonth(month)
  if (from > month || to < addDays(month, days - 1)) return pointsOf({ month, ...bytes }, from, to).length
  let measured = 0
  for (let day = 0; day < days; day++) if (bytes.ranks[day] !== UNMEASURED_DAY) measured++
  return measured
}

function withoutRows({ terms }: MeasuredTerms): string[] {
  const without = [...terms.values()].filter((months) => months.length === 0).length
  if (without === 0) return []
  return [`${without} of ${counted(terms.size)} ${without === 1 ? "was" : "were"} not measured on any of these days.`]
}

function whyUnmeasured(app: TrackedApp, side: Side): string[] {
  const { platform, storefront } = side
  if (!app.countries.includes(storefront)) return [`The app does not track ${storefront}: nothing is measured there.`]
  if (ownId(app, side) !== null) return []
  return [`The app is not tracked on ${STORES[platform]}: nothing is measured there.`]
}

const PARTS_AT_ONCE = 16

async function storeLines<Row>(
  tx: Tx,
  id: number,
  rows: readonly Row[],
  each: number,
  lineOf: (row: Row) => string,
): Promise<void> {
  const at = (part: number) =>
    rows
      .slice(part * each, (part + 1) * each)
      .map(lineOf)
      .join("\n")
  const parts = Math.ceil(rows.length / each)
  for (let from = 0; from < parts; from += PARTS_AT_ONCE) {
    const some = Array.from({ length: Math.min(PARTS_AT_ONCE, parts - from) }, (_, i) => at(from + i))
    await addParts(tx, id, from, some)
  }
}
