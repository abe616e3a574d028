// bun test/bench/start.ts — measures the time from the start of the process to its first 200, and its memory two
// seconds later, in rounds that alternate with an empty Bun.serve, as ratios of one run; and its memory after calls of
// the sandbox alone, with the demo, and with the demo and reads with a key. Memory is resident memory, and the part of
// it that is anonymous: the rest is mapped files, mainly the binary, which the system may drop and processes share.
// DATABASE_URL adds the start on an empty and on a migrated PostgreSQL. ONLY='binary, embedded' omits other kinds.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import postgres from "postgres"
import { STORE_HOSTS } from "../../src/lib/upstreams.ts"
import { build } from "../packaging/build.ts"
import { median } from "./load.ts"

const ROUNDS = Number(process.env.ROUNDS ?? 5)
const IDLE_MS = 2_000
const CALLS = 500
const UNLIMITED = { SANDBOX_PER_SECOND: "1000000", FIRST_WORKSPACE_RATE_PER_SECOND: "1000000" }
const SERVER = process.env.DATABASE_URL
const ONLY = process.env.ONLY ?? ""
const EMPTY = "empty Bun.serve"

const databases: string[] = []
const folder = mkdtempSync(join(tmpdir(), "appmeter-start-"))
const binary = join(folder, "appmeter")
const bare = join(folder, "bare.ts")
writeFileSync(bare, "Bun.serve({ port: Number(process.env.PORT), fetch: () => new Response('{}') })")
await build(binary)

interface Run {
  firstMs: number
  idleMegabytes: number
  ownMegabytes: number
}

