import type { AnswerOf } from "../../answers.ts"
import {
  type AppHead,
  address,
  appAddress,
  type Desk,
  type Page,
  readHead,
  type Side,
  sideAt,
  sideCode,
} from "../../ui/app/desk.ts"
import { badge, sideForm } from "../../ui/app/frame.ts"
import { card, empty, samplePage } from "../../ui/app/parts.ts"
import { type Html, html } from "../../ui/html.ts"
import { dayTime } from "../../ui/times.ts"
import { counted, figure, sideName } from "../../ui/words.ts"

type Rival = Rivals["rivals"][number]
type Rivals = AnswerOf<"list_rivals">

/** Rivals whose ranks are compared with the app's. */
const BESIDE = 6

/** Apps that rank above the app on its keywords: a table that compares ranks, and a list of what each is ahead on. */
export async function rivalsPage(desk: Desk, appId: string): Promise<Page> {
  const app = await readHead(desk, appId)
  const side = sideAt(app, desk.query)
  const { day, rivals, omitted } = await desk.ask("list_rivals", { appId, ...side })
  const form = sideForm(desk, app, {}, side)
  const page = (body: Html): Page => ({ title: `Rivals · ${app.name}`, app, at: "rivals", body: html`${form}${body}` })
  if (rivals.length === 0) return page(html`<section class="card">${noRivals(desk, side)}</section>`)
  return page(
    html`${besidePart(desk, app, side, { rivals, day })}${card("Rivals", rivalTable(desk, app, side, rivals), omitted > 0 ? `${omitted} more are not listed` : counted(rivals.length, "rival"))}`,
  )
}

/** Keywords of the comparison table: the app's best. */
const MAX_KEYWORDS = 100

function besidePart(desk: Desk, app: AppHead, side: Side, { rivals, day }: Pick<Rivals, "rivals" | "day">): Html {
  const compared = rivals.slice(0, BESIDE)
  const ours = new Map<string, number | null>()
  for (const { terms } of compared) for (const { term, ourRank } of terms) ours.set(term, ourRank)
  const rows = [...ours]
    .toSorted((a, b) => (a[1] ?? 9_999) - (b[1] ?? 9_999) || (a[0] < b[0] ? -1 : 1))
    .slice(0, MAX_KEYWORDS)
  const shownTerms = new Set(rows.map(([term]) => term))
  const columns = compared.map(({ name, terms }) => {
    const there = terms.filter(({ term }) => shownTerms.has(term))
    return { name, ranks: new Map(there.map(({ term, theirRank }) => [term, theirRank])) }
  })
  return card(
    "Beside us",
    html`<div class="scroll" tabindex="0" role="group" aria-label="Ranks beside rivals"><table><thead><tr><th scope="col">Keyword</th><th scope="col" class="num">Us</th>${columns.map(({ name }) => html`<th scope="col" class="num"><bdi>${shortName(name)}</bdi></th>`)}</tr></thead>
<tbody>${rows.map(
      ([
        term,
        our,
      ]) => html`<tr><th scope="row"><a href="${address(appAddress(desk, app, "evidence"), { term, at: sideCode(side) })}"><bdi>${term}</bdi></a></th><td class="num"><strong>${our ?? html`<span class="gone">absent</span>`}</strong></td>${columns.map(({ ranks }) => cell(ranks.get(term), our))}</tr>
`,
    )}</tbody></table></div>`,
    html`${day && html`As read ${dayTime(day)}. `}▲ ahead of us, ▼ behind; empty: not above the app there.${ours.size > MAX_KEYWORDS && ` The best ${MAX_KEYWORDS} of ${counted(ours.size, "keyword")}.`}`,
  )
}

const shortName = (name: string) => (name.length > 22 ? `${name.slice(0, 21).trimEnd()}…` : name)

function cell(theirRank: number | undefined, our: number | null): Html {
  if (theirRank === undefined) return html`<td class="num"></td>`
  const ahead = our === null || theirRank < our
  return html`<td class="num"><span class="${ahead ? "down" : "up"}">${ahead ? "▲" : "▼"} ${theirRank}</span></td>`
}

function rivalTable(desk: Desk, app: AppHead, side: Side, rivals: readonly Rival[]): Html {
  return html`<ul class="list">${rivals.map(({ id, name, ratings, ratingsDay, manual, terms }) => {
    const ahead = terms.filter(({ theirRank, ourRank }) => ourRank === null || theirRank < ourRank).length
    return html`<li><div class="subject">${badge(name)}<div><p><a href="${address(appAddress(desk, app, "rival"), { rival: id, at: sideCode(side) })}"><strong><bdi>${name}</bdi></strong></a>${manual && html` <span class="tag">named by hand</span>`}</p><p class="small quiet"><code>${id}</code> · ${figure(ratings)} ratings${ratingsDay && html`, ${dayTime(ratingsDay)}`}</p><p class="small">Ahead on ${counted(ahead, "keyword")} of ${terms.length} shared: ${terms
      .slice(0, 6)
      .map(({ term }) => term)
      .join(", ")}${terms.length > 6 && ", …"}</p></div></div></li>
`
  })}</ul>`
}

function noRivals(desk: Desk, side: Side): Html {
  return empty(
    `No rival was found in ${sideName(side)}`,
    "Rivals are the apps that stand above yours when its keywords are read, and those you name by hand. They come with the first ranks.",
    samplePage(desk, "rivals"),
  )
}
