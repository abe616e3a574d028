import { beforeAll, expect, setDefaultTimeout, test } from "bun:test"
import type { Sql } from "../../../src/database/types.ts"
import { freshDatabase } from "../../database.ts"
import { appsReading, hintsReading, reading } from "../../measuring/record/measured.ts"
import { record } from "../../record.ts"
import { openService, type Service } from "../../service.ts"
import { trackOwn } from "../../world/tracked.ts"

setDefaultTimeout(60_000)

const NOW = new Date("2025-11-20T12:00:00Z")
const [OWN_APP, PETAL, TIDE] = ["10001", "10002", "10003"]

let sql: Sql
let service: Service

beforeAll(async () => {
  sql = await freshDatabase()
  service = openService({ sql, now: () => NOW })
  const at = "2025-11-20T06:00:00Z"
  const names = [
    [OWN_APP, "Lumen"],
    [PETAL, "Petal Diary"],
    [TIDE, "Tidal Notes"],
  ] as const
  await record(
    sql,
    [
      appsReading(
        "2025-11-19T06:00:00Z",
        names.map(([id, name]) => ({ id, name, developer: `Maker of ${name}`, ratings: 10 })),
      ),
    ],
    () => NOW,
  )
  await record(
    sql,
    [
      reading("journal", at, [PETAL, TIDE, OWN_APP]),
      reading("night pages", at, [TIDE, "10005", OWN_APP]),
      reading("calm pages", at, ["10007", PETAL]),
      reading("petal diary", at, [PETAL]),
      reading("hidden words", at, [PETAL, OWN_APP]),
      hintsReading("journal", at, ["journal", "journal prompts", "petal diary"]),
    ],
    () => NOW,
  )
})

async function opened(options: Parameters<Service["workspace"]>[0] = {}) {
  const workspaceId = await service.workspace(options)
  const key = await service.key(workspaceId)
  const tracked = { workspaceId, iosId: OWN_APP, countries: ["us", "jp"], keywords: ["journal"], origin: "own" }
  const appId = await trackOwn(sql, tracked)
  await sql`update tracked_app set buried_keywords = array['hidden words'] where id = ${appId}`
  const get = (query = "") => service.call(`/v1/apps/${appId}/suggest${query}`, { key })
  const used = async () => {
    const [row] = await sql<{ used: number }[]>`
      select coalesce(sum(used), 0)::int as used
      from allowance_used
      where workspace_id = ${workspaceId} and allowance = 'aiWriting'`
    return row!.used
  }
  return { get, used, key, appId }
}

const NO_POPULARITY = { popularity: null, popularityLow: null, popularityHigh: null, popularitySource: null }

test("ideas come from measurements and exclude tracked keywords, buried keywords and rivals' names", async () => {
  const { get, used } = await opened()
  const { status, body } = await get()
  expect([status, body.country, body.platform, await used()]).toEqual([200, "us", "ios", 1])
  expect(body.ideas).toEqual([
    {
      term: "night pages",
      reason: "The app already ranks 3 for this keyword, which is not tracked.",
      measured: true,
      rank: 3,
      ...NO_POPULARITY,
      difficulty: null,
      picked: null,
      evidence: [
        { kind: "ranked", rank: 3, day: "2025-11-20" },
        { kind: "rival", rank: 1, day: "2025-11-20", rival: "Tidal Notes" },
      ],
    },
    {
      term: "calm pages",
      reason: "Petal Diary ranks 2 for it.",
      measured: true,
      rank: null,
      ...NO_POPULARITY,
      difficulty: null,
      picked: null,
      evidence: [{ kind: "rival", rank: 2, day: "2025-11-20", rival: "Petal Diary" }],
    },
    {
      term: "journal prompts",
      reason: 'The store suggests it for "journal".',
      measured: false,
      rank: null,
      ...NO_POPULARITY,
      difficulty: null,
      picked: null,
      evidence: [{ kind: "suggested", prefix: "journal", day: "2025-11-20" }],
    },
  ])
  expect(body.written).toMatchObject({
    by: "rules",
    model: null,
    dropped: [{ what: "keyword", rule: "excluded", count: 2 + 1 }],
  })
})

test("the same ideas are charged once a day, and ideas in another language are charged separately", async () => {
  const { get, used } = await opened()
  const first = await get("?cc=us")
  expect((await get()).body).toEqual(first.body)
  expect(await used()).toBe(1)
  const german = await get("?lang=de")
  expect(german.body.ideas[0].reason).toBe("Die App steht dafür schon auf Platz 3 und verfolgt es nicht.")
  expect(await used()).toBe(2)
})

test("a request for ideas without measurements returns no ideas and is not charged", async () => {
  const { get, used } = await opened()
  const { status, body } = await get("?cc=jp")
  expect([status, body]).toEqual([
    200,
    { country: "jp", platform: "ios", lang: "en", candidates: 0, ideas: [], newIdeas: null, written: null },
  ])
  expect(await used()).toBe(0)
})

test("suggest_keywords is refused if the allowance is used up or the plan is too low", async () => {
  const { get, used } = await opened({ overrides: { ratePerSecond: 100_000, aiWriting: 0 } })
  const refused = await get()
  expect([refused.status, refused.body.error, await used()]).toEqual([429, "ai_text_limit", 0])
  expect(refused.body.resetsAt).toMatch(/^\d{4}-\d\d-01T/)
  const free = await opened({ plan: "free", pack: 1_000 })
  expect((await free.get()).body.error).toBe("plan_required")
})
