import { expect, setDefaultTimeout } from "bun:test"
import { STORE_HOSTS } from "../../src/lib/upstreams.ts"
import { until } from "../jobs/platform.ts"
import { afterSlow, beforeSlow, slow } from "../long.ts"
import { chartFeed } from "../measuring/public-pages.ts"
import { lookupAnswer, type ShownApp } from "../measuring/store-pages.ts"
import { fixture } from "../stores/parsing/parsed.ts"
import { type ReplayServer, replayServer } from "../stores/parsing/replay.ts"
import { dataFolder, removeFolders, type Serving, serving } from "./child.ts"
import { standingIn } from "./measured-scene.ts"

setDefaultTimeout(240_000)

const GENRES = ["36", "6014"]
const FEEDS = ["topfreeapplications", "toppaidapplications", "topgrossingapplications", "topfreeipadapplications"]
const PLACES = 12

let stores: ReplayServer
let server: Serving

const appOf = (id: number): ShownApp => ({ id: String(id), name: `App ${id}`, ratings: id % 1_000 })

/** Returns the apps of a list. The second half of a list's apps is also in the next list. */
function appsOn(list: string): number[] {
  const at = LISTS.indexOf(list)
  return Array.from({ length: PLACES }, (_, place) => 1_000_000 + at * (PLACES / 2) + place)
}

const LISTS = FEEDS.flatMap((feed) => GENRES.map((genre) => `${feed} ${genre}`))
const listOf = ({ pathname }: URL) => `${pathname.split("/")[3]} ${/\/genre=(\d+)/.exec(pathname)?.[1] ?? "36"}`
const EVERY = [...new Set(LISTS.flatMap(appsOn))].sort((a, b) => a - b)

beforeSlow(async () => {
  stores = replayServer()
  stores.on("itunes.apple.com", "/", ({ url }) => {
    if (url.pathname.endsWith("/ws/genres")) return new Response(fixture("apple-genres-us.json"))
    if (url.pathname === "/lookup") return lookupAnswer(lookedUp(url).map(appOf))
    return chartFeed(url, appsOn(listOf(url)).map(appOf))
  })
  server = await serving({
    env: {
      ...(await dataFolder()),
      MARKET: `us:${GENRES.join("+")}`,
      MEASURE: "yes",
      UPSTREAM_URLS: standingIn(stores),
      UPSTREAM_GAPS_MS: STORE_HOSTS.map((upstream) => `${upstream}=20`).join(),
    },
  })
})
afterSlow(async () => {
  server.kill()
  await server.exited
  await stores.stop()
  removeFolders()
})

const lookedUp = (url: URL) => (url.searchParams.get("id") ?? "").split(",").map(Number)
const requestsTo = (part: string) => stores.requests.filter(({ url }) => url.pathname.includes(part))

async function find(query: string) {
  const [, key] = /Live key, shown only now: (svc_live_[0-9A-Za-z]{36})/.exec(server.out())!
  const response = await fetch(`${server.url}/v1/hive/find?${query}`, { headers: { authorization: `Bearer ${key}` } })
  expect(response.status).toBe(200)
  return (await response.json()) as { total: number; apps: { id: string; name: string }[] }
}

slow("a server with MARKET reads each chart and each app once, and its first key can search the apps", async () => {
  await until(async () => requestsTo("/lookup").flatMap(({ url }) => lookedUp(url)).length >= EVERY.length, 120_000)
  await until(async () => (await find("rankMin=1")).total === EVERY.length, 60_000)
  const pages = []
  for (let page = 1; page <= Math.ceil(EVERY.length / 200); page++)
    pages.push((await find(`rankMin=1&limit=200&page=${page}`)).apps)
  expect(
    pages
      .flat()
      .map(({ id }) => Number(id))
      .sort((a, b) => a - b),
  ).toEqual(EVERY)
  expect(pages.flat().every(({ id, name }) => name === `App ${id}`)).toBeTrue()
  expect(
    requestsTo("/rss/")
      .map(({ url }) => listOf(url))
      .sort(),
  ).toEqual(LISTS.toSorted())
  expect(
    requestsTo("/lookup")
      .flatMap(({ url }) => lookedUp(url))
      .sort((a, b) => a - b),
  ).toEqual(EVERY)
  // a followed storefront is read only from this host
  expect(new Set(stores.requests.map(({ url }) => url.host))).toEqual(new Set(["itunes.apple.com"]))
})
