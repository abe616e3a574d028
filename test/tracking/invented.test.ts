import { beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import type { Sql } from "../../src/database/types.ts"
import { loadInvented } from "../../src/demo/invented/load.ts"
import { INVENTED_APP, INVENTED_KEYWORDS, INVENTED_RIVALS } from "../../src/demo/invented/world.ts"
import { loadDemoInto, loadInvention, removeAllOfDemo } from "../../src/demo/load-at-start.ts"
import { isInventedId } from "../../src/lib/store-ids.ts"
import { isInventedTerm } from "../../src/lib/term.ts"
import { recording } from "../../src/recording.ts"
import { freshDatabase } from "../database.ts"
import { isLeftOut, long, slow } from "../long.ts"
import { stored } from "../measuring/record/measured.ts"
import { ownerOf } from "../pages/app-scene.ts"
import { record } from "../record.ts"
import { openService, type Service } from "../service.ts"
import { trackOwn } from "../world/tracked.ts"

setDefaultTimeout(120_000)

const NOW = new Date("2026-11-20T12:00:00Z")
const AFTER = new Date("2026-11-22T12:00:00Z")

let sql: Sql
let service: Service
let workspace: number
let key: string
let app: string

beforeAll(async () => {
  sql = await freshDatabase()
  service = openService({ sql, now: () => NOW })
  workspace = await service.workspace({ explorer: true, plan: "enterprise" })
  key = await service.key(workspace)
  if (isLeftOut) await loadMonth()
  else await loadDemoInto(recording, sql, workspace, { days: 30, now: () => NOW })
  const [row] = await sql<{ id: string }[]>`
    select a.id from tracked_app a join store_app i on i.id = a.ios_app where i.store_id = ${INVENTED_APP.id}`
  app = row!.id
})

/**
 * Loads a month of the invented app and one other app: the rest of the demo takes five times as long, most of it for
 * the owner's figures.
 */
async function loadMonth(): Promise<void> {
  await trackOwn(sql, { workspaceId: workspace, iosId: "1617391485" })
  await loadInvented(recording, sql, { workspaceId: workspace, now: () => NOW, days: 30 })
  await loadInvention(recording, sql, workspace, { days: 1, now: () => NOW })
}

const ask = async (path: string, by = key) => (await service.call(`/v1/apps/${app}${path}`, { key: by })).body

test("the invented app, its rivals and keywords are recognisable by ids that no store uses and by name", () => {
  for (const { id, name } of [INVENTED_APP, ...INVENTED_RIVALS])
    expect([id, isInventedId(id), name]).toEqual([id, true, expect.stringContaining("(invented)")])
  for (const { term } of INVENTED_KEYWORDS) expect([term, isInventedTerm(term)]).toEqual([term, true])
})

test("the invented app's keywords are ranked, absent or unmeasured, and have a published popularity", async () => {
  const { keywords } = await ask("/keywords?country=us")
  const of = (words: string) => keywords.find(({ term }: { term: string }) => term === `invented ${words}`)
  expect(of("mood diary")).toMatchObject({ measured: true, popularity: 38 })
  expect(of("mood diary").rank).toBeGreaterThan(4)
  expect(of("habit list")).toMatchObject({ measured: false, rank: null, popularity: null })
  const history = await ask("/history?country=us&days=30&terms=invented%20dream%20log,invented%20sleep%20notes")
  const ranks = Object.fromEntries(
    history.keywords.map(({ term, series }: { term: string; series: [string, number | null][] }) => [term, series]),
  )
  expect(ranks["invented dream log"].some(([, rank]: [string, number | null]) => rank === null)).toBe(true)
  expect(ranks["invented sleep notes"].length).toBeLessThan(30)
})

test("the invented app's alerts follow from its rows by the rules, and none is to be delivered", async () => {
  const { alerts } = (await service.call("/v1/alerts?limit=200", { key })).body
  const types = new Set(alerts.map(({ type }: { type: string }) => type))
  for (const type of ["review_wave", "rank_drop", "dropped_out", "entered", "rival_passed", "rival_event"])
    expect([type, types.has(type)]).toEqual([type, true])
  for (const { appName } of alerts) expect(appName).toBe(INVENTED_APP.name)
  expect(await sql`select from alert_to_deliver`).toHaveLength(0)
  const wave = alerts.find(({ type }: { type: string }) => type === "review_wave")
  const { reviews } = await ask(`/reviews/search?rating=1&limit=50&from=${wave.day}&to=${wave.day}`)
  expect(reviews).toHaveLength(6)
})

test("the invented app has page changes, answers of assistants that name it, and a weekly plan", async () => {
  const { ios, timeline } = await ask("/page?country=us")
  expect(ios).toMatchObject({ measured: true, storeId: INVENTED_APP.id })
  const kinds = new Set(timeline.map(({ kind }: { kind: string }) => kind))
  for (const kind of ["version", "subtitle", "screenshots"]) expect([kind, kinds.has(kind)]).toEqual([kind, true])
  const { engines } = await ask("/ai?country=us")
  expect(engines.openai.named).toBeGreaterThan(0)
  expect((await ask("/weekly-plan")).storefronts).toMatchObject([{ country: "us", keywords: 4 }])
})

slow("each page of the invented app states first that it is invented, unlike pages of other apps", async () => {
  const owner = await ownerOf(service, workspace)
  for (const tab of ["", "/page", "/reviews", "/revenue", "/assistants", "/plan", "/rivals"])
    expect([tab, (await owner.open(`/app/apps/${app}${tab}`)).text]).toEqual([
      tab,
      expect.stringContaining("The demo made up this app"),
    ])
  const [other] = await sql<{ id: string }[]>`select id from tracked_app where id <> ${app} order by id`
  expect((await owner.open(`/app/apps/${other!.id}`)).text).not.toContain("The demo made up this app")
})

test("the invented app is not in the market and not in other workspaces' alerts or apps", async () => {
  const otherKey = await service.key(await service.workspace({ explorer: true, plan: "enterprise" }))
  const all = [INVENTED_APP, ...INVENTED_RIVALS]
  for (const path of [
    "/v1/alerts",
    "/v1/apps",
    "/v1/hive/find?country=us&rankMax=200",
    "/v1/hive/new?country=us",
    "/v1/hive/resolve?q=Lumen+Journal",
  ]) {
    const { body } = await service.call(path, { key: otherKey })
    for (const { id } of all) expect([path, JSON.stringify(body).includes(id)]).toEqual([path, false])
  }
})

long("a second load of the invented app adds nothing, and a load two days later adds only two days", async () => {
  const before = await stored(sql)
  expect((await loadDemoInto(recording, sql, workspace, { days: 30, now: () => NOW })).recorded).toBe(0)
  expect(await stored(sql)).toBe(before)
  const days = async () =>
    (await sql`select distinct day from search_results where origin = 'demo' and day > '2026-01-01'`).length
  expect(await days()).toBe(30)
  await loadDemoInto(recording, sql, workspace, { days: 3, now: () => AFTER })
  expect(await days()).toBe(32)
})

describe("demo readings", () => {
  const page = {
    source: "apple-app-page",
    platform: "ios",
    storefront: "us",
    seenAt: NOW,
    parser: 1,
    origin: "demo",
  } as const
  const loadGenres = (id: string) =>
    record(sql, [{ kind: "listing", ...page, sha256: new Uint8Array(32), id, listing: { name: "A page" } }], () => NOW)

  test("a demo reading of a real app's page is refused", async () => {
    const { recorded, refused } = await loadGenres("1617391485")
    expect([recorded, refused[0]?.problem.message]).toEqual([0, expect.stringContaining("its invented app")])
  })
})

long("the invented app is removed completely, even after changes by its owner", async () => {
  await sql`update tracked_app set goal = 'rank' where id = ${app}`
  const { kept: notRemoved } = await removeAllOfDemo(sql)
  expect(notRemoved).toEqual([])
  for (const table of [
    "tracked_app",
    "store_app",
    "list",
    "listing_content",
    "listing_change",
    "assistant_answer",
    "keyword_metric",
    "alert",
  ])
    expect([table, (await sql`select from ${sql(table)}`).length]).toEqual([table, 0])
})
