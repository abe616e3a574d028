import { type Html, html } from "../../html.ts"
import { type AppHead, appAddress, type Desk, type Side, sideCode } from "../desk.ts"
import { byRank, type KeywordRow } from "./rows.ts"

/** Rows of a page of the table: their days and those of the best are asked for at once, a hundred keywords at most. */
export const ROWS = 90

const MOVEMENTS: Record<string, { name: string; fits: (row: KeywordRow) => boolean }> = {
  up: { name: "Up or entered", fits: ({ move }) => move?.direction === "up" || move?.direction === "entered" },
  down: {
    name: "Down or dropped out",
    fits: ({ move }) => move?.direction === "down" || move?.direction === "dropped",
  },
  top10: { name: "In the top 10", fits: ({ rank }) => rank !== null && rank <= 10 },
  absent: { name: "Absent", fits: ({ measured, rank }) => measured && rank === null },
  unmeasured: { name: "Not measured", fits: ({ measured }) => !measured },
}

const known = (value: number | null) => value ?? -1
const gained = ({ move, rank }: KeywordRow) =>
  move === null
    ? -500
    : move.direction === "entered"
      ? 300 - (rank ?? 0)
      : move.direction === "dropped"
        ? -300
        : (move.places ?? 0) * (move.direction === "down" ? -1 : 1)

export const ORDERS: Record<string, (a: KeywordRow, b: KeywordRow) => number> = {
  rank: byRank,
  term: (a, b) => (a.term < b.term ? -1 : 1),
  change: (a, b) => gained(b) - gained(a),
  popularity: (a, b) => known(b.popularity ?? b.popularityHigh) - known(a.popularity ?? a.popularityHigh),
  difficulty: (a, b) => known(b.difficulty) - known(a.difficulty),
}

export interface ShownRows {
  shown: readonly KeywordRow[]
  found: number
  page: number
  pages: number
}

/** The rows that the address asks for, in its order, a page of them. */
export function shownRows(rows: readonly KeywordRow[], { tags }: AppHead, query: URLSearchParams): ShownRows {
  const [text, tag, way] = [
    query.get("find")?.trim().toLowerCase() ?? "",
    query.get("tag") ?? "",
    query.get("move") ?? "",
  ]
  const fits = Object.hasOwn(MOVEMENTS, way) ? MOVEMENTS[way]!.fits : () => true
  const tagged = (term: string) => tag === "" || (Object.hasOwn(tags, term) && tags[term]!.includes(tag))
  const found = rows.filter((row) => row.term.toLowerCase().includes(text) && tagged(row.term) && fits(row))
  const order = query.get("order") ?? "rank"
  const sorted = found.toSorted(Object.hasOwn(ORDERS, order) ? ORDERS[order] : byRank)
  const pages = Math.max(1, Math.ceil(sorted.length / ROWS))
  const page = Math.min(pages, Math.max(1, Math.trunc(Number(query.get("page"))) || 1))
  return { shown: sorted.slice((page - 1) * ROWS, page * ROWS), found: found.length, page, pages }
}

export function filtersPart(desk: Desk, app: AppHead, side: Side): Html {
  const { query } = desk
  const tags = [...new Set(Object.values(app.tags).flat())].sort()
  const chosen = (name: string, value: string) => (query.get(name) ?? "") === value && html` selected=""`
  const hidden = ["order", "days"].flatMap((name) => {
    const value = query.get(name)
    return value ? [html`<input type="hidden" name="${name}" value="${value}">`] : []
  })
  return html`<form class="filters" method="get" action="${appAddress(desk, app)}" data-now=""><input type="hidden" name="at" value="${sideCode(side)}">${hidden}
<label class="grow">Find a keyword<input type="search" name="find" value="${query.get("find") ?? ""}" data-finds="keywords" autocomplete="off"></label>
${tags.length > 0 && html`<label>Tag<select name="tag"><option value="">All</option>${tags.map((tag) => html`<option value="${tag}"${chosen("tag", tag)}>${tag}</option>`)}</select></label>`}
<label>Movement<select name="move"><option value="">All</option>${Object.entries(MOVEMENTS).map(([code, { name }]) => html`<option value="${code}"${chosen("move", code)}>${name}</option>`)}</select></label>
<button type="submit">Filter</button></form>
`
}
