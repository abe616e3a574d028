import type { Days } from "../../lib/days.ts"
import { ownValue } from "../../lib/objects.ts"
import {
  type AppHead,
  address,
  appAddress,
  hereOf,
  NOTICES,
  type PageContext,
  type Side,
  sideCode,
} from "../../ui/app/context.ts"
import { pager } from "../../ui/app/parts.ts"
import { hiddenFields } from "../../ui/app/write/form.ts"
import { shareBar, sparkline } from "../../ui/charts/small.ts"
import { type Html, html } from "../../ui/html.ts"
import { dayTime, shortDay } from "../../ui/times.ts"
import { counted, popularityBand, spoken } from "../../ui/words.ts"
import type { KeywordRow } from "./rows.ts"

interface ShownRows {
  shown: readonly KeywordRow[]
  found: number
  page: number
  pages: number
}

/**
 * Renders a table of keywords with rank, change, history, popularity and difficulty. Selected rows can be compared in a
 * chart, tagged, buried and removed.
 */
export function keywordTable(
  context: PageContext,
  app: AppHead,
  side: Side,
  { shown, found, page, pages }: ShownRows,
): Html {
  // a single day is not a line
  const hasLines = shown.some(({ line }) => line !== null && line.series.length > 1)
  const span = hasLines ? spanOf(shown) : null
  const table = html`<div class="scroll" tabindex="0" role="group" aria-label="Keywords">
<table class="rows" id="keywords">
<caption>${counted(found, "keyword")}. A rank links to its evidence.</caption>
<thead><tr><th scope="col" class="pick"><span class="small">Select</span></th>
${headings(context, app, hasLines)}</tr></thead>
<tbody>
${shown.map((row) => keywordRow(context, app, side, { row, span }))}</tbody>
</table></div>`
  return html`${pickForm(context, app, side, table)}${pager(appAddress(context, app), context.query, { page, pages })}`
}

function headings(context: PageContext, app: AppHead, hasLines: boolean): Html {
  const path = appAddress(context, app)
  const order = context.query.get("order") ?? "rank"
  const filters = Object.fromEntries([...context.query].filter(([name]) => name !== "page" && !NOTICES.includes(name)))
  const heading = (code: string, name: string, kind = "") => {
    if (context.isSample) return html`<th scope="col" class="${kind}">${name}</th>`
    const direction = code === "rank" || code === "term" ? "ascending" : "descending"
    const sorted = order === code && html` aria-sort="${direction}"`
    const link = html`<a href="${address(path, { ...filters, order: code })}">${name}</a>`
    return html`<th scope="col" class="${kind}"${sorted}>${link}</th>`
  }
  return html`${heading("term", "Keyword")}${heading("rank", "Rank", "num")}${heading("change", "Change", "num")}${
    hasLines && html`<th scope="col" class="wide">Days</th>`
  }${heading("popularity", "Popularity", "wide")}${heading("difficulty", "Difficulty", "wide")}`
}

/** Renders the form around the rows. Its toolbar appears when a row is selected, even without JavaScript. */
function pickForm(context: PageContext, app: AppHead, side: Side, table: Html): Html {
  if (context.editFields.length === 0)
    return html`<form method="get" action="${appAddress(context, app, "ranks")}">${hiddenFields([
      ["at", sideCode(side)],
    ])}
${table}
<div class="picked" role="group" aria-label="Selected keywords"><button type="submit">Compare</button></div></form>`
  const tags = [...new Set(Object.values(app.tags).flat())].sort()
  const hidden = hiddenFields([
    ...context.formFields,
    ["form-id", "keywords"],
    ["back", hereOf(context)],
    ["appId", app.id],
    ["seen", app.version],
    ["at", sideCode(side)],
  ])
  return html`<form method="post" action="${context.base}/write">${hidden}
${table}
<div class="picked" role="group" aria-label="Selected keywords"><span class="count"></span>
<label>Tag <input name="tag" list="tags" maxlength="100" autocomplete="off"></label><datalist id="tags">${tags.map(
    (tag) => html`<option value="${tag}"></option>`,
  )}</datalist>
${PICKED_DEEDS.map(
  ([action, name]) => html`<button type="submit" name="action" value="${action}">${name}</button>`,
)}</div></form>`
}

