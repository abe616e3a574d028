// bun test/bench/holds.ts — measures how long a call blocks the request thread, and prints the worst first: every
// operation of the catalogue over REST, in a world of 1,000 apps with 20,000 keywords, most calls for one app with
// 1,000 keywords and an owner's invented accounts; and deriving an app's findings, which runs in the same process.
// Prints for each the longest turn of the event loop in processor time, as median and worst of the rounds. On the
// embedded database, and with DATABASE_URL on that server too. APPS, MOST, DAYS and ROUNDS make it smaller; ONLY
// selects operations. Fails if the median turn takes more than 50 ms.

import { randomBytes } from "node:crypto"
import { createKey } from "../../src/access/key-register.ts"
import { openLimits } from "../../src/access/limits/open.ts"
import { SCOPES } from "../../src/access/scopes.ts"
import { deriveFindings } from "../../src/alerts/findings.ts"
import { type App, createApp } from "../../src/app.ts"
import { catalog } from "../../src/catalog.ts"
import { loadDemoOwner } from "../../src/demo/accounts/owner.ts"
import { createLog } from "../../src/lib/log.ts"
import { recording } from "../../src/recording.ts"
import { sandboxAt } from "../sandbox.ts"
import { type BenchCall, callsOf } from "./holds-calls.ts"
import { median } from "./load.ts"
import { longestHold, unitMs } from "./thread.ts"
import { NOW, TODAY } from "./years-fill.ts"
import { type World, worldOf } from "./years-world.ts"

const APPS = Number(process.env.APPS ?? 1_000)
const MOST = Number(process.env.MOST ?? 1_000)
const DAYS = Number(process.env.DAYS ?? 92)
const ROUNDS = Number(process.env.ROUNDS ?? 12)
const ONLY = process.env.ONLY?.split(",")
/** Warm-up rounds, in which code is compiled, statements are planned and caches are filled. */
const WARM_UP = 4
/** A person notices longer turns. */
const MAX_MS = 50

interface Row {
  name: string
  outcome: string
  middle: number
  worst: number
}

const servers = process.env.DATABASE_URL ? [process.env.DATABASE_URL, undefined] : [undefined]
const tooLong: Row[] = []
for (const server of process.env.EMBEDDED === "no" ? servers.slice(0, 1) : servers)
  tooLong.push(...(await measure(server)))
process.exit(tooLong.length > 0 ? 1 : 0)

async function measure(server: string | undefined): Promise<Row[]> {
  const world = await worldOf(server, { apps: APPS, keywords: 19, maxKeywords: MOST, days: DAYS })
  const unit = unitMs()
  const rows: Row[] = []
  const { call, subjects } = await openService(world)
  for (const operation of catalog.filter(({ id }) => isRequested(id)))
    for (const request of callsOf(operation, subjects)) rows.push(await rowOf(request.name, () => call(request)))
  if (isRequested("findings")) rows.push(await rowOf("(findings of the app)", () => findings(world, subjects.iosId)))
  rows.sort((a, b) => b.middle - a.middle)
  console.log(`${server ? "PostgreSQL" : "embedded"}; the unit took ${unit.toFixed(3)} ms`)
  for (const { name, outcome, middle, worst } of rows)
    console.log(
      `${name.padEnd(44)} ${outcome.padEnd(24)} ${middle.toFixed(2).padStart(7)} ms (worst ${worst.toFixed(2)}), ` +
        `${(middle / unit).toFixed(1)} units`,
    )
  await world.scratch.remove()
  return rows.filter(({ middle }) => middle > MAX_MS)
}

function isRequested(id: string): boolean {
  return ONLY?.includes(id) ?? true
}

async function rowOf(name: string, work: () => Promise<string>): Promise<Row> {
  const holds: number[] = []
  let outcome = ""
  for (let round = -WARM_UP; round < ROUNDS; round++) {
    const hold = await longestHold(async () => {
      outcome = await work()
    })
    if (round >= 0) holds.push(hold)
  }
  return { name, outcome, middle: median(holds), worst: Math.max(...holds) }
}

async function openService({ scratch: { sql }, workspace, apps, rivals }: World) {
  await sql`update workspace set explorer = true where id = ${workspace}`
  // findings cover only days on which the app was tracked
  await sql`update tracked_app set created_at = ${NOW}::timestamptz - interval '1 year'`
  const [{ iosId }] = await sql<[{ iosId: string }]>`
    select s.store_id as "iosId"
    from tracked_app a
    join store_app s on s.id = a.ios_app
    where a.id = ${apps[0]!}`
  const [{ name }] = await sql<[{ name: string }]>`select name from workspace where id = ${workspace}`
  const demo = { id: apps[0]!, iosId, name: "An app", keywords: ["keyword 13", "keyword 26"] }
  await loadDemoOwner(recording, sql, { workspaceId: workspace, apps: [demo], now: () => NOW })
  const key = { workspace: name, kind: "live" as const, name: "bench", scopes: SCOPES }
  const { secret } = await createKey(sql, key, randomBytes)
  const app = serviceOn(sql)
  const call = async ({ method, path, body, accept }: BenchCall): Promise<string> => {
    const request = new Request(`http://127.0.0.1${path}`, {
      method,
      headers: {
        authorization: `Bearer ${secret}`,
        ...(accept && { accept }),
        ...(body && { "content-type": "application/json" }),
      },
      ...(body && { body: JSON.stringify(body) }),
    })
    const answer = await app.fetch(request, "127.0.0.1")
    const text = await answer.text()
    return answer.status === 200 ? `${Math.ceil(text.length / 1_000)} KB` : `${answer.status} ${text.slice(0, 60)}`
  }
  return { call, subjects: { sql, appId: apps[0]!, iosId, rivalId: rivals[0]! } }
}

function serviceOn(sql: World["scratch"]["sql"]): App {
  const log = createLog(() => {})
  const now = () => NOW
  return createApp({
    sql,
    limits: openLimits({ sql, log, now }),
    sandbox: sandboxAt("http://127.0.0.1"),
    settings: {
      publicUrl: "http://127.0.0.1",
      trustedProxies: [],
      sandboxPerSecond: 1e9,
      requestDeadlineMs: 60_000,
      maxWaiting: 500,
    },
    log,
    now,
  })
}

/** Derives all alerts of the last three days again. */
async function findings({ scratch: { sql }, apps }: World, iosId: string): Promise<string> {
  const subject = { platform: "ios" as const, storefront: "us", subject: iosId }
  const alertCount = await sql.begin(async (tx) => {
    await tx`delete from alert where app_id = ${apps[0]!} and day > ${TODAY}::date - 3`
    await deriveFindings(tx, [subject], NOW)
    const [row] = await tx<[{ count: number }]>`
      select count(*)
      from alert
      where app_id = ${apps[0]!} and day > ${TODAY}::date - 3`
    return row.count
  })
  return `${alertCount} alerts`
}
