// bun test/bench/newcomer.ts — measures the seconds that a newcomer needs, on a clean clone with local stores: from the
// command to the output of `appmeter ranks`, and to the app's own ranks on a page in a real browser, with the number of
// clicks. The clone has only committed files; packages come from the cache, if there is one.

import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { STORE_HOSTS } from "../../src/lib/upstreams.ts"
import { standingIn } from "../commands/measured-scene.ts"
import { hintsAnswer, lookupAnswer, type ShownApp, searchPage, storeSearchAnswer } from "../measuring/store-pages.ts"
import { chromiumBinary, openTab } from "../pages/browser.ts"
import { replayServer } from "../stores/parsing/replay.ts"

const APPS: ShownApp[] = ["Tide Times", "Tide Clock", "Surf Report"].map((name, at) => ({
  id: `${1_200_000_001 + at}`,
  name,
  ratings: 1_000 - at,
}))
const LINK = "https://apps.apple.com/us/app/tide-clock/id1200000002"

const stores = replayServer()
stores.on("apps.apple.com", "/", ({ url }) => searchPage("us", url.searchParams.get("term")!, APPS))
stores.on("search.itunes.apple.com", "/WebObjects/MZStore.woa", () => storeSearchAnswer(APPS))
stores.on("search.itunes.apple.com", "/WebObjects/MZSearchHints.woa", ({ url }) => hintsAnswer(["tides"], url))
stores.on("itunes.apple.com", "/lookup", ({ url }) =>
  lookupAnswer(APPS.filter(({ id }) => url.searchParams.get("id")?.split(",").includes(id))),
)

/** On a busy machine the whole run takes a minute. */
const MAX_MS = 300_000

const folder = mkdtempSync(join(tmpdir(), "appmeter-newcomer-"))
const clone = join(folder, "appmeter")
Bun.spawnSync(["git", "clone", "--quiet", join(import.meta.dirname, "../.."), clone])
const env = {
  ...process.env,
  DATABASE_URL: "",
  PORT: "0",
  DATA_DIR: join(folder, "data"),
  MEASURE: "yes",
  UPSTREAM_URLS: standingIn(stores),
  UPSTREAM_GAPS_MS: STORE_HOSTS.map((upstream) => `${upstream}=50`).join(","),
}
const startedAt = performance.now()
const seconds = () => ((performance.now() - startedAt) / 1_000).toFixed(1)
const server = Bun.spawn([process.execPath, "run", "start"], { cwd: clone, env, stdout: "pipe", stderr: "pipe" })
setTimeout(() => {
  console.error(`given up after ${seconds()} s`)
  server.kill()
  process.exit(1)
}, MAX_MS).unref()
const signIn = await waitForOutput(/https?:\/\/\S+\/sign-in\?code=\S+/)
console.log(`${seconds()} s: the link is printed`)

const terminal = async (...words: string[]) => {
  const child = Bun.spawn([process.execPath, "src/main.ts", ...words], {
    cwd: clone,
    env,
    stdout: "pipe",
    stderr: "pipe",
  })
  return await new Response(child.stdout).text()
}
const output = await terminal("app", "add", LINK, "--keyword", "tides", "--wait")
console.log(`${seconds()} s: app add --wait shows rank ${/tides +(\d+)/.exec(output)?.[1]}`)
const ranks = await terminal("ranks", "Tide Clock")
console.log(`${seconds()} s: appmeter ranks shows rank ${/tides +(\d+)/.exec(ranks)?.[1]}`)

const binary = chromiumBinary()
if (binary) {
  const tab = await openTab(binary)
  await tab.show(1_280, 900)
  let clicks = 0
  const click = async (selector: string) => {
    clicks++
    await tab.leave(`document.querySelector(${JSON.stringify(selector)}).click()`)
  }
  await tab.open(signIn)
  await click("main button")
  // the awaited load may be the previous one, so the content of the page decides
  let cover: string | null = null
  while (cover === null) {
    await Bun.sleep(20)
    const link = "[...document.querySelectorAll('.apps a.cover')].find((link) => link.textContent === 'Tide Clock')"
    const href = await tab.value<string | null>(`${link}?.getAttribute('href') ?? null`).catch(() => null)
    if (href !== null) cover = `.apps a.cover[href="${href}"]`
  }
  await click(cover)
  const rank = await tab.value<string>("document.querySelector('tbody .rank').textContent")
  console.log(`${seconds()} s: the page shows rank ${rank}, after ${clicks} clicks`)
  await tab.close()
}
server.kill()
await server.exited
await stores.stop()
rmSync(folder, { recursive: true, force: true })
process.exit(0)

/** Returns the first match in the server's output, on either stream. */
async function waitForOutput(pattern: RegExp): Promise<string> {
  const found = Promise.withResolvers<string>()
  const readStream = async (stream: ReadableStream<Uint8Array>) => {
    let text = ""
    const decoder = new TextDecoder()
    for await (const bytes of stream) {
      text += decoder.decode(bytes, { stream: true })
      const [match] = pattern.exec(text) ?? []
      if (match) found.resolve(match)
    }
  }
  void readStream(server.stdout)
  void readStream(server.stderr)
  return await found.promise
}
