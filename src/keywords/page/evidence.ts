import type { AnswerOf } from "../../answers.ts"
import { appAddress, type Page, type PageContext, readHead, sideAt, sideCode } from "../../ui/app/context.ts"
import { card, empty, facts } from "../../ui/app/parts.ts"
import { type Html, html } from "../../ui/html.ts"
import { DEMO_SOURCE, sourceName } from "../../ui/source-names.ts"
import { dayTime, momentTime } from "../../ui/times.ts"
import { counted, figure, sideName, spoken } from "../../ui/words.ts"

type Origin = Omit<Reading, "depth" | "complete" | "rank">
type Reading = Evidence["readings"][number]
type Evidence = AnswerOf<"get_evidence">

/** Shows the readings behind a keyword's figures: their sources and times, and the results themselves. */
export async function evidencePage(context: PageContext, appId: string): Promise<Page> {
  const app = await readHead(context, appId)
  const side = sideAt(app, context.query)
  const term = context.query.get("term") ?? ""
  const day = context.query.get("day")
  const evidence = await context.ask("get_evidence", { appId, ...side, term, ...(day && { day }) })
  const [first, ...otherReadings] = evidence.readings
  const ranksHref = `${appAddress(context, app, "ranks")}?${new URLSearchParams({ terms: term, at: sideCode(side) })}`
  return {
    title: `Evidence of “${evidence.term}” · ${app.name}`,
    app,
    at: "",
    body: html`<p class="crumbs"><a href="${ranksHref}">Days of “${evidence.term}”</a></p>
<div class="columns-2 wide-left">
<div>${
      first
        ? card(
            "The reading",
            html`<div class="inside">${readingPart(first)}</div>${placesPart(evidence)}`,
            html`${sideName(side)}, ${dayTime(evidence.day)}`,
          )
        : card(
            "The reading",
            empty(
              "Not measured that day",
              "This search was not read on that day, so the rank is unknown. That is different from absent.",
            ),
            dayTime(evidence.day),
          )
    }</div>
<div>${
      otherReadings.length > 0 &&
      card(
        "Other readings of the day",
        html`<div class="inside">${otherReadings.map(readingPart)}</div>`,
        counted(otherReadings.length, "reading"),
      )
    }${card("Popularity and difficulty", metricsPart(evidence))}${
      evidence.ratings.length > 0 &&
      card("Ratings", html`<div class="inside">${evidence.ratings.map(ratingsPart)}</div>`)
    }</div>
</div>`,
  }
}

function readingPart(reading: Reading): Html {
  const { rank, depth, complete } = reading
  const stands =
    rank === null
      ? html`<span class="gone">absent</span> from the first ${depth}`
      : html`<strong>${rank}</strong> of ${depth} read`
  const list = facts([
    ["Rank", stands],
    ["Complete", complete ? null : "no, it ended early, so the day has no rank from it"],
    ...originFacts(reading),
  ])
  return html`${list}${bodyPart(reading)}`
}

function originFacts({ source, seenAt, parser, egress, origin }: Origin): [string, Html | string | number | null][] {
  return [
    ["Source", origin === "demo" && source === "foreign" ? DEMO_SOURCE : sourceName(source)],
    ["When", momentTime(seenAt)],
    ["Parser", parser === null ? null : `version ${parser}`],
    ["Read from", egress?.toUpperCase() ?? null],
    ["Origin", ORIGINS[origin] ?? origin],
  ]
}

const ORIGINS: Record<string, string> = { own: "read by this server", demo: "the demo", import: "an import" }

function bodyPart({ sha256, url }: Origin): Html {
  return html`<p class="small quiet">SHA-256 of the response:</p>
<p class="hash">${sha256 ?? "not stored"}</p>${
    url &&
    html`<p class="small quiet">Address:</p>
<p class="hash">${url}</p>`
  }`
}

function placesPart({ places }: Evidence): Html {
  if (places.length === 0) return html``
  return html`<div class="scroll" tabindex="0" role="group" aria-label="Places">
<table><caption>The first ${places.length} places of this reading.</caption><thead>
<tr><th scope="col" class="num">Place</th><th scope="col">App</th><th scope="col">Store id</th></tr></thead>
<tbody>${places.map(
    ({ place, id, name, own: isOwn }) => html`<tr><td class="num">${place}</td>
<td>${
      isOwn
        ? html`<strong><bdi>${name ?? id}</bdi></strong> <span class="tag good">your app</span>`
        : html`<bdi>${name ?? ""}</bdi>`
    }</td><td class="small"><code>${id}</code></td></tr>
`,
  )}</tbody></table></div>`
}

function metricsPart({ metrics }: Evidence): Html {
  if (metrics.length === 0)
    return empty(
      "No figure yet",
      "Popularity and difficulty are calculated a few minutes after a keyword's first rank.",
    )
  return html`<ul class="list">${metrics.map(
    ({ metric, score, source, seenAt, formula, restsOn }) => html`<li>
<p><strong>${spoken(metric)}</strong> ${score === null ? "cannot be calculated" : figure(score)}${
      metric === "popularity" &&
      formula > 0 &&
      score !== null &&
      html` <span class="small quiet">our score only orders keywords; the estimated popularity is its band</span>`
    }</p>
<p class="small quiet">${momentTime(seenAt)}, ${sourceName(source)}${formula > 0 && `, formula ${formula}`}</p>
${restsOn.map(
  (read) =>
    html`<p class="small quiet">Based on <code>${read.source}</code>, ${momentTime(read.seenAt)} <span class="hash">${
      read.sha256?.slice(0, 16) ?? ""
    }</span></p>`,
)}</li>
`,
  )}</ul>`
}

function ratingsPart(one: Evidence["ratings"][number]): Html {
  const list = facts([
    ["Ratings", figure(one.ratings)],
    ["Average", figure(one.rating, 2)],
    ["Day", dayTime(one.day)],
    ...originFacts(one),
  ])
  return html`${list}${bodyPart(one)}`
}
