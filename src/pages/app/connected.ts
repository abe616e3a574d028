import { type Html, html } from "../html.ts"
import { answerPart } from "./any-answer.ts"
import { attempted, type Desk, isFault, type Page, readHead, sideAt } from "./desk.ts"
import { sideForm } from "./frame.ts"
import { funnelPart } from "./funnel.ts"
import { card, failureNote, inventedNote, refusedPart } from "./parts.ts"
import { boughtPart, campaignsPart, commandsPart, popularityPart, typedPart } from "./sections/ads.ts"
import { visibilityPart } from "./sections/assistants.ts"
import { reportLink } from "./sections/reports.ts"

/** A part of a page: there as soon as its operation is. */
interface Section {
  operation: string
  title: string
  said: string
  /** Asked for the storefront as well. */
  byCountry?: boolean
  /** The report that its figures rest on, and which day of the answer's is shown first; without one what stands. */
  report?: { name: string; day?: string }
  /** How its answer is drawn; as facts and tables when left out. */
  part?: (answer: Record<string, unknown>) => Html
}

const ADS: readonly Section[] = [
  {
    operation: "list_campaigns",
    title: "Campaigns",
    said: "Of the connected ads account, matched by store id",
    part: campaignsPart,
    report: { name: "ads_days", day: "to" },
  },
  {
    operation: "list_ads_keywords",
    title: "Keywords bought",
    said: "The last 28 days, by spend",
    part: boughtPart,
    report: { name: "ads_days", day: "to" },
  },
  {
    operation: "list_ads_search_terms",
    title: "Search terms",
    said: "What people typed who saw an ad; 28 days",
    part: typedPart,
    report: { name: "ads_terms" },
  },
  {
    operation: "get_search_popularity",
    title: "Search popularity",
    said: "The store's own, from the ads account",
    part: popularityPart,
    report: { name: "ads_popularity" },
  },
  {
    operation: "list_ads_commands",
    title: "Commands",
    said: "What was changed, and by whom",
    part: commandsPart,
    report: { name: "ads_changes" },
  },
]

const ASSISTANTS: readonly Section[] = [
  {
    operation: "get_ai_visibility",
    title: "What assistants answer",
    said: "A dated sample, not a ranking",
    byCountry: true,
    part: visibilityPart,
  },
]

/** Parts of the revenue page beside revenue and subscriptions. */
export const STORE_SECTIONS: readonly Section[] = [
  {
    operation: "get_funnel",
    title: "Store funnel",
    said: "From impressions to downloads, by the store's own analytics",
    part: funnelPart,
    report: { name: "engagement", day: "completeTo" },
  },
  { operation: "get_pricing", title: "Prices and offers", said: "Products and offer codes, 365 days" },
  { operation: "get_change_impact", title: "Before and after a change", said: "The latest change" },
]

export const adsPage = (desk: Desk, appId: string) =>
  sectionsPage(desk, appId, { tab: "ads", title: "Ads", sections: ADS })
export const assistantsPage = (desk: Desk, appId: string) =>
  sectionsPage(desk, appId, { tab: "assistants", title: "Assistants", sections: ASSISTANTS })

async function sectionsPage(
  desk: Desk,
  appId: string,
  { tab, title, sections }: { tab: string; title: string; sections: readonly Section[] },
): Promise<Page> {
  const app = await readHead(desk, appId)
  const side = sideAt(app, desk.query)
  const form = sections.some(({ byCountry }) => byCountry) && sideForm(desk, app, {}, side)
  return {
    title: `${title} · ${app.name}`,
    app,
    at: tab,
    body: html`${form}${await sectionParts(desk, sections, { appId, country: side.country })}`,
  }
}

export async function sectionParts(
  desk: Desk,
  sections: readonly Section[],
  { appId, country }: { appId: string; country: string },
) {
  const there = sections.filter(({ operation }) => desk.has(operation))
  return await Promise.all(
    there.map(async ({ operation, title, said, byCountry, report, part = answerPart }) => {
      const asked = desk.ask<Record<string, unknown>>(operation, { appId, ...(byCountry && { country }) })
      const answer = await attempted(asked)
      return card(
        title,
        isFault(answer)
          ? refusedPart(answer)
          : html`<div class="inside">${inventedNote(answer)}${failureNote(answer)}${part(answer)}</div>`,
        isFault(answer) || !report ? said : html`${said} · ${evidenceLink(desk, appId, report, answer)}`,
      )
    }),
  )
}

function evidenceLink(desk: Desk, id: string, { name, day }: NonNullable<Section["report"]>, answer: object): Html {
  const shown = day === undefined ? null : (answer as Record<string, unknown>)[day]
  return reportLink(desk, { id }, { report: name, ...(typeof shown === "string" && { day: shown }) })
}
