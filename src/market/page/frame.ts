import type { AnswerOf } from "../../answers.ts"
import { ALL_APPS } from "../../lib/charts.ts"
import { Fault } from "../../lib/faults.ts"
import { genreName } from "../../lib/genre-names.ts"
import { isBeingRead } from "../../lib/live-read.ts"
import { storefrontName } from "../../lib/storefront-names.ts"
import { CHART_GENRES, STOREFRONTS } from "../../lib/storefronts.ts"
import { address, hereOf, MADE, type Page, type PageContext } from "../../ui/app/context.ts"
import type { Face } from "../../ui/app/faces.ts"
import { appIcon } from "../../ui/app/frame.ts"
import { empty, refusedPart } from "../../ui/app/parts.ts"
import { hiddenFields } from "../../ui/app/write/form.ts"
import { type Html, type HtmlPart, html } from "../../ui/html.ts"
import { counted, spoken } from "../../ui/words.ts"

export type Market = AnswerOf<"get_market">

const TABS = [
  ["", "Start"],
  ["charts", "Charts"],
  ["new", "New apps"],
  ["find", "Finder"],
  ["keyword", "Keywords"],
  ["compare", "Compare"],
  ["categories", "Categories"],
] as const

export function marketAddress(context: PageContext, path: string, query: Parameters<typeof address>[1] = {}): string {
  return address(`${context.base}/market${path && `/${path}`}`, query)
}

/** Renders a page of the market, with the tabs that all of them share. */
export function marketPage(
  context: PageContext,
  { title, tab, body }: { title: string; tab: string; body: HtmlPart },
): Page {
  const tabs = TABS.map(([path, name]) => {
    return html`<a href="${marketAddress(context, path)}"${path === tab && html` aria-current="page"`}>${name}</a>`
  })
  return {
    title,
    at: "/market",
    body: html`<nav class="tabs" aria-label="Market">${tabs}</nav>${followNotice(context)}${body}`,
  }
}

/** The ids of the app and the publisher, and the keyword, for which the sample has pages. */
const SAMPLED = new Set(["9990000102", "9990009001", "journal"])

/** Renders a link to the page of an app, a publisher or a keyword, or plain text if the sample has no such page. */
export function linkTo(context: PageContext, id: string, to: string, text: HtmlPart): HtmlPart {
  return hasPage(context, id) ? html`<a href="${to}">${text}</a>` : text
}

export const hasPage = (context: PageContext, id: string) => !context.isSample || SAMPLED.has(id)

interface NamedApp {
  id: string
  name: string
  publisher?: string | null
  publisherId?: string | null
}

export function appPageAddress(context: PageContext, id: string, country: string): string {
  return marketAddress(context, "app", { id, country })
}

/** Renders an app of a list: icon, name and publisher, each with a link to its page. */
export function appCell(
  context: PageContext,
  app: NamedApp,
  { country, face }: { country: string; face?: Face | undefined },
) {
  const { id, name, publisher, publisherId } = app
  const link = linkTo(context, id, appPageAddress(context, id, country), html`<bdi>${name}</bdi>`)
  const by = publisher && html`<bdi>${publisher}</bdi>`
  const publisherLink = publisherId
    ? linkTo(context, publisherId, publisherAddress(context, publisherId), by || "")
    : by
  return html`<div class="subject tight">${appIcon(context, { name, icon: face?.icon ?? null })}<div><p>${link}</p>${
    by && html`<p class="small quiet">${publisherLink}</p>`
  }</div></div>`
}

export function publisherAddress(context: PageContext, id: string): string {
  return marketAddress(context, "publisher", { id })
}

/** Returns the storefront in the address if the App Store has it. */
export function countryIn(query: URLSearchParams, otherwise = "us"): string {
  const country = query.get("country")?.toLowerCase() ?? ""
  return STOREFRONTS.includes(country) ? country : otherwise
}

/** Returns the day in a parameter of the address. Null if it is not a valid day. */
export function dayIn(query: URLSearchParams, name: string): string | null {
  const day = query.get(name) ?? ""
  return /^\d{4}-\d{2}-\d{2}$/.test(day) && !Number.isNaN(Date.parse(day)) ? day : null
}

export const storefrontOptions = () =>
  STOREFRONTS.map((code) => [code, storefrontName(code)] as const).toSorted(([, a], [, b]) => (a < b ? -1 : 1))

export const genreOptions = () => CHART_GENRES.map((id) => [id, genreName(id)] as const)

/** Returns the storefront's name of a genre, or else this program's name. */
export function nameOfGenre({ id, name }: { id: string; name: string | null }): string {
  return id === ALL_APPS ? genreName(id) : (name ?? genreName(id))
}

export function kindName(kind: string): string {
  return kind === "ipad" ? "Free, iPad" : spoken(kind)
}

