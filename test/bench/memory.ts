// bun test/bench/memory.ts [CALLS READINGS MINUTES] — what an hour of use leaves: the binary with the embedded database idle, then
// after that many mixed calls with a key and an import of that many readings through it, minute by minute while nothing is asked.
// All that works in the background does as it always does; only measuring is off. Of what is resident, and of that its own.
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { addDays } from "../../src/vocabulary/days.ts"
import { build } from "../packaging/build.ts"
import { searchOf } from "./world.ts"

const [CALLS = 10_000, READINGS = 100_000, MINUTES = 60] = process.argv.slice(2).map(Number)
const AT_ONCE = 8
const PATHS = ["keywords", "history", "today", "timeline", "rivals", "weekly-plan"]
const TERMS = 1_000

const folder = mkdtempSync(join(tmpdir(), "appmeter-memory-"))
const binary = join(folder, "appmeter")
await build(binary)
const env = {
  PATH: process.env.PATH ?? "",
  DATA_DIR: join(folder, "empty"),
  PORT: String(freePort()),
  MEASURE: "no",
  SANDBOX_PER_SECOND: "1000000",
  FIRST_WORKSPACE_RATE_PER_SECOND: "1000000",
}
const url = `http://127.0.0.1:${env.PORT}`
try {
  const empty = serve([])
  await answers()
  const idle = await settled(empty.child.pid, "idle")
  await empty.stop()
  env.DATA_DIR = join(folder, "demo")
  const { child, said, stop } = serve(["--demo"])
  while (!/What can be asked/.test(said())) await Bun.sleep(20)
  await settled(child.pid, "with the demo")
  await call(/svc_live_\w{36}/.exec(said())![0])
  print(child.pid, `after ${CALLS} calls`)
  await importReadings()
  print(child.pid, `after ${READINGS} readings more`)
  for (let minute = 1; minute <= MINUTES; minute++) {
    await Bun.sleep(60_000)
    const now = print(child.pid, `${minute} min later`)
    console.log(`  above idle: ${Math.round(now.all - idle.all)} MB, its own ${Math.round(now.own - idle.own)}`)
  }
  await stop()
} finally {
  rmSync(folder, { recursive: true, force: true })
}

function serve(args: string[]) {
  const child = Bun.spawn([binary, "serve", ...args], { cwd: folder, env, stdout: "pipe", stderr: "ignore" })
  let out = ""
  const ended = (async () => {
    for await (const chunk of child.stdout) out += new TextDecoder().decode(chunk)
  })()
  const stop = async () => {
    child.kill()
    await child.exited
    await ended
  }
  return { child, said: () => out, stop }
}

async function answers(): Promise<void> {
  const isUp = () => fetch(`${url}/v1/sandbox/apps`).then(({ ok }) => ok)
  while (!(await isUp().catch(() => false))) await Bun.sleep(20)
}

async function call(secret: string): Promise<void> {
  const headers = { authorization: `Bearer ${secret}` }
  const { apps } = (await (await fetch(`${url}/v1/apps`, { headers })).json()) as { apps: { id: string }[] }
  const statuses = new Map<number, number>()
  let made = 0
  const ask = async () => {
    while (made < CALLS) {
      const n = made++
      const path =
        n % 10 === 9 ? "/v1/sandbox/apps" : n % 10 === 8 ? "/v1/alerts" : pathOf(apps[n % apps.length]!.id, n)
      const response = await fetch(url + path, { headers })
      await response.arrayBuffer()
      statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, ask))
  console.log([...statuses].map(([status, count]) => `${count} × ${status}`).join(", "))
}

function pathOf(app: string, n: number): string {
  return `/v1/apps/${app}/${PATHS[n % PATHS.length]}`
}

async function importReadings(): Promise<void> {
  const file = join(folder, "readings.jsonl")
  const writer = Bun.file(file).writer()
  for (let n = 0; n < READINGS; n++) writer.write(`${JSON.stringify(lineOf(n))}\n`)
  await writer.end()
  const { exitCode, stderr } = Bun.spawnSync([binary, "import", file], { cwd: folder, env })
  if (exitCode !== 0) throw new Error(stderr.toString())
}

/** Of so many terms a day, 20 deep. */
function lineOf(n: number) {
  const day = addDays(new Date().toISOString().slice(0, 10), -1 - Math.floor(n / TERMS))
  const { source: _, results, ...said } = searchOf({ term: n % TERMS, day, depth: 20 })
  const { platform, storefront, term, seenAt } = said
  const apps = results.map(({ id, name }) => ({ id, ...(name && { name }) }))
  return { kind: "search", source: "import", platform, storefront, term, seenAt, depth: 20, results: apps }
}

async function settled(pid: number, what: string) {
  await Bun.sleep(10_000)
  return print(pid, what)
}

function print(pid: number, what: string): { all: number; own: number } {
  const memory = readFileSync(`/proc/${pid}/smaps_rollup`, "utf8")
  const megabytes = (of: string) => Number(new RegExp(`^${of}: +(\\d+)`, "m").exec(memory)?.[1]) / 1024
  const now = { all: megabytes("Rss"), own: megabytes("Anonymous") }
  console.log(`${what}: ${Math.round(now.all)} MB, its own ${Math.round(now.own)}`)
  return now
}

function freePort(): number {
  const server = Bun.serve({ port: 0, fetch: () => new Response() })
  const port = server.port!
  server.stop(true)
  return port
}
