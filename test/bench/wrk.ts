// bun test/bench/wrk.ts — the started product (src/main.ts serve) under a load generator that is not ours, each on a core of its
// own: answers a second at 64 connections, and processor time of an answer, in the process and in PostgreSQL. Rounds go in turns
// with bare servers, so that ratios are of one run. Charged calls are counted at 128 connections too: 64 callers who all wait for one
// statement leave the process idle meanwhile. `busy` is the share of the clock in which the process, PostgreSQL had a processor.
// Needs wrk, taskset and DATABASE_URL. ROUNDS and SECONDS make it longer.
import { randomBytes } from "node:crypto"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createKey } from "../../src/access/key-register.ts"
import type { Sql } from "../../src/database/types.ts"
import { record } from "../../src/observations/record.ts"
import { median } from "./load.ts"
import { benchWorkspace, scratchOn, track } from "./scratch.ts"

const ROUNDS = Number(process.env.ROUNDS ?? 5)
const SECONDS = Number(process.env.SECONDS ?? 2)
const CONNECTIONS = 64
const TERMS = 200
const [server] = [process.env.DATABASE_URL]
if (!server) throw new Error("DATABASE_URL is missing")

const folder = mkdtempSync(join(tmpdir(), "appmeter-wrk-"))
const scratch = await scratchOn(server)
const payers = await Array.fromAsync({ length: 64 }, () => payer(scratch.sql))
const [first] = payers as [Payer]
await scratch.sql`analyze`
const [{ database }] = await scratch.sql<[{ database: string }]>`select current_database() as database`
const address = new URL(server)
address.pathname = `/${database}`

const keywords = `/v1/apps/${first.appId}/keywords`
const product = await start([join(import.meta.dirname, "../../src/main.ts"), "serve"], "/livez")
const answer = await fetch(`${product.url}/v1/sandbox/apps`)
writeFileSync(join(folder, "bytes"), await answer.bytes())
writeFileSync(join(folder, "bare.ts"), bareServer(Object.fromEntries(answer.headers)))
const bare = await start([join(folder, "bare.ts")], "/")
const limit = await start([join(import.meta.dirname, "wrk-limit.ts"), first.appId], "/")
try {
  await compare("sandbox read", [product, "/v1/sandbox/apps"], [bare, "/"])
  await compare(`list_keyword_ranks, ${TERMS} keywords`, [product, keywords, [first]], [limit, "/"])
  for (const connections of [CONNECTIONS, 2 * CONNECTIONS])
    for (const [whose, keys] of [
      ["one workspace", [first]],
      ["64 workspaces", payers],
    ] as const)
      await compare(`list_apps, charged: ${whose}, ${connections} connections`, [
        product,
        "/v1/apps",
        keys,
        connections,
      ])
} finally {
  for (const { stop } of [product, bare, limit]) await stop()
  await scratch.remove()
  rmSync(folder, { recursive: true, force: true })
}

interface Payer {
  secret: string
  appId: string
}

interface Started {
  pid: number
  url: string
  stop(): Promise<unknown>
}

type Asked = [server: Started, path: string, payers?: readonly Payer[], connections?: number]

interface Round {
  perSecond: number
  microseconds: number
  databaseMicroseconds: number
  busy: number
  databaseBusy: number
}

async function compare(what: string, ...kinds: [Asked, Asked?]): Promise<void> {
  const rounds: Round[][] = kinds.map(() => [])
  for (let round = -1; round < ROUNDS; round++)
    for (const [at, asked] of kinds.entries()) {
      const measured = await wrk(asked as Asked)
      if (round >= 0) rounds[at]!.push(measured)
    }
  const [ours, theirs] = rounds as [Round[], Round[]?]
  const shown = (name: string, all: Round[]) => {
    const middle = (what: keyof Round) => Math.round(median(all.map((one) => one[what])))
    const spent = `${middle("microseconds")} us, in PostgreSQL ${middle("databaseMicroseconds")} us`
    return `  ${name}: ${middle("perSecond")}/s, ${spent}, busy ${middle("busy")} % and ${middle("databaseBusy")} %`
  }
  console.log(`${what}\n${shown("product", ours)}`)
  if (!theirs) return
  console.log(shown("bare", theirs))
  for (const by of ["perSecond", "microseconds"] as const) {
    const ratios = ours.map((one, i) => (by === "perSecond" ? one[by] / theirs[i]![by] : theirs[i]![by] / one[by]))
    const [least, most] = [Math.min(...ratios), Math.max(...ratios)]
    console.log(`  of bare by ${by}: ${median(ratios).toFixed(2)} (${least.toFixed(2)} to ${most.toFixed(2)})`)
  }
}

