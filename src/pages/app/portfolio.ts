import { storefrontName } from "../../vocabulary/storefront-names.ts"
import { type Html, html } from "../html.ts"
import { dayTime } from "../times.ts"
import { counted, figure, STORES } from "../words.ts"
import { type AlertRow, alertList } from "./alert-list.ts"
import { appAddress, attempted, type Desk, isFault, type Page } from "./desk.ts"
import { badge } from "./frame.ts"
import { card, empty, refusedPart, tiles } from "./parts.ts"
import { addForm } from "./write/edit.ts"

interface Portfolio {
  apps: { appId: string; keywordsUp: number | null; keywordsDown: number | null; newReviews: number | null }[]
  totals: {
    keywordsTracked: number
    keywordsMeasured: number
    keywordsUp: number | null
    keywordsDown: number | null
    bestRank: number | null
    newReviews: number | null
  }
}

interface Standing {
  id: string
  name: string
  iosId: string | null
  androidPkg: string | null
  countries: string[]
  sides:
    | {
        country: string
        platform: "ios" | "android"
        day: string | null
        tracked: number
        measured: number
        ranked: number
        top10: number
        best: number | null
      }[]
    | null
}

const LATEST = 8

/** Every app with where it stands, what moved today, and the latest alerts. */
export async function portfolioPage(desk: Desk): Promise<Page> {
  const [{ apps }, today, feed] = await Promise.all([
    desk.ask<{ apps: Standing[] }>("list_standings"),
    attempted(desk.ask<Portfolio>("get_portfolio_overview")),
    attempted(desk.ask<{ unread: number; alerts: AlertRow[] }>("list_alerts", { limit: LATEST })),
  ])
  if (apps.length === 0) return { title: "Your apps", at: "", body: noApps(desk) }
  const day = isFault(today) ? null : today
  const alerts = isFault(feed)
    ? refusedPart(feed)
    : feed.alerts.length === 0
      ? nothingMoved()
      : alertList(desk, feed.alerts.slice(0, LATEST))
  return {
    title: "Your apps",
    at: "",
    body: html`${day && day.totals.keywordsMeasured > 0 && todayTiles(day)}<div class="columns-2"><ul class="apps">
${apps.map((app) => appCard(desk, app, day))}</ul>
<div>${card("What moved", alerts, html`<a href="${desk.base}/alerts">All alerts</a>`)}${!desk.isSample && card("Add an app", addForm(desk))}</div></div>${!desk.isSample && (!day || day.totals.keywordsMeasured === 0) && SAMPLE_LINE}`,
  }
}

const SAMPLE_LINE = html`<p class="quiet">Nothing was measured today yet. <a href="/app/sample">A sample</a> shows what each page looks like once days have been measured.</p>
`

function todayTiles({ totals }: Portfolio): Html {
  const { keywordsTracked, keywordsMeasured, keywordsUp, keywordsDown, bestRank, newReviews } = totals
  return tiles([
    { name: "Keywords", value: figure(keywordsTracked) },
    { name: "Measured today", value: figure(keywordsMeasured) },
    { name: "Up today", value: html`<span class="up">${figure(keywordsUp)}</span>` },
    { name: "Down today", value: html`<span class="down">${figure(keywordsDown)}</span>` },
    { name: "Best rank today", value: figure(bestRank) },
    { name: "New reviews today", value: figure(newReviews) },
  ])
}

function appCard(desk: Desk, app: Standing, day: Portfolio | null): Html {
  const today = day?.apps.find(({ appId }) => appId === app.id)
  const side = app.sides?.find((one) => one.day !== null) ?? app.sides?.[0]
  const stores = [app.iosId && STORES.ios, app.androidPkg && STORES.android].filter(Boolean).join(", ")
  return html`<li><div class="subject">${badge(app.name)}<div><h2><a class="cover" href="${appAddress(desk, app)}"><bdi>${app.name}</bdi></a></h2>
<p class="quiet small">${stores} · ${app.countries.length > 3 ? counted(app.countries.length, "storefront") : app.countries.map(storefrontName).join(", ")}</p></div></div>
${side && standing(side)}${today && todayLine(today)}</li>
`
}

function standing({ day, tracked, measured, top10, best }: NonNullable<Standing["sides"]>[number]): Html {
  if (day === null) return html`<p class="small quiet">${counted(tracked, "keyword")}, not measured yet.</p>`
  return html`<dl><div><dt>Best rank</dt><dd>${best ?? "absent"}</dd></div><div><dt>In the top 10</dt><dd>${top10}</dd></div><div><dt>Measured</dt><dd>${measured} of ${tracked}</dd></div></dl>
<p class="small quiet">As of ${dayTime(day)}</p>`
}

function todayLine({ keywordsUp, keywordsDown, newReviews }: Portfolio["apps"][number]): Html | false {
  if (!keywordsUp && !keywordsDown && !newReviews) return false
  return html`<p class="small">Today: ${keywordsUp ? html`<span class="up">▲ ${keywordsUp} up</span> ` : ""}${keywordsDown ? html`<span class="down">▼ ${keywordsDown} down</span> ` : ""}${newReviews ? counted(newReviews, "new review") : ""}</p>`
}

function noApps(desk: Desk): Html {
  return html`<section class="card">${empty(
    "No app is tracked yet",
    "Add one by its store link, its id or its name. Its first ranks are here some seconds later.",
    {
      command: "appmeter app add 'https://apps.apple.com/us/app/id1234567890' --keyword 'tide times' --keyword tides",
      sample: "/app/sample",
    },
  )}${addForm(desk)}</section>`
}

function nothingMoved(): Html {
  return empty(
    "Nothing moved yet",
    "Each measured day is held against the measured day before it: keywords that rose or fell by three places, rivals that passed you, changed store pages, waves of bad reviews. The first alerts come with the second day.",
    { sample: "/app/sample/alerts" },
  )
}
