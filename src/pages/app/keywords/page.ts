import { addDays } from "../../../vocabulary/days.ts"
import { rankLines } from "../../charts/rank-lines.ts"
import { type Html, html } from "../../html.ts"
import { momentTime } from "../../times.ts"
import { counted, sideName } from "../../words.ts"
import {
  type AppHead,
  appAddress,
  attempted,
  type Desk,
  isFault,
  type Page,
  readHead,
  type Side,
  sideAt,
  sideCode,
} from "../desk.ts"
import { sideForm } from "../frame.ts"
import { card, empty, periodIn, periods, refusedPart, samplePage, type Tile, tiles } from "../parts.ts"
import { filtersPart, ROWS, shownRows } from "./filters.ts"
import { legend } from "./legend.ts"
import {
  byRank,
  type History,
  type KeywordFigures,
  type KeywordRow,
  keywordRows,
  PERIODS,
  readHistory,
} from "./rows.ts"
import { keywordTable } from "./table.ts"

interface Ranks {
  country: string
  measuredAt: string | null
  keywords: KeywordFigures[]
}

/** Lines of the first chart. */
const BEST = 5

/** Where an app's keywords stand: figures, the best of them as lines, and all of them as a table. */
export async function keywordsPage(desk: Desk, appId: string): Promise<Page> {
  const app = await readHead(desk, appId)
  const side = sideAt(app, desk.query)
  const days = periodIn(desk.query, PERIODS)
  const ranks = await desk.ask<Ranks>("list_keyword_ranks", { appId, ...side })
  const terms = drawnTerms(ranks.keywords, app, desk.query)
  const asked = { days, ...(terms && { terms }) }
  const history = await attempted(readHistory(desk, app, side, asked))
  const held = isFault(history) ? null : await lastKnown(desk, app, side, { history, ranks, ...asked })
  const rows = keywordRows(ranks.keywords, held)
  const at = ""
  if (rows.length === 0) return { title: app.name, app, at, body: noKeywords(desk, app, side) }
  return {
    title: app.name,
    app,
    at,
    body: html`${sideForm(desk, app, {}, side)}${summary(rows, terms === null)}${
      isFault(history)
        ? card("Ranks over time", refusedPart(history))
        : bestPart(desk, app, { rows, history: held, days })
    }${tablePart(desk, app, side, rows, ranks)}`,
  }
}

/** Whose days a page needs: the best and those of its table; null = everybody's, where they are few or what moved is asked for. */
function drawnTerms(keywords: readonly KeywordFigures[], app: AppHead, query: URLSearchParams): string[] | null {
  if (keywords.length <= ROWS || MOVING.some((name) => query.get("move") === name || query.get("order") === name))
    return null
  const rows = keywordRows(keywords, null)
  const best = rows.toSorted(byRank).slice(0, BEST)
  return [...new Set([...best, ...shownRows(rows, app, query).shown].map(({ term }) => term))]
}

/** What no keyword's rank alone can tell. */
const MOVING = ["up", "down", "change"]

/** Where nothing was measured in the days asked for, as many days up to the last that was. */
async function lastKnown(
  desk: Desk,
  app: AppHead,
  side: Side,
  { history, ranks, days, terms }: { history: History | null; ranks: Ranks; days: number; terms?: string[] },
): Promise<History | null> {
  const last = ranks.measuredAt?.slice(0, 10)
  if (!history || !last || last >= history.from) return history
  return await readHistory(desk, app, side, { from: addDays(last, 1 - days), to: last, ...(terms && { terms }) })
}

/** What moved is told only where the days of all are known. */
function summary(rows: readonly KeywordRow[], isWhole: boolean): Html {
  const measured = rows.filter((row) => row.measured)
  const ranks = measured.flatMap(({ rank }) => rank ?? [])
  const within = (most: number) => ranks.filter((rank) => rank <= most).length
  const moved = (...ways: string[]) => rows.filter(({ move }) => move && ways.includes(move.direction)).length
  return tiles([
    { name: "Measured", value: measured.length, said: `of ${rows.length}` },
    { name: "In the top 3", value: within(3) },
    { name: "In the top 10", value: within(10) },
    { name: "In the top 50", value: within(50) },
    { name: "Best rank", value: ranks.length > 0 ? Math.min(...ranks) : "–" },
    ...(isWhole ? [movedTile(moved)] : []),
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
  { rows, history, days }: { rows: readonly KeywordRow[]; history: History | null; days: number },
): Html | false {
  if (history === null) return false
  const best = rows
    .filter(({ line, rank }) => rank !== null && line && line.series.length > 1)
    .toSorted(byRank)
    .slice(0, BEST)
  if (best.length === 0) return false
  const lines = best.map(({ term: name, line }) => ({ name, points: line!.series, sources: line!.sources }))
  const from = lines.map(({ points }) => points[0]![0]).sort()[0] as string
  const chart = { id: "best", title: "Ranks of the best keywords", from, to: history.to, lines, told: true }
  return card(
    "Best keywords",
    html`<div class="inside">${legend(best.map(({ term, rank }) => ({ name: term, said: `#${rank}` })))}${rankLines(chart)}<p class="reading" id="best-said">Rank 1 is at the top; a gap is a day that was not measured.</p></div>`,
    periods(appAddress(desk, app), desk.query, days, PERIODS),
  )
}

function tablePart(desk: Desk, app: AppHead, side: Side, rows: readonly KeywordRow[], { measuredAt }: Ranks): Html {
  const { shown, found, page, pages } = shownRows(rows, app, desk.query)
  const said = measuredAt === null ? "Never measured." : html`Last measured ${momentTime(measuredAt)}`
  return card(
    "Keywords",
    html`${filtersPart(desk, app, side)}${
      found === 0
        ? empty(
            "No keyword fits these filters",
            html`<a href="${appAddress(desk, app)}?at=${sideCode(side)}">Show all ${rows.length}</a>`,
          )
        : keywordTable(desk, app, side, { shown, found, page, pages })
    }`,
    said,
  )
}

function noKeywords(desk: Desk, app: AppHead, side: Side): Html {
  return html`${sideForm(desk, app, {}, side)}<section class="card">${empty(
    `No keyword is tracked in ${sideName(side)}`,
    "A keyword is what people type into the store's search. Name some, or take them from a file of App Store Connect or another tool.",
    {
      command: `appmeter app keywords add ${app.id} 'tide times' tides --country ${side.country}\nappmeter app keywords add ${app.id} --file keywords.csv`,
      ...samplePage(desk, ""),
    },
  )}<p class="small quiet">${counted(app.countries.length, "storefront")} tracked.</p></section>`
}
