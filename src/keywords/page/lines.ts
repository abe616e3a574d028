import { addDays } from "../../lib/days.ts"
import { stepOf, type View } from "../../ui/app/bar.ts"
import {
  type AppHead,
  address,
  appAddress,
  attempted,
  isFault,
  type PageContext,
  sideCode,
} from "../../ui/app/context.ts"
import { type Chart, type ChartLine, type ChartMark, MAX_LINES } from "../../ui/charts/chart.ts"
import { RANKS, type RankPoint } from "../../ui/charts/scale.ts"
import { DEMO_SOURCE } from "../../ui/source-names.ts"
import type { History } from "./rows.ts"

type Keyword = History["keywords"][number]

/**
 * Returns a dashed line in the keyword's colour for each series that the keyword is compared with. Empty if nothing is
 * compared.
 */
export async function readCompared(
  context: PageContext,
  app: AppHead,
  { side, days, versus }: View,
  terms: readonly string[],
): Promise<ChartLine[]> {
  if (versus === null || terms.length === 0) return []
  const query = { appId: app.id, ...side, ...days, terms }
  const lineOf = ({ term, series, sources }: Keyword, name: string): ChartLine => {
    const points = series.filter(([day]) => days.from <= day && day <= days.to)
    const colour = terms.indexOf(term)
    return { name: `${term}, ${name}`, currentValue: lastOf(points), points, sources, colour, isCompared: true }
  }
  if (versus.kind === "rival") {
    const rival = await attempted(context.ask("list_rival_lines", { ...query, rival: versus.rival }))
    if (isFault(rival)) return []
    return amongTerms(rival.keywords, terms).map((keyword) => lineOf(keyword, rival.name ?? versus.name))
  }
  const place = versus.kind === "side" ? versus.side : versus.days
  const other = await attempted(context.ask("list_rank_lines", { ...query, ...place }))
  if (isFault(other)) return []
  const step = stepOf({ days, versus })
  return amongTerms(other.keywords, terms).map((keyword) => lineOf(later(keyword, step), versus.name))
}

/** Returns the ranks of other tools as lines with colours of their own, as many as can be told apart. */
export async function readImported(
  context: PageContext,
  app: AppHead,
  { side, days }: View,
  terms: readonly string[],
): Promise<ChartLine[]> {
  if (terms.length === 0) return []
  const answer = await attempted(
    context.ask("list_imported_lines", { appId: app.id, ...side, ...days, terms: [...terms] }),
  )
  if (isFault(answer)) return []
  return answer.lines.slice(0, MAX_LINES - terms.length).map(({ term, tool, series }, at) => ({
    name: `${term}, imported from ${tool}`,
    currentValue: lastOf(series),
    points: series,
    sources: [{ source: tool, from: days.from, to: days.to }],
    colour: terms.length + at,
  }))
}

/**
 * Returns the requested keywords with measured days. The sample has one answer for all calls, so it may contain others.
 */
const amongTerms = (keywords: readonly Keyword[], terms: readonly string[]) =>
  keywords.filter(({ term, series }) => terms.includes(term) && series.length > 0)

/** Moves a keyword's days by `by` days, so that the chart draws an earlier period over a later one. */
function later({ term, series, sources }: Keyword, by: number): Keyword {
  if (by === 0) return { term, series, sources }
  return {
    term,
    series: series.map(([day, rank]) => [addDays(day, by), rank]),
    sources: sources.map(({ source, from, to }) => ({ source, from: addDays(from, by), to: addDays(to, by) })),
  }
}

interface KeywordChart {
  id: string
  title: string
  keywords: readonly Keyword[]
  compared: readonly ChartLine[]
  imported?: readonly ChartLine[]
  marks: readonly ChartMark[]
  isOpen?: boolean
}

/** Returns the chart of some keywords. It begins with the first measured day, unless its days were chosen. */
export function keywordChart(
  context: PageContext,
  app: AppHead,
  { side, days, period, versus }: View,
  { id, title, keywords, compared, imported = [], marks, isOpen = false }: KeywordChart,
): Chart {
  const at = sideCode(side)
  const lines = keywords.map(({ term, series, sources }): ChartLine => {
    const evidence = (day?: string) => address(appAddress(context, app, "evidence"), { term, at, day })
    return {
      name: term,
      currentValue: lastOf(series),
      href: isOpen ? evidence() : address(appAddress(context, app, "ranks"), { terms: term, at }),
      points: series,
      sources: app.isInvented ? sources.map((run) => ({ ...run, source: DEMO_SOURCE })) : sources,
      ...(isOpen && { hrefOn: evidence }),
    }
  })
  const measured = [...keywords.map(({ series }) => series), ...imported.map(({ points }) => points)]
  const [first = days.from] = measured.flatMap((series) => series.slice(0, 1).map(([day]) => day)).sort()
  const from = period === null || versus !== null ? days.from : first
  const visibleMarks = marks.filter(({ day }) => day >= from)
  return {
    id,
    title,
    unit: RANKS,
    from,
    to: days.to,
    lines: [...lines, ...imported, ...compared],
    marks: visibleMarks,
    isOpen,
  }
}

function lastOf(series: readonly RankPoint[]): string {
  const last = series.at(-1)
  if (last === undefined) return "not measured"
  return last[1] === null ? "absent" : `#${last[1]}`
}
