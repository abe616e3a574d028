// bun test/bench/spy.ts — the keywords of a rival among 1,000, 5,000 and 20,000 keywords of a storefront whose results are 200
// deep, with a month of days: each statement's time and the whole read's. With DATABASE_URL on that server, else embedded.
import type { Sql } from "../../src/database/types.ts"
import { keywordsHolding } from "../../src/history/keywords-holding.ts"
import { getRival } from "../../src/operations/rivals/rival.ts"
import { freshDatabase } from "../database.ts"
import { ask, contextOf, NOW, nameAll, newWorkspace } from "../observations/measured.ts"
import { median } from "./load.ts"

const ROUNDS = Number(process.env.ROUNDS ?? 10)
const DAYS = Number(process.env.DAYS ?? 8)
const WORLD = 50_000
const TRACKED = 200

const sql = await freshDatabase()
await makeWorld(sql)
const workspaceId = await newWorkspace(sql)
await sql`
  insert into tracked_app (id, workspace_id, ios_app, countries)
  select 'own', ${workspaceId}, id, '{us}'
  from store_app
  where store_id = '100000001'`
let lists = 0
for (const until of [1_000, 5_000, 20_000]) {
  for (; lists < until; lists += 1_000) await addLists(sql, lists, 1_000)
  if (process.env.ANALYZE !== "no") await sql`analyze`
  const times: number[] = []
  const timed = timing(sql, times)
  const sought = {
    platform: "ios" as const,
    storefront: "us",
    holds: 100,
    beside: 1,
    tracker: "own",
    since: "2025-11-14",
  }
  const whole = await took(() => keywordsHolding(timed, sought))
  const { keywords, searched } = await keywordsHolding(sql, sought)
  const read = await took(() => ask(getRival, contextOf(sql, workspaceId), { appId: "own", rivalId: "100000100" }))
  const longest = Math.max(...times).toFixed(1)
  console.log(
    `${searched} keywords, ${keywords.length} found: ${whole.toFixed(1)} ms in ${(times.length / (ROUNDS + 3)).toFixed(0)} statements, the median ${median(times).toFixed(1)}, the longest ${longest}; get_rival ${read.toFixed(1)} ms`,
  )
}
process.exit(0)

/** The same client, noting how long each statement took. */
function timing(sql: Sql, times: number[]): Sql {
  return new Proxy(sql, {
    apply(target, self, args) {
      const sent = Reflect.apply(target, self, args)
      if (!String(args[0]?.raw?.join("")).includes("with looked")) return sent
      const started = performance.now()
      return sent.then((rows: unknown) => {
        times.push(performance.now() - started)
        return rows
      })
    },
  })
}

async function took(call: () => Promise<unknown>): Promise<number> {
  for (let i = 0; i < 3; i++) await call()
  const times: number[] = []
  for (let i = 0; i < ROUNDS; i++) {
    const started = performance.now()
    await call()
    times.push(performance.now() - started)
  }
  return median(times)
}

/** Apps of which the low ids rank most often. */
async function makeWorld(sql: Sql): Promise<void> {
  for (const month of ["2025-10-01", "2025-11-01"]) await sql`select open_month(${month})`
  await sql`
    insert into store_app (platform, store_id, seen_at, source, origin)
    select 'ios', (100000000 + i)::text, now(), 'import', 'own'
    from generate_series(1, ${WORLD}::int) i`
  await nameAll(sql, sql`'App ' || id`)
}

async function addLists(sql: Sql, from: number, count: number): Promise<void> {
  await sql`
    insert into list (platform, storefront, term, first_day, last_day)
    select 'ios', 'us', 'word ' || md5(i::text), '2025-11-19', '2025-11-19'
    from generate_series(${from + 1}::int, ${from + count}::int) i`
  if (from === 0)
    await sql`
      insert into tracked_term (app_id, country, term, position)
      select 'own', 'us', term, id
      from list
      order by id
      limit ${TRACKED}`
  for (let ago = 0; ago < DAYS; ago++)
    await sql`
      insert into search_results (list_id, day, source, seen_at, depth, complete, parser, origin, sha256, app_ids)
      select l.id, '2025-11-19'::date - ${ago}::int, 10, ${NOW}, 200, true, 1, 'own', sha256('x'), r.ids
      from (select id from list order by id desc limit ${count}) l
      cross join lateral (
        select array_agg(1 + floor(${WORLD}::int * power(random(), 3))::int) as ids
        from generate_series(1, 200)
        where l.id > 0
      ) r`
}
