import type { AnswerOf } from "../../answers.ts"
import { answerPart } from "../../ui/app/any-answer.ts"
import { attempted, type Desk, isFault, type Page, readHead } from "../../ui/app/desk.ts"
import { card, failureNote, inventedNote, refusedPart } from "../../ui/app/parts.ts"
import { type Html, html } from "../../ui/html.ts"
import { boughtPart, campaignsPart, commandsPart, popularityPart, typedPart } from "./ads.ts"
import { funnelPart } from "./funnel.ts"
import { reportLink } from "./reports.ts"

type SectionOperation =
  | "list_campaigns"
  | "list_ads_keywords"
  | "list_ads_search_terms"
  | "get_search_popularity"
  | "list_ads_commands"
  | "get_funnel"
  | "get_pricing"
  | "get_change_impact"

/** A card of a page. It is left out if its operation does not exist. */
interface Section {
  operation: SectionOperation
  show(desk: Desk, appId: string): Promise<Html>
}

interface SectionOptions<Answer> {
  title: string
  hint: string
  /** The report with the evidence; `day` names the field of the answer with the report's day. */
  report?: { name: string; day?: keyof Answer & string }
  /** Renders the answer. Default: facts and tables of all its fields. */
  part?: (answer: Answer) => Html
}

function section<Id extends SectionOperation>(operation: Id, options: SectionOptions<AnswerOf<Id>>): Section {
  const { title, hint, report, part = answerPart } = options
  return {
    operation,
    async show(desk, appId) {
      const answer = await attempted(desk.ask(operation, { appId }))
      if (isFault(answer)) return card(title, refusedPart(answer), hint)
      const body = html`<div class="inside">${inventedNote(answer)}${failureNote(answer)}${part(answer)}</div>`
      if (!report) return card(title, body, hint)
      const day = report.day && answer[report.day]
      const link = reportLink(desk, { id: appId }, { report: report.name, ...(typeof day === "string" && { day }) })
      return card(title, body, html`${hint} · ${link}`)
    },
  }
}

const ADS: readonly Section[] = [
  section("list_campaigns", {
    title: "Campaigns",
    hint: "From the connected ads account, matched by store id",
    part: campaignsPart,
    report: { name: "ads_days", day: "to" },
  }),
  section("list_ads_keywords", {
    title: "Paid keywords",
    hint: "The last 28 days, by spend",
    part: boughtPart,
    report: { name: "ads_days", day: "to" },
  }),
  section("list_ads_search_terms", {
    title: "Search terms",
    hint: "What people searched for before they saw an ad; 28 days",
    part: typedPart,
    report: { name: "ads_terms" },
  }),
  section("get_search_popularity", {
    title: "Search popularity",
    hint: "Apple's own figures, from the ads account",
    part: popularityPart,
    report: { name: "ads_popularity" },
  }),
  section("list_ads_commands", {
    title: "Changes",
    hint: "What was changed, and by whom",
    part: commandsPart,
    report: { name: "ads_changes" },
  }),
]

/** Sections of the revenue page besides revenue and subscriptions. */
export const STORE_SECTIONS: readonly Section[] = [
  section("get_funnel", {
    title: "Store funnel",
    hint: "From impressions to downloads, by the store's own analytics",
    part: funnelPart,
    report: { name: "engagement", day: "completeTo" },
  }),
  section("get_pricing", { title: "Prices and offers", hint: "Products and offer codes, 365 days" }),
  section("get_change_impact", { title: "Before and after a change", hint: "The latest change" }),
]

export async function adsPage(desk: Desk, appId: string): Promise<Page> {
  const app = await readHead(desk, appId)
  return {
    title: `Ads · ${app.name}`,
    app,
    at: "ads",
    body: html`${await sectionParts(desk, ADS, appId)}`,
  }
}

export async function sectionParts(desk: Desk, sections: readonly Section[], appId: string): Promise<Html[]> {
  const existing = sections.filter(({ operation }) => desk.has(operation))
  return await Promise.all(existing.map((one) => one.show(desk, appId)))
}
