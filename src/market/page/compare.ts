import type { AnswerOf } from "../../answers.ts"
import { csvRecord } from "../../lib/csv.ts"
import { isStoreId } from "../../lib/store-ids.ts"
import { bareText, storeIdInLink } from "../../lib/store-pages.ts"
import { nameOfStorefront } from "../../lib/storefront-names.ts"
import { address, attempted, isFault, type Page, type PageContext } from "../../ui/app/context.ts"
import { readFaces, storeAppCode } from "../../ui/app/faces.ts"
import { card, empty, pager, refusedPart } from "../../ui/app/parts.ts"
import { areaField, checkFields, type FormState, selectField } from "../../ui/fields.ts"
import { type Html, type HtmlPart, html } from "../../ui/html.ts"
import { dayTime, shortDay } from "../../ui/times.ts"
import { counted, figure } from "../../ui/words.ts"
import { addKeywordsForm, tickedTerm } from "./add-keywords.ts"
import { appCell, countryIn, linkTo, marketAddress, marketAnswer, marketPage, storefrontOptions } from "./frame.ts"
import { popularityText } from "./keyword.ts"
import { type Comparison, compareApps } from "./keyword-matrix.ts"
import { readSubject } from "./own-app.ts"

const MAX_APPS = 10
const PAGE_ROWS = 100
const MAX_RIVALS = 4

const SHOWS = [
  ["all", "All keywords"],
  ["gap", "Only where the first app is absent"],
  ["shared", "Only where all rank"],
] as const

/** Renders a comparison of up to ten apps on the same keywords: who ranks where, and the gaps of the first app. */
export async function marketComparePage(context: PageContext): Promise<Page> {
  const market = await context.ask("get_market")
  const { apps: ownApps } = await context.ask("list_app_heads")
  const country = countryIn(context.query, ownApps[0]?.countries[0] ?? market.followed[0]?.country)
  const ids = context.isSample ? ["9990000101", "9990000102", "9990000103"] : idsIn(context.query)
  const problem = problemIn(ids)
  const form = compareForm(context, { ownApps, ids, country, problem })
  const page = (body: HtmlPart) =>
    marketPage(context, {
      title: "Compare",
      tab: "compare",
      body: html`<section class="card">${form}</section>${body}`,
    })
  if (problem !== null || ids.length === 0) return page(ids.length === 0 && (await introCard(context)))
  const compared = await marketAnswer(compareApps(context, ids, country))
  if (isFault(compared)) return page(html`<section class="card">${refusedPart(compared)}</section>`)
  const show = SHOWS.find(([code]) => code === context.query.get("show"))?.[0] ?? "all"
  const rows = compared.rows.filter(({ ranks }) => {
    if (show === "gap") return ranks.get(ids[0] ?? "") === null
    return show === "all" || [...ranks.values()].every((rank) => typeof rank === "number")
  })
  if (context.query.get("as") === "csv")
    return { ...page(""), file: { name: "keywords.csv", csv: csvOf(compared, rows) } }
  return page(await matrixCard(context, compared, { rows, show, country }))
}

/** Returns the app ids of the address, which may contain links, ids and ticked apps of the workspace. */
function idsIn(query: URLSearchParams): string[] {
  const typed = [...query.getAll("own"), ...query.getAll("apps").flatMap((text) => text.split(/[\s,;]+/))]
  const ids = typed.flatMap((text) => (text.trim() === "" ? [] : [storeIdInLink(bareText(text)) ?? text.trim()]))
  return [...new Set(ids)]
}

function problemIn(ids: readonly string[]): string | null {
  const wrong = ids.find((id) => !isStoreId("ios", id) && !isStoreId("android", id))
  if (wrong !== undefined) return `“${wrong}” is neither a link to an app's store page nor an id.`
  if (ids.length > MAX_APPS) return `Choose at most ${MAX_APPS} apps.`
  if (new Set(ids.map((id) => isStoreId("ios", id))).size > 1)
    return "Choose apps of one store: results of the App Store and Google Play cannot be compared."
  return null
}

interface FormFacts {
  ownApps: AnswerOf<"list_app_heads">["apps"]
  ids: readonly string[]
  country: string
  problem: string | null
}

function compareForm(context: PageContext, { ownApps, ids, country, problem }: FormFacts): Html {
  const form: FormState = { id: "compare", values: null, errors: problem === null ? {} : { apps: problem } }
  const ownIds = ownApps.flatMap(({ name, iosId, androidPkg }) => [
    ...(iosId ? [[iosId, name] as const] : []),
    ...(androidPkg ? [[androidPkg, `${name} (Google Play)`] as const] : []),
  ])
  const shownOwn = ownIds.slice(0, MAX_APPS)
  const listed = ids.filter((id) => !shownOwn.some(([one]) => one === id))
  return html`<form class="filters roomy" method="get" action="${marketAddress(context, "compare")}">${
    shownOwn.length > 0 && checkFields(form, { name: "own", label: "Your apps", options: shownOwn, chosen: [...ids] })
  }${areaField(form, {
    name: "apps",
    label: "Other apps: links or ids, one per line",
    hint: `Up to ${MAX_APPS} apps in all. The first one is the app whose gaps are shown.`,
    rows: 3,
    value: listed.join("\n"),
    isWide: true,
  })}${selectField(form, { name: "country", label: "Storefront", value: country, options: storefrontOptions() })}
${selectField(form, { name: "show", label: "Show", value: context.query.get("show") ?? "all", options: SHOWS })}
<div class="send"><button class="main" type="submit">Compare apps</button></div></form>`
}

