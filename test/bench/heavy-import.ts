// bun test/bench/heavy-import.ts [SHARE] — imports 20,000 reviews, 5,000 search lists of 200 places and 2,000 charts,
// or that share of them, into a fresh instance through the running server, which gets 20 keyed calls a second over a
// mix of operations. Fails if a call gets a server error, if the 99th percentile exceeds 250 ms, or if the embedded
// database was reopened. On the embedded database; with DATABASE_URL in a separate database on that PostgreSQL.
import { loadavg } from "node:os"
import postgres from "postgres"
import { removeFolders } from "../commands/child.ts"
import { type Call, heavyImport } from "./heavy-load.ts"

const share = Number(process.argv[2] ?? 1)
const MAX_MS = 250
const amount = {
  reviews: Math.round(20_000 * share),
  lists: Math.round(5_000 * share),
  charts: Math.round(2_000 * share),
}
const name = `appmeter_test_${process.pid}_heavy`
const server = process.env.DATABASE_URL
const load = loadavg()[0]
if (server) await asAdmin((admin) => admin`create database ${admin(name)}`)
const databaseUrl = server && Object.assign(new URL(server), { pathname: `/${name}` }).href
try {
  const run = { amount, perSecond: 20, keywords: 200, ...(databaseUrl && { databaseUrl }) }
  const { calls, before, imported, importMs, reopened } = await heavyImport(run)
  const { read, recorded, bad } = imported
  const seconds = (importMs / 1_000).toFixed(1)
  console.log(
    `${server ? "PostgreSQL" : "embedded database"}, machine load ${load!.toFixed(1)} before and ` +
      `${loadavg()[0]!.toFixed(1)} after`,
  )
  console.log(`${read} lines, ${recorded} recorded, ${bad.length} bad, within ${seconds} s; reopened ${reopened} times`)
  console.log(`before: ${formatCalls(before)}`)
  console.log(`during: ${formatCalls(calls)}`)
  for (const operation of new Set(calls.map((call) => call.operation)))
    console.log(`  ${operation.padEnd(45)} ${formatCalls(calls.filter((call) => call.operation === operation))}`)
  const failed = calls.filter(({ status }) => status >= 500 || status === 0)
  const holds = failed.length === 0 && quantile(calls, 0.99) <= MAX_MS && reopened === 0 && bad.length === 0
  console.log(holds ? "holds" : `does not hold: ${failed.length} failed`)
  process.exitCode = holds ? 0 : 1
} finally {
  removeFolders()
  if (server) await asAdmin((admin) => admin`drop database if exists ${admin(name)} with (force)`)
}

function formatCalls(calls: readonly Call[]): string {
  const statuses = [...Map.groupBy(calls, ({ status }) => status)].map(([status, each]) => `${each.length} × ${status}`)
  const [p50, p99, max] = [0.5, 0.99, 1].map((share) => Math.round(quantile(calls, share)))
  return `${statuses.join(", ")}; p50 ${p50} ms, p99 ${p99} ms, at most ${max} ms`
}

function quantile(calls: readonly Call[], share: number): number {
  const sorted = calls.map(({ ms }) => ms).sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

async function asAdmin(work: (admin: postgres.Sql) => Promise<unknown>): Promise<void> {
  const admin = postgres(server!, { max: 1, onnotice: () => {} })
  await work(admin).finally(() => admin.end())
}
