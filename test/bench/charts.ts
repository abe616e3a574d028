// bun test/bench/charts.ts — get_chart_positions, get_chart_movers and get_keyword_competition over HTTP with their default
// arguments, with a week and with a year of 600 charts stored, 200 places each, and 100 keywords. With DATABASE_URL on that
// server, else on the embedded database.

import { freshDatabase } from "../database.ts"
import { openHouse, PUBLIC_URL } from "../house.ts"
import { nameAll } from "../observations/measured.ts"
import { median } from "./load.ts"
import { track } from "./scratch.ts"

const ROUNDS = Number(process.env.ROUNDS ?? 40)
const WORLD = 20_000
const TODAY = "2025-11-20"
const CALLS = ["charts", "chart-movers", "competition"]
/** Days of history of the plans pro and studio. */
const PLANS = ["pro", "studio"] as const

const sql = await freshDatabase()
const house = openHouse({ sql, now: () => new Date(`${TODAY}T12:00:00Z`) })
await sql`
  insert into store_app (platform, store_id, genre)
  select 'ios', (100000000 + i)::text, '77'
  from generate_series(1, ${WORLD}::int) i`
await nameAll(sql, sql`'App ' || id || ': keyword'`)
await sql`
  insert into chart (platform, storefront, device, chart, genre)
  select 'ios', 'us', d, k, g::text
  from unnest('{iphone,ipad}'::text[]) d, unnest('{free,paid,grossing}'::text[]) k, generate_series(36, 135) g`
const keywords = Array.from({ length: 100 }, (_, i) => `keyword ${i}`)
const callers = await Promise.all(
  PLANS.map(async (plan) => {
    const workspace = await house.workspace({ plan, overrides: { credits: 1e9, ratePerSecond: 1e6 } })
    return { plan, key: await house.key(workspace), app: await track(sql, workspace, "100000077", keywords) }
  }),
)

await store("2025-11-14", TODAY)
const week = await measure()
await store("2024-11-21", "2025-11-13")
const year = await measure()
for (const [what, ms] of week) {
  console.log(
    `${what}: a week ${ms.toFixed(1)} ms, a year ${year.get(what)!.toFixed(1)} ms, ${(year.get(what)! / ms).toFixed(1)} times`,
  )
}
process.exit(0)

async function store(from: string, to: string): Promise<void> {
  const days = await sql<{ day: string }[]>`
    select day::date
    from generate_series(${from}::date, ${to}, interval '1 day') day`
  for (const { day } of days) {
    await sql`select open_month(${day})`
    await sql`
      insert into chart_results
        (chart_id, day, source, seen_at, depth, complete, parser, origin, egress, sha256, app_ids)
      select c.id, ${day}, 10, ${`${day}T09:00:00Z`}, 200, true, 1, 'own', 'us', sha256(c.id::text::bytea), r.ids
      from chart c
      cross join lateral (
        select array_agg(1 + (c.id * 37 + (${day}::date - date '2024-01-01') * 3 + i * 91) % ${WORLD}::int order by i) as ids
        from generate_series(1, 200) i
      ) r`
    await sql`
      insert into search_results
        (list_id, day, source, seen_at, depth, complete, parser, origin, egress, sha256, app_ids)
      select l.id, ${day}, 10, ${`${day}T09:00:00Z`}, 200, true, 1, 'own', 'us', sha256(l.id::text::bytea), r.ids
      from list l
      cross join lateral (
        select array_agg(1 + (l.id * 41 + i * 97) % ${WORLD}::int order by i) as ids
        from generate_series(1, 200) i
      ) r`
  }
  await sql`update chart set first_day = least(first_day, ${from}), last_day = greatest(last_day, ${to})`
  await sql`update list set first_day = least(first_day, ${from}), last_day = greatest(last_day, ${to})`
  await sql`analyze`
}

async function measure(): Promise<Map<string, number>> {
  const found = new Map<string, number>()
  for (const { plan, key, app } of callers) {
    for (const call of CALLS) {
      const times: number[] = []
      for (let i = 0; i < ROUNDS; i++) {
        const started = performance.now()
        const { status } = await ask(`/v1/apps/${app}/${call}`, key)
        if (status !== 200) throw new Error(`${call} answers ${status}`)
        times.push(performance.now() - started)
      }
      found.set(`${call}, ${plan}`, median(times.slice(5)))
    }
  }
  return found
}

// without the checks that a test's calls have
async function ask(path: string, key: string): Promise<Response> {
  const request = new Request(`${PUBLIC_URL}${path}`, { headers: { authorization: `Bearer ${key}` } })
  const response = await house.app.fetch(request, "127.0.0.1")
  await response.arrayBuffer()
  return response
}
