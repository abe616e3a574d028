import type { AnswerOf } from "../../answers.ts"
import { type CsvCell, csvRecord } from "../../lib/csv.ts"
import type { Fault } from "../../lib/faults.ts"
import { nameOfStorefront, storefrontName } from "../../lib/storefront-names.ts"
import { address, isFault, type Page, type PageContext } from "../../ui/app/context.ts"
import { type Face, readFaces } from "../../ui/app/faces.ts"
import { card, empty, pager } from "../../ui/app/parts.ts"
import { type Html, html } from "../../ui/html.ts"
import { dayTime } from "../../ui/times.ts"
import { counted, whole } from "../../ui/words.ts"
import { dollars, estimateText } from "./estimate.ts"
import { type Filters, filtersIn, finderForm } from "./find-form.ts"
import { appCell, followForm, kindName, marketAnswer, marketPage, missingPart, nameOfGenre } from "./frame.ts"

type Found = AnswerOf<"hive_find_apps">
type Row = Found["apps"][number]

const PAGE_ROWS = 100
/**
 * Maximum number of apps that this page sorts itself. SQL cannot sort all matches by name, nor over several
 * storefronts.
 */
const MAX_SORTED = 200
const MAX_FILE = 1_000

/** Renders the apps on charts that match every filter of the finder, as a sorted table or a file. */
export async function marketFindPage(context: PageContext): Promise<Page> {
  const market = await context.ask("get_market")
  const query = context.isSample ? SAMPLE_QUERY : context.query
  const filters = filtersIn(query, market.first?.country ?? "us")
  const page = (body: Html) => marketPage(context, { title: "Finder", tab: "find", body })
  if (filters.isEmpty || Object.keys(filters.errors).length > 0)
    return page(html`${formCard(context, filters)}${filters.isEmpty && introCard()}`)
  const order = ORDERS.find(([code]) => code === query.get("order"))?.[0] ?? "rank"
  if (query.get("as") === "csv") return { ...page(html``), file: await fileOf(context, filters, order) }
  const number = Math.max(1, Math.min(100, Math.trunc(Number(query.get("page")) || 1)))
  const first = await marketAnswer(context.ask("hive_find_apps", { ...filters.input, limit: PAGE_ROWS, page: number }))
  if (isFault(first)) return page(faultPart(context, filters, first))
  const rows = await rowsIn(context, filters, { first, order, number })
  const faces = await readFaces(
    context,
    rows.map(({ id }) => `ios:${id}`),
    first.countries[0] ?? "us",
  )
  const results =
    first.total === 0
      ? html`<section class="card">${noneFound(context, filters, first)}</section>`
      : resultCard(context, first, { rows, faces, order, number })
  return page(html`${formCard(context, filters)}${results}`)
}

/** Returns whether SQL can order all matches by this column: figures and first days apply to one storefront. */
const isOrderedWhole = (order: Order, { countries }: Pick<Found, "countries">) =>
  countries.length === 1 && order !== "name"

const isOffered = (order: Order, found: Found) =>
  order === "rank" || found.total <= MAX_SORTED || isOrderedWhole(order, found)

/** Returns the rows of a page in the chosen order, or by rank if the chosen order is not offered. */
async function rowsIn(
  context: PageContext,
  { input }: Filters,
  { first, order, number }: { first: Found; order: Order; number: number },
): Promise<readonly Row[]> {
  if (order === "rank" || !isOffered(order, first)) return first.apps
  if (isOrderedWhole(order, first)) {
    const found = await context.ask("list_found_apps", { ...input, limit: PAGE_ROWS, page: number, order })
    return found.apps
  }
  const found = await context.ask("hive_find_apps", { ...input, limit: MAX_SORTED })
  return sorted(found.apps, order).slice((number - 1) * PAGE_ROWS, number * PAGE_ROWS)
}

/** The filters of the answer in the sample. */
const SAMPLE_QUERY = new URLSearchParams({ genre: "6012", kind: "free", rankMax: "5" })

function formCard(context: PageContext, filters: Filters): Html {
  const isOpen = filters.isEmpty || Object.keys(filters.errors).length > 0
  return html`<section class="card"><details class="plain"${isOpen && html` open=""`}>
<summary>${filters.isEmpty ? "Filters" : `Filters: ${filters.names.join(", ")}`}</summary>${finderForm(
    context,
    filters,
  )}
</details></section>`
}

function introCard(): Html {
  return html`<section class="card">${empty(
    "Choose at least one filter",
    "The finder looks through all App Store charts that were read here: by category and rank, age, words in the " +
      "name, publisher, and estimated downloads, revenue and growth.",
  )}</section>`
}

