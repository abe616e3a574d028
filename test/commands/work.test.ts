import { afterAll, afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test"
import { join } from "node:path"
import { STORE_HOSTS } from "../../src/lib/upstreams.ts"
import { scratchDatabase } from "../database/server.ts"
import { until } from "../jobs/platform.ts"
import { long, slow } from "../long.ts"
import { hintsAnswer, lookupAnswer, searchPage, someApps, storeSearchAnswer } from "../measuring/store-pages.ts"
import { type ReplayServer, replayServer } from "../stores/parsing/replay.ts"
import { answer, appmeter, dataFolder, openFolder, removeFolders, serving, startCommand } from "./child.ts"
import { standingIn } from "./measured-scene.ts"

setDefaultTimeout(60_000)
const postgres = test.skipIf(!process.env.DATABASE_URL)

let stores: ReplayServer
beforeEach(() => {
  stores = replayServer()
  const apps = someApps(30)
  stores.on("apps.apple.com", "/", ({ url }) => searchPage("us", url.searchParams.get("term")!, apps))
  stores.on("search.itunes.apple.com", "/WebObjects/MZStore.woa", () => storeSearchAnswer(apps))
  stores.on("search.itunes.apple.com", "/WebObjects/MZSearchHints.woa", ({ url }) =>
    hintsAnswer(["tea", "tea timer"], url),
  )
  stores.on("itunes.apple.com", "/lookup", ({ url }) =>
    lookupAnswer(apps.filter(({ id }) => url.searchParams.get("id")?.includes(id))),
  )
})
afterEach(() => stores.stop())
afterAll(removeFolders)

/** Settings with which the stand-in is read as fast as it answers. */
const readingEnv = () => ({
  MEASURE: "yes",
  UPSTREAM_URLS: standingIn(stores),
  UPSTREAM_GAPS_MS: STORE_HOSTS.map((upstream) => `${upstream}=5`).join(","),
})

const searchedTerms = () =>
  stores.requests.flatMap(({ url }) => (url.hostname === "apps.apple.com" ? [url.searchParams.get("term")] : []))

async function trackTea(env: Record<string, string>): Promise<void> {
  await answer(["workspace", "create", "studio", "--plan", "studio"], { env })
  await answer(["app", "add", "Tide", "--workspace", "studio", "--ios", "1000000003", "--country", "us"], { env })
  await answer(["app", "keywords", "add", await appId(env), "tea"], { env })
}

async function appId(env: Record<string, string>): Promise<string> {
  return (await answer(["app", "list", "--workspace", "studio"], { env })).apps[0].id
}

long("a server reads due keywords and stores the responses, and appmeter work on its folder is refused", async () => {
  const env = { ...(await dataFolder()), ...readingEnv() }
  const server = await serving({ env })
  try {
    await trackTea(env)
    await until(() => searchedTerms().includes("tea"))
    await until(async () => (await answer(["sources"], { env })).sources[0].answered24h > 0)
    const { raw } = { raw: join(env.DATA_DIR, "raw") }
    await until(() => new Bun.Glob("*/*.gz").scanSync(raw).next().done === false)
    const { code, out, err } = await appmeter(["work"], { env })
    expect([code, out]).toEqual([1, ""])
    expect(err.trimEnd().split("\n")).toHaveLength(1)
  } finally {
    server.kill()
  }
  expect(await server.exited).toBe(0)
})

long("a server with MEASURE=no sends no request to a store", async () => {
  const env = { ...(await dataFolder()), ...readingEnv(), MEASURE: "no" }
  const server = await serving({ env })
  await trackTea(env)
  await Bun.sleep(1_500)
  server.kill()
  expect(await server.exited).toBe(0)
  expect(stores.requests).toEqual([])
})

slow("appmeter work reads a due keyword without a server, and exits with 0 on SIGTERM", async () => {
  const env = { ...(await dataFolder()), ...readingEnv() }
  const database = await openFolder(env)
  await trackTea(env)
  await database.close()
  const child = startCommand(["work"], { env })
  await until(() => searchedTerms().includes("tea"))
  child.kill("SIGTERM")
  expect(await child.exited).toBe(0)
  const log = await new Response(child.stderr).text()
  expect(
    log
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line).event),
  ).toContain("worker_started")
})

postgres("postgres: three work processes read each term once", async () => {
  await using server = await scratchDatabase("work")
  const env = { DATABASE_URL: server.url, ...readingEnv() }
  await answer(["migrate"], { env })
  await trackTea(env)
  const app = await appId(env)
  const terms = Array.from({ length: 40 }, (_, i) => `tea ${i}`)
  await answer(["app", "keywords", "add", app, ...terms], { env })
  const children = [1, 2, 3].map(() => startCommand(["work"], { env }))
  await until(() => terms.every((term) => searchedTerms().includes(term)))
  for (const child of children) child.kill("SIGTERM")
  expect(await Promise.all(children.map((child) => child.exited))).toEqual([0, 0, 0])
  expect(terms.filter((term) => searchedTerms().filter((other) => other === term).length > 1)).toEqual([])
})