async function wrk([{ pid, url }, path, keys = [], connections = CONNECTIONS]: Asked): Promise<Round> {
  const script = join(folder, "keys.lua")
  const headers = keys.map(({ secret }) => `"Bearer ${secret}"`).join(", ")
  const request = `local n = 0\nrequest = function() n = n % #keys + 1\nreturn wrk.format("GET", nil, { authorization = keys[n] }) end`
  writeFileSync(script, keys.length > 0 ? `local keys = { ${headers} }\n${request}` : "")
  const before = [spent(pid), databaseSpent()] as const
  const startedAt = performance.now()
  const command = [
    "taskset",
    "-c",
    "1",
    "wrk",
    "-t1",
    `-c${connections}`,
    `-d${SECONDS}s`,
    "-s",
    script,
    `${url}${path}`,
  ]
  const text = await new Response(Bun.spawn(command).stdout).text()
  const [ours, theirs] = [spent(pid) - before[0], databaseSpent() - before[1]]
  const percent = 100_000 / (performance.now() - startedAt)
  const answers = Number(/(\d+) requests in/.exec(text)?.[1])
  if (!answers || /Non-2xx/.test(text)) throw new Error(text)
  const perSecond = Number(/Requests\/sec:\s+([\d.]+)/.exec(text)?.[1])
  const ofAnswer = { microseconds: (ours / answers) * 1e6, databaseMicroseconds: (theirs / answers) * 1e6 }
  return { perSecond, ...ofAnswer, busy: ours * percent, databaseBusy: theirs * percent }
}

/** Linux: fields 14 and 15 of /proc/PID/stat, in ticks of 10 ms. */
function spent(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
    .replace(/^.*\) /, "")
    .split(" ")
  return (Number(fields[11]) + Number(fields[12])) / 100
}

function databaseSpent(): number {
  const found = Bun.spawnSync(["pgrep", "-f", `postgres: .* ${database} `]).stdout.toString()
  return found
    .split("\n")
    .filter(Boolean)
    .reduce((sum, pid) => {
      try {
        return sum + spent(Number(pid))
      } catch {
        return sum
      }
    }, 0)
}

async function start(command: string[], path: string): Promise<Started> {
  const free = Bun.serve({ port: 0, fetch: () => new Response() })
  const port = free.port!
  await free.stop(true)
  const env = {
    ...process.env,
    PORT: String(port),
    DATABASE_URL: address.href,
    DATA_DIR: folder,
    MEASURE: "no",
    NODE_ENV: "production",
    SANDBOX_PER_SECOND: "1000000",
  }
  const child = Bun.spawn(["taskset", "-c", "0", process.execPath, ...command], {
    env,
    stdout: "ignore",
    stderr: "ignore",
  })
  const url = `http://127.0.0.1:${port}`
  while (
    !(await fetch(`${url}${path}`).then(
      ({ ok }) => ok,
      () => false,
    ))
  ) {
    if (child.exitCode !== null) throw new Error(`${command.join(" ")} ended: ${child.exitCode}`)
    await Bun.sleep(20)
  }
  const stop = async () => {
    child.kill()
    await child.exited
  }
  return { pid: child.pid, url, stop }
}

function bareServer(headers: Record<string, string>): string {
  return `const body = await Bun.file(import.meta.dirname + "/bytes").bytes()
const headers = ${JSON.stringify(headers)}
Bun.serve({ hostname: "127.0.0.1", port: Number(process.env.PORT), fetch: () => new Response(body, { headers }) })`
}

async function payer(sql: Sql): Promise<Payer> {
  const workspaceId = await benchWorkspace(sql)
  const [{ name }] = await sql<[{ name: string }]>`select name from workspace where id = ${workspaceId}`
  const { secret } = await createKey(sql, { workspace: name, kind: "live", name: "bench" }, randomBytes)
  const terms = Array.from({ length: TERMS }, (_, i) => `term ${i}`)
  const appId = await track(sql, workspaceId, String(100_000_000), workspaceId === 1 ? terms : terms.slice(0, 1))
  if (workspaceId === 1) await measured(sql, terms)
  return { secret, appId }
}

async function measured(sql: Sql, terms: readonly string[]): Promise<void> {
  const ids = Array.from({ length: 100 }, (_, i) => String(100_000_000 + i))
  const seenAt = new Date(Date.now() - 3_600_000)
  const provenance = { source: "import", platform: "ios", storefront: "us", parser: 1, origin: "bench" } as const
  await record(
    sql,
    terms.map((term, i) => ({
      ...{ kind: "search" as const, ...provenance, term, depth: 100, complete: true, seenAt },
      sha256: new Bun.SHA256().update(term).digest() as Uint8Array,
      results: ids.map((_, place) => ({ id: ids[(place + i) % 100] as string })),
    })),
  )
}
