import { beforeAll, expect, test } from "bun:test"
import type { Sql } from "../../../src/database/types.ts"
import type { SearchObservation } from "../../../src/keywords/kinds/search-shape.ts"
import { RANK_SOURCES } from "../../../src/lib/upstreams.ts"
import { freshDatabase } from "../../database.ts"
import { slow } from "../../long.ts"
import { NOW, reading } from "../../measuring/record/measured.ts"
import { record } from "../../record.ts"
import { openService, type Service } from "../../service.ts"
import { trackOwn } from "../../world/tracked.ts"

const SINCE = "2025-11-14"
const RIVAL = "10002"
const OWN_APP = "10001"
const TRACKED = ["word 1", "word 4", "word 7"]

let sql: Sql
let service: Service
let key: string
let appId: string

beforeAll(async () => {
  sql = await freshDatabase()
  service = openService({ sql, now: () => NOW })
  const workspaceId = await service.workspace({ overrides: { spy: 100 } })
  key = await service.key(workspaceId)
  appId = await trackOwn(sql, {
    workspaceId,
    iosId: OWN_APP,
    countries: ["us", "gb", "de"],
    keywords: TRACKED,
    origin: "own",
  })
  await sql`update tracked_app set manual_rivals = ${[`ios:${RIVAL}`]}`
})

async function rivalKeywords(storefront: string) {
  const { body } = await service.call(`/v1/apps/${appId}/rivals/${RIVAL}?country=${storefront}`, { key })
  expect([body.total, body.complete]).toEqual([body.keywords.length, true])
  return { searched: body.searched, keywords: body.keywords }
}

const readings: SearchObservation[] = []
// a fixed seed
let seed = 7
const random = (below: number) => {
  seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648
  return Math.floor((seed / 2_147_483_648) * below)
}
for (let n = 0; n < 400; n++) {
  const source = RANK_SOURCES[random(RANK_SOURCES.length)] as (typeof RANK_SOURCES)[number]
  const android = source === "play-search" || (source === "import" && random(4) === 0)
  const ids = Array.from({ length: 1 + random(8) }, () => 10_001 + random(12))
  const results = [...new Set(ids)].map((id) => (android ? `com.example.a${id}` : String(id)))
  const at = `2025-11-${10 + random(11)}T${10 + random(2)}:${10 + random(50)}:${10 + random(50)}Z`
  readings.push(
    reading(`word ${random(30)}`, at, results, {
      source,
      platform: android ? "android" : "ios",
      storefront: random(4) === 0 ? "gb" : "us",
      depth: results.length + random(3),
      complete: random(6) > 0,
    }),
  )
}

/** Returns the expected answer by scanning all readings. */
function expectedKeywords(storefront: string) {
  const side = readings.filter(
    (candidate) => candidate.platform === "ios" && candidate.storefront === storefront && candidate.complete,
  )
  const latest = [...Map.groupBy(side, ({ term }) => term)].map(([term, all]) => {
    const dayOf = (search: SearchObservation) => search.seenAt.toISOString().slice(0, 10)
    const day = all.map(dayOf).sort().at(-1) as string
    const [best] = all
      .filter((search) => dayOf(search) === day)
      .sort(
        (a, b) =>
          RANK_SOURCES.indexOf(a.source) - RANK_SOURCES.indexOf(b.source) ||
          b.depth - a.depth ||
          b.seenAt.getTime() - a.seenAt.getTime(),
      ) as [SearchObservation]
    return { term, day, best }
  })
  const recent = latest.filter(({ day }) => day >= SINCE)
  const place = ({ results }: SearchObservation, id: string) =>
    results.findIndex((result) => result.id === id) + 1 || null
  const found = recent.flatMap(({ term, day, best }) => {
    const rank = place(best, RIVAL)
    if (rank === null) return []
    const { depth, source } = best
    return [{ term, rank, ourRank: place(best, OWN_APP), depth, day, source, tracked: TRACKED.includes(term) }]
  })
  return { searched: recent.length, keywords: found.sort((a, b) => a.rank - b.rank || (a.term < b.term ? -1 : 1)) }
}

slow("a rival's keywords equal those found by scanning 400 readings of all days, sources and storefronts", async () => {
  await record(sql, readings, () => NOW)
  for (const storefront of ["us", "gb"]) {
    const expected = expectedKeywords(storefront)
    expect(expected.keywords.length).toBeGreaterThan(3)
    expect(await rivalKeywords(storefront)).toEqual(expected)
  }
})

test("a rival's keyword is listed if its latest complete reading is from the last seven days", async () => {
  const inGermany = (term: string, at: string, apps: string[], rest: object = {}) =>
    record(sql, [reading(term, at, apps, { storefront: "de", ...rest })], () => NOW)
  await inGermany("gone", "2025-11-19T10:00:00Z", [RIVAL])
  await inGermany("gone", "2025-11-20T10:00:00Z", ["10003"])
  await inGermany("young", "2025-11-14T00:00:00Z", [RIVAL])
  await inGermany("old", "2025-11-13T23:59:59Z", [RIVAL])
  await inGermany("broken off", "2025-11-20T10:00:00Z", [RIVAL], { complete: false, depth: 5 })
  const { searched, keywords } = await rivalKeywords("de")
  expect([searched, keywords.map(({ term }: { term: string }) => term)]).toEqual([2, ["young"]])
})