/** A fault about a filter is shown at its field. */
function faultPart(context: PageContext, filters: Filters, fault: Fault): Html {
  const { field, detail, problems } = fault.extra as {
    field?: string
    detail?: string
    problems?: { field: string; detail?: string }[]
  }
  const wrong = problems ?? (field === undefined ? [] : [{ field, detail: detail ?? fault.message }])
  if (wrong.length === 0) {
    const missing = missingPart(context, fault, { title: "Nothing can be searched yet", credits: 0 })
    return html`${formCard(context, filters)}<section class="card">${missing}</section>`
  }
  const errors = Object.fromEntries(wrong.map((one) => [one.field, one.detail ?? "Please check this value."]))
  return formCard(context, { ...filters, errors })
}

function noneFound(context: PageContext, { input }: Filters, { coverage, noEstimate }: Found): Html {
  const unread = coverage.storefronts.filter(({ lists }) => lists === 0)
  const country = unread[0]?.country
  if (country !== undefined)
    return html`${empty(
      `No chart of ${nameOfStorefront(country)} was read yet`,
      "The finder searches charts that were read. Follow the storefront to find its apps from the first day on.",
    )}${followForm(context, { country, genre: (input.genre as string[] | undefined)?.[0] ?? "all" })}`
  return html`${empty(
    "No app matches all filters",
    noEstimate > 0
      ? `${counted(noEstimate, "app")} match everything else, but their figures are unknown.`
      : "Widen a range, or leave a filter out.",
  )}`
}

const ORDERS = [
  ["rank", "Best rank"],
  ["name", "App"],
  ["firstSeen", "First seen"],
  ["downloads", "Downloads a month"],
  ["revenue", "Revenue a month"],
  ["growth", "Growth"],
] as const
type Order = (typeof ORDERS)[number][0]

/** Unknown figures come last, whatever the order. */
function sorted(rows: readonly Row[], order: Order): Row[] {
  const figureOf = (row: Row): number | null => {
    const { estimates } = row
    if (order === "downloads") return estimates?.downloads?.value ?? null
    if (order === "revenue") return estimates?.revenue?.value ?? null
    return estimates?.growth ?? null
  }
  const byText = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)
  if (order === "name") return rows.toSorted((a, b) => byText(a.name.toLowerCase(), b.name.toLowerCase()))
  if (order === "firstSeen") return rows.toSorted((a, b) => byText(b.firstSeen ?? "", a.firstSeen ?? ""))
  return rows.toSorted((a, b) => (figureOf(b) ?? -Infinity) - (figureOf(a) ?? -Infinity) || a.rank - b.rank)
}

interface Shown {
  rows: readonly Row[]
  faces: ReadonlyMap<string, Face>
  order: Order
  number: number
}

function resultCard(context: PageContext, found: Found, { rows, faces, order, number }: Shown): Html {
  const hasFigures = rows.some(({ estimates }) => estimates !== undefined)
  const shownOrders = ORDERS.filter(([code]) => hasFigures || !FIGURES.has(code))
  const heads = shownOrders.map(([code, name]) => {
    const kind = code === "name" ? "" : code === "rank" || code === "downloads" ? "num" : "num wide"
    const to = address(context.path, { ...paramsOf(context), order: code })
    const isLinked = !context.isSample && isOffered(code, found)
    const isHere = code === (isOffered(order, found) ? order : "rank")
    return html`<th scope="col" class="${kind}"${
      isHere && html` aria-sort="${code === "rank" || code === "name" ? "ascending" : "descending"}"`
    }>${isLinked ? html`<a href="${to}">${name}</a>` : name}</th>${
      code === "name" && html`<th scope="col" class="wide">Chart</th>`
    }`
  })
  const pages = Math.ceil(Math.min(found.total, 10_000) / PAGE_ROWS)
  const csv = address(context.path, { ...paramsOf(context), order: order === "rank" ? null : order, as: "csv" })
  return card(
    counted(found.total, "app"),
    html`<div class="scroll" tabindex="0" role="group" aria-label="Found apps"><table class="rows"><thead><tr>${heads}
</tr>
</thead><tbody>${rows.map((row) => foundRow(context, row, { face: faces.get(`ios:${row.id}`), hasFigures }))}</tbody>
</table>
</div>${pager(context.path, context.query, { page: number, pages })}<p class="inside small quiet">${coverageText(
      found,
    )}${found.total > MAX_SORTED && ` ${whyNotSorted(found)}`}</p>`,
    !context.isSample && html`<a href="${csv}">CSV</a>`,
  )
}

function whyNotSorted({ countries }: Found): string {
  return countries.length === 1
    ? `Sorting by name is offered for up to ${MAX_SORTED} apps, because it needs the name of every match.`
    : `Sorting is offered for up to ${MAX_SORTED} apps, or in one storefront: the figures differ between storefronts.`
}

