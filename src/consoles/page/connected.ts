import type { AnswerOf, InputOf } from "../../answers.ts"
import type { Platform } from "../../core/observation/provenance.ts"
import { isRealDay } from "../../lib/time.ts"
import { attempted, isFault, type Page, type PageContext, readHead } from "../../ui/app/context.ts"
import { card, empty, failureNote, inventedNote, refusedPart, samplePage } from "../../ui/app/parts.ts"
import type { Chart } from "../../ui/charts/chart.ts"
import { type Html, html } from "../../ui/html.ts"
import { boughtPart, campaignsPart, commandsPart, popularityPart, typedPart } from "./ads.ts"
import { funnelChart, funnelPart } from "./funnel.ts"
import { impactPart } from "./impact.ts"
import { pricesPart } from "./prices.ts"
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
  show(context: PageContext, app: SectionApp): Promise<ShownSection>
}

/** The app of a page, and the store that the page shows. */
interface SectionApp {
  appId: string
  platform: Platform
}

interface ShownSection {
  card: Html
  /** Whether the account behind the operation is connected. */
  isConnected: boolean
  /** A note that the figures are sample data. */
  note: Html | false
  /** The charts that can be downloaded as CSV. */
  charts: readonly Chart[]
}

interface SectionOptions<Id extends SectionOperation> {
  title: string
  hint: string
  /** The report whose evidence is linked; `day` names the field of the answer that has the report's day. */
  report?: { name: string; nameOnPlay?: string; day?: keyof AnswerOf<Id> & string }
  /** Reads the arguments of the operation, except the app, from the address. */
  input?: (query: URLSearchParams, platform: Platform) => InputOf<Id>
  part: (answer: AnswerOf<Id>, context: PageContext) => Html
  /** The charts of the card that can be downloaded as CSV. */
  charts?: (answer: AnswerOf<Id>) => readonly Chart[]
}

function section<Id extends SectionOperation>(operation: Id, options: SectionOptions<Id>): Section {
  const { title, hint, report, part, input = () => ({}), charts = () => [] } = options
  return {
    operation,
    async show(context, { appId, platform }) {
      const answer = await attempted(
        context.ask(operation, { ...input(context.query, platform), appId } as InputOf<Id>),
      )
      if (isFault(answer)) {
        const isConnected = answer.code !== "not_connected"
        return { card: card(title, refusedPart(answer), hint), isConnected, note: false, charts: [] }
      }
      const body = html`<div class="inside">${failureNote(answer)}${part(answer, context)}</div>`
      const day = report?.day && answer[report.day]
      const name = (platform === "android" && report?.nameOnPlay) || report?.name
      const link = name && reportLink(context, { id: appId }, { report: name, ...(typeof day === "string" && { day }) })
      const about = link ? html`${hint} · ${link}` : hint
      const note = inventedNote(answer)
      return { card: card(title, body, about), isConnected: true, note, charts: charts(answer) }
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

const FUNNEL = section("get_funnel", {
  title: "Store funnel",
  hint: "From impressions to downloads, according to the store's own analytics",
  input: (_, platform) => ({ platform }) as InputOf<"get_funnel">,
  part: funnelPart,
  charts: (answer) => [funnelChart(answer)],
  report: { name: "engagement", nameOnPlay: "play_store_country", day: "completeTo" },
})

const CHANGE_IMPACT = section("get_change_impact", {
  title: "Before and after a change",
  hint: "The latest change of the store page, or that of the selected day",
  input: (query, platform) => ({ ...changeIn(query), platform }) as InputOf<"get_change_impact">,
  part: impactPart,
})

/** Only for the App Store, because get_pricing has no choice of the store. */
const PRICING = section("get_pricing", {
  title: "Prices and offers",
  hint: "Products and offer codes, 365 days",
  part: pricesPart,
})

/** Returns the sections of the revenue page that follow revenue and subscriptions. */
export function sectionsOf(platform: Platform): readonly Section[] {
  return platform === "ios" ? [FUNNEL, CHANGE_IMPACT, PRICING] : [FUNNEL, CHANGE_IMPACT]
}

/** Returns the day of the change and the window from the address. Invalid values are left out. */
function changeIn(query: URLSearchParams): { day?: string; window?: number } {
  const [day, window] = [query.get("day") ?? "", Number(query.get("window"))]
  return {
    ...(/^\d{4}-\d\d-\d\d$/.test(day) && isRealDay(day) && { day }),
    ...(Number.isInteger(window) && window >= 3 && window <= 30 && { window }),
  }
}

export async function adsPage(context: PageContext, appId: string): Promise<Page> {
  const app = await readHead(context, appId)
  const sections = await shownSections(context, ADS, { appId, platform: "ios" })
  const isConnected = sections.length === 0 || sections.some((section) => section.isConnected)
  return {
    title: `Ads · ${app.name}`,
    app,
    at: "ads",
    body: isConnected ? sectionsPart(sections) : html`<section class="card">${noAds(context)}</section>`,
  }
}

function noAds(context: PageContext): Html {
  return empty(
    "Apple Ads is not connected",
    html`Connect the account that advertises this app under
<a href="${context.base}/settings/accounts?add=apple-ads">Connected accounts</a>. Then this page shows campaigns,
keywords and search terms with their cost per install beside the organic rank, and what was changed by whom.`,
    samplePage(context, "ads"),
  )
}

export async function shownSections(
  context: PageContext,
  sections: readonly Section[],
  app: SectionApp,
): Promise<ShownSection[]> {
  const existing = sections.filter(({ operation }) => context.has(operation))
  return await Promise.all(existing.map((one) => one.show(context, app)))
}

/** Returns the cards whose accounts are connected, below one note if figures are sample data. */
export function sectionsPart(sections: readonly ShownSection[], { hasNote = true } = {}): Html {
  const note = hasNote && (sections.find((section) => section.note)?.note ?? false)
  return html`${note}${sections.map((section) => section.isConnected && section.card)}`
}
