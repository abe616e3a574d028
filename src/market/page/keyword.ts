import type { AnswerOf } from "../../answers.ts"
import type { Fault } from "../../lib/faults.ts"
import { nameOfStorefront } from "../../lib/storefront-names.ts"
import { attempted, hereOf, isFault, type Page, type PageContext } from "../../ui/app/context.ts"
import { readFaces } from "../../ui/app/faces.ts"
import { card, empty, tiles } from "../../ui/app/parts.ts"
import { hiddenFields } from "../../ui/app/write/form.ts"
import { type FormState, selectField, textField } from "../../ui/fields.ts"
import { type Html, type HtmlPart, html } from "../../ui/html.ts"
import { sourceName } from "../../ui/source-names.ts"
import { dayTime, shortDay } from "../../ui/times.ts"
import { counted, figure, popularityBand } from "../../ui/words.ts"
import { addKeywordsForm, tickedTerm } from "./add-keywords.ts"
import {
  appCell,
  countryIn,
  linkTo,
  marketAddress,
  marketAnswer,
  marketPage,
  missingPart,
  storefrontOptions,
} from "./frame.ts"
import { historyCard, rankCheckCard, resultsCard } from "./keyword-days.ts"
import { readSubject } from "./own-app.ts"

type Research = AnswerOf<"hive_research_keyword">
type Keyword = Research["keywords"][number]
type Difficulty = AnswerOf<"get_keyword_difficulty">

/** Credits of reading a keyword: measuring, research, difficulty and first results. */
const CREDITS = 120

/**
 * Renders any keyword: its top apps, popularity, difficulty, history, and related and suggested keywords to add to an
 * app.
 */
export async function marketKeywordPage(context: PageContext): Promise<Page> {
  const market = await context.ask("get_market")
  const country = countryIn(context.query, market.first?.country)
  const term = context.query.get("term")?.trim() || (context.isSample ? "journal" : "")
  const form = keywordForm(context, term, country)
  const page = (title: string, body: HtmlPart) =>
    marketPage(context, { title, tab: "keyword", body: html`<section class="card">${form}</section>${body}` })
  if (term === "") return page("Keywords", await introCard(context))
  const measured = context.isSent
    ? await marketAnswer(context.ask("hive_measure_keyword", { term, country, wait: 3 }))
    : null
  const [research, difficulty, history, ranks] = await Promise.all([
    marketAnswer(context.ask("hive_research_keyword", { seed: term, country })),
    marketAnswer(context.ask("get_keyword_difficulty", { term, cc: country })),
    marketAnswer(context.ask("hive_get_keyword_metrics_history", { term, country, days: 90 })),
    marketAnswer(context.ask("hive_get_keyword_ranks", { term, country, top: 10, days: 7 })),
  ])
  const failed =
    measured !== null && isFault(measured) && html`<p class="notice bad" role="alert">${measured.message}</p>`
  if (isFault(research)) {
    const missing = missingPart(context, research, { title: `“${term}” was not read yet`, credits: CREDITS })
    return page(
      term,
      html`${failed}<section class="card">${missing}</section>${rankCheckCard(context, { term, country })}`,
    )
  }
  const { seed, related, spell } = research
  const topCard = await topAppsCard(context, seed, { difficulty, country })
  return page(
    term,
    html`${failed}${
      spell &&
      html`<p class="notice">Did you mean
${linkTo(context, spell.term, marketAddress(context, "keyword", { term: spell.term, country }), spell.term)}?</p>`
    }
${seedTiles(seed)}<div class="columns-2"><div>${await relatedCard(context, research, country)}${
      related && related.length > 0 && suggestedCard(context, related, country)
    }${difficultyCard(difficulty)}</div><div>${topCard}${historyCard(history)}${rankCheckCard(context, {
      term,
      country,
    })}
${measureForm(context)}</div></div>${resultsCard(context, ranks, country)}`,
  )
}

interface TopFacts {
  difficulty: Difficulty | Fault
  country: string
}

