import { afterAll, expect, setDefaultTimeout, test } from "bun:test"
import { readTree } from "../../src/database/assets.ts"
import { freshDatabase } from "../database.ts"
import { newWorkspace } from "../observations/measured.ts"
import { trackOwn } from "../world/tracked.ts"

setDefaultTimeout(120_000)

afterAll(async () => {
  await freshDatabase()
})

test("a term stored with characters that nobody sees takes its visible spelling, with its history", async () => {
  const sql = await freshDatabase()
  const workspaceId = await newWorkspace(sql)
  const appId = await trackOwn(sql, {
    ...{ workspaceId, iosId: "1600000101", countries: ["us"], origin: "own" },
    keywords: ["tide times", "moon", "istanbul", "❤️ tides", "none"],
  })
  // as an earlier version stored them
  await sql`update list set term = ${"moon\u200b"} where term = 'moon'`
  await sql`update list set term = ${"i\u0307stanbul"} where term = 'istanbul'`
  await sql`update tracked_term set term = ${"moon\u200b"} where term = 'moon'`
  await sql`update tracked_term set term = ${"i\u0307stanbul"} where term = 'istanbul'`
  await sql`update tracked_term set term = ${"\u200b"} where term = 'none'`
  await sql`
    insert into tracked_term (app_id, country, term, position)
    values (${appId}, 'us', ${"tide\u2060 times"}, 9)`
  const lists = async () => (await sql`select id, term from list order by id`).map(({ id, term }) => [id, term])
  const before = await lists()
  const files = new Map([...readTree("sql", ".sql")].filter(([name]) => /_visible_terms\.sql$/.test(name)))
  await sql.begin(async (tx) => {
    for (const text of files.values()) await tx.unsafe(text)
  })
  const terms = await sql`select term from tracked_term order by term collate "C"`
  expect(terms.map(({ term }) => term)).toEqual(["istanbul", "moon", "tide times", "❤️ tides"])
  expect(await lists()).toEqual(
    before.map(([id, term]) => [id, term.replace("\u200b", "").replace("\u0307", "")]) as never,
  )
  expect(files.size).toBe(1)
})
