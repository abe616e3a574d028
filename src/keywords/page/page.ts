import { addDays } from "../../lib/days.ts"
import {
  type AppHead,
  address,
  appAddress,
  attempted,
  type Desk,
  hereOf,
  isFault,
  type Page,
  type Side,
  sideCode,
} from "../../ui/app/desk.ts"
import { sideForm } from "../../ui/app/frame.ts"
import { card, empty, periodIn, periods, refusedPart, samplePage, type Tile, tiles } from "../../ui/app/parts.ts"
import { keywordFields, writeForm } from "../../ui/app/write/form.ts"
import { rankLines } from "../../ui/charts/rank-lines.ts"
import { type Html, html } from "../../ui/html.ts"
import { momentTime } from "../../ui/times.ts"
import { counted, sideName } from "../../ui/words.ts"
import { filtersPart, rowsAsked } from "./filters.ts"
import { legend } from "./legend.ts"
import { type History, type KeywordRow, keywordRows, PERIODS, type RowsAnswer, readHistory } from "./rows.ts"
import { keywordTable } from "./table.ts"

/** An app's keywords: totals, a chart of the best ones, and a page of the table. */
export async function keywordsPage(desk: Desk, appId: string): Promise<Page> {
  const answer = await desk.ask("list_keyword_rows", { appId, ...rowsAsked(desk.query) })
  const { app, country, platform } = answer
  const side = { country, platform }
  const at = ""
  if (answer.totals.tracked === 0) return { title: app.name, app, at, body: noKeywords(desk, app, side) }
  const days = periodIn(desk.query, PERIODS)
  const terms = [...new Set([...answer.best, ...answer.rows].map(({ term }) => term))]
  const history = terms.length === 0 ? null : await attempted(readKnown(desk, app, side, { answer, days, terms }))
  const loaded = isFault(history) ? null : history
  const rows = keywordRows(answer.rows, loaded)
  return {
    title: app.name,
    app,
    at,
    body: html`${sideForm(desk, app, {}, side)}${summary(answer, rows)}${
      isFault(history)
        ? card("Ranks over time", refusedPart(history))
        : bestPart(desk, app, { best: keywordRows(answer.best, loaded), history: loaded, days })
    }${tablePart(desk, app, side, { ...answer, shown: rows })}`,
  }
}

/**
 * Reads the ranks of the last `days` days. If none were measured in them, reads as many days up to the last measured
 * one.
 */
async function readKnown(
  desk: Desk,
  app: AppHead,
  side: Side,
  { answer: { totals }, days, terms }: { answer: RowsAnswer; days: number; terms: string[] },
): Promise<History | null> {
  const history = await readHistory(desk, app, side, { days, terms })
  if (!history || !totals.day || totals.day >= history.from) return history
  return await readHistory(desk, app, side, { from: addDays(totals.day, 1 - days), to: totals.day, terms })
}

/** Shows how many keywords moved only if all keywords are on the page. */
function summary({ totals }: RowsAnswer, rows: readonly KeywordRow[]): Html {
  const { measured, tracked, top3, top10, top50, best } = totals
  const moved = (...ways: string[]) => rows.filter(({ move }) => move && ways.includes(move.direction)).length
  return tiles([
    { name: "Measured", value: measured, said: `of ${tracked}` },
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

function bestPart(
  desk: Desk,
  app: AppHead,
  { best: ranked, history, days }: { best: readonly KeywordRow[]; history: History | null; days: number },
): Html | false {
  if (history === null) return false
  const lines = ranked.flatMap(({ term: name, rank, line }) =>
    line && line.series.length > 1 ? [{ name, said: `#${rank}`, points: line.series, sources: line.sources }] : [],
  )
  const [from] = lines.flatMap(({ points }) => points.slice(0, 1).map(([day]) => day)).sort()
  if (from === undefined) return false
  const chart = { id: "best", title: "Ranks of the best keywords", from, to: history.to, lines, told: true }
  return card(
    "Best keywords",
    html`<div class="inside">${legend(lines)}${rankLines(chart)}
<p class="reading" id="best-said">Rank 1 is at the top; a gap is a day that was not measured.</p></div>`,
    periods(appAddress(desk, app), desk.query, days, PERIODS),
  )
}

function tablePart(
  desk: Desk,
  app: AppHead,
  side: Side,
  { totals, found, page, pages, shown }: RowsAnswer & { shown: readonly KeywordRow[] },
): Html {
  const isReading = shown.some(({ measuring }) => measuring)
  const measuredText =
    totals.measuredAt === null ? "Not measured yet" : html`Last measured ${momentTime(totals.measuredAt)}`
  const ideas = html`<a href="${address(appAddress(desk, app, "ideas"), {
    at: sideCode(side),
  })}">Find keyword ideas</a>`
  return card(
    "Keywords",
    html`${isReading && readingPart(totals)}${addPart(desk, app)}${!desk.isSample && filtersPart(desk, app, side)}${
      found === 0
        ? empty(
            "No keyword fits these filters",
            html`<a href="${appAddress(desk, app)}?at=${sideCode(side)}">Show all ${totals.tracked}</a>`,
          )
        : keywordTable(desk, app, side, { shown, found, page, pages })
    }`,
    html`${measuredText} · ${ideas}`,
  )
}

/** The progress of the first ranks. The page reloads until all are read. */
function readingPart({ tracked, measured }: RowsAnswer["totals"]): Html {
  return html`<div class="notice" role="status" data-reading="">
<p>${measured} of ${counted(tracked, "keyword")} read. The ranks appear here as they are read.</p>
<progress value="${measured}" max="${tracked}" aria-label="Keywords read"></progress></div>
<noscript><meta http-equiv="refresh" content="5"></noscript>
`
}

/** Adds keywords: typed, pasted or from a file. */
function addPart(desk: Desk, app: AppHead): Html | false {
  const isOpen = desk.refused?.id === "add_keywords"
  const form = addKeywordsForm(desk, app)
  return form && html`<details${isOpen && html` open=""`}><summary>Add keywords</summary>${form}</details>`
}

function addKeywordsForm(desk: Desk, app: AppHead): Html | false {
  const options = {
    action: "add_keywords",
    back: hereOf(desk),
    fixed: { appId: app.id, seen: app.version },
    button: "Add keywords",
    hasFile: true,
  }
  return writeForm(desk, options, keywordFields)
}

function noKeywords(desk: Desk, app: AppHead, side: Side): Html {
  return html`${sideForm(desk, app, {}, side)}<section class="card">${empty(
    `No keyword is tracked in ${sideName(side)}`,
    "A keyword is what people type into the store's search. Add some to see where the app ranks for them.",
    samplePage(desk, ""),
  )}${addKeywordsForm(desk, app)}</section>`
}
