import { keptAddress, type View, viewAt, viewBar } from "../../ui/app/bar.ts"
import { chartPart } from "../../ui/app/chart.ts"
import {
  type AppHead,
  address,
  appAddress,
  attempted,
  hereOf,
  isFault,
  type Page,
  type PageContext,
  type Side,
  sideCode,
} from "../../ui/app/context.ts"
import { readMarks } from "../../ui/app/marks.ts"
import { card, empty, refusedPart, samplePage, type Tile, tiles } from "../../ui/app/parts.ts"
import { keywordFields, writeForm } from "../../ui/app/write/form.ts"
import { type Chart, type ChartLine, type ChartMark, MAX_LINES } from "../../ui/charts/chart.ts"
import { type Html, html } from "../../ui/html.ts"
import { momentTime } from "../../ui/times.ts"
import { counted, sideName } from "../../ui/words.ts"
import { filtersPart, rowsAsked } from "./filters.ts"
import { keywordChart, readCompared } from "./lines.ts"
import { type History, type KeywordRow, keywordRows, type RowsAnswer, readHistory } from "./rows.ts"
import { keywordTable } from "./table.ts"

/** Shows an app's keywords: totals, a chart of the best ones, and a page of the table. */
export async function keywordsPage(context: PageContext, appId: string): Promise<Page> {
  const answer = await context.ask("list_keyword_rows", { appId, ...rowsAsked(context.query) })
  const { app, country, platform, totals } = answer
  const side = { country, platform }
  const view = { ...viewAt(context, app, { lastDay: totals.day }), side }
  const at = ""
  if (totals.tracked === 0) return { title: app.name, app, at, body: noKeywords(context, app, view) }
  const terms = [...new Set([...answer.best, ...answer.rows].map(({ term }) => term))]
  const charted = chosenTerms(context) ?? answer.best.map(({ term }) => term)
  const [history, compared, marks] = await Promise.all([
    attempted(readHistory(context, app, view, [...new Set([...charted, ...terms])].slice(0, MAX_TERMS))),
    readCompared(context, app, view, charted),
    readMarks(context, app, view),
  ])
  const loaded = isFault(history) ? null : history
  const rows = keywordRows(answer.rows, loaded)
  const chart = loaded && bestChart(context, app, view, { charted, history: loaded, compared, marks })
  return {
    title: app.name,
    app,
    at,
    charts: chart ? [chart] : [],
    body: html`${viewBar(context, app, view, { compares: { rivals: [] } })}${summary(answer, rows)}${
      isFault(history) ? card("Ranks over time", refusedPart(history)) : chart && bestPart(context, app, chart)
    }${tablePart(context, app, side, { ...answer, shown: rows })}`,
  }
}

/** The operation accepts at most this many keywords. */
const MAX_TERMS = 100

/** Returns the ticked keywords, which the address keeps between tabs. Null if none is ticked. */
function chosenTerms({ query }: PageContext): string[] | null {
  const terms = [...new Set(query.getAll("terms"))].slice(0, MAX_LINES)
  return terms.length > 0 ? terms : null
}

/** Shows how many keywords moved, but only if the page has all keywords. */
function summary({ totals }: RowsAnswer, rows: readonly KeywordRow[]): Html {
  const { measured, tracked, top3, top10, top50, best } = totals
  const moved = (...ways: string[]) => rows.filter(({ move }) => move && ways.includes(move.direction)).length
  return tiles([
    { name: "Measured", value: measured, note: `of ${tracked}` },
    { name: "In the top 3", value: top3 },
    { name: "In the top 10", value: top10 },
    { name: "In the top 50", value: top50 },
    { name: "Best rank", value: best ?? "–" },
    ...(rows.length === tracked ? [movedTile(moved)] : []),
  ])
}

function movedTile(moved: (...ways: string[]) => number): Tile {
  return {
    name: "Moved",
    value: html`${moveCount(moved("up", "entered"), "▲", "up")} ${moveCount(moved("down", "dropped"), "▼", "down")}`,
  }
}

const moveCount = (count: number, mark: string, tone: string) =>
  html`<span class="${count > 0 ? tone : "quiet"}">${mark} ${count}</span>`

