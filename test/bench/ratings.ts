// bun test/bench/ratings.ts — bytes that a year of an app's daily rating counts in a storefront takes, as rows and packed into
// quarters as months pass; and how long a look-up of 50 apps, an app's gain and a year of its history take with the packed year,
// of with the whole one. On the embedded database; with DATABASE_URL on that PostgreSQL.

import type { Sql } from "../../src/database/types.ts"
import { readRatingGains } from "../../src/history/market/gains.ts"
import { readRatingDays } from "../../src/history/rating-days.ts"
import { record } from "../../src/observations/record.ts"
import { addDays } from "../../src/vocabulary/days.ts"
import { foldAll } from "../observations/counted.ts"
import { said } from "../observations/measured.ts"
import { median } from "./load.ts"
import { type Scratch, scratchOn } from "./scratch.ts"

const PAIRS = Number(process.env.PAIRS ?? 1_000)
const ROUNDS = Number(process.env.ROUNDS ?? 40)
const FIRST = "2024-10-01"
const DAYS = 365
const LAST = addDays(FIRST, DAYS - 1)
const url = process.env.DATABASE_URL

const [whole, packed] = [await withYear(false), await withYear(true)]
const rows = await bytes(whole.sql, "rating_count")
const [left, quarters] = [await bytes(packed.sql, "rating_count"), await bytes(packed.sql, "rating_quarter")]
const [held] = await packed.sql<{ packed: number; whole: number }[]>`
  select count(*) filter (where sha256 is null)::int as packed, count(*) filter (where sha256 is not null)::int as whole
  from rating_day`
const perDay = quarters / held!.packed
console.log(
  `as rows ${(rows / PAIRS).toFixed(0)} B an app and year (${(rows / PAIRS / DAYS).toFixed(1)} a day); packed ` +
    `${(perDay * DAYS).toFixed(0)} B (${perDay.toFixed(2)} a day): ${(rows / PAIRS / (perDay * DAYS)).toFixed(1)} times less; ` +
    `beside it ${(left / PAIRS).toFixed(0)} B of ${(held!.whole / PAIRS).toFixed(0)} days that are whole yet`,
)
let day = LAST
const apps = (await packed.sql<{ id: number }[]>`select id from store_app order by id limit 50`).map(({ id }) => id)
const lookUp = ({ sql }: Scratch) => {
  const shown = apps.map((id) => ({
    id: String(10_000 + id),
    ratings: 5_000 + ROUNDS,
    rating: 4.51234,
    name: `App ${id}`,
  }))
  return record(sql, [said(`${day}T11:00:00Z`, shown)], () => new Date(`${addDays(day, 1)}T12:00:00Z`))
}
await compare("a look-up of 50 apps recorded", lookUp, () => {
  day = addDays(day, 1)
})
await compare("the gain of an app", ({ sql }) => readRatingGains(sql, apps[7]!, LAST))
await compare("a year of its history", ({ sql }) =>
  readRatingDays(sql, apps[7]!, { storefront: "us", from: FIRST, to: LAST }),
)
await whole.remove()
await packed.remove()
process.exit(0)

/** Day by day, as it comes; a month is packed when it is five weeks old. */
async function withYear(packing: boolean): Promise<Scratch> {
  const scratch = await scratchOn(url)
  const { sql } = scratch
  await sql`
    insert into store_app (platform, store_id)
    select 'ios', (10000 + g)::text
    from generate_series(1, ${PAIRS}::int) g`
  for (let age = 0; age < DAYS; age++) {
    const today = addDays(FIRST, age)
    await sql`
      insert into rating_count (app_id, storefront, day, source, seen_at, origin, ratings, rating, parser, sha256)
      select id, 'us', ${today}::date, 'itunes-lookup',
        ${today}::date::timestamp at time zone 'utc' + ((id / 50 * 397) % 86400) * interval '1.0007 seconds', 'own',
        id * 997 + ${age}::int * (id % 40), 4 + (id + ${age}::int) % 1000 / 1001.0, 1, sha256((id / 50)::text::bytea)
      from store_app
      order by id`
    if (!packing || !today.endsWith("-06")) continue
    await foldAll(sql, `${addDays(today, -36).slice(0, 7)}-01`, 1_000)
    await sql`vacuum`
  }
  await sql`vacuum analyze`
  return scratch
}

async function bytes(sql: Sql, table: string): Promise<number> {
  const [row] = await sql<{ bytes: number }[]>`select pg_total_relation_size(${table}::regclass)::float8 as bytes`
  return row!.bytes
}

/** By turns; the median of the rounds' ratios is told. */
async function compare(what: string, run: (one: Scratch) => Promise<unknown>, next = () => {}): Promise<void> {
  const times: [whole: number, packed: number][] = []
  for (let round = -3; round < ROUNDS; round++) {
    next()
    const order = round % 2 ? [whole, packed] : [packed, whole]
    const took = new Map<Scratch, number>()
    for (const one of order) {
      const startedAt = performance.now()
      await run(one)
      took.set(one, performance.now() - startedAt)
    }
    if (round >= 0) times.push([took.get(whole)!, took.get(packed)!])
  }
  const [a, b] = [median(times.map(([ms]) => ms)), median(times.map(([, ms]) => ms))]
  const ratio = median(times.map(([one, other]) => other / one))
  console.log(`${what}: ${a.toFixed(2)} ms with whole days, ${b.toFixed(2)} ms packed: ${ratio.toFixed(2)} times`)
}
