import type { AnswerOf } from "../../answers.ts"
import {
  type AppHead,
  address,
  appAddress,
  hereOf,
  type Page,
  type PageContext,
  readHead,
  type Side,
  sideAt,
  sideCode,
} from "../../ui/app/context.ts"
import { type Face, readFaces, storeAppCode } from "../../ui/app/faces.ts"
import { appIcon, sideForm } from "../../ui/app/frame.ts"
import { card, empty, samplePage } from "../../ui/app/parts.ts"
import { hiddenFields, writeForm } from "../../ui/app/write/form.ts"
import { areaField } from "../../ui/fields.ts"
import { type Html, html } from "../../ui/html.ts"
import { dayTime } from "../../ui/times.ts"
import { counted, figure, STORES, sideName } from "../../ui/words.ts"

type Rival = Rivals["rivals"][number]
type Rivals = AnswerOf<"list_rivals">
type Faces = ReadonlyMap<string, Face>

/** Number of rivals whose ranks are compared with the app's. */
const BESIDE = 6

/**
 * Shows the apps that rank above the app on its keywords: a table that compares ranks, and a list of the keywords on
 * which each app is ahead.
 */
export async function rivalsPage(context: PageContext, appId: string): Promise<Page> {
  const app = await readHead(context, appId)
  const side = sideAt(app, context.query)
  const { day, rivals, omitted } = await context.ask("list_rivals", { appId, ...side })
  const form = sideForm(context, app, {}, side)
  const page = (body: Html): Page => ({ title: `Rivals · ${app.name}`, app, at: "rivals", body: html`${form}${body}` })
  const adding = addCard(context, app)
  const codes = [...rivals.map(({ id }) => storeAppCode(id)), ...app.hiddenRivals]
  const faces = await readFaces(context, codes, side.country)
  const hidden = hiddenCard(context, app, faces)
  if (rivals.length === 0)
    return page(html`<section class="card">${noRivals(context, side)}</section>${adding}${hidden}`)
  const count = omitted > 0 ? `${counted(omitted, "more rival")} not listed` : counted(rivals.length, "rival")
  return page(
    html`${besidePart(context, app, side, { rivals, day })}${card(
      "Rivals",
      rivalForm(context, app, side, { rivals, faces }),
      count,
    )}${adding}${hidden}`,
  )
}

/** Number of keywords in the comparison table: the app's best. */
const MAX_KEYWORDS = 100

function besidePart(
  context: PageContext,
  app: AppHead,
  side: Side,
  { rivals, day }: Pick<Rivals, "rivals" | "day">,
): Html {
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
    html`<div class="scroll" tabindex="0" role="group" aria-label="Ranks beside rivals"><table><thead>
<tr><th scope="col">Keyword</th><th scope="col" class="num">Us</th>
${columns.map(({ name }) => html`<th scope="col" class="num"><bdi>${shortName(name)}</bdi></th>`)}</tr></thead>
<tbody>${rows.map(
      ([term, our]) => html`<tr><th scope="row">
<a href="${address(appAddress(context, app, "evidence"), { term, at: sideCode(side) })}"><bdi>${term}</bdi></a></th>
<td class="num"><strong>${our ?? html`<span class="gone">absent</span>`}</strong></td>
${columns.map(({ ranks }) => cell(ranks.get(term), our))}</tr>
`,
    )}</tbody></table></div>`,
    html`${day && html`As read ${dayTime(day)}. `}▲ ahead of us, ▼ behind; empty: not above the app there.${
      ours.size > MAX_KEYWORDS && ` The best ${MAX_KEYWORDS} of ${counted(ours.size, "keyword")}.`
    }`,
  )
}

const shortName = (name: string) => (name.length > 22 ? `${name.slice(0, 21).trimEnd()}…` : name)

function cell(theirRank: number | undefined, our: number | null): Html {
  if (theirRank === undefined) return html`<td class="num"></td>`
  const ahead = our === null || theirRank < our
  return html`<td class="num"><span class="${ahead ? "down" : "up"}">${ahead ? "▲" : "▼"} ${theirRank}</span></td>`
}

