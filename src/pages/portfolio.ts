import { alertList } from "../alerts/page/alert-list.ts"
import type { AnswerOf } from "../answers.ts"
import { storefrontName } from "../lib/storefront-names.ts"
import { appAddress, attempted, type Desk, isFault, type Page } from "../ui/app/desk.ts"
import { appIcon } from "../ui/app/frame.ts"
import { card, empty, refusedPart, tiles } from "../ui/app/parts.ts"
import { type Html, html } from "../ui/html.ts"
import { dayTime } from "../ui/times.ts"
import { counted, figure, STORES } from "../ui/words.ts"
import { searchForm } from "./add-app.ts"

type Standing = AnswerOf<"list_standings">["apps"][number]
type Today = Standing["today"]

/** Number of events shown. One event can consist of dozens of alerts. */
const LATEST = 8
const READ = 100

/** Shows every app with its standing and today's changes, and the latest alerts. */
export async function portfolioPage(desk: Desk): Promise<Page> {
  const [{ apps }, feed] = await Promise.all([
    desk.ask("list_standings"),
    attempted(desk.ask("list_alerts", { limit: READ })),
  ])
  if (apps.length === 0) return { title: "Overview", at: "", body: noApps(desk) }
  const today = apps.map(({ today }) => today)
  const isMeasured = today.some(({ measured }) => measured > 0)
  const alerts = isFault(feed)
    ? refusedPart(feed)
    : feed.alerts.length === 0
      ? nothingMoved()
      : alertList(desk, feed.alerts, LATEST)
  return {
    title: "Overview",
    at: "",
    body: html`${isMeasured && todayTiles(today)}${
      !desk.isSample && html`<p class="deeds"><a class="button" href="${desk.base}/add">Add app</a></p>`
    }<div class="columns-2"><ul class="apps">
${apps.map((app) => appCard(desk, app))}</ul>
<div>${card("What happened", alerts, html`<a href="${desk.base}/alerts">All alerts</a>`)}</div></div>
${!desk.isSample && !isMeasured && SAMPLE_LINE}`,
  }
}

const SAMPLE_LINE = html`<p class="quiet">
Nothing was measured today yet. <a href="/app/sample">The sample</a> shows how each page looks after some measured days.
</p>
`

/** A total includes only the apps that have the figure. */
function todayTiles(today: readonly Today[]): Html {
  const valuesOf = (name: keyof Today) => today.flatMap((app) => app[name] ?? [])
  const sum = (name: keyof Today) => {
    const values = valuesOf(name)
    return figure(values.length > 0 ? values.reduce((total, value) => total + value, 0) : null)
  }
  const ranks = valuesOf("best")
  return tiles([
    { name: "Keywords", value: sum("tracked") },
    { name: "Measured today", value: sum("measured") },
    { name: "Up today", value: html`<span class="up">${sum("up")}</span>` },
    { name: "Down today", value: html`<span class="down">${sum("down")}</span>` },
    { name: "Best rank today", value: figure(ranks.length > 0 ? Math.min(...ranks) : null) },
    { name: "New reviews today", value: sum("newReviews") },
  ])
}

function appCard(desk: Desk, app: Standing): Html {
  const side = app.sides?.find((one) => one.day !== null) ?? app.sides?.[0]
  const stores = [app.iosId && STORES.ios, app.androidPkg && STORES.android].filter(Boolean).join(", ")
  return html`<li><div class="subject">${appIcon(desk, app)}<div>
<h2><a class="cover" href="${appAddress(desk, app)}"><bdi>${app.name}</bdi></a></h2>
<p class="quiet small">
${stores} · ${
    app.countries.length > 3
      ? counted(app.countries.length, "storefront")
      : app.countries.map(storefrontName).join(", ")
  }</p></div></div>
${side && standing(side)}${todayLine(app.today)}</li>
`
}

function standing({ day, tracked, measured, top10, best }: NonNullable<Standing["sides"]>[number]): Html {
  if (day === null) return html`<p class="small quiet">${counted(tracked, "keyword")}, not measured yet.</p>`
  return html`<dl><div><dt>Best rank</dt><dd>${best ?? "absent"}</dd></div>
<div><dt>In the top 10</dt><dd>${top10}</dd></div><div><dt>Measured</dt><dd>${measured} of ${tracked}</dd></div></dl>
<p class="small quiet">As of ${dayTime(day)}</p>`
}

function todayLine({ up, down, newReviews }: Today): Html | false {
  if (!up && !down && !newReviews) return false
  return html`<p class="small">Today: ${up ? html`<span class="up">▲ ${up} up</span> ` : ""}${
    down ? html`<span class="down">▼ ${down} down</span> ` : ""
  }${newReviews ? counted(newReviews, "new review") : ""}</p>`
}

function noApps(desk: Desk): Html {
  return html`<section class="card">${empty(
    "No app is tracked yet",
    "Find it by its name, the link of its store page, or its id. The first ranks appear within seconds.",
    { sample: "/app/sample" },
  )}${searchForm(desk)}</section>`
}

function nothingMoved(): Html {
  return empty(
    "Nothing happened yet",
    "Each measured day is compared with the one before: " +
      "keywords that rose or fell by three places, rivals that passed you, changed store pages, bad reviews. " +
      "The first alerts appear on the second day.",
    { sample: "/app/sample/alerts" },
  )
}
