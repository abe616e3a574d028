import { afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test"
import { lastAdsDay } from "../../../src/consoles/ads/days.ts"
import { findAccount } from "../../../src/consoles/register.ts"
import { daysIn } from "../../../src/consoles/sources/ads/reports.ts"
import { createAccountReading } from "../../../src/consoles/worker.ts"
import type { Sql } from "../../../src/database/types.ts"
import { silentLog } from "../../../src/lib/log.ts"
import { PutAside } from "../../../src/measuring/parsing/put-aside.ts"
import type { RawBody } from "../../../src/measuring/source.ts"
import { recording } from "../../../src/recording.ts"
import { sealer } from "../../alerts/delivery/scene.ts"
import { freshDatabase } from "../../database.ts"
import { slow } from "../../long.ts"
import type { JsonObject } from "./queries.ts"
import { AD_ACCOUNT, type AdsScene, addTeaAdGroup, adsScene } from "./scene.ts"
import { refusal } from "./stand-in.ts"

const LAST = lastAdsDay(AD_ACCOUNT.timezone, new Date())

let sql: Sql
let scene: AdsScene
let bodies: RawBody[]
beforeAll(async () => {
  sql = await freshDatabase()
})
beforeEach(async () => {
  await sql`delete from connected_account`
  scene = await adsScene(sql)
  addTeaAdGroup(scene)
  bodies = []
  await scene.add()
})
afterEach(() => scene.standIn.stop())

async function readAll(): Promise<void> {
  await sql`update connected_account set next_at = now()`
  await sql`update account_task set next_at = now()`
  const parts = { sql, sealer, log: silentLog, reach: scene.register.reach, gapMs: 0 }
  await createAccountReading({ recording, ...parts, keep: async (body) => void bodies.push(body) }).runOnce()
}

/** Modifies the platform's responses for a path. */
function rewrite(path: string, change: (result: JsonObject, body: JsonObject) => unknown): void {
  scene.standIn.after = async (call, answer) => {
    if (!call.path.includes(path) || answer.status !== 200) return answer
    const document = await answer.json()
    return Response.json({ ...document, result: change(document.result, call.body as JsonObject) })
  }
}

const troubles = async () => {
  const [row] = await sql<{ id: string }[]>`select id from connected_account`
  return (await findAccount(sql, scene.workspaceId, row!.id)).troubles
}

const call = async (path: string) => {
  const key = await scene.service.key(scene.workspaceId)
  return await scene.service.call(`/v1/apps/${scene.appId}/${path}`, { key })
}

slow("a report that states the country in each day's figures is split by country", async () => {
  scene.standIn.after = ({ path }, answer) => {
    if (!path.includes("reports/apps/campaigns")) return answer
    const figures = (countryOrRegion: string, impressions: number, taps: number) => ({
      date: LAST,
      countryOrRegion,
      impressions,
      taps,
      totalInstalls: 0,
      totalNewDownloads: 0,
      localSpend: { amount: "1", currency: "EUR" },
    })
    const row = { metadata: { id: 444555666 }, granularMetrics: [figures("DE", 40, 4), figures("FR", 10, 1)] }
    const total = { localSpend: { amount: "2", currency: "EUR" }, impressions: 50, taps: 5, totalInstalls: 0 }
    return Response.json({ result: { rows: [{ ...row, totalMetrics: total }], summary: { grandTotal: total } } })
  }
  await readAll()
  const rows =
    await sql`select day::text, country, impressions from ads_day_fact where keyword is null order by country`
  expect([...rows].map((row) => ({ ...row }))).toEqual([
    { day: LAST, country: "de", impressions: 40 },
    { day: LAST, country: "fr", impressions: 10 },
  ])
  expect((await call("campaigns")).body).toMatchObject({ reportedDays: 28, lateDays: [] })
})

describe("refused queries of negative keywords", () => {
  const storedThings = async () =>
    (await sql`select thing, id from ads_thing order by thing, id`).map(({ thing, id }) => `${thing} ${id}`)

  slow("if a campaign's negative keywords are refused, its other keywords are read, and the gap is shown", async () => {
    scene.standIn.before = ({ path, body }) => {
      const isNull = (body as JsonObject)?.filters?.some(({ operator }: JsonObject) => operator === "IS_NULL")
      if (path !== "/v1/negative-keywords/query" || !isNull) return null
      return refusal(400, "INVALID_INPUT", "adGroupId condition is required")
    }
    await readAll()
    expect(await storedThings()).toEqual(["group 71", "keyword 81", "keyword 82", "negative 92"])
    const reason =
      "negative keywords of the campaign itself: Apple Ads refuses the request (INVALID_INPUT: " +
      "adGroupId condition is required)"
    expect(await troubles()).toContainEqual(
      expect.objectContaining({ what: "keywords of campaign 444555666", why: reason, isFailed: false }),
    )
    const { body } = await call("ads-keywords")
    expect(body.sources).toMatchObject([{ state: "ok", why: `keywords of campaign 444555666: ${reason}` }])
  })

  slow("negative keywords are queried per ad group if the platform refuses a query for several ad groups", async () => {
    scene.standIn.adgroups.push({ ...scene.standIn.adgroups[0]!, id: 72, name: "Other" })
    scene.standIn.before = ({ path, body }) => {
      const isIn = (body as JsonObject)?.filters?.some(({ operator }: JsonObject) => operator === "IN")
      if (path !== "/v1/negative-keywords/query" || !isIn) return null
      return refusal(400, "INVALID_OPERATOR", "IN is not supported")
    }
    await readAll()
    expect(await storedThings()).toEqual([
      "group 71",
      "group 72",
      "keyword 81",
      "keyword 82",
      "negative 91",
      "negative 92",
    ])
    expect((await troubles()).filter(({ what }) => what.startsWith("keywords"))).toEqual([])
  })
})

describe("reading of search terms", () => {
  const terms = async () =>
    (await sql`select term, keyword, impressions, taps, origin from ads_term_fact order by impressions desc, term`).map(
      (row) => ({ ...row }),
    )

  slow("the difference between a report's grand total and its search terms is stored as undisclosed", async () => {
    rewrite("searchterms", ({ rows, summary }) => ({ rows: rows.slice(0, 1), summary }))
    await readAll()
    expect(await terms()).toEqual([
      { term: null, keyword: null, impressions: 130, taps: 10, origin: "UNDISCLOSED" },
      { term: "tea timer", keyword: "81", impressions: 100, taps: 10, origin: "TARGETED" },
    ])
    const { status, body } = await call("ads-search-terms")
    expect(status).toBe(200)
    expect(body.totals).toMatchObject({ impressions: 230, taps: 20, spend: { amount: "11" } })
    expect(body.undisclosed).toMatchObject({ impressions: 130, taps: 10, spend: { amount: "6" } })
    expect(body.terms.find(({ source }: { source: string }) => source === "UNDISCLOSED")).toMatchObject({
      term: null,
      undisclosed: true,
      groupId: null,
      keyword: null,
    })
  })

  slow("search terms of a report without a grand total are read", async () => {
    rewrite("searchterms", ({ rows }) => ({ rows }))
    await readAll()
    expect(await terms()).toHaveLength(3)
  })

  slow("search terms are read even if the platform refuses includeRows", async () => {
    scene.standIn.before = ({ path, body }) => {
      const isAsked = path.includes("/reports/") && (body as JsonObject).options?.includeRows !== undefined
      return isAsked ? refusal(400, "INVALID_INPUT", "includeRows is not supported", "options.includeRows") : null
    }
    await readAll()
    expect(await terms()).toHaveLength(3)
    expect(await sql`select from ads_day_fact`).not.toHaveLength(0)
  })

  slow("search terms in unreadable rows count as undisclosed and are shown as unread", async () => {
    rewrite("searchterms", ({ rows, summary }) => ({
      rows: [rows[0], { ...rows[1], totalMetrics: { ...rows[1].totalMetrics, taps: -1 } }, null, rows[2]],
      summary,
    }))
    await readAll()
    expect((await terms()).map(({ term, origin, impressions }) => [term, origin, impressions])).toEqual([
      ["tea timer", "TARGETED", 100],
      [null, "UNDISCLOSED", 80],
      [null, "AUTO", 50],
    ])
    expect(await troubles()).toContainEqual(
      expect.objectContaining({
        what: "search terms of campaign 444555666",
        why: expect.stringMatching(/^2 rows cannot be read \(the first: row 2: taps is not a count\)$/),
      }),
    )
  })

  slow("the error for missing search terms explains why they could not be read", async () => {
    scene.standIn.before = ({ path }) => (path.includes("searchterms") ? refusal(400, "INVALID_INPUT", "No.") : null)
    await readAll()
    const { status, body } = await call("ads-search-terms")
    expect([status, body.error]).toEqual([404, "not_measured"])
    expect(body.detail).toMatch(/terms of campaign 444555666: Apple Ads refuses the request \(INVALID_INPUT: No\.\)/)
    expect((await call("campaigns")).body.sources).toMatchObject([{ state: "ok", why: null }])
  })
})

slow("an unknown event or an unknown user type of a change is stored as other", async () => {
  const [change] = scene.standIn.changes
  scene.standIn.changes.push(
    { ...change!, transactionId: "1", entityId: "82", userType: "RULE_ENGINE" as "CUSTOMER" },
    { ...change!, transactionId: "2", entityId: "82", eventType: "MERGE" as "UPDATE" },
  )
  await readAll()
  const rows = await sql`select changed_by, event from ads_change_fact order by changed_by, event`
  expect([...rows].map((row) => ({ ...row }))).toEqual([
    { changed_by: "dashboard", event: "OTHER" },
    { changed_by: "dashboard", event: "UPDATE" },
    { changed_by: "other", event: "UPDATE" },
  ])
  const { body } = await call("ads-commands")
  expect(body.commands.map(({ by }: { by: string }) => by).sort()).toEqual(["dashboard", "dashboard", "other"])
})

slow("a change without a time, or with refused details, is skipped without affecting other changes", async () => {
  const [change] = scene.standIn.changes
  scene.standIn.changes.push({ ...change!, transactionId: "1", entityId: "82" })
  rewrite("change-history/query", (rows) => [
    ...(rows as unknown as JsonObject[]),
    { metas: [{ detailId: "Keyword.9.9" }] },
  ])
  scene.standIn.before = ({ path }) => (path.endsWith("Keyword.82.1") ? refusal(404, "NOT_FOUND", "Gone.") : null)
  await readAll()
  expect(await sql`select from ads_change_fact`).toHaveLength(1)
  expect(await troubles()).toContainEqual(
    expect.objectContaining({ what: "change history", why: expect.stringMatching(/^2 rows cannot be read/) }),
  )
})

describe("reading of search popularity", () => {
  slow("an unreadable row of search popularity does not affect other rows", async () => {
    const [row] = scene.standIn.popularity
    scene.standIn.popularity.push({ ...row!, searchTerm: "kanne", searchPopularity1to100: null, rankInGenre: 2 })
    await readAll()
    const rows = await sql`select term from ads_term_popularity where country = 'de'`
    expect(rows.map(({ term }) => term)).toEqual(["tee"])
    const { body } = await call("search-popularity?country=de")
    expect(body.sources).toMatchObject([
      {
        state: "ok",
        why: "search popularity of de: 1 row cannot be read (row 2: it has no searchPopularity1to100)",
      },
    ])
  })

  slow("search popularity is read in smaller pages if the platform refuses large pages", async () => {
    const [row] = scene.standIn.popularity
    for (let rank = 2; rank <= 5_200; rank++)
      scene.standIn.popularity.push({ ...row!, searchTerm: `tee ${rank}`, rankInGenre: rank })
    scene.standIn.before = ({ path, body }) => {
      const isLarge = path.includes("insights") && (body as JsonObject).pagination.pageSize > 5_000
      return isLarge ? refusal(400, "INVALID_VALUE", "The page size is at most 5000.") : null
    }
    await readAll()
    const [count] = await sql`select count(*)::int as rows from ads_term_popularity where country = 'de'`
    expect(count).toEqual({ rows: 5_200 })
  })
})

test("a day without installs or spend keeps its other figures, and the missing ones are null", () => {
  const metrics = { date: "2026-09-01", impressions: 40, taps: 4, totalInstalls: null, localSpend: null }
  const whole = { ...metrics, date: "2026-09-02", totalInstalls: 2, localSpend: { amount: "3.5", currency: "EUR" } }
  const row = { metadata: { id: 11, countryOrRegion: "DE" }, granularMetrics: [metrics, whole], totalMetrics: {} }
  const window = { from: "2026-09-01", to: "2026-09-02" }
  const scope = { account: "ac_0123456789abcdef01", campaign: "11", window }
  const putAside = new PutAside()
  const emptyReport = { rows: [], pageFields: [] }
  const days = daysIn(
    { campaign: { rows: [row], pageFields: [{ summary: { grandTotal: {} } }] }, keywords: emptyReport },
    scope,
    { seenAt: new Date("2026-09-03T09:00:00Z"), sha256: new Uint8Array(32) },
    putAside,
  )
  expect(days.map(({ rows }) => rows)).toMatchObject([
    [{ country: "de", impressions: 40, taps: 4, installs: null, spend: null, currency: "EUR" }],
    [{ country: "de", impressions: 40, taps: 4, installs: 2, spend: "3.5", currency: "EUR" }],
  ])
  expect(putAside.text()).toBe("2026-09-01 lacks installs, newDownloads, spend in some rows")
})

slow("an unreadable campaign, ad group or keyword is skipped without affecting readable rows", async () => {
  const { campaigns, adgroups, keywords } = scene.standIn
  campaigns.push({ ...campaigns[0]!, id: 5, promotedObjectId: null })
  adgroups.push({ ...adgroups[0]!, id: "no number" })
  keywords.push({ ...keywords[0]!, id: 84, bid: { amount: "much", currency: "EUR" } })
  await readAll()
  expect((await sql`select campaign from ads_campaign`).map(({ campaign }) => campaign)).toEqual(["444555666"])
  expect(await sql`select from ads_thing`).toHaveLength(5)
  expect((await troubles()).map(({ what, why }) => [what, why])).toEqual([
    ["campaigns", "1 row cannot be read (row 2, id 5: it has no promotedObjectId)"],
    [
      "keywords of campaign 444555666",
      expect.stringMatching(/^2 rows cannot be read \(the first: row 2: it has no id\)$/),
    ],
  ])
})

slow("an unreadable list or a missing right fails only the task that needs it", async () => {
  scene.standIn.before = ({ path }) => {
    if (path === "/v1/keywords/query") return new Response("<html>")
    return path.includes("searchterms") ? refusal(403, "FORBIDDEN", "no") : null
  }
  await readAll()
  await readAll()
  expect(await sql`select from ads_day_fact`).not.toHaveLength(0)
  expect(await sql`select from ads_term_popularity`).not.toHaveLength(0)
  expect((await troubles()).map(({ what, isFailed }) => [what, isFailed])).toEqual([
    ["keywords of campaign 444555666", true],
    ["search terms of campaign 444555666", true],
  ])
  const [account] = await sql`select state, failures from connected_account`
  expect(account).toEqual({ state: "ok", failures: 0 })
})
