import type { AnswerOf, InputOf } from "../../answers.ts"
import { csvRecord } from "../../lib/csv.ts"
import type { View } from "../../ui/app/bar.ts"
import {
  type AppHead,
  address,
  appAddress,
  isFault,
  type PageContext,
  type Side,
  sideCode,
} from "../../ui/app/context.ts"
import { card, empty, refusedPart } from "../../ui/app/parts.ts"
import { hiddenFields } from "../../ui/app/write/form.ts"
import { type Html, html } from "../../ui/html.ts"
import { counted, whole } from "../../ui/words.ts"
import { type Replies, replyPart } from "./reply.ts"
import { type ListedReview, reviewPart } from "./review.ts"

type List = AnswerOf<"list_reviews">
type Filters = InputOf<"list_reviews">

const LISTED = 50
/** The first day of the App Store, so that the list goes back as far as the plan allows. */
const FIRST_DAY = "2008-07-10"
/** Maximum number of rows in the CSV file. */
const MAX_ROWS = 1_000

const SORTS = [
  ["newest", "Newest first"],
  ["oldest", "Oldest first"],
  ["lowest", "Fewest stars first"],
  ["highest", "Most stars first"],
] as const

/** Reads the filters in the address. Invalid values are ignored, because people edit addresses. */
export function filtersIn({ query }: PageContext, { side: { country, platform }, days, period }: View): Filters {
  const stars = [...new Set(query.getAll("rating").flatMap((text) => text.split(",")))].filter((star) =>
    /^[1-5]$/.test(star),
  )
  const sort = SORTS.map(([name]) => name).find((name) => name === query.get("sort"))
  const q = query.get("q")?.trim()
  const version = query.get("version")?.slice(0, 100)
  const language = query.get("language") ?? ""
  return {
    country,
    platform,
    // a period applies to the charts; the list is limited only by days that the user chose
    ...(period === null ? days : { from: FIRST_DAY }),
    ...(stars.length > 0 && { rating: stars.map(Number) }),
    ...(sort && { sort }),
    ...(q && { q }),
    ...(version && { version }),
    ...(platform === "android" && /^[a-z]{2,3}(?:-[A-Z]{2})?$/.test(language) && { language }),
  }
}

/** Reads the page of the list that the cursor in the address selects. */
export async function readList(context: PageContext, appId: string, filters: Filters): Promise<List> {
  const cursor = context.query.get("page")
  return await context.ask("list_reviews", { appId, ...filters, limit: LISTED, ...(cursor && { cursor }) })
}

export const reviewsOf = ({ list, android }: List, { platform }: Side) => (platform === "ios" ? list : android) ?? []

/** Returns the reviews as a CSV file, with the filters of the view. Longer lists are available from the API. */
export async function reviewsFile(context: PageContext, appId: string, view: View): Promise<string> {
  const { side } = view
  const list = await context.ask("list_reviews", { appId, ...filtersIn(context, view), limit: MAX_ROWS })
  const names = ["id", "date", "rating", "title", "text", "version", "seenAt"] as const
  const rows = reviewsOf(list, side).map((review) => csvRecord([...names.map((name) => review[name]), side.country]))
  return csvRecord([...names, "storefront"]) + rows.join("")
}

interface ListParts {
  app: AppHead
  side: Side
  /** Null if the list could not be read. */
  list: List | Parameters<typeof refusedPart>[0]
  versions: readonly string[]
  replies: Replies | null
}

/** Shows the list with its filters and pages. */
export function listPart(context: PageContext, { app, side, list, versions, replies }: ListParts): Html {
  const form = filterForm(context, app, side, versions)
  if (isFault(list)) return card("Reviews", html`${form}${refusedPart(list)}${firstPage(context)}`)
  const reviews = reviewsOf(list, side)
  const { total } = list.feeds[side.platform]
  if (reviews.length === 0)
    return card("Reviews", html`${form}${empty("No review matches", "Try other words, days or numbers of stars.")}`)
  return card(
    "Reviews",
    html`${form}<ul class="list">
${reviews.map((review) => reviewItem(context, app, side, { review, replies }))}</ul>
${pages(context, list.nextCursor ?? null)}`,
    html`${total !== null && counted(total, "review")} ·
<a href="${withQuery(context, { as: "csv", page: null })}">CSV</a>${
      total !== null && total > MAX_ROWS && ` of the first ${whole(MAX_ROWS)}`
    }`,
  )
}

function reviewItem(
  context: PageContext,
  app: AppHead,
  side: Side,
  { review, replies }: { review: ListedReview; replies: Replies | null },
): Html {
  const { id } = review
  return html`<li id="r-${id}">${reviewPart(review, side)}
${replyPart(context, app, side, { id, replies })}</li>
`
}

function filterForm(context: PageContext, app: AppHead, side: Side, versions: readonly string[]): Html {
  const { query } = context
  const option = (value: string, text: string, isChosen: boolean) =>
    html`<option value="${value}"${isChosen && html` selected=""`}>${text}</option>`
  const sort = query.get("sort") ?? "newest"
  const version = query.get("version") ?? ""
  return html`<form class="filters" method="get" action="${appAddress(context, app, "reviews")}" data-now="">
<input type="hidden" name="at" value="${sideCode(side)}">${hiddenFields(
    KEPT_DAYS.flatMap((name) => (query.get(name) ? [[name, query.get(name) as string] as const] : [])),
  )}
<label class="grow">Find in title or text<input type="search" name="q" maxlength="120" value="${
    query.get("q") ?? ""
  }"></label>
<label>Stars<select name="rating">${option("", "All", false)}${STARS.map(([value, text]) =>
    option(value, text, query.get("rating") === value),
  )}</select></label>
<label>Version<select name="version">${option("", "All", false)}${versions.map((name) =>
    option(name, name, name === version),
  )}</select></label>
<label>Order<select name="sort">${SORTS.map(([name, text]) => option(name, text, name === sort))}</select></label>
${
  side.platform === "android" &&
  html`<label>Language<input name="language" size="5" maxlength="6" placeholder="pt-BR"
value="${query.get("language") ?? ""}"></label>`
}
<button type="submit">Show</button></form>
`
}

const KEPT_DAYS = ["days", "from", "to"]

const STARS = [
  ["1,2", "1 and 2"],
  ["1", "1"],
  ["2", "2"],
  ["3", "3"],
  ["4", "4"],
  ["5", "5"],
] as const

function withQuery({ path, query }: PageContext, changes: Record<string, string | null>): string {
  return address(path, { ...Object.fromEntries(query), ...changes })
}

function firstPage(context: PageContext): Html | false {
  return context.query.has("page") && html`<a href="${withQuery(context, { page: null })}">First page</a>`
}

/** Links to the next page only, because a cursor cannot lead back. People use the browser's back button. */
function pages(context: PageContext, next: string | null): Html | false {
  const first = firstPage(context)
  if (next === null && !first) return false
  return html`<nav class="pages" aria-label="More reviews">${first}${
    next !== null ? html`<a href="${withQuery(context, { page: next })}" rel="next">Next ${LISTED}</a>` : LAST
  }</nav>
`
}

const LAST = html`<span class="quiet">These are the last ones.</span>`