const checkout = [process.execPath, join(import.meta.dirname, "../../src/main.ts"), "serve"]
const kinds: Record<string, (round: number) => Promise<Run>> = {
  [EMPTY]: () => start([process.execPath, bare]),
  ...bothTimes("checkout, embedded", checkout),
  ...bothTimes("binary, embedded", [binary, "serve"]),
  ...bothTimes("binary, embedded, measuring", [binary, "serve"], measuringEnv),
  ...(SERVER && bothTimes("checkout, PostgreSQL", checkout, onServer)),
  ...(SERVER && bothTimes("binary, PostgreSQL", [binary, "serve"], onServer)),
  ...measureUse(`binary, embedded, ${CALLS} sandbox calls and nothing else`, callSandbox),
  ...measureUse("binary, embedded, the demo loaded", loadDemo),
  ...measureUse(`binary, embedded, the demo and ${CALLS} keyed reads`, readWithKey),
  ...(SERVER && measureUse(`binary, PostgreSQL, ${CALLS} keyed reads`, readWithKey, onServer)),
}
for (const kind of Object.keys(kinds)) if (kind !== EMPTY && !kind.includes(ONLY)) delete kinds[kind]
const runs = new Map<string, Run[]>(Object.keys(kinds).map((kind) => [kind, []]))
try {
  for (let round = 0; round < ROUNDS; round++) {
    for (const [kind, run] of Object.entries(kinds)) runs.get(kind)!.push(await run(round))
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
  for (const database of databases) await asAdmin((admin) => admin`drop database ${admin(database)} with (force)`)
}
const bareRuns = runs.get(EMPTY)!
for (const [kind, measured] of runs) {
  const memory = `${formatRuns(measured, "idleMegabytes", "MB")}; its own ${formatRuns(measured, "ownMegabytes", "MB")}`
  console.log(`${kind}: first 200 ${formatRuns(measured, "firstMs", "ms")}; idle ${memory}`)
}

function formatRuns(measured: Run[], key: keyof Run, unit: string): string {
  const values = measured.map((run) => run[key])
  const ratio = median(measured.map((run, round) => run[key] / bareRuns[round]![key]))
  return (
    `${Math.round(median(values))} ${unit} (${Math.round(Math.min(...values))} to ` +
    `${Math.round(Math.max(...values))}), ${ratio.toFixed(1)} of empty`
  )
}

/** Measures the first start on a new database, and the second, in each round. */
function bothTimes(kind: string, command: string[], database = embeddedEnv): typeof kinds {
  const environments = new Map<number, Promise<Record<string, string>>>()
  const run = async (round: number) => {
    if (!environments.has(round)) environments.set(round, database(`${kind.replaceAll(/\W+/g, "_")}_${round}`))
    return await start(command, await environments.get(round)!)
  }
  return { [`${kind}, first start`]: run, [`${kind}, warm`]: run }
}

/** Measures a first start in each round, and its use with the demo's data. */
function measureUse(kind: string, use: Use, database = embeddedEnv): typeof kinds {
  const command = [binary, "serve", ...(use === callSandbox ? [] : ["--demo"])]
  const run = async (round: number) => {
    const env = await database(`${kind.replaceAll(/\W+/g, "_").slice(0, 30)}_${round}`)
    return await start(command, { ...env, ...UNLIMITED }, use)
  }
  return { [kind]: run }
}

type Use = (url: string, readOutput: () => string) => Promise<void>

async function callSandbox(url: string): Promise<void> {
  for (let i = 0; i < CALLS; i++) await readJson(`${url}/v1/sandbox/apps`, {})
}

async function loadDemo(_url: string, readOutput: () => string): Promise<void> {
  while (!/Reference and manual/.test(readOutput())) await Bun.sleep(5)
}

async function readWithKey(url: string, readOutput: () => string): Promise<void> {
  await loadDemo(url, readOutput)
  const headers = { authorization: `Bearer ${/svc_live_\w{36}/.exec(readOutput())![0]}` }
  const { apps } = await readJson(`${url}/v1/apps`, headers)
  for (let i = 0; i < CALLS; i++) await readJson(`${url}/v1/apps/${apps[i % apps.length].id}/keywords`, headers)
}

// biome-ignore lint/suspicious/noExplicitAny: answers of several operations
async function readJson(url: string, headers: Record<string, string>): Promise<any> {
  const response = await fetch(url, { headers })
  if (response.status !== 200) throw new Error(`${url}: ${response.status}`)
  return await response.json()
}

async function embeddedEnv(name: string): Promise<Record<string, string>> {
  return { DATA_DIR: join(folder, name) }
}

/** Reads the stores as usual, but from an address without a server. */
async function measuringEnv(name: string): Promise<Record<string, string>> {
  const nobody = STORE_HOSTS.map((upstream) => `${upstream}=http://127.0.0.1:9`).join(",")
  return { ...(await embeddedEnv(name)), MEASURE: "yes", UPSTREAM_URLS: nobody }
}

async function onServer(name: string): Promise<Record<string, string>> {
  const database = `appmeter_start_${process.pid}_${name}`
  await asAdmin((admin) => admin`create database ${admin(database)}`)
  databases.push(database)
  const url = new URL(SERVER!)
  url.pathname = `/${database}`
  return { DATABASE_URL: url.href }
}

async function asAdmin(work: (admin: postgres.Sql) => Promise<unknown>): Promise<void> {
  const admin = postgres(SERVER!, { max: 1, onnotice: () => {} })
  await work(admin).finally(() => admin.end())
}

async function start(command: string[], env: Record<string, string> = {}, use?: Use): Promise<Run> {
  const port = freePort()
  const startedAt = performance.now()
  const child = Bun.spawn(command, {
    cwd: folder,
    // reading the stores is not part of this measurement
    env: { PATH: process.env.PATH ?? "", PORT: String(port), MEASURE: "no", ...env },
    stdout: "pipe",
    stderr: "ignore",
  })
  let out = ""
  const ended = (async () => {
    for await (const chunk of child.stdout) out += new TextDecoder().decode(chunk)
  })()
  const url = `http://127.0.0.1:${port}`
  const isAnswering = () => fetch(`${url}/v1/sandbox/apps`).then(({ status }) => status === 200)
  while (!(await isAnswering().catch(() => false))) {
    if (child.exitCode !== null) throw new Error(`${command.join(" ")} ended: ${child.exitCode}`)
    await Bun.sleep(2)
  }
  const firstMs = performance.now() - startedAt
  await use?.(url, () => out)
  await Bun.sleep(IDLE_MS)
  const memory = readFileSync(`/proc/${child.pid}/smaps_rollup`, "utf8")
  const megabytes = (label: string) => Number(new RegExp(`^${label}: +(\\d+)`, "m").exec(memory)?.[1]) / 1024
  child.kill()
  await child.exited
  await ended
  return { firstMs, idleMegabytes: megabytes("Rss"), ownMegabytes: megabytes("Anonymous") }
}

function freePort(): number {
  const server = Bun.serve({ port: 0, fetch: () => new Response() })
  const port = server.port!
  server.stop(true)
  return port
}
