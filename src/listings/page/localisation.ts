import type { AnswerOf } from "../../answers.ts"
import {
  type AppHead,
  address,
  appAddress,
  attempted,
  isFault,
  type Page,
  type PageContext,
  readHead,
  type Side,
  sideAt,
  sideCode,
} from "../../ui/app/context.ts"
import { card, empty, refusedPart, samplePage } from "../../ui/app/parts.ts"
import {
  askPart,
  attemptedText,
  ofLimit,
  refusedCard,
  type TextPage,
  textPage,
  writtenCard,
} from "../../ui/app/texts/written.ts"
import { type Html, type HtmlPart, html } from "../../ui/html.ts"
import { dayTime, momentTime } from "../../ui/times.ts"
import { counted, figure, popularityBand, spoken, whole } from "../../ui/words.ts"
import { localeName as nameOf } from "../localisation-words.ts"
import { localisationGridPart } from "./localisation-grid.ts"

type Locales = AnswerOf<"list_locales">
type Translation = AnswerOf<"localize_listing">

const PAGE: TextPage = { title: "In another language", at: "page", back: { tab: "page", name: "Store page" } }

/** Links from the store page to the translation. */
export function localisationCard(context: PageContext, app: AppHead): Html {
  return card(
    "This page in another language",
    html`<div class="inside">
<p>Shows which languages of its storefronts the page lacks, from its storefront audit. A language model can translate
the page, with keywords for that language and checks of each field. The cost is shown before it starts.</p>
<p><a href="${appAddress(context, app, "localize")}">Choose a language, and see which words count where</a></p></div>`,
  )
}

/**
 * Shows the locales to choose from, the cost of a translation into the locale in the address, and the translation once
 * it was requested.
 */
export async function localisationPage(context: PageContext, appId: string): Promise<Page> {
  const app = await readHead(context, appId)
  const side = sideAt(app, context.query)
  const page = (body: HtmlPart) => textPage(context, app, side, { page: PAGE, body: html`${body}` })
  const code = context.isSample ? "de-DE" : (context.query.get("locale") ?? "")
  const isPoll = context.query.has("poll")
  if (context.isSample || (code !== "" && (context.isSent || isPoll))) {
    const shots = context.query.has("shots")
    const input = { appId, locale: code, ...(shots && { shots }), ...(isPoll && { poll: true }) }
    const text = await attemptedText(context.ask("localize_listing", input))
    if (!isFault(text))
      return page([
        context.isSample && (await gridPart(context, appId)),
        textPart(context, app, { text, code, shots }),
        context.isSample && (await choosePart(context, app, "")),
      ])
    return page([refusedCard(PAGE.title, text), await choosePart(context, app, code)])
  }
  const begun = context.isSent && context.query.has("audit") && (await attempted(beginAudit(context, appId)))
  return page([
    isFault(begun) && card("Storefront audit", refusedPart(begun)),
    code === "" && (await gridPart(context, appId)),
    await choosePart(context, app, code, side),
  ])
}

const gridPart = async (context: PageContext, appId: string) =>
  localisationGridPart(await context.ask("get_localisation_grid", { appId }))

const beginAudit = (context: PageContext, appId: string) =>
  context.ask("get_storefront_audit", { appId, refresh: true })

async function choosePart(context: PageContext, app: AppHead, code: string, side?: Side): Promise<HtmlPart> {
  const found = await context.ask("list_locales", { appId: app.id })
  if (app.iosId === null)
    return html`<section class="card">
${empty(
  "Only on Google Play",
  "Listings are translated for the App Store only.",
  samplePage(context, "localize"),
)}</section>`
  if (found.auditedAt === null) return noAudit(context, app, found)
  const chosen = found.locales.find((locale) => locale.code === code)
  const shots = context.query.has("shots")
  const path = appAddress(context, app, "localize")
  const query = { locale: code, ...(side && { at: sideCode(side) }), ...(shots && { shots: "1" }) }
  return [
    chosen &&
      askPart(context, address(path, query), {
        title: `In ${nameOf(chosen.locale)}`,
        description:
          `By a language model, from the current page${shots ? " and captions of its first four screenshots" : ""}. ` +
          "Each field fits the store's limit; a field without a good translation stays as it is. " +
          "Nothing is changed in a store.",
        cost: "1 credit and, for a language that is new for this text, one listing text of the plan",
        button: "Translate it",
      }),
    chosen &&
      card(
        "Translated before?",
        html`<div class="inside">
<p><a href="${address(path, { ...query, poll: "1" })}">Show it again</a> at no cost.</p></div>`,
      ),
    localesPart(context, app, found, code),
  ]
}

