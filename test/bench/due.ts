// bun test/bench/due.ts — measures the turns per second that one process takes while 1 %, 10 % and 100 % of a day's
// 86,400 searches are due, and the bookkeeping of whole measurements, both as ratios to a plain indexed select and a
// plain one-row update of the same run. Measures the apps tracked per second, alone and next to those terms' 1,728
// apps. Then checks for every kind whether the end of a claim and its follow-up tasks find their rows by an index
// (PLAN=chart prints the plans of a kind). On the embedded database, or with DATABASE_URL on that server.
import { randomBytes } from "node:crypto"
import type { Sql, Tx } from "../../src/database/types.ts"
import { kindsOf } from "../../src/due-kinds.ts"
import { claim } from "../../src/measuring/claim.ts"
import { type Claim, endMeasured } from "../../src/measuring/due.ts"
import type { Kind } from "../../src/measuring/due-kind.ts"
import { openLane, takeTurn } from "../../src/measuring/pace.ts"
import { someWorkspace } from "../access/registered.ts"
import { freshDatabase } from "../database.ts"
import { searches } from "../measuring/stand-in.ts"
import { trackOwn } from "../world/tracked.ts"

const SECONDS = Number(process.env.SECONDS ?? 3)
const DAY = 86_400
const TERMS = 50
const lane = { upstream: "apps.apple.com", egress: "bench" } as const
const sql = await freshDatabase()
// test/measuring/due.test.ts checks how a claim reads its tables

const { id: workspaceId } = await someWorkspace(sql)
let tracked = 0
const trackAnother = () =>
  trackOwn(sql, { workspaceId, iosId: String(8_000_000 + ++tracked), keywords: [`own ${tracked}`] })
// warm-up
await perSecond(trackAnother)
const trackedAlone = await perSecond(trackAnother)
await sql`truncate tracked_app, store_app, due restart identity cascade`

const filled = performance.now()
await fill(sql)
console.log(`${DAY} tracked terms are due after ${Math.round(performance.now() - filled)} ms, by their triggers`)
await sql`vacuum (analyze)`
await openLane(sql, lane, 0)
const trackedPerSecond = await perSecond(trackAnother)
console.log(
  `apps tracked: ${Math.round(trackedAlone)}/s alone, ${(trackedPerSecond / trackedAlone).toFixed(2)} of that beside ` +
    `${DAY / TERMS} others`,
)
await sql`delete from tracked_app where ios_app in (select id from store_app where store_id like '8______')`
await sql`delete from due where subject like 'own %' or subject like '8______'`

for (const share of [0.01, 0.1, 1]) {
  await sql`
    update due
    set lease = null, lease_until = null,
      next_at = now() + case when kind = 'search' then interval '0' else interval '1 day' end`
  await sql`
    update due
    set next_at = now() + interval '1 day'
    where kind = 'search' and subject not in (
      select term from tracked_term order by md5(term) limit ${DAY * share}
    )`
  await sql`vacuum (analyze) due`
  const select = await perSecond(() => plainSelect(sql))
  const update = await perSecond(() => sql`update pace set answers = answers + 1 where upstream = ${lane.upstream}`)
  const claimed: Claim[] = []
  const turns = await perSecond(async () => {
    const { claimed: work } = await claim(sql, lane, [searches], 600_000)
    if (work) claimed.push(work)
    return work !== null
  })
  const ends = await perSecond(async () => {
    const work = claimed.pop()
    if (work) await sql.begin((tx) => endMeasured(tx, work))
    return work !== undefined
  })
  const further = await perSecond(() =>
    takeTurn(sql, lane, { withinMs: 1_000, live: true, signal: new AbortController().signal }),
  )
  const formatRate = (rate: number) =>
    `${Math.round(rate)}/s (${(rate / select).toFixed(2)} of the select, ${(rate / update).toFixed(2)} of the update)`
  console.log(
    `${share * 100} % due: select ${Math.round(select)}/s, one-row update ${Math.round(update)}/s, ` +
      `claims with a turn ${formatRate(turns)}, ends ${formatRate(ends)}, further turns ${formatRate(further)}`,
  )
}

// everything that is read for an app besides its terms is due: known genres and developers, and rivals
await sql`update store_app set genre = '6013', developer_id = (1500000000 + id % 500)::text where platform = 'ios'`
// the other apps of the world
await sql`
  insert into store_app (platform, store_id) select 'ios', (9000000 + i)::text from generate_series(1, 100000) i`
await sql`
  insert into app_rival (app_id, platform, storefront, rival, manual, terms)
  select a.id, 'ios', a.countries[1], r, false, 1
  from tracked_app a
  cross join lateral generate_series(1 + a.ios_app * 7 % 1000, 5 + a.ios_app * 7 % 1000) r`
