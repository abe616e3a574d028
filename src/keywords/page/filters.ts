import { type AppHead, appAddress, type PageContext, type Side, sideCode } from "../../ui/app/context.ts"
import { type Html, html } from "../../ui/html.ts"

const MOVEMENTS: Record<string, string> = {
  up: "Up or entered",
  down: "Down or dropped out",
  top10: "In the top 10",
  absent: "Absent",
  unmeasured: "Not measured",
}

/** The columns that the table can be ordered by. */
const ORDERS = ["rank", "term", "change", "popularity", "difficulty"]

/** Returns the row filters of the address. Invalid ones are left out. */
export function rowsAsked(query: URLSearchParams): Record<string, string | number> {
  const [at, find, tag, move = "", order = "", page] = ["at", "find", "tag", "move", "order", "page"].map(
    (name) => query.get(name)?.trim() || undefined,
  )
  return {
    ...(at !== undefined && { at: at.slice(0, "us-android".length) }),
    ...(find !== undefined && { find: find.slice(0, LONGEST) }),
    ...(tag !== undefined && { tag: tag.slice(0, LONGEST) }),
    ...(Object.hasOwn(MOVEMENTS, move) && { move }),
    ...(ORDERS.includes(order) && { order }),
    ...(/^[1-9]\d{0,4}$/.test(page ?? "") && { page: Number(page) }),
  }
}

/** Maximum characters of a keyword. */
const LONGEST = 150

export function filtersPart(context: PageContext, app: AppHead, side: Side): Html {
  const { query } = context
  const tags = [...new Set(Object.values(app.tags).flat())].sort()
  const chosen = (name: string, value: string) => (query.get(name) ?? "") === value && html` selected=""`
  const hidden = ["order", "days"].flatMap((name) => {
    const value = query.get(name)
    return value ? [html`<input type="hidden" name="${name}" value="${value}">`] : []
  })
  return html`<form class="filters" method="get" action="${appAddress(context, app)}" data-now="">
<input type="hidden" name="at" value="${sideCode(side)}">${hidden}
<label class="grow">Find a keyword<input type="search" name="find" value="${query.get("find") ?? ""}"
  data-finds="keywords" autocomplete="off"></label>
${
  tags.length > 0 &&
  html`<label>Tag<select name="tag"><option value="">All</option>
${tags.map((tag) => html`<option value="${tag}"${chosen("tag", tag)}>${tag}</option>`)}</select></label>`
}
<label>Movement<select name="move"><option value="">All</option>
${Object.entries(MOVEMENTS).map(
  ([code, name]) => html`<option value="${code}"${chosen("move", code)}>${name}</option>`,
)}</select></label>
<button type="submit">Filter</button></form>
`
}
