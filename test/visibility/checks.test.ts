import { afterAll, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test"
import type { Sql } from "../../src/database/types.ts"
import { silentLog } from "../../src/lib/log.ts"
import type { Assistant } from "../../src/lib/upstreams.ts"
import type { AssistantChecks } from "../../src/lib/writing/assistant-checks.ts"
import { recording } from "../../src/recording.ts"
import { createAsking } from "../../src/visibility/worker.ts"
import { deleteRows, freshDatabase } from "../database.ts"
import { slow } from "../long.ts"
import { appsReading, reading } from "../measuring/record/measured.ts"
import { record } from "../record.ts"
import { openService, type Service } from "../service.ts"
import { trackOwn } from "../world/tracked.ts"
import { openEngines } from "./stand-in.ts"

setDefaultTimeout(60_000)

const SETUP: AssistantChecks = {
  engines: [
    { assistant: "openai", model: "m-1", price: { input: 0.1, output: 0.5, searches: 10 } },
    { assistant: "anthropic", model: "m-2", price: { input: 0.1, output: 0.5, searches: 10 } },
    { assistant: "google", model: "m-3", price: { input: 0.2, output: 1, searches: 14 } },
  ],
  runs: 3,
  mostAnswers: 300,
  spreadMs: 0,
}
const stand = openEngines()
afterAll(() => stand.close())

let sql: Sql
let service: Service
/** The clock of the calling process. The database uses its own clock. */
let now = new Date()

beforeAll(async () => {
  sql = await freshDatabase()
  service = openService({ sql, assistants: SETUP })
  await record(sql, [
    appsReading("2025-11-18T10:00:00Z", [
      { id: "10001", name: "Tea Timer: Steep it right" },
      { id: "10002", name: "Brewly - Coffee & Tea" },
      { id: "10003", name: "Calm" },
    ]),
    reading("tea", "2025-11-18T10:00:00Z", ["10002", "10003"]),
  ])
})

beforeEach(async () => {
  await deleteRows(
    sql,
    "assistant_answer",
    "assistant_turn",
    "ai_check",
    "ai_check_turn",
    "pace",
    "allowance_unit",
    "allowance_used",
  )
  stand.questions.splice(0)
  for (const name of Object.keys(stand.answers)) delete stand.answers[name as Assistant]
  now = new Date()
})

const asking = (rest: object = {}) => {
  const engines = SETUP.engines.map(({ assistant }) => ({ assistant, url: stand.urls[assistant], key: "sk-secret" }))
  return createAsking({
    recording,
    sql,
    log: silentLog,
    engines,
    gapMs: 0,
    retryMs: 0,
    now: () => now,
    fetch: (url, init) => fetch(url, init),
    ...rest,
  })
}
async function askAll(worker = asking()) {
  while ((await worker.runOnce()) > 0);
}

async function opened({
  keywords = ["tea", "tea timer"],
  countries = ["us"],
  plan = "studio" as const,
  overrides = {},
} = {}) {
  const workspaceId = await service.workspace({ plan, overrides })
  const key = await service.key(workspaceId)
  const appId = await trackOwn(sql, { workspaceId, iosId: "10001", countries, keywords })
  const start = (query = "") => service.call(`/v1/apps/${appId}/ai-check${query}`, { key })
  const read = (query = "") => service.call(`/v1/apps/${appId}/ai${query}`, { key })
  const used = async () => {
    const [row] = await sql<{ used: number }[]>`
      select coalesce(sum(used), 0)::int as used
      from allowance_used
      where workspace_id = ${workspaceId} and allowance = 'aiVisibility'`
    return row!.used
  }
  return { start, read, used, key, appId, workspaceId }
}

const naming = (text: string) => () => ({ text })

slow("a check asks each assistant about each keyword without naming the app, and counts its answers", async () => {
  const { start, read, used } = await opened()
  stand.answers.openai = (question) => ({
    text: question.includes('"tea"')
      ? "1. **Brewly** – coffee too\n2. **Tea Timer** – simple"
      : "Try your kitchen clock, and stay Calm.",
    cited: [{ url: "https://www.example.com/best-tea-apps", title: "Best" }],
  })
  stand.answers.anthropic = naming("- Tea Timer: the best one")
  stand.answers.google = () => ({ text: "Brewly is popular.", searched: false })
  const begun = await start()
  expect(begun.body).toMatchObject({
    state: "measuring",
    countries: ["us"],
    keywords: 2,
    runs: 3,
    answers: 18,
    shared: 0,
    basis: "assumed",
  })
  expect(begun.body.cents).toBeGreaterThan(10)
  expect(await used()).toBe(1)
  await askAll()
  expect(stand.questions).toHaveLength(18)
  for (const { question, body } of stand.questions) {
    expect(question).toMatch(/^(What are the best apps|Which app should I install) for "tea( timer)?"\?$/)
    expect(JSON.stringify(body)).not.toMatch(/Tea Timer|10001|temperature|top_p/)
  }
  const { body } = await read()
  expect(body.providers).toEqual({
    openai: "measured",
    anthropic: "measured",
    google: "measured",
    perplexity: "not_measured",
  })
  expect(body.engines.openai).toMatchObject({
    named: 3,
    of: 6,
    tooThin: true,
    searched: 6,
    first: 0,
    answers: 6,
    uncertain: 0,
  })
  expect(
    body.engines.openai.keywords.map(({ term, named, of }: { term: string; named: number; of: number }) => [
      term,
      named,
      of,
    ]),
  ).toEqual([
    ["tea", 3, 3],
    ["tea timer", 0, 3],
  ])
  expect([body.engines.openai.low, body.engines.openai.high]).toEqual([0.188, 0.812])
  expect(body.engines.openai.domains).toEqual([{ domain: "example.com", answers: 6 }])
  expect(body.engines.openai.others).toEqual([])
  expect(body.engines.anthropic).toMatchObject({ named: 6, of: 6, first: 6 })
  expect(body.engines.google).toMatchObject({ named: 0, of: 6, searched: 0 })
  expect(body.check).toMatchObject({ state: "measured", asked: 18, answered: 18, failed: 0 })
  // calculated by hand: OpenAI 6 × (8,200 × 0.1 + 400 × 0.5) / 10,000 + 6 searches, Anthropic 6 × (10,000 × 0.1 + 350 ×
  // 0.5) / 10,000 + 6, Google 6 × (20 × 0.2 + 390 × 1) / 10,000
  expect(body.check.cents).toBe(13.6)
  expect(body.next).toEqual({ answers: 18, shared: 18, cents: 0, basis: "measured" })
})

slow("an assistant that fails is failed, one without a key is not_measured, and neither counts as zero", async () => {
  const { start, read } = await opened()
  stand.answers.openai = naming("**Tea Timer**")
  stand.answers.anthropic = () => ({ status: 500 })
  stand.answers.google = (_, nth) => (nth > 0 ? { text: "Tea Timer", end: "cut" } : { text: "Tea Timer" })
  await start()
  await askAll()
  const { body } = await read()
  expect(body.providers).toEqual({
    openai: "measured",
    anthropic: "failed",
    google: "measured",
    perplexity: "not_measured",
  })
  expect(Object.keys(body.engines).toSorted()).toEqual(["google", "openai"])
  // each question has two phrasings and the first is asked twice: its second answer was cut
  expect(body.engines.google).toMatchObject({ named: 4, of: 4 })
  expect(body.check).toMatchObject({ state: "measured", answered: 10, failed: 8 })
  // three tries for each question
  expect(stand.questions.filter(({ assistant }) => assistant === "anthropic")).toHaveLength(18)
})

test("one of several concurrent checks runs and is charged, and the other checks get already_measuring", async () => {
  const { start, used } = await opened()
  const all = await Promise.all([start(), start(), start()])
  expect(all.map(({ status }) => status).toSorted()).toEqual([200, 409, 409])
  expect(all.find(({ status }) => status === 409)!.body.error).toBe("already_measuring")
  expect(await used()).toBe(1)
})

slow("a check that fails completely is refunded once, and the next check can begin", async () => {
  const { start, read, used } = await opened()
  for (const { assistant } of SETUP.engines) stand.answers[assistant] = () => ({ status: 401 })
  await start()
  expect(await used()).toBe(1)
  await askAll()
  await askAll()
  expect(await used()).toBe(0)
  // a refused key is not sent again with every question
  expect(stand.questions.length).toBeLessThan(18)
  const { body } = await read()
  expect(body.check).toMatchObject({ state: "failed", answered: 0, failed: 18 })
  expect((await start()).status).toBe(200)
})

slow("a check beyond the month's allowance fails with ai_limit, the limit and the time of the reset", async () => {
  const { start } = await opened({ overrides: { aiVisibility: 1 } })
  await start()
  await askAll()
  const { status, body } = await start()
  expect([status, body.error, body.limit]).toEqual([429, "ai_limit", 1])
  expect(new Date(body.resetsAt).getTime()).toBeGreaterThan(Date.now())
})

slow("a check reuses answers that another workspace got in the last day, without a request", async () => {
  const [first, second] = [await opened(), await opened()]
  stand.answers.openai = naming("**Tea Timer**")
  await first.start()
  const { body: joined } = await second.start()
  expect(joined).toMatchObject({ state: "measuring", shared: 18 })
  await askAll()
  expect(stand.questions).toHaveLength(18)
  const { body: third } = await first.start()
  expect(third).toMatchObject({ state: "measured", shared: 18, cents: 0, eta: 0 })
  expect(await first.used()).toBe(2)
  expect((await second.read()).body.engines.openai).toMatchObject({ named: 6, of: 6 })
  expect((await second.read()).body.check).toMatchObject({ state: "measured", cents: 0 })
})

slow("a rival that is added later is found in stored answers, without a request", async () => {
  const { start, read, appId } = await opened()
  stand.answers.openai = (_, nth) => ({ text: nth === 0 ? "1. Tea Timer\n2. Brewly" : "Tea Timer" })
  await start()
  await askAll()
  expect((await read()).body.engines.openai.rivals).toEqual([])
  const requestCount = stand.questions.length
  await sql`update tracked_app set manual_rivals = '{ios:10002}' where id = ${appId}`
  const { body } = await read()
  expect(body.engines.openai.rivals).toMatchObject([{ name: "Brewly", named: 4, of: 6, rival: true }])
  expect(stand.questions).toHaveLength(requestCount)
})

test("a check requests at most the allowed number of answers and skips the least popular keywords", async () => {
  const tight = openService({ sql, assistants: { ...SETUP, mostAnswers: 20 } })
  const { appId, key } = await opened({ keywords: ["a", "b", "c"], countries: ["us", "de"] })
  const { body } = await tight.call(`/v1/apps/${appId}/ai-check`, { key })
  expect(body).toMatchObject({ keywords: 2, answers: 18, countries: ["us", "de"] })
  await askAll()
  expect(new Set(stand.questions.map(({ question }) => question.match(/[„"](.)[“"]/)![1]))).toEqual(new Set(["a"]))
})

test("a check without an assistant or without a keyword returns the reason and is not charged", async () => {
  const none = openService({ sql })
  const { appId, key, used } = await opened()
  const refused = (await none.call(`/v1/apps/${appId}/ai-check`, { key })).body
  expect(refused).toMatchObject({ error: "ai_not_configured", detail: expect.stringContaining("AI_ENGINES") })
  const bare = await opened({ keywords: [] })
  const { status, body } = await bare.start("?country=fr")
  expect([status, body.state, body.checkId]).toEqual([200, "nothing_tracked", null])
  expect([await used(), await bare.used()]).toEqual([0, 0])
  const { body: read } = await none.call(`/v1/apps/${appId}/ai`, { key })
  expect(read).toMatchObject({ check: null, next: null, engines: {} })
  expect(new Set(Object.values(read.providers))).toEqual(new Set(["not_measured"]))
})

describe("failing workers", () => {
  test("an answer that arrives after its lease expired is dropped, and another process asks again", async () => {
    const { start, read } = await opened({ keywords: ["tea"] })
    await start()
    await sql`delete from assistant_turn where assistant <> 'openai' or run > 0`
    stand.answers.openai = (_, nth) => ({ text: nth === 0 ? "Brewly" : "Tea Timer" })
    let isFirst = true
    const slow = asking({
      fetch: async (url: string, init: RequestInit) => {
        const response = await fetch(url, init)
        if (!isFirst) return response
        isFirst = false
        await sql`update assistant_turn set lease_until = now() - interval '1 s'`
        await askAll()
        return response
      },
    })
    await slow.runOnce()
    expect((await read()).body.engines.openai).toMatchObject({ named: 1, of: 1 })
  })

  test("a question that is not answered in time fails, and its check ends and is refunded", async () => {
    const { start, used, read } = await opened()
    await start()
    await sql`update assistant_turn set created_at = now() - interval '7 hours', next_at = now() + interval '1 day'`
    await asking().runOnce()
    expect((await read()).body.check).toMatchObject({ state: "failed", failed: 18 })
    expect(await used()).toBe(0)
  })

  test("no questions are asked for an app that was removed", async () => {
    const { start, appId } = await opened()
    await start()
    await sql`delete from tracked_app where id = ${appId}`
    await askAll()
    expect(stand.questions).toEqual([])
  })
})
