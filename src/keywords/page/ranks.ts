import { type View, viewAt, viewBar } from "../../ui/app/bar.ts"
import { chartPart } from "../../ui/app/chart.ts"
import {
  type AppHead,
  appAddress,
  attempted,
  isFault,
  type Page,
  type PageContext,
  readHead,
  sideCode,
} from "../../ui/app/context.ts"
import { storeAppCode } from "../../ui/app/faces.ts"
import { readMarks } from "../../ui/app/marks.ts"
import { card, empty, refusedPart } from "../../ui/app/parts.ts"
import { MAX_LINES } from "../../ui/charts/chart.ts"
import { type Html, html } from "../../ui/html.ts"
import { sideName } from "../../ui/words.ts"
import { type KeywordDays, keywordDaysPart, readKeywordDays } from "./keyword-days.ts"
import { keywordChart, readCompared, readImported } from "./lines.ts"
import { readHistory } from "./rows.ts"

/**
 * Charts the selected keywords together, with every day and its source in a table. For a single keyword, also shows its
 * first ten apps then and now, and which apps passed which.
 */
export async function ranksPage(context: PageContext, appId: string): Promise<Page> {
  const app = await readHead(context, appId)
  const view = viewAt(context, app)
  const terms = [...new Set(context.query.getAll("terms"))].slice(0, MAX_LINES)
  const title = terms.length === 1 ? `${terms[0]} · ${app.name}` : app.name
  const [term] = terms
  const keywordDays = term === undefined ? null : await readKeywordDays(context, app, view, term)
  const bar = viewBar(context, app, view, { compares: { rivals: rivalsIn(keywordDays) } })
  const page = (body: Html): Page => ({ title, app, at: "", body: html`${bar}${backPart(context, app, view)}${body}` })
  if (terms.length === 0)
    return page(
      html`<section class="card">${empty(
        "Select keywords to compare",
        "Select up to eight keywords in the table of keywords and compare them in a chart.",
      )}</section>`,
    )
  const [history, compared, imported, marks] = await Promise.all([
    attempted(readHistory(context, app, view, terms)),
    readCompared(context, app, view, terms),
    readImported(context, app, view, terms),
    readMarks(context, app, view),
  ])
  if (isFault(history)) return page(card("Ranks over time", refusedPart(history)))
  const keywords = history.keywords.filter(({ series }) => series.length > 0)
  if (keywords.length + imported.length === 0)
    return page(html`<section class="card">${nothingMeasured(context, app, terms)}</section>`)
  const names = history.keywords.map(({ term }) => term).join(", ")
  const chart = keywordChart(context, app, view, {
    id: "ranks",
    title: `Ranks of ${names}`,
    keywords,
    compared,
    imported,
    marks,
    isOpen: true,
  })
  const ranks = card(
    history.keywords.length === 1 ? `Rank of “${names}”` : "Ranks over time",
    html`<div class="inside">${chartPart(context, chart)}
<p class="reading">
A gap is a day that was not measured. A square in the band below is a day on which the app was not among the results
read. A line is not drawn across a change of source. A rank in the table leads to its evidence.${
      imported.length > 0 &&
      html` Imported ranks were measured by another tool: they enter no other figure, and a day without one is not an
absence.`
    }</p></div>`,
  )
  const days = terms.length === 1 && keywordDays && keywordDaysPart(context, app, view, keywordDays)
  return { ...page(html`${ranks}${days}`), charts: [chart] }
}

function backPart(context: PageContext, app: AppHead, { side }: View): Html {
  return html`<p class="crumbs">
<a href="${appAddress(context, app)}?at=${sideCode(side)}">Keywords in ${sideName(side)}</a></p>`
}

/** Returns the first ten apps of a keyword, which the bar offers for comparison. All rivals would take a long read. */
function rivalsIn(answer: KeywordDays | null): { code: string; name: string }[] {
  const places = answer?.latest?.places.filter(({ own: isOwn }) => !isOwn) ?? []
  return places.map(({ id, name }) => ({ code: storeAppCode(id), name: name ?? id }))
}

function nothingMeasured(context: PageContext, app: AppHead, terms: readonly string[]): Html {
  return empty(
    "Nothing was measured in this period",
    html`No result of ${terms
      .map((term) => `“${term}”`)
      .join(", ")} was read in the days chosen. A longer period may have some; a keyword that was
added today has its first rank some seconds later. <a href="${appAddress(context, app)}">All keywords</a>`,
  )
}
