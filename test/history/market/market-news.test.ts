import { beforeEach, expect, test } from "bun:test"
import type { Sql, Tx } from "../../../src/database/types.ts"
import { readShownPlaces } from "../../../src/history/market/found-apps.ts"
import { readMarketNews } from "../../../src/history/market/market-news.ts"
import { readSoughtApps } from "../../../src/history/market/sought-apps.ts"
import { deriveAppTexts } from "../../../src/observations/derived/app-texts.ts"
import { freshDatabase } from "../../database.ts"

let sql: Sql
let apps: number[]
const APPS = 300

beforeEach(async () => {
  sql = await freshDatabase()
  const rows = await sql<{ id: number }[]>`
    insert into store_app (platform, store_id, developer)
    select 'ios', (20000 + i)::text, 'Maker'
    from generate_series(1, ${APPS}::int) i
    returning id`
  apps = rows.map(({ id }) => id).toSorted((a, b) => a - b)
  await sql.begin(async (tx) => await call(tx, apps, "Tea"))
})

async function call(tx: Tx, ids: readonly number[], name: string): Promise<void> {
  await tx`
    insert into store_app_name (app_id, storefront, demo, name, name_at, name_weight)
    select id, 'us', false, ${name}, now(), 1
    from unnest(${ids as number[]}::int[]) a (id)
    on conflict (app_id, storefront) do update set name = excluded.name`
  await deriveAppTexts(tx, ids)
}

/** What is shown of the first three, and how many a text finds. */
async function told() {
  const news = await readMarketNews(sql)
  const places = apps.slice(0, 3).map((app) => ({ app, storeId: 7, country: "us" }))
  const names = (await readShownPlaces(sql, news, 1, places)).map((row) => JSON.parse(`{${row}}`).name)
  const found = async (text: string) => (await readSoughtApps(sql, news, () => [], { text }))!.length
  return [...names, await found("tea"), await found("mint")]
}

// the embedded database does one thing at a time
test.skipIf(!process.env.DATABASE_URL)(
  "postgres: who writes while others begin and end is read when he has ended, however early he began",
  async () => {
    expect(await told()).toEqual(["Tea", "Tea", "Tea", APPS, 0])
    const written = Promise.withResolvers<void>()
    const [end, ends] = [Promise.withResolvers<void>(), [] as unknown[]]
    const slow = sql.begin(async (tx) => {
      await call(tx, [apps[1]!], "Mint")
      written.resolve()
      await end.promise
    })
    await written.promise
    for (const app of [apps[0]!, apps[2]!]) {
      await sql.begin(async (tx) => await call(tx, [app], "Mint tea"))
      ends.push(await told())
    }
    end.resolve()
    await slow
    expect([...ends, await told(), await told()]).toEqual([
      ["Mint tea", "Tea", "Tea", APPS, 1],
      ["Mint tea", "Tea", "Mint tea", APPS, 2],
      ["Mint tea", "Mint", "Mint tea", APPS - 1, 3],
      ["Mint tea", "Mint", "Mint tea", APPS - 1, 3],
    ])
  },
)

test("many that are written at once are read anew, and so is what was taken back", async () => {
  expect(await told()).toEqual(["Tea", "Tea", "Tea", APPS, 0])
  await sql.begin(async (tx) => await call(tx, apps, "Mint"))
  expect(await told()).toEqual(["Mint", "Mint", "Mint", 0, APPS])
  const failed = await sql
    .begin(async (tx) => {
      await call(tx, apps, "Tea")
      throw new Error("taken back")
    })
    .catch((error: Error) => error.message)
  expect(failed).toBe("taken back")
  expect(await told()).toEqual(["Mint", "Mint", "Mint", 0, APPS])
})

test("rows with numbers of another database, yet to come here, are no news, and are found when they are written", async () => {
  expect(await told()).toEqual(["Tea", "Tea", "Tea", APPS, 0])
  await sql`alter table app_shown disable trigger user`
  await sql`update app_shown set changed = '9000000000'`
  await sql`alter table app_shown enable trigger user`
  const { changes } = await readMarketNews(sql)
  expect(await told()).toEqual(["Tea", "Tea", "Tea", APPS, 0])
  expect((await readMarketNews(sql)).changes).toBe(changes)
  await sql.begin(async (tx) => await call(tx, [apps[2]!], "Mint"))
  expect(await told()).toEqual(["Tea", "Tea", "Mint", APPS - 1, 1])
})

test("a database that has gone back is read anew", async () => {
  const news = await readMarketNews(sql)
  expect(await told()).toEqual(["Tea", "Tea", "Tea", APPS, 0])
  // as if it had been read far later, and what is kept were of then
  news.snapshot = "9000000000:9000000000:"
  for (const app of apps) news.shown.set(app, '"name":"Later","publisher":null,"publisherId":null')
  news.texts.clear()
  expect(await told()).toEqual(["Tea", "Tea", "Tea", APPS, 0])
})
