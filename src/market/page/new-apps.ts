import { storefrontName } from "../../lib/storefront-names.ts"
import { isFault, type Page, type PageContext } from "../../ui/app/context.ts"
import { readFaces } from "../../ui/app/faces.ts"
import { card, empty } from "../../ui/app/parts.ts"
import { type FormState, selectField } from "../../ui/fields.ts"
import { type Html, html } from "../../ui/html.ts"
import { dayTime } from "../../ui/times.ts"
import { counted } from "../../ui/words.ts"
import { chartAddress } from "./charts.ts"
import {
  appCell,
  followForm,
  kindName,
  linkTo,
  marketAddress,
  marketAnswer,
  marketPage,
  missingPart,
  nameOfGenre,
  storefrontOptions,
} from "./frame.ts"

const DAYS = [7, 1, 14, 30] as const

/** Renders the apps that charts of one storefront, or of all, showed for the first time. */
export async function marketNewPage(context: PageContext): Promise<Page> {
  const { query } = context
  const country = storefrontOptions().some(([code]) => code === query.get("country")) ? query.get("country") : null
  const days = context.isSample ? 14 : (DAYS.find((one) => String(one) === query.get("days")) ?? 7)
  const answer = await marketAnswer(
    context.ask("hive_list_new_apps", { days, limit: 100, ...(country && { country }) }),
  )
  const form = newForm(context, country, days)
  const page = (body: Html) =>
    marketPage(context, { title: "New apps", tab: "new", body: html`<section class="card">${form}</section>${body}` })
  const follow = followForm(context, { country: country ?? "us", genre: "all" })
  const title = "No new app is known in these days"
  if (isFault(answer))
    return page(html`<section class="card">${missingPart(context, answer, { title, credits: 0, follow })}</section>`)
  const { apps, daysCovered, searched } = answer
  const where = country === null ? counted(searched.length, "storefront") : storefrontName(country)
  const coverage = `${counted(daysCovered, "day")} of ${days} were read, in ${where}`
  if (apps.length === 0)
    return page(
      html`<section class="card">${empty(
        title,
        html`${coverage}. On the first day of a storefront no app is new. Follow its charts, and apps that enter them
are listed from the second day on.`,
      )}${follow}</section>`,
    )
  const faces = await readFaces(
    context,
    apps.map(({ id }) => `ios:${id}`),
    apps[0]?.country ?? "us",
  )
  const rows = apps.map((app) => {
    const list = app.device === "ipad" ? "ipad" : app.kind
    const to = chartAddress(context, { country: app.country, kind: list, genre: app.genre })
    const chart = `${kindName(list)}, ${nameOfGenre({ id: app.genre, name: null })}, ${storefrontName(app.country)}`
    return html`<tr><th scope="row">${appCell(context, app, {
      country: app.country,
      face: faces.get(`ios:${app.id}`),
    })}</th>
<td class="num"><span class="rank">${app.rank}</span></td><td>${dayTime(app.firstSeen)}</td>
<td class="wide small">${linkTo(context, "journal", to, chart)}</td>
<td class="wide small">${app.releasedAt ? dayTime(app.releasedAt.slice(0, 10)) : unknown()}</td></tr>`
  })
  return page(
    card(
      "First seen on a chart",
      html`<div class="scroll" tabindex="0" role="group" aria-label="New apps"><table class="rows"><thead><tr>
<th scope="col">App</th><th scope="col" class="num">Rank</th><th scope="col">First seen</th>
<th scope="col" class="wide">Chart</th><th scope="col" class="wide">Released</th></tr></thead><tbody>${rows}</tbody>
</table>
</div><p class="inside small quiet">An app that was released long before is older, and rose.</p>`,
      coverage,
    ),
  )
}

const unknown = () => html`<span class="quiet" title="not looked up yet">–</span>`

function newForm(context: PageContext, country: string | null, days: number): Html {
  const form: FormState = { id: "new", values: null, errors: {} }
  return html`<form class="filters" method="get" action="${marketAddress(context, "new")}" data-now="">${selectField(
    form,
    {
      name: "country",
      label: "Storefront",
      value: country ?? "",
      options: [["", "All that were read"], ...storefrontOptions()],
    },
  )}${selectField(form, {
    name: "days",
    label: "Within",
    value: String(days),
    options: DAYS.toSorted((a, b) => a - b).map((one) => [String(one), counted(one, "day")]),
  })}<div class="send"><button class="main" type="submit">Show new apps</button></div></form>`
}