function localesPart(context: PageContext, app: AppHead, { locales, auditedAt }: Locales, code: string): Html {
  const form =
    !context.isSample &&
    html`<form class="filters" method="get" action="${appAddress(context, app, "localize")}">
<label class="grow">Language<select name="locale">${locales.map(
      (locale) =>
        html`<option value="${locale.code}"${locale.code === code && html` selected=""`}>
${nameOf(locale.locale)} (${locale.locale})</option>`,
    )}</select></label><label><input type="checkbox" name="shots" value="1"${
      context.query.has("shots") && html` checked=""`
    }> Captions of screenshots too</label><button type="submit">Choose</button></form>
`
  const unserved = locales.filter(({ unservedRatings }) => unservedRatings !== null)
  return card(
    "Languages that your page lacks",
    html`${form}${
      unserved.length > 0
        ? unservedTable(unserved)
        : empty(
            "Every storefront shows its first language",
            `You can still choose from ${counted(locales.length, "language")}.`,
          )
    }`,
    html`By the audit of ${dayTime((auditedAt as string).slice(0, 10))}`,
  )
}

function unservedTable(locales: Locales["locales"]): Html {
  return html`<div class="scroll" tabindex="0" role="group" aria-label="Languages">
<table class="rows"><caption>
Languages that people read in storefronts with a page in another language, by the ratings of these storefronts.
</caption><thead><tr><th scope="col">Language</th><th scope="col" class="num">Storefronts that read it</th>
<th scope="col" class="num">Ratings not reached</th></tr></thead>
<tbody>${locales.map(
    ({ locale, storefronts, unservedRatings }) =>
      html`<tr><th scope="row">${nameOf(locale)} <span class="small quiet">${locale}</span></th>
<td class="num">${storefronts}</td><td class="num">${figure(unservedRatings)}</td></tr>
`,
  )}</tbody></table></div>`
}

function noAudit(context: PageContext, app: AppHead, { eta, isFailed }: Locales): HtmlPart {
  if (eta !== null)
    return html`<section class="card">
${empty(
  "The audit is under way",
  `It reads the page in every storefront, and may finish in ${counted(Math.ceil(eta / 60), "minute")}.`,
)}</section>`
  const teaching = empty(
    isFailed ? "The last audit read too few storefronts" : "No storefront audit yet",
    "An audit reads the app's page in all storefronts of the App Store. It shows which languages your page lacks.",
    samplePage(context, "localize"),
  )
  if (app.isInvented) return html`<section class="card">${teaching}</section>`
  return [
    html`<section class="card">${teaching}</section>`,
    askPart(context, address(appAddress(context, app, "localize"), { audit: "1" }), {
      title: "Audit every storefront",
      description: "Reads the listing in 175 storefronts, which takes some minutes.",
      cost: "1 credit",
      button: "Start the audit",
    }),
  ]
}

function textPart(
  context: PageContext,
  app: AppHead,
  { text, code, shots }: { text: Translation; code: string; shots: boolean },
): HtmlPart {
  const { state, locale, source, fields, keywords, written, eta } = text
  if (state === "pending") {
    const again = address(appAddress(context, app, "localize"), {
      locale: code,
      ...(shots && { shots: "1" }),
      poll: "1",
    })
    return card(
      `In ${nameOf(locale)}`,
      html`<div class="inside"><p>It is being written, and may be ready in ${counted(eta ?? 20, "second")}.</p>
<p><a href="${again}">Check again</a> at no cost.</p></div>`,
    )
  }
  return [
    source &&
      html`<p class="quiet">
${nameOf(locale)}, from the page in ${nameOf(source.locale)} as it was read ${momentTime(
        source.pageReadAt,
      )}. For ${counted(
        text.storefronts.length,
        "storefront",
      )}: ${text.storefronts.map((country) => country.toUpperCase()).join(", ")}. Read it before you use it.</p>`,
    html`<div class="columns-2 wide-left"><div>${fields.map(fieldPart)}</div>
<div>${keywordsPart(keywords)}${captionsPart(text)}${writtenCard(written)}</div></div>`,
  ]
}

function fieldPart({ field, source, text, characters, limit, kept: reason }: Translation["fields"][number]): Html {
  return card(
    spoken(field),
    html`<div class="inside"><div class="swap"><p><span>Now</span> <bdi>${source}</bdi></p>
<p><span>Then</span> <bdi>${text}</bdi></p></div>
${reason !== null && html`<p class="small quiet"><span class="tag warn">as it is</span> ${reason}</p>`}</div>`,
    ofLimit(characters, limit),
  )
}

function keywordsPart(keywords: Translation["keywords"]): Html | false {
  if (keywords.length === 0) return false
  return card(
    "For the keyword field",
    html`<ul class="list">
${keywords.map(
  ({ term, popularity, popularityLow: low, popularityHigh: high }) =>
    html`<li><bdi>${term}</bdi> <span class="small quiet">${
      popularity !== null
        ? `popularity ${whole(popularity)}`
        : low !== null
          ? html`popularity ${popularityBand(low, high)}`
          : "not measured there"
    }</span></li>`,
)}</ul>`,
    ofLimit([...keywords.map(({ term }) => term).join(",")].length, 100),
  )
}

function captionsPart({ shots }: Translation): Html | false {
  if (shots === null) return false
  return card(
    "Captions of screenshots",
    html`<ul class="list">${shots.map(
      ({ position, source, text }) => html`<li>
<p><span class="quiet">${position}</span> <bdi>${source ?? "not read"}</bdi></p>
${text !== null && html`<p><bdi>${text}</bdi></p>`}</li>`,
    )}</ul>`,
  )
}
