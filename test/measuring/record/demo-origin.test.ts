import { beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test"
import type { Sql } from "../../../src/database/types.ts"
import type { Observation } from "../../../src/kinds.ts"
import { KINDS } from "../../../src/kinds.ts"
import { holdAccount, reported } from "../../consoles/reported.ts"
import { freshDatabase } from "../../database.ts"
import { importLines, record } from "../../record.ts"
import { answered } from "../../visibility/answered.ts"
import { charted } from "./charted.ts"
import { listed } from "./listed.ts"
import { appsReading, hintsReading, NOW, popularityReading, stored } from "./measured.ts"
import { named, shelved, soldBy } from "./public-facts.ts"
import { reviewed } from "./reviewed.ts"

setDefaultTimeout(60_000)

let sql: Sql
const recordAll = (...all: Observation[]) => record(sql, all, () => NOW)
const AT = "2025-11-18T10:00:00Z"

beforeEach(async () => {
  sql = await freshDatabase()
  await holdAccount(sql)
})

/**
 * An observation of every kind except searches. Among these kinds, only charts, reviews and reports of demo accounts
 * may have the origin demo.
 */
const unrefusable = {
  apps: (rest: object) => appsReading(AT, [{ id: "10001", name: "Tea", ratings: 5, genre: "6007" }], rest),
  hints: (rest: object) => hintsReading("tea", AT, ["tea"], rest),
  popularity: (rest: object) => popularityReading("tea", "2025-09-01", 50, rest),
  listing: (rest: object) => listed(AT, { similar: [], moreByDeveloper: [] }, rest),
  developer: (rest: object) => shelved(AT, ["10002"], rest),
  chart: (rest: object) => charted(AT, [10003], rest),
  genres: (rest: object) => named(AT, rest),
  reviews: (rest: object) => reviewed(AT, [{ id: "1" }], { end: { pages: 1, complete: true, empty: false }, ...rest }),
  app_ads: (rest: object) => soldBy(AT, ["a.com"], rest),
  sales: (rest: object) => reported("sales", rest),
  subscriptions: (rest: object) => reported("subscriptions", rest),
  subscription_events: (rest: object) => reported("subscription_events", rest),
  offer_redemptions: (rest: object) => reported("offer_redemptions", rest),
  engagement: (rest: object) => reported("engagement", rest),
  downloads: (rest: object) => reported("downloads", rest),
  prices: (rest: object) => reported("prices", rest),
  console_reviews: (rest: object) => reported("console_reviews", rest),
  ads_campaigns: (rest: object) => reported("ads_campaigns", rest),
  ads_keywords: (rest: object) => reported("ads_keywords", rest),
  ads_days: (rest: object) => reported("ads_days", rest),
  ads_terms: (rest: object) => reported("ads_terms", rest),
  ads_changes: (rest: object) => reported("ads_changes", rest),
  ads_popularity: (rest: object) => reported("ads_popularity", rest),
  play_installs: (rest: object) => reported("play_installs", rest),
  play_installs_country: (rest: object) => reported("play_installs_country", rest),
  play_store_country: (rest: object) => reported("play_store_country", rest),
  play_store_sources: (rest: object) => reported("play_store_sources", rest),
  play_ratings: (rest: object) => reported("play_ratings", rest),
  play_ratings_country: (rest: object) => reported("play_ratings_country", rest),
  play_crashes: (rest: object) => reported("play_crashes", rest),
  play_earnings: (rest: object) => reported("play_earnings", rest),
  play_sales: (rest: object) => reported("play_sales", rest),
  billing_event: (rest: object) => reported("billing_event", rest),
  billing_metrics: (rest: object) => reported("billing_metrics", rest),
  assistant_answer: (rest: object) => answered({ seenAt: AT, ...rest }),
} satisfies Record<Exclude<Observation["kind"], "search">, (rest: object) => Observation>

describe("observations of the demo", () => {
  const { billing_event, console_reviews, assistant_answer } = unrefusable
  const { apps, hints, popularity, listing, developer, genres, app_ads } = unrefusable
  const refusable = {
    apps,
    hints,
    popularity,
    listing,
    developer,
    genres,
    app_ads,
    billing_event,
    console_reviews,
    assistant_answer,
  }
  for (const [kind, makeReading] of Object.entries(refusable)) {
    test(`${kind} of the demo are refused with the reason, and those of another publisher are stored`, async () => {
      const before = await stored(sql)
      const { recorded, refused } = await recordAll(makeReading({ origin: "demo" }))
      expect({ recorded, refused: refused.map(({ problem }) => [problem.code, problem.message]) }).toEqual({
        recorded: 0,
        refused: [
          [
            "bad_provenance",
            "only searches, charts, reviews, reports of the demo's own accounts and readings of its invented app can " +
              "have the origin demo: name another origin, or leave it out",
          ],
        ],
      })
      expect(await stored(sql)).toBe(before)
      expect((await recordAll(makeReading({ origin: "elsewhere" }))).recorded).toBe(1)
    })
  }

  for (const kind of KINDS.filter((candidate) => candidate.private && candidate.demo)) {
    test(`${kind.name} of the demo are stored only for demo accounts, and others only for real accounts`, async () => {
      const makeReading = unrefusable[kind.name as keyof typeof unrefusable]
      expect(await recordAll(makeReading({ origin: "demo" }))).toMatchObject({ recorded: 0, refused: [] })
      await sql`update connected_account set state = 'demo', sealed = null, next_at = null`
      expect(await recordAll(makeReading({ origin: "elsewhere" }))).toMatchObject({ recorded: 0, refused: [] })
      expect(await recordAll(makeReading({ origin: "demo" }))).toMatchObject({ recorded: 1, refused: [] })
    })
  }

  test("an imported demo line is skipped and reported unless it is a search or chart", async () => {
    const place = { platform: "ios", storefront: "us", seenAt: AT, origin: "demo" }
    const lines = [
      { kind: "hints", source: "apple-hints", prefix: "te", terms: ["tea"], ...place },
      { kind: "search", source: "import", term: "tea", depth: 2, results: [{ id: "10001" }], ...place },
      {
        kind: "chart",
        source: "import",
        device: "iphone",
        chart: "free",
        genre: "36",
        apps: [{ id: "10001" }],
        ...place,
      },
    ]
    const text = async function* () {
      for (const line of lines) yield JSON.stringify(line)
    }
    const { recorded, bad } = await importLines(sql, text(), { now: () => NOW })
    expect({ recorded, bad: bad.map(({ line }) => line) }).toEqual({ recorded: 2, bad: [1] })
    expect(bad[0]!.reason).toContain("can have the origin demo")
  })
})
