import { describe, expect, setDefaultTimeout } from "bun:test"
import { join } from "node:path"
import type { EmbeddedDatabase } from "../../src/database/embedded/open.ts"
import { appleHints } from "../../src/keywords/sources/apple-hints.ts"
import { appleWebSearch } from "../../src/keywords/sources/apple-web-search.ts"
import { deriveKeywordMetrics } from "../../src/keywords/store/keyword-metrics.ts"
import { openRawBodies } from "../../src/measuring/raw-bodies.ts"
import { afterSlow, beforeSlow, slow } from "../long.ts"
import { bodyOf, seenIn } from "../measuring/bodies.ts"
import { appsReading, hintsReading, newWorkspace, popularityReading, reading } from "../measuring/record/measured.ts"
import { record } from "../record.ts"
import { fixture } from "../stores/parsing/parsed.ts"
import { trackOwn } from "../world/tracked.ts"
import { appmeter, dataFolder, openFolder, removeFolders } from "./child.ts"

setDefaultTimeout(60_000)

const TERM = "sleep sounds"
const AT = new Date(Math.floor(Date.now() / 86_400_000) * 86_400_000 - 20 * 3_600_000)
const DAY = AT.toISOString().slice(0, 10)
const EARLIER = new Date(AT.getTime() - 86_400_000)
const SEARCH = fixture("apple-web-search-us.html")
const HINTS = fixture("apple-hints-tide-us.plist")
const list = { platform: "ios", storefront: "us", term: TERM } as const
let env: { DATA_DIR: string }
let database: EmbeddedDatabase
let appId: string
let iosId: string
let absentId: string

beforeSlow(async () => {
  env = await dataFolder()
  const search = seenIn(appleWebSearch, { storefront: "us", term: TERM }, SEARCH, AT)
  iosId = search.results[2]!.id
  database = await openFolder(env)
  const { sql } = database
  const workspaceId = await newWorkspace(sql)
  const track = (id: string) => trackOwn(sql, { workspaceId, iosId: id, keywords: [TERM] })
  appId = await track(iosId)
  absentId = await track("999999999")
  const lookedUp = (at: Date, ratings: number, parser: number) =>
    appsReading(at.toISOString(), [{ id: iosId, name: "Rain", ratings, rating: 4.5 }], { parser })
  await record(sql, [
    search,
    reading(TERM, EARLIER.toISOString(), ["10001"], { depth: 20 }),
    reading(TERM, AT.toISOString(), [], {
      source: "foreign",
      origin: "elsewhere",
      depth: 1,
      parser: 7,
      results: [{ id: iosId, ratings: 7 }],
    }),
    lookedUp(EARLIER, 640, 1),
    lookedUp(AT, 650, 2),
    seenIn(appleHints, { storefront: "us", prefix: "sleep" }, HINTS, AT),
    hintsReading("sleep sounds", AT.toISOString(), [TERM]),
    popularityReading(TERM, "2025-09-01", 64, { seenAt: new Date("2025-09-28T00:00:00Z") }),
  ])
  await sql.begin((tx) => deriveKeywordMetrics(tx, [list], AT))
  await openRawBodies({ folder: join(env.DATA_DIR, "raw"), days: 14, megabytes: 10 }).keep(bodyOf(SEARCH, AT))
})
afterSlow(async () => {
  await database.close()
  removeFolders()
})

// biome-ignore lint/suspicious/noExplicitAny: a test reads what the command shows
async function showEvidence(words: string[] = [], app = appId): Promise<any> {
  const { code, out, err } = await appmeter(
    ["evidence", "--app", app, "--country", "US", "--term", "Sleep Sounds ", "--json", ...words],
    { env },
  )
  expect([code, err]).toEqual([0, ""])
  return JSON.parse(out).evidence
}

