import { storefrontName } from "../../lib/storefront-names.ts"
import { isFault, type Page, type PageContext } from "../../ui/app/context.ts"
import { readFaces } from "../../ui/app/faces.ts"
import { card, empty } from "../../ui/app/parts.ts"
import { html } from "../../ui/html.ts"
import { dayTime, momentTime } from "../../ui/times.ts"
import { counted } from "../../ui/words.ts"
import { chartAddress } from "./charts.ts"
import {
  appCell,
  followForm,
  kindName,
  linkTo,
  marketAnswer,
  marketPage,
  missingPart,
  nameOfGenre,
  readButton,
} from "./frame.ts"

const CREDITS = 10
const MAX_STOREFRONTS = 6

/** Renders every app of a publisher on the charts that were read, and the number of apps that it sells. */
export async function marketPublisherPage(context: PageContext): Promise<Page> {
  const publisherId = context.query.get("id") ?? ""
  const answer = await marketAnswer(context.ask("hive_get_publisher", { publisherId }))
  if (isFault(answer)) {
    const follow = followForm(context, { country: "us", genre: "36" })
    const title = "No chart that was read names this publisher"
    return marketPage(context, {
      title: "A publisher",
      tab: "publisher",
      body: html`<section class="card">${missingPart(context, answer, { title, credits: CREDITS, follow })}</section>`,
    })
  }
  const { name, apps, shelf, searched } = answer
  const country = apps[0]?.country ?? "us"
  const codes = apps.map(({ id }) => `ios:${id}`)
  const faces = await readFaces(context, codes, country)
  const rows = apps.map((app) => {
    const { kind, device, genre, rank, day, firstSeen, storefronts } = app
    const list = device === "ipad" ? "ipad" : kind
    const chart = `${kindName(list)}, ${nameOfGenre({ id: genre, name: null })}, ${storefrontName(app.country)}`
    const to = chartAddress(context, { country: app.country, kind: list, genre }, app.id)
    const elsewhere = storefronts
      .slice(1, MAX_STOREFRONTS)
      .map(({ country: code, rank: place }) => `${storefrontName(code)} ${place}`)
    return html`<tr><th scope="row">${appCell(context, app, {
      country: app.country,
      face: faces.get(`ios:${app.id}`),
    })}</th>
<td class="num"><span class="rank">${rank}</span></td><td>${linkTo(context, "9990000102", to, chart)}
<span class="small quiet">${dayTime(day)}</span></td><td class="wide small">${elsewhere.join(", ")}</td>
<td class="wide small">${firstSeen ? dayTime(firstSeen) : html`<span class="quiet" title="on a first reading">–</span>`}
</td></tr>`
  })
  const sold =
    shelf &&
    html`Sells ${shelf.complete ? "" : "at least "}${counted(shelf.count, "app")} in ${storefrontName(shelf.country)},
${momentTime(shelf.measuredAt)}`
  return marketPage(context, {
    title: name ?? publisherId,
    tab: "publisher",
    body: card(
      "Apps on charts",
      html`${
        apps.length === 0
          ? empty("None of its apps is on a chart that was read", "Follow more storefronts or categories to see more.")
          : html`<div class="scroll" tabindex="0" role="group" aria-label="Apps on charts"><table class="rows"><thead>
<tr>
<th scope="col">App</th><th scope="col" class="num">Best rank</th><th scope="col">Chart</th>
<th scope="col" class="wide">Elsewhere</th><th scope="col" class="wide">First seen</th></tr></thead><tbody>${rows}
</tbody>
</table></div>`
      }<p class="inside small quiet">Charts of ${counted(searched.length, "storefront")} were searched:
${searched.slice(0, 20).map(storefrontName).join(", ")}.</p>${readButton(context, CREDITS)}`,
      sold,
    ),
  })
}
