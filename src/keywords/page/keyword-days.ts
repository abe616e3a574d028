import type { AnswerOf } from "../../answers.ts"
import type { View } from "../../ui/app/bar.ts"
import {
  type AppHead,
  address,
  appAddress,
  attempted,
  isFault,
  KEPT,
  type PageContext,
  sideCode,
} from "../../ui/app/context.ts"
import { card, empty } from "../../ui/app/parts.ts"
import { hiddenFields } from "../../ui/app/write/form.ts"
import { type Html, html } from "../../ui/html.ts"
import { DEMO_SOURCE, sourceName } from "../../ui/source-names.ts"
import { dayTime, shortDay } from "../../ui/times.ts"
import { counted } from "../../ui/words.ts"

export type KeywordDays = AnswerOf<"get_keyword_days">
type TopTen = NonNullable<KeywordDays["latest"]>
type Place = TopTen["places"][number]
type Passing = KeywordDays["passings"][number]

/** Reads the keyword's days. Null if they cannot be read; the page then omits them. */
export async function readKeywordDays(
  context: PageContext,
  app: AppHead,
  view: View,
  term: string,
): Promise<KeywordDays | null> {
  const day = context.query.get("day")
  const query = { appId: app.id, ...view.side, ...view.days, term }
  const answer = await attempted(context.ask("get_keyword_days", { ...query, ...(day && { day }) }))
  return isFault(answer) ? null : answer
}

/** Shows the first ten apps of a keyword now and on an earlier day, and who passed whom in between. */
export function keywordDaysPart(context: PageContext, app: AppHead, view: View, answer: KeywordDays): Html {
  return html`<div class="columns-2"><div>${topTenCard(context, app, view, answer)}</div>
<div>${passingsCard(context, app, view, answer)}</div></div>`
}

function topTenCard(
  context: PageContext,
  app: AppHead,
  view: View,
  { days, latest: now, earlier: then, term }: KeywordDays,
): Html {
  if (!now) return card("The first ten", empty("Nothing was measured in this period", "Choose a longer period."))
  const evidence = (day: string) =>
    address(appAddress(context, app, "evidence"), { term, at: sideCode(view.side), day })
  const table = html`<div class="scroll" tabindex="0" role="group" aria-label="The first ten apps"><table><thead>
<tr><th scope="col" class="num">Place</th><th scope="col">App</th>${
    then && html`<th scope="col" class="num">${dayTime(then.day, shortDay)}</th><th scope="col" class="num">Change</th>`
  }</tr></thead>
<tbody>${now.places.map((place) => placeRow(context, app, view, { place, then }))}${then?.places
    .filter(({ id }) => !now.places.some((place) => place.id === id))
    .map(
      (place) => html`<tr><td class="num">–</td><td>${appLink(context, app, view, place)}</td>
<td class="num">${place.place}</td><td class="num"><span class="down">▼ out</span></td></tr>
`,
    )}</tbody></table></div>`
  const nameOf = (source: string) => (app.isInvented ? DEMO_SOURCE : sourceName(source))
  const readings = html`<p class="small quiet">${nameOf(now.source)}, ${now.depth} places read:
<a href="${evidence(now.day)}">evidence of ${dayTime(now.day, shortDay)}</a>${
    then && html`, <a href="${evidence(then.day)}">of ${dayTime(then.day, shortDay)}</a>`
  }.${
    then &&
    then.source !== now.source &&
    ` The earlier day has another source (${nameOf(then.source)}), which may
rank differently.`
  }</p>`
  return card(
    "The first ten, then and now",
    html`${dayForm(context, { days, then })}${table}<div class="inside">${readings}</div>`,
    dayTime(now.day),
  )
}

/** Selects the earlier day. */
function dayForm(context: PageContext, { days, then }: { days: readonly string[]; then: TopTen | null }): Html | false {
  const earlier = days.slice(1)
  if (!then || earlier.length < 2) return false
  const keptFields = [...context.query].filter(([name]) => KEPT.includes(name))
  const options = earlier.map(
    (day) => html`<option value="${day}"${day === then.day && html` selected=""`}>${day}</option>`,
  )
  return html`<form class="filters" method="get" data-now="">${hiddenFields(keptFields)}
<label>Compare with<select name="day">${options}</select></label>
<button type="submit" data-spare="">Show</button></form>`
}

function placeRow(
  context: PageContext,
  app: AppHead,
  view: View,
  { place, then }: { place: Place; then: TopTen | null },
): Html {
  const was = then?.places.find(({ id }) => id === place.id)?.place ?? null
  const by = was === null ? 0 : was - place.place
  const change =
    was === null
      ? html`<span class="up">▲ new</span>`
      : by === 0
        ? html`<span class="quiet">=</span>`
        : html`<span class="${by > 0 ? "up" : "down"}">${by > 0 ? "▲" : "▼"} ${Math.abs(by)}</span>`
  return html`<tr><td class="num">${place.place}</td><td>${appLink(context, app, view, place)}</td>${
    then && html`<td class="num">${was ?? "–"}</td><td class="num">${change}</td>`
  }</tr>
`
}

function appLink(
  context: PageContext,
  app: AppHead,
  { side }: View,
  { id, name, own: isOwn }: Omit<Place, "place">,
): Html {
  if (isOwn) return html`<strong><bdi>${name ?? id}</bdi></strong> <span class="tag good">your app</span>`
  const href = address(appAddress(context, app, "rival"), { rival: id, at: sideCode(side) })
  return html`<a href="${href}"><bdi>${name ?? id}</bdi></a>`
}

function passingsCard(context: PageContext, app: AppHead, view: View, { passings, days }: KeywordDays): Html {
  if (passings.length === 0)
    return card(
      "Who passed whom",
      empty(
        "Nobody passed you, and you passed nobody",
        days.length < 2
          ? "This compares each measured day with the one before. It needs two measured days."
          : "Each measured day is compared with the one before, if both have the same source.",
      ),
    )
  return card(
    "Who passed whom",
    html`<ul class="list">${passings.map((passing) => passingItem(context, app, view, passing))}</ul>`,
    "Between measured days of one source",
  )
}

function passingItem(
  context: PageContext,
  app: AppHead,
  view: View,
  { day, was, rank, passedBy, passed }: Passing,
): Html {
  const state = (place: number | null) => (place === null ? html`<span class="gone">absent</span>` : `${place}`)
  const part = (list: Passing["passed"], words: string, tone: string) =>
    list.count > 0 &&
    html`<p class="small"><span class="${tone}">${words}</span> ${list.apps.map((passer, at) => {
      const link = appLink(context, app, view, { ...passer, own: false })
      return html`${at > 0 && ", "}${link} (${state(passer.was)} → ${state(passer.rank)})`
    })}${list.count > list.apps.length && ` and ${counted(list.count - list.apps.length, "more app")}`}</p>`
  return html`<li><p><strong>${dayTime(day)}</strong> ${state(was)} → ${state(rank)}</p>
${part(passedBy, "▼ Passed you:", "down")}${part(passed, "▲ You passed:", "up")}</li>
`
}