describe("appmeter evidence", () => {
  slow("evidence shows source, address, time, parser and body of each figure of a keyword", async () => {
    const [{ day, readings, metrics, ratings }, ...rest] = await showEvidence()
    expect([day, rest]).toEqual([DAY, []])
    const sha256 = Buffer.from(bodyOf(SEARCH, AT).sha256).toString("hex")
    expect(readings).toHaveLength(2)
    expect(readings[0]).toEqual({
      source: "apple-web-search",
      seenAt: AT.toISOString(),
      parser: appleWebSearch.parser,
      egress: "us",
      origin: "own",
      depth: expect.any(Number),
      complete: true,
      rank: 3,
      sha256,
      url: "https://apps.apple.com/us/iphone/search?term=sleep%20sounds",
      bodyKept: true,
    })
    expect(readings[1]).toMatchObject({ source: "foreign", origin: "elsewhere", rank: 1, url: null, bodyKept: false })
    const figure = (name: string, source: string) =>
      metrics.find((metric: { metric: string; source: string }) => metric.metric === name && metric.source === source)
    expect(figure("popularity", "apple-ads-report")).toMatchObject({
      score: 64,
      formula: 0,
      day: "2025-09-01",
      restsOn: [
        { source: "apple-ads-report", url: null, bodyKept: false, sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
      ],
    })
    expect(figure("demand", "calculated").restsOn).toMatchObject([
      { source: "apple-web-search", sha256, url: readings[0].url, bodyKept: true },
    ])
    expect(figure("hints", "calculated").restsOn[0]).toMatchObject({
      source: "apple-hints",
      prefix: "sleep sounds",
      url: expect.stringMatching(/^https:\/\/search\.itunes\.apple\.com\/.*term=sleep%20sounds$/),
    })
    expect(ratings.find((rating: { source: string }) => rating.source === "itunes-lookup")).toMatchObject({
      day: DAY,
      ratings: 650,
      parser: 2,
      sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
      url: `https://itunes.apple.com/lookup?id=${iosId}&country=us&entity=software`,
    })
  })

  slow("evidence traces a rating count to the search results that contain it", async () => {
    const [{ readings, ratings }] = await showEvidence()
    expect(ratings.find((rating: { source: string }) => rating.source === "foreign")).toMatchObject({
      ratings: 7,
      term: TERM,
      parser: 7,
      sha256: readings[1].sha256,
    })
  })

  slow("evidence shows a day as it was, even if the app's data was replaced later", async () => {
    const before = EARLIER.toISOString().slice(0, 10)
    const [{ day, readings, ratings, metrics }] = await showEvidence(["--day", before])
    expect([day, readings.length, readings[0]]).toMatchObject([before, 1, { source: "import", rank: null }])
    expect(ratings).toMatchObject([{ source: "itunes-lookup", ratings: 640, parser: 1, day: before }])
    expect(metrics.map(({ metric }: { metric: string }) => metric)).toEqual(["popularity"])
  })

  slow("evidence distinguishes an absent app from a keyword that was not measured", async () => {
    const line = async (words: string[], app = appId, term = TERM) => {
      const { out } = await appmeter(
        ["evidence", "--app", app, "--country", "us", "--term", term, "--platform", "ios", ...words],
        { env },
      )
      return out.split("\n").find((row) => row.startsWith("rank "))
    }
    expect(await line([])).toMatch(/^rank +3 of \d+ +apple-web-search +\S+Z +\d+ +[0-9a-f]{12}, stored +https:/)
    expect(await line([], absentId)).toMatch(/^rank +absent of \d+ +apple-web-search/)
    expect(await line(["--day", "2025-01-01"])).toMatch(/^rank +not measured +-/)
    expect(await line([], appId, "nobody asks")).toMatch(
      /^rank +not measured, because the app does not track the keyword there +-/,
    )
  })

  slow("evidence accepts the app's store id or name", async () => {
    const [byId, byStoreId] = [await showEvidence(), await showEvidence([], iosId)]
    expect(byId).toHaveLength(1)
    expect(byStoreId).toEqual(byId)
  })

  slow("evidence refuses invalid options, an unknown app and a store without the app", async () => {
    const words = (rest: Record<string, string>) =>
      Object.entries({ app: appId, country: "us", term: TERM, ...rest }).flatMap(([name, value]) => [
        `--${name}`,
        value,
      ])
    const cases: [string[], number, string][] = [
      [["--app", appId], 2, "--app, --country and --term are required"],
      [words({ country: "xx" }), 2, "--country must be"],
      [words({ term: " " }), 2, "--term must not be empty"],
      [words({ platform: "web" }), 2, "--platform must be ios or android"],
      [words({ day: "2025-02-30" }), 2, "--day must be a day"],
      [words({ app: "app_nobody" }), 1, "no tracked app matches"],
      [words({ platform: "android" }), 1, "the app has no store app for that --platform"],
    ]
    for (const [typed, code, reason] of cases) {
      const ended = await appmeter(["evidence", ...typed], { env })
      expect([ended.code, ended.err]).toEqual([code, expect.stringContaining(reason)])
    }
  })
})
