import { describe, expect, test } from "bun:test"
import type { Lane } from "../../src/measuring/pace.ts"
import { takeTurn } from "../../src/measuring/pace.ts"
import { readFeed } from "../../src/reviews/read/feeds.ts"
import { long, slow } from "../long.ts"
import { playAnswer } from "../stores/parsing/review-pages.ts"
import { answersReviews, HARBOR, reviewPages } from "./public-pages.ts"
import { publicScene } from "./public-scene.ts"
import { EGRESS } from "./scene.ts"

const scene = publicScene()
const PACKAGE = "com.example.harbor"
const feedRequests = () =>
  scene.stores.requests.filter(({ url }) => url.pathname.includes("/rss/customerreviews/")).length
const storedReviews = async () => (await scene.sql`select 1 from review`).length
const read = async (feed = "us") => {
  const [app] = await scene.sql<{ id: number }[]>`select id from store_app where store_id in (${HARBOR.id}, ${PACKAGE})`
  return await readFeed(scene.sql, { appId: app!.id, feed })
}

describe("an app's reviews", () => {
  slow("the first reading of an app's reviews takes ten requests, and each daily reading takes one", async () => {
    await scene.track()
    await scene.read("reviews")
    expect([feedRequests(), await storedReviews()]).toEqual([10, 500])
    answersReviews(scene.stores, HARBOR.id, reviewPages(9_020, 500))
    await scene.read("reviews", { days: 1 })
    expect([feedRequests(), await storedReviews()]).toEqual([11, 520])
    expect(await read()).toEqual({ readAt: scene.now, completeAt: scene.now, complete: true, empty: false })
  })

  slow("reviews with an empty middle page are incomplete until the next day's reading", async () => {
    await scene.track()
    answersReviews(scene.stores, HARBOR.id, reviewPages(9_000, 300, { 3: { reviews: [], last: 6 } }))
    await scene.read("reviews")
    expect([await storedReviews(), await read()]).toMatchObject([250, { complete: false, completeAt: null }])
    answersReviews(scene.stores, HARBOR.id, reviewPages(9_000, 300))
    await scene.read("reviews", { days: 1 })
    expect([await storedReviews(), await read()]).toMatchObject([300, { complete: true }])
  })

  slow("stored reviews stay after a refused request, an unusable feed or an empty page", async () => {
    await scene.track()
    answersReviews(scene.stores, HARBOR.id, reviewPages(9_000, 60))
    await scene.read("reviews")
    const before = await scene.facts()
    for (const answer of [() => new Response("", { status: 403 }), () => new Response("<feed></feed>")]) {
      scene.stores.on("itunes.apple.com", "/us/rss/customerreviews/", answer)
      await scene.read("reviews", { days: 1 })
      await scene.sql`update pace set next_at = now()`
    }
    answersReviews(scene.stores, HARBOR.id, [{ reviews: [], last: 6 }])
    await scene.read("reviews", { days: 1 })
    expect(await scene.facts()).toEqual(before)
    expect(await scene.due("reviews")).toMatchObject([{ failures: 3, failure: "failed" }])
  })

  slow("an empty review feed is a failed reading unless a look-up has shown that the app has no ratings", async () => {
    await scene.track({ iosId: "1000000001" })
    answersReviews(scene.stores, "1000000001", [{ reviews: [], last: null }])
    await scene.read("reviews")
    expect(await scene.due("reviews")).toMatchObject([{ failures: 1, failure: "failed" }])
    await scene.sql`
      insert into rating_count (app_id, storefront, day, source, seen_at, origin, ratings)
      select id, 'us', ${scene.now}::date, 'itunes-lookup', ${scene.now}, 'own', 0
      from store_app`
    await scene.read("reviews")
    expect([...(await scene.sql`select empty, complete from review_read`)]).toEqual([{ empty: true, complete: true }])
  })

  test("the authors of reviews are not stored, and neither are the bodies of review pages", async () => {
    await scene.track()
    answersReviews(scene.stores, HARBOR.id, reviewPages(9_000, 60))
    const bodies: string[] = []
    await scene.read("reviews", { keep: async ({ text }) => void bodies.push(text) })
    expect([await storedReviews(), bodies]).toEqual([60, []])
    expect(JSON.stringify(await scene.facts())).not.toContain("A reviewer")
  })
})

describe("the long first reading of an app's reviews", () => {
  long("at most two first readings of reviews run at the same time", async () => {
    for (let i = 1; i <= 4; i++) {
      await scene.track({ iosId: String(1_000_000_000 + i) })
      answersReviews(scene.stores, String(1_000_000_000 + i), reviewPages(9_000, 120))
    }
    expect(await scene.read("reviews", { atOnce: 6 })).toBe(2)
    expect(await scene.read("reviews", { atOnce: 6 })).toBe(2)
  })

  slow("a first reading books no request slots ahead, so that other due readings can go first", async () => {
    const lane: Lane = { upstream: "itunes.apple.com", egress: EGRESS }
    await scene.sql`
      insert into pace (upstream, egress, next_at, base_gap_ms, gap_ms)
      values (${lane.upstream}, ${lane.egress}, now() + interval '400 ms', 1000, 1000)`
    const ahead = async () => {
      const [row] = await scene.sql<
        { ms: number }[]
      >`select extract(epoch from next_at - now())::float8 * 1000 as ms from pace`
      return row!.ms
    }
    const taking = takeTurn(scene.sql, lane, {
      withinMs: 5_000,
      live: false,
      yields: true,
      signal: new AbortController().signal,
    })
    await Bun.sleep(150)
    expect(await ahead()).toBeLessThan(400)
    await taking
    expect(await ahead()).toBeWithin(500, 1_001)
  })

  long("a first reading of reviews has a longer timeout than other readings", async () => {
    await scene.track()
    scene.stores.on("itunes.apple.com", "/us/rss/customerreviews/", async () => {
      await Bun.sleep(60)
      return undefined
    })
    await scene.read("reviews", { readMs: 400 })
    expect(await storedReviews()).toBe(500)
  })
})

describe("reviews on Google Play", () => {
  const languages = () =>
    scene.stores.requests
      .filter(({ url }) => url.hostname === "play.google.com")
      .map(({ url }) => [url.searchParams.get("hl"), url.searchParams.get("gl")].join())

  slow("Google Play reviews are read once per language of the storefronts, whatever the egress country", async () => {
    scene.stores.on("play.google.com", "/_/PlayStoreUi", () => new Response(playAnswer([900, 899], null)))
    await scene.track({ androidPkg: PACKAGE, countries: ["us", "de", "at", "jp"] })
    for (const count of [2, 2, 0]) expect(await scene.read("reviews", { isDue: true })).toBe(count)
    expect(new Set(languages())).toEqual(new Set(["de,AT", "ja,JP", "en,US"]))
    expect((await scene.sql`select feed from review_read order by feed`).map(({ feed }) => feed)).toEqual([
      "de",
      "en",
      "ja",
    ])
    expect((await scene.due("reviews")).map(({ failures }) => failures)).toEqual([0, 0, 0, 0])
  })

  test("a blocked reading of Google Play reviews changes no stored data", async () => {
    await scene.track({ androidPkg: PACKAGE })
    scene.stores.on("play.google.com", "/_/PlayStoreUi", () => new Response("", { status: 429 }))
    const before = await scene.facts()
    await scene.read("reviews")
    expect(await scene.facts()).toEqual(before)
    expect(await scene.due("reviews")).toMatchObject([{ failures: 1, failure: "rate_limited" }])
  })
})
