import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test"
import { randomBytes } from "node:crypto"
import type { Sql } from "../../../src/database/types.ts"
import { deriveKeywordMetrics } from "../../../src/keywords/store/keyword-metrics.ts"
import { silentLog } from "../../../src/lib/log.ts"
import { createWriting } from "../../../src/texts/port/write.ts"
import { freshDatabase } from "../../database.ts"
import { listed } from "../../measuring/record/listed.ts"
import { record } from "../../record.ts"
import { openService, type Service } from "../../service.ts"
import { popularityReading, searchReading } from "../../world/readings.ts"
import { trackOwn } from "../../world/tracked.ts"
import { openStandIn, type Script, well } from "../stand-in.ts"

setDefaultTimeout(60_000)

const NOW = new Date("2026-05-20T12:00:00Z")
let sql: Sql
let service: Service
const standIn = openStandIn("responses")
afterAll(() => standIn.close())

beforeAll(async () => {
  sql = await freshDatabase()
  const settings = {
    url: standIn.url,
    api: "responses" as const,
    model: "m-1",
    key: undefined,
    contextTokens: 100_000,
    tokensADay: 1e12,
    atOnce: 2,
  }
  const { write } = createWriting({
    sql,
    log: silentLog,
    settings,
    now: () => NOW,
    randomBytes,
    pollMs: 20,
    patienceMs: 50,
    fetch: (url, init) => fetch(url, init),
  })
  service = openService({ sql, now: () => NOW, write })
  await record(sql, [listed("2026-05-19T10:00:00Z")], () => NOW)
})

async function opened(options: Parameters<Service["workspace"]>[0] = {}) {
  const workspaceId = await service.workspace(options)
  const key = await service.key(workspaceId)
  const [app] = await sql<
    { id: string }[]
  >`select store_id as id from store_app where developer = 'Leaves' order by id limit 1`
  const tracked = {
    workspaceId,
    iosId: app!.id,
    countries: ["us", "de"],
    keywords: ["tea timer", "coffee timer", "oolong"],
    origin: "own",
  }
  const appId = await trackOwn(sql, tracked)
  const get = (query = "") => service.call(`/v1/apps/${appId}/draft?${query}`, { key })
  const used = async () => {
    const [row] = await sql<{ used: number }[]>`
      select coalesce(sum(used), 0)::int as used
      from allowance_used
      where workspace_id = ${workspaceId} and allowance = 'aiWriting'`
    return row!.used
  }
  return { get, used, key, appId }
}

function play(...script: Script[]) {
  standIn.requests.splice(0)
  standIn.script.splice(0, standIn.script.length, ...script)
}
const resting = (...texts: string[]) => texts.map((text) => ({ facts: ["Steep it right"], text }))
const GOOD = {
  name: resting("Tea Timer"),
  subtitle: resting("Steep oolong right"),
  promotionalText: resting("Now with oolong."),
  description: resting("A timer for tea."),
}

test("a draft is written once a day, passes validate_listing, and names the keywords it uses", async () => {
  const { get, used, key, appId } = await opened()
  play(well(() => GOOD))
  const { status, body } = await get()
  expect([status, await used()]).toEqual([200, 1])
  expect(body.fields.map(({ field, text, limit }: Record<string, string>) => [field, text, limit])).toEqual([
    ["name", "Tea Timer", 30],
    ["subtitle", "Steep oolong right", 30],
    ["promotionalText", "Now with oolong.", 170],
    ["description", "A timer for tea.", 4_000],
  ])
  for (const { facts } of body.fields) expect(facts).toEqual([{ reviewId: null, quote: "Steep it right" }])
  expect(body).toMatchObject({
    locale: "en-US",
    termsUsed: ["oolong", "tea timer"].sort((a) => (a === "tea timer" ? -1 : 1)),
    counts: { error: 0 },
  })
  expect(body.excluded).toEqual([{ term: "coffee timer", why: "not_used" }])
  expect((await get()).body).toEqual(body)
  expect([standIn.requests.length, await used()]).toEqual([1, 1])
  const texts = Object.fromEntries(body.fields.map(({ field, text }: Record<string, string>) => [field, text]))
  const checked = await service.call(`/v1/apps/${appId}/validate-listing`, { key, method: "POST", body: texts })
  expect(checked.body.counts.error).toBe(0)
  expect(checked.body.counts).toEqual(body.counts)
})