/** Renders the list of rivals in a form that hides the selected ones. */
function rivalForm(
  context: PageContext,
  app: AppHead,
  side: Side,
  { rivals, faces }: { rivals: readonly Rival[]; faces: Faces },
): Html {
  const items = rivals.map((rival) => {
    const icon = faces.get(storeAppCode(rival.id))?.icon ?? null
    return rivalItem(context, app, side, { ...rival, icon })
  })
  const list = html`<ul class="list">${items}</ul>`
  if (context.editFields.length === 0) return list
  const hidden = hiddenFields([
    ...context.formFields,
    ["action", "remove_rivals"],
    ["form-id", "remove_rivals"],
    ["back", hereOf(context)],
    ["appId", app.id],
    ["seen", app.version],
  ])
  return html`<form method="post" action="${context.base}/write">${hidden}${list}
<div class="picked" role="group" aria-label="Selected rivals">
<span class="count"></span><button type="submit">Hide</button></div></form>`
}

function rivalItem(
  context: PageContext,
  app: AppHead,
  side: Side,
  { id, name, icon, ratings, ratingsDay, manual, terms }: Rival & Pick<Face, "icon">,
): Html {
  const ahead = terms.filter(({ theirRank, ourRank }) => ourRank === null || theirRank < ourRank).length
  const page = address(appAddress(context, app, "rival"), { rival: id, at: sideCode(side) })
  const firstTerms = terms
    .slice(0, SHOWN_TERMS)
    .map(({ term }) => term)
    .join(", ")
  const tick =
    context.editFields.length > 0 &&
    html`<input type="checkbox" name="rivals" value="${storeAppCode(id)}" aria-label="Select ${name}"> `
  return html`<li><div class="subject">${tick}${appIcon(context, { name, icon })}<div>
<p><a href="${page}"><strong><bdi>${name}</bdi></strong></a>${
    manual && html` <span class="tag">added by you</span>`
  }</p><p class="small quiet">${figure(ratings)} ratings${ratingsDay && html`, ${dayTime(ratingsDay)}`}</p>
<p class="small">Ahead on ${ahead} of ${counted(terms.length, "shared keyword")}: ${firstTerms}${
    terms.length > SHOWN_TERMS && ", …"
  }</p></div></div></li>
`
}

const SHOWN_TERMS = 6

function addCard(context: PageContext, app: AppHead): Html | false {
  const form = writeForm(
    context,
    {
      action: "add_rivals",
      back: hereOf(context),
      fixed: { appId: app.id, seen: app.version },
      button: "Add rivals",
    },
    (form) =>
      areaField(form, {
        name: "rivals",
        label: "Links to store pages or ids, one per line",
        rows: 2,
        isRequired: true,
        isWide: true,
      }),
  )
  return form && card("Add rivals", form, html`<a href="${context.base}/add?for=${app.id}">Find one by name</a>`)
}

/** Rivals that were hidden, each with a button that shows it again. */
function hiddenCard(context: PageContext, app: AppHead, faces: Faces): Html | false {
  if (app.hiddenRivals.length === 0 || context.editFields.length === 0) return false
  return card(
    "Hidden rivals",
    html`<ul class="list">${app.hiddenRivals.map((rival) => {
      const [platform, id] = rival.split(":") as ["ios" | "android", string]
      const again = {
        action: "add_rivals",
        id: `show-${rival}`,
        back: hereOf(context),
        fixed: { appId: app.id, seen: app.version, rivals: rival },
        button: "Show again",
        tone: "quiet",
        look: "row",
      } as const
      const { name, icon } = faces.get(rival) ?? NO_FACE
      return html`<li class="line"><div class="subject">${appIcon(context, { name: name ?? id, icon })}<div>
<p><strong><bdi>${name ?? id}</bdi></strong></p>
<p class="small quiet">${STORES[platform]} <span class="hash">${id}</span></p></div></div>${writeForm(
        context,
        again,
      )}</li>
`
    })}</ul>`,
  )
}

/** The name and icon of an app that was never read. */
const NO_FACE: Face = { name: null, icon: null }

function noRivals(context: PageContext, side: Side): Html {
  return empty(
    `No rivals found in ${sideName(side)}`,
    "Rivals are apps that rank above yours for your keywords, and those you add. They appear with the first ranks.",
    samplePage(context, "rivals"),
  )
}
