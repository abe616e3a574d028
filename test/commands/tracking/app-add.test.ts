import { expect, setDefaultTimeout } from "bun:test"
import { STORE_HOSTS } from "../../../src/lib/upstreams.ts"
import { afterSlow, beforeSlow, slow } from "../../long.ts"
import { hintsAnswer, lookupAnswer, type ShownApp, searchPage, storeSearchAnswer } from "../../measuring/store-pages.ts"
import { type ReplayServer, replayServer } from "../../stores/parsing/replay.ts"
import { answer, appmeter, dataFolder, removeFolders, type Serving, serving } from "../child.ts"
import { standingIn } from "../measured-scene.ts"

setDefaultTimeout(60_000)

const APPS: ShownApp[] = ["Tide Times", "Tide Clock", "Surf Report"].map((name, at) => ({
  id: `${1_200_000_001 + at}`,
  name,
  ratings: 1_000 - at,
}))

let stores: ReplayServer
let server: Serving
let env: Record<string, string>

beforeSlow(async () => {
  stores = replayServer()
  stores.on("apps.apple.com", "/", ({ url }) => searchPage("us", url.searchParams.get("term")!, APPS))
  stores.on("search.itunes.apple.com", "/WebObjects/MZStore.woa", () => storeSearchAnswer(APPS))
  stores.on("search.itunes.apple.com", "/WebObjects/MZSearchHints.woa", ({ url }) => hintsAnswer(["tides"], url))
  stores.on("itunes.apple.com", "/lookup", ({ url }) =>
    lookupAnswer(APPS.filter(({ id }) => url.searchParams.get("id")?.split(",").includes(id))),
  )
  env = {
    ...(await dataFolder()),
    MEASURE: "yes",
    UPSTREAM_URLS: standingIn(stores),
    UPSTREAM_GAPS_MS: STORE_HOSTS.map((upstream) => `${upstream}=5`).join(","),
  }
  server = await serving({ env })
})
afterSlow(async () => {
  server.kill()
  await server.exited
  await stores.stop()
  removeFolders()
})

const add = (...words: string[]) => appmeter(["app", "add", ...words], { env })
const listTracked = async () =>
  (await answer(["app", "list"], { env })).apps.map(({ iosId }: { iosId: string }) => iosId)

slow("app add finds an app by its link and shows its first ranks as soon as they are read", async () => {
  const { code, out, err } = await add(
    "https://apps.apple.com/us/app/tide-clock/id1200000002",
    "--keyword",
    "tides",
    "--wait",
  )
  expect([code, err]).toEqual([0, expect.stringContaining("its keywords are being read in us on ios")])
  expect(out).toContain("Tide Clock, App Store, United States")
  expect(out).toMatch(/tides +2 /)
  expect((await answer(["app", "list"], { env })).apps).toMatchObject([{ iosId: "1200000002", name: "Tide Clock" }])
  const { commands } = await answer(["audit"], { env })
  expect(commands.map(({ command }: { command: string }) => command)).toEqual(["app add"])
})

slow("app add refuses a link to another page of a store and tracks nothing", async () => {
  const before = await listTracked()
  const { code, err } = await add("https://apps.apple.com/us/developer/example-inc/id310634000")
  expect([code, err]).toEqual([2, expect.stringContaining("leads to a developer, not to an app")])
  expect(await listTracked()).toEqual(before)
})

slow("app add uses the storefront of the link unless another is given", async () => {
  const { code } = await add("<https://apps.apple.com/de/app/surf-report/id1200000003>.")
  expect(code).toBe(0)
  const { apps } = await answer(["app", "list"], { env })
  expect(apps.find(({ iosId }: { iosId: string }) => iosId === "1200000003").countries).toEqual(["de"])
  expect((await appmeter(["app", "remove", "Surf Report", "--force"], { env })).code).toBe(0)
})

slow("app add refuses an id that the store does not have, unless --force is given", async () => {
  const before = await listTracked()
  const { code, out, err } = await add("--ios", "1200000009")
  expect([code, out]).toEqual([2, ""])
  expect(err).toBe("appmeter: the store has no app 1200000009 in us; add --force to track it anyway\n")
  expect(await listTracked()).toEqual(before)
  expect((await add("--ios", "1200000009", "--force")).code).toBe(0)
})

slow("app add does not report an app as nonexistent if no store can be read", async () => {
  for (const host of STORE_HOSTS) stores.on(host, "/", () => new Response(null, { status: 503 }))
  stores.on("search.itunes.apple.com", "/WebObjects/MZStore.woa", () => new Response(null, { status: 503 }))
  stores.on("itunes.apple.com", "/search", () => new Response(null, { status: 503 }))
  const { code, out, err } = await add("Rain Times")
  expect([code, out]).toEqual([1, ""])
  expect(err).toStartWith('appmeter: no store could be searched for "Rain Times"; give --ios ID. ')
})
