import { beforeAll, expect, test } from "bun:test"
import type { Sql } from "../../../src/database/types.ts"
import { record } from "../../../src/observations/record.ts"
import { trackApp } from "../../../src/tracking/apps.ts"
import { reported } from "../../accounts/reported.ts"
import { freshDatabase } from "../../database.ts"
import { type House, openHouse } from "../../house.ts"

const ADS = "ac_00000000000000ad01"
const EXAMPLE = reported("ads_popularity") as unknown as {
  rows: { term: string; overall100: number; overall5: number }[]
}
const [LISTED] = EXAMPLE.rows as [(typeof EXAMPLE.rows)[number]]

let sql: Sql
let house: House
let workspace: number
let app: string
let key: string
beforeAll(async () => {
  sql = await freshDatabase()
  house = openHouse({ sql })
  workspace = await house.workspace()
  const keywords = ["a term nobody lists", LISTED.term]
  const tracked = { name: "Tea", iosId: "310633997", countries: ["de", "us"], keywords, origin: "own" as const }
  app = await sql.begin((tx) => trackApp(tx, { workspaceId: workspace, ...tracked }))
  key = await house.key(workspace)
})

const asked = async (query: string, by = key) =>
  (await house.call(`/v1/apps/${app}/keywords?${query}`, { key: by })).body.adsPopularity

test("it is read only where it is asked for, and of the App Store alone", async () => {
  expect(await asked("country=de")).toBeNull()
  expect(await asked("country=de&platform=android&adsPopularity=true")).toBeNull()
  expect((await asked("country=de&adsPopularity=true")).state).toBe("not_connected")
})

test("not connected, not read, listed, and below the list: four things, none of them a zero", async () => {
  await sql`
    insert into connected_account (id, workspace_id, kind, shown, part, sealed, next_at, state)
    values (${ADS}, ${workspace}, 'apple-ads', 'key …1', '1', 'v1.a.b.c', null, 'ok')`
  expect((await asked("country=de&adsPopularity=true")).state).toBe("not_measured")
  await record(sql, [reported("ads_popularity", { account: ADS, country: "de" })])
  const found = await asked("country=de&adsPopularity=true")
  expect(found).toMatchObject({ state: "measured", account: ADS, below: expect.any(Number) })
  expect(found.terms).toEqual([
    { term: "a term nobody lists", overall100: null, overall5: null },
    { term: LISTED.term, overall100: LISTED.overall100, overall5: LISTED.overall5 },
  ])
  expect((await asked("country=us&adsPopularity=true")).state).toBe("not_measured")
})

test("it is the workspace's own: hidden without ads:read, unknown to another workspace, and no part of our popularity", async () => {
  const blind = await house.key(workspace, { scopes: ["apps:read"] })
  expect(await asked("country=de&adsPopularity=true", blind)).toMatchObject({
    state: "hidden",
    account: null,
    terms: [],
  })
  const { body } = await house.call(`/v1/apps/${app}/keywords?country=de&adsPopularity=true`, { key })
  expect(body.keywords.map(({ popularity }: { popularity: unknown }) => popularity)).toEqual([null, null])
  const stranger = await house.workspace()
  const tracked = {
    name: "Tea",
    iosId: "310633997",
    countries: ["de"],
    keywords: [LISTED.term],
    origin: "own" as const,
  }
  const other = await sql.begin((tx) => trackApp(tx, { workspaceId: stranger, ...tracked }))
  const theirs = await house.key(stranger)
  const told = await house.call(`/v1/apps/${other}/keywords?country=de&adsPopularity=true`, { key: theirs })
  expect(told.body.adsPopularity.state).toBe("not_connected")
})