const PICKED_DEEDS = [
  ["tag_keywords", "Add tag"],
  ["untag_keywords", "Remove tag"],
  ["compare_keywords", "Compare"],
  ["bury_keywords", "Bury"],
  ["remove_keywords", "Remove"],
] as const

/** Returns the days that all sparklines of a table cover. */
function spanOf(rows: readonly KeywordRow[]): Days {
  const series = rows.flatMap(({ line }) => (line && line.series.length > 0 ? [line.series] : []))
  return {
    from: series.map((points) => points[0]![0]).sort()[0] ?? "",
    to:
      series
        .map((points) => points.at(-1)![0])
        .sort()
        .at(-1) ?? "",
  }
}

function keywordRow(
  context: PageContext,
  app: AppHead,
  side: Side,
  { row, span }: { row: KeywordRow; span: Days | null },
): Html {
  const { term, line, difficulty, difficultyBand } = row
  const query = { term, at: sideCode(side) }
  const ranks = address(appAddress(context, app, "ranks"), { terms: term, at: query.at })
  const evidence = address(appAddress(context, app, "evidence"), query)
  const tone = difficulty !== null && difficulty >= 70 ? "hard" : ""
  return html`<tr><td class="pick"><input type="checkbox" name="terms" value="${term}" aria-label="Select ${term}"></td>
<th scope="row"><a href="${ranks}"><bdi>${term}</bdi></a>${tagsOf(app, term)}</th>
<td class="num">${rankText(row, evidence)}</td><td class="num">${changeText(row)}</td>${
    span && html`<td class="wide">${line ? sparkline(line.series, { ...span, sources: line.sources }) : ""}</td>`
  }<td class="wide">${popularityText(row)}</td>
<td class="wide">${figureBar(difficulty, difficultyBand ?? "", tone)}</td></tr>
`
}

function tagsOf({ tags }: AppHead, term: string): Html[] {
  return (ownValue(tags, term) ?? []).map((tag) => html` <span class="tag">${tag}</span>`)
}

/** Distinguishes the three states: not measured, absent, and ranked. */
function rankText({ measured, rank, searchDepth, measuring, notMeasuring, term }: KeywordRow, href: string): Html {
  if (!measured && measuring) return html`<span class="tag">being read</span>`
  if (!measured)
    return html`<span class="quiet" title="${notMeasuring ? spoken(notMeasuring) : "not measured"}">–</span>`
  const label = rank === null ? html`<span class="gone">absent</span>` : String(rank)
  const depth = searchDepth === null ? "" : ` of ${searchDepth} read`
  return html`<a class="rank" href="${href}" aria-label="${
    rank === null ? "absent" : `rank ${rank}`
  }${depth}, ${term}: evidence">${label}</a>`
}

function changeText({ move }: KeywordRow): Html | string {
  if (!move) return ""
  const since = html`<span class="quiet small"> ${dayTime(move.since, shortDay)}</span>`
  if (move.direction === "entered") return html`<span class="up">▲ new</span>${since}`
  if (move.direction === "dropped") return html`<span class="down">▼ out</span>${since}`
  if (move.direction === "same") return html`<span class="quiet">=</span>`
  return html`<span class="${move.direction}">${move.direction === "up" ? "▲" : "▼"} ${move.places}</span>${since}`
}

/** Shows a published popularity as a figure and an estimate as its band, which has another scale. */
function popularityText({ popularity, popularityLow: low, popularityHigh: high, popularitySource }: KeywordRow): Html {
  if (low === null) return figureBar(popularity, popularitySource ?? "")
  return popularityBand(low, high)
}

function figureBar(value: number | null, title: string, tone = ""): Html {
  if (value === null) return html`<span class="quiet" title="not measured">–</span>`
  return html`<span class="bar-cell" title="${title}"><span>${Math.round(value)}</span>${shareBar(
    value / 100,
    tone,
  )}</span>`
}
