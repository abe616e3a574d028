import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test"
import { randomBytes } from "node:crypto"
import type { Sql } from "../../../src/database/types.ts"
import { silentLog } from "../../../src/log.ts"
import { record } from "../../../src/observations/record.ts"
import { trackApp } from "../../../src/tracking/apps.ts"
import { createWriting } from "../../../src/writing/port/write.ts"
import { freshDatabase } from "../../database.ts"
import { type House, openHouse } from "../../house.ts"
import { reviewed } from "../../observations/reviewed.ts"
import { openStandIn, type Script, well } from "../../writing/stand-in.ts"

setDefaultTimeout(60_000)

const NOW = new Date("2025-11-20T12:00:00Z")
let sql: Sql
let house: House
const standIn = openStandIn("messages")
afterAll(() => standIn.close())

beforeAll(async () => {
  sql = await freshDatabase()
  const settings = {
    url: standIn.url,
    api: "messages" as const,
    model: "m-1",
    key: "k",
    contextTokens: 100_000,
    tokensADay: 1e12,
    atOnce: 2,
  }
  const { write } = createWriting({
    ...{ sql, log: silentLog, settings, now: () => NOW, randomBytes, pollMs: 20, patienceMs: 50 },
    fetch: (url, init) => fetch(url, init),
  })
  house = openHouse({ sql, now: () => NOW, write })
  const texts = ["Far too many ads after level 30.", "It crashes on start.", "Nice."]
  const reviews = Array.from({ length: 30 }, (_, n) => ({ id: `r-${n}`, text: texts[n % 3]!, stars: 1 + (n % 5) }))
  await record(
    sql,
    [reviewed("2025-11-19T10:00:00Z", reviews, { end: { pages: 1, complete: true, empty: false } })],
    () => NOW,
  )
})

async function opened() {
  const workspaceId = await house.workspace()
  const key = await house.key(workspaceId)
  const asked = { workspaceId, iosId: "10001", countries: ["us"], keywords: ["tea"], origin: "own" }
  const appId = await sql.begin((tx) => trackApp(tx, asked))
  const get = (query = "") => house.call(`/v1/apps/${appId}/reviews/summary?${query}`, { key })
  const used = async () => {
    const { body } = await house.call("/v1/usage", { key })
    return body.quotas.find((quota: { key: string }) => quota.key === "reviewAi").used as number
  }
  return { get, used }
}

function play(...script: Script[]) {
  standIn.seen.splice(0)
  standIn.script.splice(0, standIn.script.length, ...script)
}
const saying = (...sentences: string[]) =>
  well(() => ({ themes: sentences.map((sentence, at) => ({ r: `t${at + 1}`, sentence })) }))
const told = ({ body }: { body: { themes: { topic: string; count: number; sentence: string | null }[] } }) =>
  body.themes.map(({ topic, count, sentence }) => [topic, count, sentence])

test("a model's sentences stand beside counts that are counted, once for all workspaces", async () => {
  const { get, used } = await opened()
  play(saying("Ads come too often after level 30.", "The app crashes when it starts."))
  const first = await get()
  expect(told(first)).toEqual([
    ["ads", 10, "Ads come too often after level 30."],
    ["crashes", 10, "The app crashes when it starts."],
  ])
  expect(first.body.written).toMatchObject({ by: "model", model: "m-1", dropped: [] })
  const other = await opened()
  expect((await other.get()).body).toEqual(first.body)
  expect([standIn.seen.length, await used(), await other.used()]).toEqual([1, 1, 1])
  expect(standIn.seen[0]!.data).not.toMatch(/r-\d|10001/)
})

test("lying counts, invented numbers and unknown themes are shown nowhere, and what was dropped is said", async () => {
  const { get, used } = await opened()
  play(saying("Most users complain about ads.", "It crashed 500 times.", "A third theme."))
  const answer = await get("lang=en&store=ios&country=us")
  // stored above: the same batch on the same day
  expect(told(answer)[0]![2]).toBe("Ads come too often after level 30.")
  const french = await get("lang=fr")
  expect(told(french).map(([, , sentence]) => sentence)).toEqual([null, null])
  expect(french.text).not.toMatch(/500|Most users|third/)
  expect(french.body.written.dropped).toContainEqual({ what: "sentence", rule: "unknown_handle", count: 1 })
  expect([standIn.seen.length, await used()]).toEqual([2, 2])
})

test("a provider that refuses leaves what the rules say, and says so", async () => {
  const { get, used } = await opened()
  for (const [lang, script] of [
    ["de", { status: 401 }],
    ["es", { status: 429, headers: { "retry-after": "99" } }],
    ["tr", { raw: "<html>" }],
  ] as [string, Script][]) {
    play(script)
    const { status, body } = await get(`lang=${lang}`)
    expect([status, body.state, body.written.by, body.themes[0].sentence]).toEqual([200, "ready", "rules", null])
  }
  expect(await used()).toBe(3)
})