async function topAppsCard(
  context: PageContext,
  { top, day, source }: Research["seed"],
  { difficulty, country }: TopFacts,
): Promise<Html> {
  const title = "Top apps"
  if (!top || top.length === 0)
    return card(
      title,
      empty("Its results were not read recently", "They are read when the keyword is measured or tracked."),
    )
  const faces = await readFaces(
    context,
    top.map(({ id }) => `ios:${id}`),
    country,
  )
  const rows = top.map((app, at) => {
    const rated = isFault(difficulty) ? undefined : difficulty.top.find(({ id }) => id === app.id)
    const named = { ...app, publisher: rated?.publisher ?? null, publisherId: rated?.publisherId ?? null }
    return html`<tr><td class="num"><span class="rank">${at + 1}</span></td>
<th scope="row">${appCell(context, named, { country, face: faces.get(`ios:${app.id}`) })}</th>
<td class="num">${figure(rated?.ratings)}</td>
<td class="wide small">${rated?.inTitle && html`<span class="tag">in its name</span>`}</td></tr>`
  })
  return card(
    title,
    html`<table class="rows ranked"><thead><tr><th scope="col" class="num">#</th><th scope="col">App</th>
<th scope="col" class="num">Ratings</th><th scope="col" class="wide">Keyword</th></tr></thead><tbody>${rows}</tbody>
</table>`,
    day && html`${dayTime(day, shortDay)}, ${source && sourceName(source)}`,
  )
}

function keywordForm(context: PageContext, term: string, country: string): Html {
  const form: FormState = { id: "keyword", values: null, errors: {} }
  const action = marketAddress(context, "keyword")
  return html`<form class="filters" method="get" action="${action}" role="search">${textField(form, {
    name: "term",
    label: "Any keyword",
    type: "search",
    value: term,
    maxLength: 150,
    isRequired: true,
    isWide: true,
  })}${selectField(form, { name: "country", label: "Storefront", value: country, options: storefrontOptions() })}
<div class="send"><button class="main" type="submit">Research</button></div></form>`
}

/** Explains the page, and offers keywords of the workspace as examples. */
async function introCard(context: PageContext): Promise<Html> {
  const subject = await readSubject(context)
  const tracked =
    subject && (await attempted(context.ask("list_keyword_ranks", { appId: subject.id, ...subject.side })))
  const terms = tracked && !isFault(tracked) ? tracked.keywords.slice(0, MAX_STARTS) : []
  const links = terms.map(({ term }, at) => {
    const to = marketAddress(context, "keyword", { term, country: subject?.side.country })
    return html`${at > 0 && ", "}<a href="${to}"><bdi>${term}</bdi></a>`
  })
  return html`<section class="card">${empty(
    "Type a keyword that people might search for",
    "You see the apps that rank for it, how often it is searched and how hard it is, each with its source, and " +
      "related keywords to add to your apps. A keyword that was never read is read now, which takes some seconds.",
  )}${links.length > 0 && html`<p class="inside">Or start from one of yours: ${links}</p>`}</section>`
}

const MAX_STARTS = 12

/** Formats a published popularity, an estimated band, or a dash with the reason. */
export function popularityText(row: Pick<Keyword, "popularity" | "popularityLow" | "popularityHigh">): HtmlPart {
  const { popularity, popularityLow: low, popularityHigh: high } = row
  return low === null ? figure(popularity) : popularityBand(low, high)
}

function seedTiles(seed: Research["seed"]): Html {
  const { popularitySource, popularityAt, difficulty, difficultyAt, appCount, appCountAtLeast, brand } = seed
  const publishedOn = popularityAt && dayTime(popularityAt.slice(0, 10), shortDay)
  const from = popularitySource === "estimate" ? "our estimate" : popularitySource && sourceName(popularitySource)
  return tiles([
    {
      name: "Popularity, 5 to 100",
      value: popularityText(seed),
      note: html`${from ?? STATES[seed.popularityState]}${publishedOn && html`, ${publishedOn}`}`,
    },
    {
      name: "Difficulty, 0 to 100",
      value: figure(difficulty),
      note: difficultyAt ? dayTime(difficultyAt.slice(0, 10), shortDay) : STATES[seed.difficultyState],
    },
    { name: "Apps found", value: html`${figure(appCount)}${appCountAtLeast && "+"}` },
    { name: "A brand", value: brand === null ? figure(null) : brand ? "yes" : "no" },
  ])
}