interface Charted {
  charted: readonly string[]
  history: History
  compared: readonly ChartLine[]
  marks: readonly ChartMark[]
}

/** Returns the chart of the best keywords, or of the ticked ones. Null if no line would have two days. */
function bestChart(
  context: PageContext,
  app: AppHead,
  view: View,
  { charted, history, compared, marks }: Charted,
): Chart | null {
  const byTerm = new Map(history.keywords.map((keyword) => [keyword.term, keyword]))
  const keywords = charted.flatMap((term) => {
    const keyword = byTerm.get(term)
    return keyword && keyword.series.length > 1 ? [keyword] : []
  })
  const title = chosenTerms(context) ? "Ranks of the selected keywords" : "Ranks of the best keywords"
  return keywords.length === 0
    ? null
    : keywordChart(context, app, view, { id: "ranks", title, keywords, compared, marks })
}

function bestPart(context: PageContext, app: AppHead, chart: Chart): Html {
  const isChosen = chosenTerms(context) !== null
  const best = new URLSearchParams([...context.query].filter(([name]) => name !== "terms"))
  return card(
    isChosen ? "Selected keywords" : "Best keywords",
    html`<div class="inside">${chartPart(context, chart)}
<p class="reading">Rank 1 is at the top; a gap is a day that was not measured.</p></div>`,
    isChosen && html`<a href="${appAddress(context, app)}?${best.toString()}">Show the best keywords</a>`,
  )
}

function tablePart(
  context: PageContext,
  app: AppHead,
  side: Side,
  { totals, found, page, pages, shown }: RowsAnswer & { shown: readonly KeywordRow[] },
): Html {
  const isReading = shown.some(({ measuring }) => measuring)
  const visibility = keptAddress(context, app, "visibility")
  const measuredText =
    totals.measuredAt === null ? "Not measured yet" : html`Last measured ${momentTime(totals.measuredAt)}`
  const ideas = html`<a href="${address(appAddress(context, app, "ideas"), {
    at: sideCode(side),
  })}">Find keyword ideas</a>`
  return card(
    "Keywords",
    html`${isReading && readingPart(totals)}${addPart(context, app)}${
      !context.isSample && filtersPart(context, app, side)
    }${
      found === 0
        ? empty(
            "No keyword matches these filters",
            html`<a href="${appAddress(context, app)}?at=${sideCode(side)}">Show all ${totals.tracked}</a>`,
          )
        : keywordTable(context, app, side, { shown, found, page, pages })
    }`,
    html`${measuredText} · <a href="${visibility}">Visibility score</a> · ${ideas}`,
  )
}

/** Shows the progress of the first ranks. The page reloads until all are read. */
function readingPart({ tracked, measured }: RowsAnswer["totals"]): Html {
  return html`<div class="notice" role="status" data-reading="">
<p>${measured} of ${counted(tracked, "keyword")} read. The ranks appear here as they are read.</p>
<progress value="${measured}" max="${tracked}" aria-label="Keywords read"></progress></div>
<noscript><meta http-equiv="refresh" content="5"></noscript>
`
}

/** Adds keywords that are typed, pasted or read from a file. */
function addPart(context: PageContext, app: AppHead): Html | false {
  const isOpen = context.refused?.id === "add_keywords"
  const form = addKeywordsForm(context, app)
  return form && html`<details${isOpen && html` open=""`}><summary>Add keywords</summary>${form}</details>`
}

function addKeywordsForm(context: PageContext, app: AppHead): Html | false {
  const options = {
    action: "add_keywords",
    back: hereOf(context),
    fixed: { appId: app.id, seen: app.version },
    button: "Add keywords",
    hasFile: true,
  }
  return writeForm(context, options, keywordFields)
}

function noKeywords(context: PageContext, app: AppHead, view: View): Html {
  return html`${viewBar(context, app, view, { hasNoDays: true })}<section class="card">${empty(
    `No keyword is tracked in ${sideName(view.side)}`,
    "A keyword is what people type into the store's search. Add some to see where the app ranks for them.",
    samplePage(context, ""),
  )}${addKeywordsForm(context, app)}</section>`
}