test("after one retry, a field without an acceptable draft keeps the page's text and shows the reason", async () => {
  const { get, used } = await opened()
  play(well(() => ({ ...GOOD, subtitle: resting("500 teas", "x".repeat(31)) })))
  const { body } = await get()
  expect(standIn.requests.length).toBe(2)
  expect(standIn.requests[1]!.data).toInclude("subtitle: It named a number that no record has. At fault: 500")
  expect(body.fields[1]).toMatchObject({
    field: "subtitle",
    text: "Steep it right",
    kept: "It named a number that no record has. At fault: 500",
  })
  expect(body.written.dropped).toEqual([
    { what: "field", rule: "numbers", count: 1 },
    { what: "field", rule: "length", count: 1 },
  ])
  expect(await used()).toBe(1)
})

test("a variant that neither the page nor a review supports is refused, and false facts are left out", async () => {
  const { get } = await opened()
  play(
    well(() => ({
      ...GOOD,
      subtitle: [{ facts: ["Steep it wrong", ""], text: "Steep oolong right" }],
      description: [{ facts: ["STEEP  IT right", "it was never said"], text: "A timer for tea." }],
    })),
  )
  const { body } = await get("cc=us")
  expect(standIn.requests[1]!.data).toInclude("subtitle: None of its facts is in the page")
  expect(body.fields[1]).toMatchObject({ text: "Steep it right", facts: [] })
  // the fact has the page's characters, not the model's
  expect(body.fields[3].facts).toEqual([{ reviewId: null, quote: "Steep it right" }])
  expect(body.written.dropped).toEqual([
    { what: "field", rule: "not_in_its_text", count: 1 },
    { what: "quote", rule: "not_in_its_text", count: 1 },
  ])
})

test("a call is not charged if the page is unread, no draft passes the checks or the plan is too low", async () => {
  const { get, used } = await opened()
  play(well(() => ({ name: resting("www.evil.com"), subtitle: [], promotionalText: [], description: [] })))
  expect((await get("cc=de")).body.error).toBe("not_measured")
  expect((await get("platform=android")).body.error).toBe("not_measured")
  expect(standIn.requests.length).toBe(0)
  expect((await get()).body.error).toBe("ai_failed")
  expect(await used()).toBe(0)
  const free = await opened({ plan: "free", pack: 1_000 })
  expect((await free.get()).body.error).toBe("plan_required")
  const none = await opened({ overrides: { ratePerSecond: 100_000, aiWriting: 0 } })
  expect((await none.get()).body.error).toBe("ai_text_limit")
})

test("the writer gets all keywords in one order of popularity, whether published or estimated", async () => {
  const results = Array.from({ length: 10 }, (_, i) => ({ id: String(20_001 + i), name: `Oolong ${i}`, ratings: 300 }))
  const search = searchReading("oolong", "2026-05-19T09:00:00Z", [], { depth: 30, results })
  const published = ["tea timer", "coffee timer"].map((term, at) => popularityReading(term, "2026-04-01", 44 - 30 * at))
  expect((await record(sql, [search, ...published], () => NOW)).refused).toEqual([])
  const { get, key, appId } = await opened()
  await sql.begin((tx) => deriveKeywordMetrics(tx, [{ term: "oolong", platform: "ios", storefront: "us" }], NOW))
  play(well(() => GOOD))
  expect((await get()).status).toBe(200)
  const { body } = await service.call(`/v1/apps/${appId}/keywords?country=us`, { key })
  const estimate = body.keywords.find(({ term }: { term: string }) => term === "oolong")
  expect([estimate.popularity, estimate.popularityLow, estimate.popularityHigh]).toEqual([null, 5, 9])
  const keywords = [...standIn.requests[0]!.data.matchAll(/"r":"keyword","term":"([^"]+)","popularity":(\d+|null)/g)]
  expect(keywords.map(([, term, popularity]) => [term, popularity])).toEqual([
    ["tea timer", "44"],
    ["coffee timer", "14"],
    ["oolong", "7"],
  ])
})
