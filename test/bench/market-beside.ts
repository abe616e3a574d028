// bun test/bench/market-beside.ts [STOREFRONTS] — measures how long calls of other workspaces take while a market of 77
// storefronts (1.2 million places) is read: its lists are recorded ten times as fast as one address may read them, and
// as many look-ups are claimed and ended. Prints how long following all of them takes, and the time of a claim and a
// list. Fails if the 95th percentile of the other calls is over 10 ms and more than twice as long as without the
// market. With DATABASE_URL on that server; else embedded, with 8 storefronts.

import type { ChartObservation } from "../../src/charts/kinds/chart-shape.ts"
import { kindsOf } from "../../src/due-kinds.ts"
import { followMarket } from "../../src/market/followed-storefronts.ts"
import { claim } from "../../src/measuring/claim.ts"
import { endMeasured } from "../../src/measuring/due.ts"
import { openLane } from "../../src/measuring/pace.ts"
import { charted } from "../measuring/record/charted.ts"
import { ITUNES } from "../measuring/scene.ts"
import { record } from "../record.ts"
import { openService, PUBLIC_URL } from "../service.ts"
import { GENRES, makeMarket } from "./find-world.ts"
import { median } from "./load.ts"
import { scratchOn, track } from "./scratch.ts"

const SERVER = process.env.DATABASE_URL
const STOREFRONTS = Number(process.argv[2] ?? (SERVER ? 77 : 8))
const SECONDS = Number(process.env.SECONDS ?? 8)
/** One address reads a list every three seconds. */
const EVERY_MS = 300
const KEYWORDS = 50

const { sql, remove } = await scratchOn(SERVER, 10)
const today = new Date().toISOString().slice(0, 10)
console.log(`${await makeMarket(sql, STOREFRONTS, today)} places`)
const codes = (await sql<{ storefront: string }[]>`select distinct storefront from chart order by 1`).map(
  ({ storefront }) => storefront,
)
const service = openService({ sql })
const overrides = { credits: 1e9, ratePerSecond: 1e6 }
const workspaceId = await service.workspace({ plan: "enterprise", overrides })
const key = await service.key(workspaceId)
const keywords = Array.from({ length: KEYWORDS }, (_, i) => `keyword ${i}`)
const appId = await track(sql, workspaceId, "999999999", keywords)
const headers = { authorization: `Bearer ${key}` }

for (const code of codes)
  await sql`
    insert into chart_place (app_id, chart_id, rank, day)
    select distinct on (u.app_id, r.chart_id) u.app_id, r.chart_id, u.rank, r.day
    from chart c
    join chart_results r on r.chart_id = c.id
    cross join lateral unnest(r.app_ids) with ordinality u (app_id, rank)
    where c.storefront = ${code}
    order by u.app_id, r.chart_id, u.rank`
await sql`analyze chart_place`
let startedAt = performance.now()
await followMarket(
  sql,
  codes.map((storefront) => ({ storefront, genres: GENRES })),
)
const [due] = await sql<{ n: number }[]>`select count(*)::int as n from due`
console.log(`followed in ${((performance.now() - startedAt) / 1_000).toFixed(1)} s: ${due!.n} rows are due`)
await openLane(sql, ITUNES, 0)
const kinds = kindsOf({ egressCountry: undefined }).filter(({ upstream }) => upstream === ITUNES.upstream)

let stopping = false
const durations = { claims: [] as number[], lists: [] as number[] }
let read = 0

/** Runs the statements of one market reading: a claim, a changed list, and its end. */
async function readMarket(): Promise<void> {
  while (!stopping) {
    const started = performance.now()
    const { claimed } = await claim(sql, ITUNES, kinds, 30_000)
    durations.claims.push(performance.now() - started)
    const recording = performance.now()
    const observed = await nextList(claimed?.subjects[0])
    if (observed) await record(sql, [observed])
    if (claimed) await sql.begin((tx) => endMeasured(tx, claimed))
    if (observed) durations.lists.push(performance.now() - recording)
    await Bun.sleep(Math.max(0, EVERY_MS - (performance.now() - started)))
  }
}

async function nextList(subject: { kind: string; storefront: string; subject: string } | undefined) {
  if (subject?.kind !== "chart") return null
  const [device, chart, genre] = subject.subject.split(" ") as [
    ChartObservation["device"],
    ChartObservation["chart"],
    string,
  ]
  const rows = await sql<{ id: string }[]>`
    select s.store_id as id
    from chart c
    join chart_place p on p.chart_id = c.id
    join store_app s on s.id = p.app_id
    where (c.storefront, c.device, c.chart, c.genre) = (${subject.storefront}, ${device}, ${chart}, ${genre})
    order by p.rank`
  const listIds = rows.map(({ id }) => id)
  // two places in a hundred change, and three other apps enter
  const newIds = Array.from({ length: 3 }, () => String(2_000_000_000 + read++))
  const ids = [...listIds.slice(1, 2), ...listIds.slice(0, 1), ...newIds, ...listIds.slice(2)].slice(0, 140)
  const at = new Date().toISOString()
  return charted(at, ids, { source: "apple-charts", storefront: subject.storefront, device, chart, genre })
}

async function callsOf(seconds: number): Promise<number[]> {
  const times: number[] = []
  const until = performance.now() + seconds * 1_000
  while (performance.now() < until) {
    const started = performance.now()
    const response = await service.app.fetch(
      new Request(`${PUBLIC_URL}/v1/apps/${appId}/keywords`, { headers }),
      "127.0.0.1",
    )
    await response.text()
    if (response.status !== 200) throw new Error(String(response.status))
    times.push(performance.now() - started)
    await Bun.sleep(2)
  }
  return times
}

const p95 = (times: readonly number[]) => times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.95)]!
const formatTimes = (times: readonly number[]) =>
  `p50 ${median([...times]).toFixed(1)}, p95 ${p95(times).toFixed(1)} ms (${times.length})`

await callsOf(2)
const idle = await callsOf(SECONDS)
const reading = readMarket()
const loaded = await callsOf(SECONDS)
stopping = true
await reading
startedAt = performance.now()
await followMarket(
  sql,
  codes.map((storefront) => ({ storefront, genres: GENRES })),
)
console.log(`followed again, unchanged, in ${(performance.now() - startedAt).toFixed(0)} ms`)
console.log(`calls of others without: ${formatTimes(idle)}; beside: ${formatTimes(loaded)}`)
console.log(`claims: ${formatTimes(durations.claims)}; lists recorded: ${formatTimes(durations.lists)}`)
await remove()
process.exit(p95(loaded) <= Math.max(10, 2 * p95(idle)) ? 0 : 1)