const FIGURES = new Set<string>(["downloads", "revenue", "growth"])

function foundRow(
  context: PageContext,
  row: Row,
  { face, hasFigures }: { face: Face | undefined; hasFigures: boolean },
): Html {
  const { estimates, kind, device, genre, country, rank, firstSeen } = row
  const list = `${kindName(device === "ipad" ? "ipad" : kind)}, ${nameOfGenre({ id: genre, name: null })}`
  const figures =
    hasFigures &&
    html`<td class="num">${estimateText(estimates?.downloads, whole)}</td>
<td class="num wide">${estimateText(estimates?.revenue, dollars)}</td>
<td class="num wide">${growthText(estimates)}</td>`
  return html`<tr><td class="num"><span class="rank">${rank}</span></td><th scope="row">${appCell(context, row, {
    country,
    face,
  })}</th><td class="wide small">${list}, ${storefrontName(country)}</td><td class="num wide small">${
    firstSeen
      ? dayTime(firstSeen)
      : html`<span class="quiet" title="on the first reading, so possibly earlier">–</span>`
  }</td>${figures}</tr>`
}

function growthText(estimates: Row["estimates"]): Html {
  const growth = estimates?.growth ?? null
  if (growth === null) return html`<span class="quiet" title="too little is known">–</span>`
  const { growthLow = null, growthHigh = null } = estimates ?? {}
  const span =
    growthLow !== null && growthHigh !== null && html` <span class="small quiet">${growthLow} to ${growthHigh}</span>`
  return html`<span class="${growth < 0 ? "down" : "up"}">${growth > 0 && "+"}${growth} %</span>${span}`
}

function coverageText({ coverage, noEstimate }: Found): string {
  const places = coverage.storefronts.map(({ country, lists, newestDay, missing }) => {
    const open = missing ? `, ${missing} not read yet` : ""
    return `${storefrontName(country)}: ${counted(lists, "chart")}${newestDay ? ` up to ${newestDay}` : ""}${open}`
  })
  const unsure = noEstimate > 0 ? ` ${counted(noEstimate, "app")} left out, as their figures are unknown.` : ""
  const unseen =
    coverage.firstSeenUnknown > 0
      ? ` ${counted(coverage.firstSeenUnknown, "app")} left out, as their age is unknown.`
      : ""
  return `Searched: ${places.join("; ")}.${unsure}${unseen}`
}

function paramsOf({ query }: PageContext): Record<string, string> {
  const entries = [...new Set(query.keys())]
    .filter((name) => !["page", "as", "order", "done"].includes(name))
    .map((name) => [name, query.getAll(name).join(",")] as const)
  return Object.fromEntries(entries)
}

async function fileOf(context: PageContext, { input }: Filters, order: Order): Promise<{ name: string; csv: string }> {
  const rows: Row[] = []
  const countries = input.country as string[]
  const isOrdered = order !== "rank" && isOrderedWhole(order, { countries })
  for (let page = 1; rows.length < MAX_FILE; page++) {
    const query = { ...input, limit: MAX_SORTED, page }
    const found = await (isOrdered
      ? context.ask("list_found_apps", { ...query, order })
      : context.ask("hive_find_apps", query))
    rows.push(...found.apps)
    if (found.apps.length < MAX_SORTED || rows.length >= found.total) break
  }
  return { name: "apps.csv", csv: [csvRecord(COLUMNS), ...rows.map((row) => csvRecord(cellsOf(row)))].join("") }
}

const COLUMNS = ["rank", "id", "name", "publisher", "publisherId", "country", "device", "kind", "genre", "day"]
COLUMNS.push("firstSeen", "downloads", "downloadsLow", "downloadsHigh", "downloadsUnder")
COLUMNS.push("revenue", "revenueLow", "revenueHigh", "revenueUnder", "growth", "growthLow", "growthHigh")

function cellsOf({ estimates, ...row }: Row): CsvCell[] {
  const four = (figure: NonNullable<NonNullable<Row["estimates"]>["downloads"]> | null | undefined) => [
    figure?.value ?? null,
    figure?.low ?? null,
    figure?.high ?? null,
    figure?.under ?? null,
  ]
  const { rank, id, name, publisher, publisherId, country, device, kind, genre, day, firstSeen } = row
  return [
    ...[rank, id, name, publisher, publisherId, country, device, kind, genre, day, firstSeen],
    ...four(estimates?.downloads),
    ...four(estimates?.revenue),
    ...[estimates?.growth ?? null, estimates?.growthLow ?? null, estimates?.growthHigh ?? null],
  ]
}