/** Explains the page, and links to a comparison of one of the workspace's apps with its rivals. */
async function introCard(context: PageContext): Promise<Html> {
  const subject = await readSubject(context)
  const listed = subject && (await attempted(context.ask("list_rivals", { appId: subject.id, ...subject.side })))
  const rivals = listed && !isFault(listed) ? listed.rivals.slice(0, MAX_RIVALS).map(({ id }) => id) : []
  const start =
    subject &&
    rivals.length > 0 &&
    marketAddress(context, "compare", { apps: [subject.storeId, ...rivals].join(","), country: subject.side.country })
  return html`<section class="card">${empty(
    "Choose two apps or more",
    "A row for each keyword that one of them ranks for, a column for each app, and filters for the gaps. Only " +
      "keywords that this server has read are compared: track or research keywords in the storefront to add them.",
  )}${
    start &&
    html`<p class="inside"><a href="${start}">Compare <bdi>${subject.name}</bdi> with
${counted(rivals.length, "rival")}</a></p>`
  }</section>`
}

interface MatrixFacts {
  rows: Comparison["rows"]
  show: string
  country: string
}

async function matrixCard(
  context: PageContext,
  compared: Comparison,
  { rows, show, country }: MatrixFacts,
): Promise<Html> {
  const { apps, searched, isCut } = compared
  if (compared.rows.length === 0)
    return html`<section class="card">${empty(
      `None of them ranks for a keyword that was read in ${nameOfStorefront(country)}`,
      `${counted(searched, "keyword")} were searched. Track keywords there, or research one, to fill the table.`,
    )}</section>`
  const faces = await readFaces(
    context,
    apps.map(({ id }) => storeAppCode(id)),
    country,
  )
  const wantedPage = Math.max(1, Math.trunc(Number(context.query.get("page")) || 1))
  const pages = Math.max(1, Math.ceil(rows.length / PAGE_ROWS))
  const page = Math.min(wantedPage, pages)
  const heads = apps.map(
    (app) =>
      html`<th scope="col" class="matrix">${appCell(
        context,
        { id: app.id, name: app.name },
        {
          country,
          face: faces.get(storeAppCode(app.id)),
        },
      )}<p class="small quiet">${counted(app.keywords, "keyword")}</p></th>`,
  )
  const body = rows.slice((page - 1) * PAGE_ROWS, page * PAGE_ROWS).map((row) => {
    const ranked = [...row.ranks.values()].flatMap((rank) => rank ?? [])
    const best = Math.min(...ranked)
    const to = marketAddress(context, "keyword", { term: row.term, country })
    const name = html`${linkTo(context, row.term, to, html`<bdi>${row.term}</bdi>`)}`
    const cells = apps.map(({ id }) => rankCell(row.ranks.get(id), best, row.depth))
    return html`<tr><th scope="row">${tickedTerm(context, row.term, name)}</th>${cells}
<td class="num">${popularityText(row)}</td><td class="num">${figure(row.difficulty)}</td>
<td class="small">${dayTime(row.day, shortDay)}</td></tr>`
  })
  const table = html`<div class="scroll" tabindex="0" role="group" aria-label="Keywords by app">
<table class="matrix-table">
<thead><tr><th scope="col">Keyword</th>${heads}<th scope="col" class="num">Popularity</th>
<th scope="col" class="num">Difficulty</th><th scope="col">Read</th></tr></thead><tbody>${body}</tbody></table></div>`
  const csv = address(context.path, {
    ...Object.fromEntries(context.query),
    apps: apps.map(({ id }) => id).join(","),
    as: "csv",
  })
  const none =
    show === "gap" ? "The first app ranks wherever the others do." : "There is no keyword that all of them rank for."
  return card(
    counted(rows.length, "keyword"),
    html`${
      rows.length === 0 ? html`<p class="inside quiet">${none}</p>` : await addKeywordsForm(context, table)
    }${pager(context.path, context.query, {
      page,
      pages,
    })}<p class="inside small quiet">${counted(searched, "keyword")} of ${nameOfStorefront(country)} were searched${
      isCut && "; the 1,000 with the most apps are shown"
    }. “absent” means not among the places that were read.</p>`,
    !context.isSample && html`<a href="${csv}">CSV</a>`,
  )
}

function rankCell(rank: number | null | undefined, best: number, depth: number): Html {
  if (rank === undefined) return html`<td class="quiet" title="not among the keywords that were read">–</td>`
  if (rank === null) return html`<td><span class="gone" title="not in the first ${depth}">absent</span></td>`
  return html`<td>${rank === best ? html`<strong class="up">${rank}</strong>` : rank}</td>`
}

function csvOf({ apps }: Comparison, rows: Comparison["rows"]): string {
  const names = apps.map(({ id }) => id)
  const head = [
    "term",
    ...names,
    "popularity",
    "popularityLow",
    "popularityHigh",
    "difficulty",
    "depth",
    "day",
    "source",
  ]
  const lines = rows.map(({ term, ranks, popularity, popularityLow, popularityHigh, difficulty, depth, day, source }) =>
    csvRecord([
      term,
      ...names.map((id) => ranks.get(id) ?? null),
      popularity,
      popularityLow,
      popularityHigh,
      difficulty,
      depth,
      day,
      source,
    ]),
  )
  return [csvRecord(head), ...lines].join("")
}
