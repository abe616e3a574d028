import { beforeAll, describe, expect, test } from "bun:test"
import type { Sql, Tx } from "../../../src/database/types.ts"
import { findAppKeywords } from "../../../src/history/searches/lists-holding.ts"
import { countMarketLists } from "../../../src/history/searches/market-lists.ts"
import { deriveListNow } from "../../../src/observations/derived/now.ts"
import { record } from "../../../src/observations/record.ts"
import { RANK_SOURCES, type SearchObservation } from "../../../src/observations/types.ts"
import { freshDatabase } from "../../database.ts"
import { NOW, newWorkspace, reading } from "../../observations/measured.ts"
import { trackOwn } from "../../world/tracked.ts"

const SINCE = "2025-11-14"
const RIVAL = "10002"
const OWN = "10001"
let sql: Sql
let tracker: string
let ids: Map<string, number>

beforeAll(async () => {
  sql = await freshDatabase()
  const workspaceId = await newWorkspace(sql)
  const asked = { workspaceId, iosId: OWN, countries: ["us"], keywords: ["word 1", "word 4", "word 7"], origin: "own" }
  tracker = await trackOwn(sql, asked)
})

async function holding({ storefront = "us", beside = OWN as string | null } = {}) {
  const rows = await sql<{ id: number; store_id: string }[]>`select id, store_id from store_app where platform = 'ios'`
  ids = new Map(rows.map(({ id, store_id }) => [store_id, id]))
  const lists = { platform: "ios", storefront, since: SINCE, today: "2025-11-20", withDemo: true } as const
  const query = { app: ids.get(RIVAL)!, beside: beside === null ? null : ids.get(beside)!, tracker }
  const { total, searched, keywords } = await findAppKeywords(sql, lists, query, { after: null, limit: 100_000 })
  expect([total, searched]).toEqual([keywords.length, await countMarketLists(sql, lists)])
  return {
    searched,
    keywords: keywords.map(({ keyword: { depth, day, source }, ...keyword }) => ({ ...keyword, depth, day, source })),
  }
}

describe("of readings of many days, sources, storefronts and depths", () => {
  const readings: SearchObservation[] = []
  // a fixed seed
  let seed = 7
  const random = (below: number) => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648
    return Math.floor((seed / 2_147_483_648) * below)
  }

  beforeAll(async () => {
    for (let n = 0; n < 400; n++) {
      const source = RANK_SOURCES[random(RANK_SOURCES.length)] as (typeof RANK_SOURCES)[number]
      const android = source === "play-search" || (source === "import" && random(4) === 0)
      const shown = Array.from({ length: 1 + random(8) }, () => 10_001 + random(12))
      const results = [...new Set(shown)].map((id) => (android ? `com.example.a${id}` : String(id)))
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
    await record(sql, readings, () => NOW)
  })

  /** The same, found by walking the readings. */
  function walked(storefront: string) {
    const side = readings.filter((one) => one.platform === "ios" && one.storefront === storefront && one.complete)
    const latest = [...Map.groupBy(side, ({ term }) => term)].map(([term, all]) => {
      const dayOf = (one: SearchObservation) => one.seenAt.toISOString().slice(0, 10)
      const day = all.map(dayOf).sort().at(-1) as string
      const [best] = all
        .filter((one) => dayOf(one) === day)
        .sort(
          (a, b) =>
            RANK_SOURCES.indexOf(a.source) - RANK_SOURCES.indexOf(b.source) ||
            b.depth - a.depth ||
            b.seenAt.getTime() - a.seenAt.getTime(),
        ) as [SearchObservation]
      return { term, day, best }
    })
    const recent = latest.filter(({ day }) => day >= SINCE)
    const place = ({ results }: SearchObservation, id: string) => results.findIndex((one) => one.id === id) + 1 || null
    const found = recent.flatMap(({ term, day, best }) => {
      const rank = place(best, RIVAL)
      if (rank === null) return []
      const tracked = storefront === "us" && ["word 1", "word 4", "word 7"].includes(term)
      const { depth, source } = best
      return [{ term, rank, besideRank: place(best, OWN), depth, day, source, tracked }]
    })
    return { searched: recent.length, keywords: found.sort((a, b) => a.rank - b.rank || (a.term < b.term ? -1 : 1)) }
  }

  for (const storefront of ["us", "gb"])
    test(`the answer is what a walk over all readings finds: ${storefront}`, async () => {
      const expected = walked(storefront)
      expect(expected.keywords.length).toBeGreaterThan(3)
      expect(await holding({ storefront })).toEqual(expected)
    })

  test("without another app there is no rank of one", async () => {
    const { keywords } = await holding({ beside: null })
    expect(new Set(keywords.map(({ besideRank }) => besideRank))).toEqual(new Set([null]))
  })
})

describe("of a keyword", () => {
  const terms = async () => (await holding({ storefront: "de" })).keywords.map(({ term }) => term)
  const inGermany = (term: string, at: string, apps: string[], rest: object = {}) =>
    record(sql, [reading(term, at, apps, { storefront: "de", ...rest })], () => NOW)

  test("the latest day counts alone, and a day just within the bound", async () => {
    await inGermany("gone", "2025-11-19T10:00:00Z", [RIVAL])
    await inGermany("gone", "2025-11-20T10:00:00Z", ["10003"])
    await inGermany("young", "2025-11-14T00:00:00Z", [RIVAL])
    await inGermany("old", "2025-11-13T23:59:59Z", [RIVAL])
    await inGermany("broken off", "2025-11-20T10:00:00Z", [RIVAL], { complete: false, depth: 5 })
    expect(await terms()).toEqual(["young"])
    expect((await holding({ storefront: "de" })).searched).toBe(2)
  })
})

test("of 4,100 keywords each is found once, whatever their terms", async () => {
  const count = 4_100
  await sql`
    insert into list (platform, storefront, term, first_day, last_day)
    select 'ios', 'fr', (array['a','Z','é','語',' ','%'])[1 + i % 6] || i, '2025-11-20', '2025-11-20'
    from generate_series(1, ${count}::int) i`
  await sql`
    insert into search_results (list_id, day, source, seen_at, depth, complete, parser, origin, sha256, app_ids)
    select id, '2025-11-20', 40, ${NOW}, 2, true, 1, 'own', '\\x00', array[0, ${ids.get(RIVAL) as number}::int]
    from list
    where storefront = 'fr'`
  await sql.begin(async (tx) => {
    const lists = await tx<{ id: number }[]>`select id from list where storefront = 'fr'`
    await deriveListNow(
      tx as unknown as Tx,
      lists.map(({ id }) => id),
    )
  })
  const { keywords, searched } = await holding({ storefront: "fr" })
  expect([keywords.length, new Set(keywords.map(({ term }) => term)).size, searched]).toEqual([count, count, count])
  expect(new Set(keywords.map(({ rank }) => rank))).toEqual(new Set([2]))
})