/**
 * Returns the answer, or the fault that the page shows instead of it. Shown faults include those for a store that
 * cannot be read now.
 */
export async function marketAnswer<Answer>(answer: Promise<Answer>): Promise<Answer | Fault> {
  try {
    return await answer
  } catch (error) {
    if (error instanceof Fault && (SHOWN.has(error.code) || (error.status < 500 && error.status !== 401))) return error
    throw error
  }
}

/** Codes of faults after which a later read may succeed. */
const SHOWN = new Set<string>(["measure_busy", "hive_write_failed", "hive_read_failed"])

interface Missing {
  /** The heading, for example "This chart was not read yet". */
  title: string
  /**
   * Credits that reading costs, shown if a plan limits credits. 0 if the page has the button elsewhere, or nothing can
   * be read.
   */
  credits: number
  /** The form with which an operator follows this chart or storefront. */
  follow?: HtmlPart
}

/** Explains why there is nothing to show, and offers to read or follow it. */
export function missingPart(
  context: PageContext,
  { code, message, extra, ...fault }: Fault,
  { title, credits, follow }: Missing,
) {
  const { detail } = extra as { detail?: string }
  if (isBeingRead(detail))
    return html`<div class="empty" data-reading=""><p class="what">It is being read</p>
<p class="quiet">This page shows it in a few seconds. <a href="${hereOf(context)}">Look again</a></p></div>`
  if (!SHOWN.has(code) && code !== "not_measured") return refusedPart(Object.assign(new Fault(code), fault, { extra }))
  const text = context.isMetered() && !context.isSent ? "It was not requested from the store yet." : (detail ?? message)
  return html`${empty(title, text)}${readButton(context, credits)}${follow}`
}

/** Renders a button that reads the page's data again, if that costs credits. Otherwise opening the page reads it. */
export function readButton(context: PageContext, credits: number): Html | false {
  if (credits === 0 || !context.isMetered() || context.formFields.length === 0) return false
  return html`<form class="filters" method="post" action="${hereOf(context)}">${hiddenFields(context.formFields)}
<button type="submit">Read now · ${counted(credits, "credit")}</button></form>`
}

/** A storefront to follow, with one category or with all. */
interface Followed {
  country: string
  genre: string
}

/**
 * Renders the form that follows a storefront. Shows only a sentence unless the person is an operator, because the
 * server has to read the charts.
 */
export function followForm(context: PageContext, { country, genre }: Followed, id = "follow"): Html | false {
  if (context.isSample) return false
  if (!context.person?.isOperator)
    return html`<p class="inside quiet">The operator of this server can follow the charts of a storefront daily.</p>`
  const countries = storefrontOptions().map(
    ([code, name]) => html`<option value="${code}"${code === country && html` selected=""`}>${name}</option>`,
  )
  const genres = [["all", "All categories"] as const, ...genreOptions()].map(
    ([code, name]) => html`<option value="${code}"${code === genre && html` selected=""`}>${name}</option>`,
  )
  const fields = [...context.formFields, ["do", "follow"], ["back", hereOf(context)]] as const
  return html`<form class="filters" method="post" action="${context.base}/settings/market">${hiddenFields(fields)}
<div class="field"><label for="${id}-c">Storefront</label><select id="${id}-c" name="storefront">${countries}</select>
</div><div class="field"><label for="${id}-g">Category</label><select id="${id}-g" name="genre">${genres}</select></div>
<div class="send"><button class="main" type="submit">Follow daily</button></div></form>
<p class="inside small quiet">A category has four charts: free, paid, grossing and iPad. Each takes one request a day,
and its apps some two more.</p>`
}

/** Renders a button that follows genres of a storefront, or stops following them. */
export function marketButton(
  context: PageContext,
  { deed, country, genres }: { deed: "follow" | "drop"; country: string; genres: string },
  name: string,
): Html {
  const fields = [
    ...context.formFields,
    ["do", deed],
    ["storefront", country],
    ["genre", genres],
    ["back", hereOf(context)],
  ] as const
  return html`<form method="post" action="${context.base}/settings/market">${hiddenFields(fields)}
<button type="submit">${name}</button></form>`
}

/** Reports what the previous form followed or stopped following, with an offer to undo it. */
function followNotice(context: PageContext): Html | false {
  const done = /^(follow|drop)-([a-z]{2})-([\d.]+|all)$/.exec(context.query.get(MADE) ?? "")
  if (!done || !context.person?.isOperator) return false
  const [, deed, country = "", genres = ""] = done
  const undo = marketButton(context, { deed: deed === "follow" ? "drop" : "follow", country, genres }, "Undo")
  return html`<div class="notice" role="status" data-toast=""><p>${
    deed === "follow"
      ? `${storefrontName(country)} is followed: its charts are read within minutes, then daily.`
      : `${storefrontName(country)} is no longer followed. Data that was read is kept.`
  }</p>${undo}</div>`
}