await sql`update due set lease = null, lease_until = null, next_at = now() - interval '1 hour'`
await sql`vacuum (analyze)`
let whole = 0
for (const kind of [searches, ...kindsOf({ egressCountry: undefined })]) {
  await openLane(sql, { upstream: kind.upstream, egress: "bench" }, 0)
  for (const [variant, plan] of Object.entries(await explainClaim(sql, kind))) {
    const scans = readWhole(plan)
    if (process.env.PLAN === kind.name) console.log(plan.join("\n"))
    const ms = plan.findLast((line) => line.startsWith("Execution Time"))
    console.log(`${kind.name} ${kind.platform}, ${variant}: ${ms}; ${scans.join(", ") || "every table by an index"}`)
    whole += scans.length
  }
}
process.exit(whole > 0 ? 1 : 0)

/**
 * Returns the lines of a plan that really read a whole table. A chart of all genres concerns every tracked app in its
 * storefront.
 */
function readWhole(plan: readonly string[]): string[] {
  const scans = plan.filter((line) => /Seq Scan on (due|tracked_term|store_app)/.test(line))
  return scans.filter((line) => !line.includes("never executed")).map((line) => line.trim())
}

async function fill(sql: Sql): Promise<void> {
  const terms = Array.from({ length: TERMS }, (_, i) => `term ${i} ${randomBytes(6).toString("hex")}`)
  await sql`
    insert into workspace (name, plan)
    select 'bench ' || i, case i % 10 when 0 then 'pro' else 'free' end
    from generate_series(1, 200) i`
  await sql`
    insert into store_app (platform, store_id)
    select 'ios', (1000000 + i)::text
    from generate_series(1, ${DAY / TERMS}::int) i`
  await sql`
    insert into tracked_app (id, workspace_id, ios_app, countries)
    select 'app_' || id, 1 + id % 200, id, array[(array['us', 'de', 'jp', 'fr'])[1 + id % 4]]
    from store_app`
  for (let at = 1; at <= DAY / TERMS; at += 144) {
    await sql`
      insert into tracked_term (app_id, country, term, position)
      select a.id, a.countries[1], t.term || ' ' || a.ios_app, t.place
      from tracked_app a
      cross join unnest(${terms}::text[]) with ordinality t (term, place)
      where a.ios_app between ${at} and ${at + 143}`
  }
}

/** Finds the next subject at the minimum cost. */
async function plainSelect(sql: Sql): Promise<void> {
  await sql`
    select subject
    from due
    where kind = 'search' and platform = 'ios' and priority = 2 and lease is null and next_at <= now()
    order by next_at, storefront, subject
    limit 1`
}

/** Runs one call after another until the time is up or `work` returns false. */
async function perSecond(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now()
  let done = 0
  for (; performance.now() < startedAt + SECONDS * 1_000; done++) if ((await work()) === false) break
  return done / ((performance.now() - startedAt) / 1_000)
}

/**
 * Returns the server's plans of a claim, its end and its follow-up tasks, recorded by a client that explains each
 * statement.
 */
async function explainClaim(sql: Sql, kind: Kind): Promise<Record<string, string[]>> {
  const plans: Record<string, string[]> = {}
  const lane = { upstream: kind.upstream, egress: "bench" }
  const { claimed } = await claim(sql, lane, [kind], 60_000)
  if (!claimed) return plans
  await sql.begin(async (tx) => {
    const forward = explainEach(tx, "insert into due", (plan) => Object.assign(plans, { "putting forward": plan }))
    await kind.putsForward?.(forward as Tx, claimed.subjects, 10_000)
    const follows = explainEach(tx, "insert into due", (plan) => Object.assign(plans, { "made due": plan }))
    await kind.derive?.(follows as Tx, claimed.subjects, new Date())
    await endMeasured(
      explainEach(tx, "update due u", (plan) => Object.assign(plans, { end: plan })) as Tx,
      claimed,
    ).catch(() => {})
  })
  return plans
}

function explainEach<S extends Sql | Tx>(sql: S, holds: string, onPlan: (plan: string[]) => void): S {
  return new Proxy(sql, {
    apply(target, self, args) {
      const query = Reflect.apply(target as never, self, args)
      if (!String(args[0]?.raw?.join("")).includes(holds)) return query
      return (async () => {
        const rows = await (target as Sql)<
          { "QUERY PLAN": string }[]
        >`explain (analyze, buffers, costs off) ${query as ReturnType<Sql>}`
        onPlan(rows.map((row) => row["QUERY PLAN"]))
        return []
      })()
    },
  })
}
