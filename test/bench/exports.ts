// bun test/bench/exports.ts, also with DATABASE_URL=postgres://… — measures exports of 100,000 and of 1,000,000 rows of
// history: the time of preview and confirm, the time of a loopback download, and how much more memory the serving
// process needs for the larger export (limit: 50 MB more).
import { randomBytes } from "node:crypto"
import { readFileSync } from "node:fs"
import { createInterface } from "node:readline"
import { Readable } from "node:stream"
import { createKey } from "../../src/access/key-register.ts"
import { openLimits } from "../../src/access/limits/open.ts"
import { createApp } from "../../src/app.ts"
import type { Sql } from "../../src/database/types.ts"
import { addDays, dayOf } from "../../src/lib/days.ts"
import { silentLog } from "../../src/lib/log.ts"
import { sandboxAt } from "../sandbox.ts"
import { largeExport } from "../sharing/large-export.ts"
import { benchWorkspace, scratchOn, track } from "./scratch.ts"

const TERMS = 1_000
const MAX_MB = 50

if (process.argv[2] === "serve") await serve()
else process.exit(await measure())

async function measure(): Promise<number> {
  const child = Bun.spawn([process.execPath, import.meta.path, "serve"], { stdio: ["pipe", "pipe", "inherit"] })
  const lines = createInterface({ input: Readable.fromWeb(child.stdout as never) })[Symbol.asyncIterator]()
  const peaks: number[] = []
  for (const { rows, url } of JSON.parse((await lines.next()).value as string) as LargeFile[]) {
    const { bytes, ms, peakMb } = await download(url, child.pid)
    peaks.push(peakMb)
    console.log(`${rows} rows: ${(bytes / 1e6).toFixed(1)} MB in ${ms} ms, peak ${peakMb} MB`)
  }
  const [warm, small, large] = peaks as [number, number, number]
  const growth = large - Math.max(warm, small)
  console.log(`memory grew by ${growth} MB from 100,000 rows to 1,000,000; at most ${MAX_MB} are allowed`)
  child.stdin.write("confirm\n")
  for (let line = await lines.next(); !line.done; line = await lines.next()) console.log(line.value)
  await child.exited
  return growth < MAX_MB ? 0 : 1
}

/** Reads a file to its end at full speed, and samples the server's memory 50 times a second. */
async function download(url: string, pid: number): Promise<{ bytes: number; ms: number; peakMb: number }> {
  let peakMb = 0
  const look = () => {
    peakMb = Math.max(peakMb, residentMb(pid))
  }
  const timer = setInterval(look, 20)
  const startedAt = performance.now()
  let bytes = 0
  for await (const part of (await fetch(url)).body as ReadableStream<Uint8Array>) bytes += part.length
  const ms = Math.round(performance.now() - startedAt)
  look()
  clearInterval(timer)
  return { bytes, ms, peakMb }
}

function residentMb(pid: number): number {
  const [, kb] = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8")) as unknown as [string, string]
  return Math.round(Number(kb) / 1024)
}

interface LargeFile {
  rows: number
  url: string
}

/**
 * Runs the service in a separate process with its own database. It serves files, and confirms some exports on command.
 */
async function serve(): Promise<void> {
  const { sql, remove } = await scratchOn(process.env.DATABASE_URL)
  const workspace = await benchWorkspace(sql, 2_000)
  const { url, post } = await service(sql, workspace)
  const files: LargeFile[] = []
  for (const parts of [17, 17, 162]) {
    const { token, rows } = await largeExport(sql, workspace, parts)
    files.push({ rows, url: `${url}/exports/${token}` })
  }
  process.stdout.write(`${JSON.stringify(files)}\n`)
  for await (const _ of Bun.stdin.stream()) break
  const appId = await track(sql, workspace, "100000001", terms())
  const today = dayOf(new Date())
  await fill(sql, addDays(today, -1_000), today)
  for (const days of [100, 1_000]) {
    const args = { appId, dataset: "history", from: addDays(today, -days), to: addDays(today, -1) }
    const previewed = await post("/v1/actions", { action: "export_data", args })
    const confirmed = await post("/v1/actions/confirm", { confirmToken: previewed.body.confirmToken })
    const { rows } = confirmed.body.result
    process.stdout.write(`${rows} rows: preview ${previewed.ms} ms, confirm ${confirmed.ms} ms\n`)
  }
  await remove()
  process.exit(0)
}

async function service(sql: Sql, workspace: number) {
  const [row] = await sql<{ name: string }[]>`select name from workspace where id = ${workspace}`
  const { secret } = await createKey(sql, { workspace: row!.name, kind: "live", name: "bench" }, randomBytes)
  const now = () => new Date()
  const server = Bun.serve({ port: 0, hostname: "127.0.0.1", development: false, fetch: () => new Response() })
  const url = `http://127.0.0.1:${server.port}`
  const app = createApp({
    sql,
    limits: openLimits({ sql, log: silentLog, now }),
    sandbox: sandboxAt(url),
    settings: { publicUrl: url, trustedProxies: [], sandboxPerSecond: 100, requestDeadlineMs: 20_000, maxWaiting: 500 },
    log: silentLog,
    now,
  })
  server.reload({ fetch: (request) => app.fetch(request, "127.0.0.1") })
  const post = async (path: string, body: object) => {
    const startedAt = performance.now()
    const headers = { authorization: `Bearer ${secret}`, "content-type": "application/json" }
    const answer = await fetch(url + path, { method: "POST", headers, body: JSON.stringify(body) })
    if (!answer.ok) throw new Error(await answer.text())
    // biome-ignore lint/suspicious/noExplicitAny: the benchmark reads only fields that it requested
    return { body: (await answer.json()) as any, ms: Math.round(performance.now() - startedAt) }
  }
  return { url, post }
}

function terms(): string[] {
  return Array.from({ length: TERMS }, (_, n) => `keyword ${n}`)
}

/** Stores every term of every app, measured on every day, in the stored form. */
async function fill(sql: Sql, from: string, to: string): Promise<void> {
  for (let month = `${from.slice(0, 7)}-01`; month <= to; month = `${addDays(month, 31).slice(0, 7)}-01`) {
    await sql`select open_month(${month}::date)`
    await sql`
      insert into rank_month (app_id, list_id, month, ranks)
      select a.id, l.id, ${month}::date, decode(left(repeat(md5(l.id::text || ${month}), 2), 62), 'hex')
      from store_app a, list l
      order by l.id
      on conflict (app_id, list_id, month) do update
      set ranks = excluded.ranks`
    await sql`
      insert into list_month (list_id, month, sources, depths)
      select id, ${month}::date, decode(repeat('0a', 31), 'hex'), decode(repeat('fa', 31), 'hex')
      from list
      order by id
      on conflict (list_id, month) do update
      set sources = excluded.sources, depths = excluded.depths`
  }
  await sql`update list set first_day = ${from}, last_day = ${to}`
}
