// The load of test/bench/heavy-import.ts: a server in a separate process, calls to it at a steady pace, and an import
// from another process at the same time.

import { once } from "node:events"
import { createWriteStream } from "node:fs"
import { join } from "node:path"
import { answer, appmeter, type Serving, scratch, serving, startCommand } from "../commands/child.ts"
import { type Amount, heavyLines, IOS_ID, KEYWORD } from "./heavy-lines.ts"

export interface HeavyRun {
  amount: Amount
  /** Calls per second. A call starts on time even if earlier calls are unanswered. */
  perSecond: number
  /** Number of keywords of the app; each belongs to another list. */
  keywords: number
  databaseUrl?: string
}

export interface Call {
  operation: string
  status: number
  ms: number
  /** Milliseconds after the import began. */
  at: number
}

export interface HeavyResult {
  calls: Call[]
  /** Calls made before the import, over as many seconds as the import took. */
  before: Call[]
  imported: { read: number; recorded: number; bad: unknown[] }
  importMs: number
  /** How often the embedded database was reopened. */
  reopened: number
}

export async function heavyImport({ amount, perSecond, keywords, databaseUrl }: HeavyRun): Promise<HeavyResult> {
  const folder = scratch()
  const env: Record<string, string> = {
    ...(databaseUrl ? { DATABASE_URL: databaseUrl } : { DATA_DIR: join(folder, "data") }),
    FIRST_WORKSPACE_RATE_PER_SECOND: "1000",
  }
  const server = await serving({ env })
  try {
    const { app, key } = await prepare(server, env, keywords)
    const file = join(folder, "heavy.jsonl")
    await write(file, amount)
    const before = await callsUntil(sleep(3_000), server, { app, key, perSecond })
    const startedAt = performance.now()
    const importing = startCommand(["import", file, "--json"], { env })
    const ended = Promise.all([
      new Response(importing.stdout).text(),
      new Response(importing.stderr).text(),
      importing.exited,
    ])
    const calls = await callsUntil(ended, server, { app, key, perSecond })
    const importMs = performance.now() - startedAt
    const [out, err, code] = await ended
    if (code !== 0) throw new Error(`import: ${code} ${err}`)
    const after = await callsUntil(sleep(3_000), server, { app, key, perSecond })
    const reopened = server.err().match(/database_restarted/g)?.length ?? 0
    const later = after.map((call) => ({ ...call, at: call.at + importMs }))
    return { calls: [...calls, ...later], before, imported: JSON.parse(out), importMs, reopened }
  } finally {
    server.kill()
    await server.exited
  }
}

async function prepare(server: Serving, env: Record<string, string>, keywords: number) {
  const words = Array.from({ length: Math.min(keywords, 400) }, (_, n) => ["--keyword", KEYWORD(n)]).flat()
  const { app } = await answer(["app", "add", "Big", "--ios", IOS_ID, "--country", "us", ...words], { env })
  const { code, err } = await appmeter(["app", "list"], { env })
  if (code !== 0) throw new Error(err)
  const key = /svc_live_\w{36}/.exec(server.out())?.[0]
  if (!key) throw new Error(`no key in ${server.out()}`)
  return { app: app.id as string, key }
}

async function write(file: string, amount: Amount): Promise<void> {
  const stream = createWriteStream(file)
  for (const line of heavyLines(amount, new Date())) if (!stream.write(`${line}\n`)) await once(stream, "drain")
  stream.end()
  await once(stream, "close")
}

interface Calling {
  app: string
  key: string
  perSecond: number
}

/** A mix of operations, in turn. */
const PATHS = [
  "/account",
  "/apps",
  "/apps/:app/keywords",
  "/apps/:app/reviews",
  "/apps/:app/reviews/search?q=missing",
  "/apps/:app/reviews/stats",
  "/apps/:app/history",
  "/apps/:app/charts",
  "/portfolio",
  "/apps/:app",
  "/apps/:app/rivals",
  "/usage",
  "/apps/:app/timeline",
  "/apps/:app/today",
  "/alerts",
  "/search?q=keyword",
  "/apps/:app/competition?terms=keyword%201",
  "/apps/:app/page",
  "/apps/:app/weekly-plan",
]

async function callsUntil(end: Promise<unknown>, { url }: Serving, { app, key, perSecond }: Calling): Promise<Call[]> {
  const calls: Promise<Call>[] = []
  const startedAt = performance.now()
  const call = async (path: string): Promise<Call> => {
    const at = performance.now()
    const status = await fetch(`${url}/v1${path.replace(":app", app)}`, {
      headers: { authorization: `Bearer ${key}` },
    }).then(
      async (response) => {
        const text = await response.text()
        if (response.status >= 400 && process.env.SHOW_BAD) console.log(path, text.slice(0, 200))
        return response.status
      },
      () => 0,
    )
    return { operation: path, status, ms: performance.now() - at, at: at - startedAt }
  }
  let ended = false
  end.finally(() => {
    ended = true
  })
  for (let n = 0; !ended; n++) {
    await sleep(Math.max(0, startedAt + (n * 1_000) / perSecond - performance.now()))
    calls.push(call(PATHS[n % PATHS.length]!))
  }
  return await Promise.all(calls)
}

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
