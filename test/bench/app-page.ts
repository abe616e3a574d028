// bun test/bench/app-page.ts [PATTERN] [APPS] — measures the pages of an app with 1,000 keywords and 90 days (PATTERN
// selects by address; with APPS, the keywords are spread over that many apps): milliseconds, processor time of the
// request thread and of the database, and bytes. Compares them with the whole reads over REST. Processor time is
// comparable even on a shared machine. Uses PostgreSQL with DATABASE_URL, else the embedded database.

import { readFileSync } from "node:fs"
import { APP_TABS, OWN_PAGES, ownerOf } from "../pages/app-scene.ts"
import { openService, PUBLIC_URL } from "../service.ts"
import { NOW } from "./years-fill.ts"
import { worldOf } from "./years-world.ts"

const CALLS = 100

const APPS = process.argv[3] === undefined ? null : Number(process.argv[3])

const { scratch, workspace, apps, rivals } = await worldOf(process.env.DATABASE_URL, {
  ...(APPS === null
    ? { apps: 3, keywords: 20, maxKeywords: 1_000 }
    : { apps: APPS, keywords: Math.ceil(1_000 / APPS) }),
  days: 90,
})
const service = openService({ sql: scratch.sql, now: () => NOW })
await scratch.sql`update workspace set plan = 'enterprise' where id = ${workspace}`
const { cookies } = await ownerOf(service, workspace)
const cookie = [...cookies].map((pair) => pair.join("=")).join("; ")
// everything is new to the person, as if after a long absence
await scratch.sql`update membership set visited_at = now(), seen_at = 'epoch'`
const [{ name }] = await scratch.sql<[{ name: string }]>`select name from workspace where id = ${workspace}`
const authorization = `Bearer ${await service.key(workspace, { workspace: name })}`
// a third of the keywords ranks higher today than yesterday, a third lower
await scratch.sql`
  update rank_month r
  set ranks = set_byte(r.ranks, ${NOW.getUTCDate() - 1},
    case r.list_id % 3 when 0 then 3 when 1 then 30 else get_byte(r.ranks, ${NOW.getUTCDate() - 1}) end)
  from tracked_app a
  where a.id = ${apps[0] as string} and r.app_id = a.ios_app
    and r.month = date_trunc('month', ${NOW}::timestamptz)::date`
const [{ term }] = await scratch.sql<
  [{ term: string }]
>`select term from tracked_term where app_id = ${apps[0] as string} order by position limit 1`
const search = new URLSearchParams({ term, terms: term })
const app = `/app/apps/${apps[0]}`
const pages = [
  ...["", "?days=90&vs=before", "?move=up", "?order=change", "?find=9", "?order=popularity&page=3"].map(
    (query) => `${app}${query}`,
  ),
  ...OWN_PAGES.map((page) => `/app${page}`),
  ...APP_TABS.filter((tab) => tab !== "" && !tab.startsWith("/rival?")).map((tab) => `${app}${tab}`),
  ...[`${app}/rival?rival=${rivals[0]}`, `${app}/ranks?${search}`, `${app}/evidence?${search}`],
].filter((path) => new RegExp(process.argv[2] ?? "").test(path))

for (const path of pages)
  print(path.replace(apps[0] as string, "…"), await timePage(path, { cookie, "accept-encoding": "zstd" }))
if (!process.argv[2]) {
  print("list_keyword_ranks", await timePage(`/v1/apps/${apps[0]}/keywords`, { authorization }))
  print("get_rank_history, 30 days", await timePage(`/v1/apps/${apps[0]}/history?days=30`, { authorization }))
}
await scratch.remove()
process.exit(0)

function print(label: string, { ms, thread, database, kb }: Awaited<ReturnType<typeof timePage>>): void {
  console.log(
    `${label}: ${ms.toFixed(1)} ms; processor ${(thread + database).toFixed(1)} ms, ` +
      `of it ${thread.toFixed(1)} in the thread; ${kb.toFixed(0)} KB`,
  )
}

/** Returns the median duration of some calls after a warm-up, and the mean processor time. */
async function timePage(path: string, headers: Record<string, string>) {
  const times: number[] = []
  let bytes = 0
  const ask = async () => {
    const startedAt = performance.now()
    const response = await service.app.fetch(new Request(`${PUBLIC_URL}${path}`, { headers }), "127.0.0.1")
    bytes = (await response.bytes()).length
    if (response.status !== 200 && !/\/(?:reports|revenue|ads)$/.test(path))
      throw new Error(`${path}: ${response.status}`)
    times.push(performance.now() - startedAt)
  }
  for (let call = 0; call < CALLS; call++) await ask()
  times.length = 0
  const backends = await backendsNow()
  const before = processorMs(backends)
  for (let call = 0; call < CALLS; call++) await ask()
  const after = processorMs(backends)
  return {
    ms: times.sort((a, b) => a - b)[CALLS / 2] as number,
    thread: (after.thread - before.thread) / CALLS,
    database: (after.database - before.database) / CALLS,
    kb: bytes / 1_000,
  }
}

/** Lists the processes that the server has once the calls have opened connections. Null if the database is embedded. */
async function backendsNow(): Promise<{ pid: number }[] | null> {
  if (!process.env.DATABASE_URL) return null
  return await scratch.sql<
    { pid: number }[]
  >`select pid from pg_stat_activity where datname = current_database() order by pid limit 1000`
}

/**
 * Returns the processor time so far. For the embedded database it is that of all other threads, including those of the
 * garbage collector and the compiler.
 */
function processorMs(backends: readonly { pid: number }[] | null): { thread: number; database: number } {
  const sum = ({ user, system }: NodeJS.CpuUsage) => (user + system) / 1_000
  const thread = sum(process.threadCpuUsage())
  return {
    thread,
    database: backends ? ticksOf(backends.map(({ pid }) => pid)) * 10 : sum(process.cpuUsage()) - thread,
  }
}

/** Returns the processor time of these processes in hundredths of a second, on Linux. */
function ticksOf(pids: readonly number[]): number {
  return pids.reduce((all, pid) => {
    const [user, system] = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]!.split(" ").slice(11, 13)
    return all + Number(user) + Number(system)
  }, 0)
}