const STATES = {
  measured: "",
  absent: "too little data to tell",
  pending: "being measured",
  failed: "the store could not be read",
  unmeasured: "not measured",
} as const

async function relatedCard(context: PageContext, { keywords, searched }: Research, country: string): Promise<Html> {
  const title = "Related keywords"
  if (keywords.length === 0)
    return card(
      title,
      empty(
        "No related keyword is known yet",
        `${counted(searched, "keyword")} of ${nameOfStorefront(country)} were searched for shared apps and words.`,
      ),
    )
  const rows = keywords.map((keyword) => {
    const { term, difficulty } = keyword
    const to = marketAddress(context, "keyword", { term, country })
    const name = html`${linkTo(context, term, to, html`<bdi>${term}</bdi>`)}`
    return html`<tr><th scope="row">${tickedTerm(context, term, name)}
<p class="small quiet">${reasonText(keyword)}</p></th>
<td class="num">${popularityText(keyword)}</td><td class="num">${figure(difficulty)}</td>
<td class="wide small">${keyword.top?.[0] && html`<bdi>${keyword.top[0].name}</bdi>`}</td></tr>`
  })
  const table = html`<div class="scroll" tabindex="0" role="group" aria-label="${title}"><table><thead><tr>
<th scope="col">Keyword, and why</th><th scope="col" class="num">Popularity</th>
<th scope="col" class="num">Difficulty</th>
<th scope="col" class="wide">First app</th></tr></thead><tbody>${rows}</tbody></table></div>`
  return card(title, await addKeywordsForm(context, table), `${counted(searched, "keyword")} searched`)
}

function reasonText({ shared, names, suggested }: Keyword): string {
  const reasons = [
    shared && `${shared.apps} of ${shared.of} apps rank for both`,
    names !== null && `in ${counted(names, "name")} of its first apps`,
    suggested && "suggested by the App Store",
  ]
  return reasons.filter(Boolean).join(" · ")
}

function suggestedCard(context: PageContext, related: readonly string[], country: string): Html {
  const terms = related.map((term, at) => {
    const to = marketAddress(context, "keyword", { term, country })
    return html`${at > 0 && ", "}${linkTo(context, term, to, html`<bdi>${term}</bdi>`)}`
  })
  return card("The App Store suggests", html`<p class="inside">${terms}</p>`)
}

function difficultyCard(difficulty: Difficulty | Fault): Html | false {
  if (isFault(difficulty) || difficulty.parts === null) return false
  const { parts, strongest, median, rated, demand } = difficulty
  const rows = [
    ["Names that match the keyword", parts.titles, "30 %"],
    ["Ratings of the three weakest", parts.weakest, "60 %"],
    ["How recently they were updated", parts.freshness, "10 %"],
  ] as const
  return card(
    "What makes it hard",
    html`<table><thead><tr><th scope="col">Part</th><th scope="col" class="num">0 to 100</th>
<th scope="col" class="num">Weight</th></tr></thead><tbody>${rows.map(
      ([name, value, weight]) => html`<tr><th scope="row">${name}</th><td class="num">${figure(value)}</td>
<td class="num">${weight}</td></tr>`,
    )}</tbody></table><p class="inside small quiet">Of the first ten, ${rated} have known ratings: the strongest
${figure(strongest)}, the middle ${figure(median)}. Demand from ratings: ${figure(demand)}.</p>`,
  )
}

/** Renders a button that measures popularity and difficulty again. */
function measureForm(context: PageContext): Html | false {
  if (context.formFields.length === 0) return false
  const price = context.isMetered() ? ` · ${counted(CREDITS, "credit")}` : ""
  return html`<form class="deeds" method="post" action="${hereOf(context)}">${hiddenFields(context.formFields)}
<button type="submit">Measure again${price}</button></form>`
}
