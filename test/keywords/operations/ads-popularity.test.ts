import { beforeAll, describe, expect, test } from "bun:test"
import type { Sql } from "../../../src/database/types.ts"
import { reported } from "../../consoles/reported.ts"
import { freshDatabase } from "../../database.ts"
import { appsReading, reading } from "../../measuring/record/measured.ts"
import { record } from "../../record.ts"
import { openService, type Service } from "../../service.ts"
import { trackOwn } from "../../world/tracked.ts"

const ADS = "ac_00000000000000ad01"
const EXAMPLE = reported("ads_popularity") as unknown as {
  rows: { term: string; overall100: number; overall5: number }[]
}
const [LISTED] = EXAMPLE.rows as [(typeof EXAMPLE.rows)[number]]

let sql: Sql
let service: Service
let workspace: number
let app: string
let key: string
beforeAll(async () => {
  sql = await freshDatabase()
  // no live reading: only stored data is used
  service = openService({ sql, measure: async () => ({ state: "fresh", measuredAt: new Date() }) })
  workspace = await service.workspace()
  const keywords = ["a term nobody lists", LISTED.term]
  const tracked = { name: "Tea", iosId: "310633997", countries: ["de", "us"], keywords, origin: "own" as const }
  app = await trackOwn(sql, { workspaceId: workspace, ...tracked })
  key = await service.key(workspace)
})

const askPopularity = async (query: string, by = key) =>
  (await service.call(`/v1/apps/${app}/keywords?${query}`, { key: by })).body.adsPopularity

test("Apple Ads' popularity is read only on request and only for the App Store", async () => {
  expect(await askPopularity("country=de")).toBeNull()
  expect(await askPopularity("country=de&platform=android&adsPopularity=true")).toBeNull()
  expect((await askPopularity("country=de&adsPopularity=true")).state).toBe("not_connected")
})

test("Apple Ads' popularity distinguishes not connected, not read, listed and not listed", async () => {
  await sql`
    insert into connected_account (id, workspace_id, kind, shown, part, sealed, next_at, state)
    values (${ADS}, ${workspace}, 'apple-ads', 'key …1', '1', 'v1.a.b.c', null, 'ok')`
  expect((await askPopularity("country=de&adsPopularity=true")).state).toBe("not_measured")
  await record(sql, [reported("ads_popularity", { account: ADS, country: "de" })])
  const found = await askPopularity("country=de&adsPopularity=true")
  expect(found).toMatchObject({ state: "measured", account: ADS, below: expect.any(Number) })
  expect(found.terms).toEqual([
    { term: "a term nobody lists", overall100: null, overall5: null },
    { term: LISTED.term, overall100: LISTED.overall100, overall5: LISTED.overall5 },
  ])
  expect((await askPopularity("country=us&adsPopularity=true")).state).toBe("not_measured")
})

test("Apple Ads' popularity requires ads:read and never replaces the field popularity", async () => {
  const blind = await service.key(workspace, { scopes: ["apps:read"] })
  expect(await askPopularity("country=de&adsPopularity=true", blind)).toMatchObject({
    state: "hidden",
    account: null,
    terms: [],
  })
  const { body } = await service.call(`/v1/apps/${app}/keywords?country=de&adsPopularity=true`, { key })
  expect(body.keywords.map(({ popularity }: { popularity: unknown }) => popularity)).toEqual([null, null])
  const stranger = await service.workspace()
  const tracked = {
    name: "Tea",
    iosId: "310633997",
    countries: ["de"],
    keywords: [LISTED.term],
    origin: "own" as const,
  }
  const other = await trackOwn(sql, { workspaceId: stranger, ...tracked })
  const strangerKey = await service.key(stranger)
  const response = await service.call(`/v1/apps/${other}/keywords?country=de&adsPopularity=true`, { key: strangerKey })
  expect(response.body.adsPopularity.state).toBe("not_connected")
})

describe("each operation returns Apple Ads' popularity on request, and never that of another workspace", () => {
  const rank = { source: "apple-web-search", storefront: "de" } as never
  const TERM = LISTED.term
  const reads = [
    ["get_keyword_difficulty", `keyword-difficulty?term=${encodeURIComponent(TERM)}&cc=de`],
    ["hive_get_keyword_metrics", `hive/keywords/${encodeURIComponent(TERM)}/metrics?country=de`],
    ["hive_research_keyword", `hive/research?seed=${encodeURIComponent(TERM)}&country=de`],
  ] as const
  const popularity = { term: TERM, overall100: LISTED.overall100, overall5: LISTED.overall5 }
  const market = async (explorer: number) =>
    await service.key(explorer, { scopes: ["apps:read", "ads:read", "hive:read"] })
  beforeAll(async () => {
    await sql`update workspace set plan = 'enterprise', explorer = true`
    const ids = Array.from({ length: 12 }, (_, place) => String(1_700_000_000 + place))
    const at = new Date().toISOString()
    const apps = ids.map((id, place) => ({ id, name: `Tea ${place}`, ratings: 100 + place }))
    const readings = [reading(TERM, at, ids, rank), appsReading(at, apps, { storefront: "de" })]
    expect((await record(sql, readings, () => new Date(Date.now() + 1_000))).refused).toEqual([])
  })

  test.each(reads)("%s returns Apple Ads' popularity on request only", async (_, path) => {
    const ownKey = await market(workspace)
    const answer = async (query: string, by: string) => (await service.call(`/v1/${path}${query}`, { key: by })).body
    const plain = await answer("", ownKey)
    expect(plain.adsPopularity).toBeNull()
    const withPopularity = await answer("&adsPopularity=true", ownKey)
    expect(withPopularity.adsPopularity).toMatchObject({ state: "measured", account: ADS })
    expect(withPopularity.adsPopularity.terms[0]).toEqual(popularity)
    // our own figures are on another scale and must not change
    expect({ ...withPopularity, adsPopularity: null }).toEqual(plain)
    const strangerKey = await market(await service.workspace({ plan: "enterprise", explorer: true } as never))
    const response = await service.call(`/v1/${path}&adsPopularity=true`, { key: strangerKey })
    expect(response.body.adsPopularity).toMatchObject({ state: "not_connected", terms: [] })
    expect(response.text).not.toContain(ADS)
    const blind = await service.key(workspace, { scopes: ["apps:read", "hive:read"] })
    expect((await answer("&adsPopularity=true", blind)).adsPopularity).toMatchObject({ state: "hidden", terms: [] })
  })

  test("fetch includes Apple Ads' popularity in a keyword's record", async () => {
    const id = `kw:${app}:de:${encodeURIComponent(TERM)}`
    const { body } = await service.call(`/v1/fetch?id=${encodeURIComponent(id)}`, { key })
    expect(body.metadata.adsPopularity).toMatchObject({ state: "measured", account: ADS, terms: [popularity] })
  })
})
