// bun test/bench/hive-reads.ts [OPERATION] — each of fifteen market reads with all it needs measured, of the same call with
// a bare handler: the rows of the answer fetched by key at once, and sent as they were answered before. Who asks, how fast, with
// what right and at what price is asked and charged on both sides. With DATABASE_URL on that server, where it fails if one is
// under half of its rows; else on the embedded database, where it only prints.
import { catalog } from "../../src/catalog.ts"
import { dayOf } from "../../src/vocabulary/days.ts"
import { freshDatabase } from "../database.ts"
import { type House, openHouse, PUBLIC_URL } from "../house.ts"
import { rowsOf } from "./hive-reads-rows.ts"
import { fillMarket } from "./hive-reads-world.ts"
import { median } from "./load.ts"

const LEAST = 0.5
const ROUNDS = Number(process.env.ROUNDS ?? 7)
const ROUND_MS = 250
const AT_ONCE = 4

const sql = await freshDatabase()
const today = dayOf(new Date())
const world = await fillMarket(sql, today)
const { house, measure } = world
/** Anew for each operation, or the day's allowance is used up. */
let key = ""

const CALLS: Record<string, string> = {
  check_rank: `/rank-check?app=${world.appId}&term=${world.term}`,
  get_keyword_difficulty: `/keyword-difficulty?term=${world.term}`,
  hive_find_apps: "/hive/find?country=us&genre=6015&limit=50",
  hive_get_chart: "/hive/charts?genre=6015&kind=free",
  hive_get_chart_movers: "/hive/movers?genre=6015&kind=free",
  hive_list_new_apps: "/hive/new?country=us",
  hive_get_publisher: `/hive/publisher/${world.publisherId}`,
  hive_resolve_app: `/hive/resolve?q=${encodeURIComponent(world.name)}`,
  hive_get_similar_apps: `/hive/similar/${world.pageId}`,
  hive_list_reviews: `/hive/reviews/${world.appId}`,
  hive_get_app: `/hive/apps/${world.pageId}`,
  hive_get_keyword_ranks: `/hive/keywords/${world.term}/ranks`,
  hive_get_landscape: "/hive/landscape?genre=6015",
  hive_get_keyword_metrics: `/hive/keywords/${world.term}/metrics`,
  hive_get_keyword_metrics_history: `/hive/keywords/${world.term}/metrics/history?days=30`,
}

async function keyIn({ workspace, key }: House): Promise<string> {
  const overrides = { credits: 1e9, ratePerSecond: 1e6 }
  return await key(await workspace({ plan: "enterprise", explorer: true, overrides }))
}

async function ask(of: House, path: string): Promise<string> {
  const headers = { authorization: `Bearer ${key}` }
  const response = await of.app.fetch(new Request(`${PUBLIC_URL}/v1${path}`, { headers }), "127.0.0.1")
  const text = await response.text()
  if (response.status !== 200) throw new Error(`${path}: ${response.status} ${text}`)
  return text
}

/** The same service, in which an operation's handler does nothing but fetch the rows of that answer and give it again. */
function bareHouse(id: string, answer: object, rows: () => Promise<unknown>): House {
  const bare = catalog.map((operation) =>
    operation.id === id ? { ...operation, run: () => rows().then(() => answer) } : operation,
  )
  return openHouse({ sql, measure, catalog: bare as unknown as typeof catalog })
}

async function perSecond(of: House, path: string): Promise<number> {
  let answers = 0
  const started = performance.now()
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (; performance.now() < started + ROUND_MS; answers++) await ask(of, path)
    }),
  )
  return (answers * 1_000) / (performance.now() - started)
}

let least = Number.POSITIVE_INFINITY
for (const [id, path] of Object.entries(CALLS).filter(([id]) => !process.argv[2] || id === process.argv[2])) {
  key = await keyIn(house)
  // what is read on request is stored after this
  await ask(house, path)
  const answer = JSON.parse(await ask(house, path)) as object
  const rows = await rowsOf(sql, id, answer, world)
  const bare = bareHouse(id, answer, rows)
  const ratios: number[] = []
  for (let round = -1; round < ROUNDS; round++) {
    const [whole, limit] = [await perSecond(house, path), await perSecond(bare, path)]
    if (round >= 0) ratios.push(whole / limit)
  }
  least = Math.min(least, median(ratios))
  const range = `${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)}`
  console.log(`${id}: ${median(ratios).toFixed(2)} of its rows by key (${range})`)
}
await world.close()
console.log(`${least.toFixed(2)}, at least ${LEAST}`)
process.exit(least >= LEAST || !process.env.DATABASE_URL ? 0 : 1)
