import { expect, test } from "bun:test"
import { demandOf } from "../../src/keywords/formulas/demand.ts"
import { estimatePopularity } from "../../src/keywords/formulas/popularity.ts"
import { slow } from "../long.ts"
import { record } from "../record.ts"
import { fixture } from "../stores/parsing/parsed.ts"
import { publicScene } from "./public-scene.ts"

const TRANSLATE = "com.google.android.apps.translate"
const scene = publicScene({ egressCountry: "us" })

const metrics = () => scene.sql`
  select metric, score::float8 as score, parts->'known' as known
  from keyword_metric
  where metric <> 'hints'
  order by metric`

test("an Android app's counts by star are stored with the reading of its page", async () => {
  scene.stores.on("play.google.com", "/store/apps/details", () => new Response(fixture("play-details-translate.html")))
  await scene.track({ androidPkg: TRANSLATE, countries: ["us"] })
  await scene.read("app")
  const [row] = await scene.sql`select source, ratings::float8 as ratings, to_json(stars) as stars from rating_count`
  expect(row).toEqual({ source: "play-details", ratings: 9_039_805, stars: STARS })
})

const STARS = [6_403_317, 878_696, 479_693, 306_894, 971_173]

slow("an Android keyword has a demand only if enough of its first ten apps have rating counts", async () => {
  scene.stores.on("play.google.com", "/store/search", () => new Response(fixture("play-search-panda.html")))
  await scene.track({ androidPkg: TRANSLATE, countries: ["us"], keywords: ["panda"] })
  await scene.read("search")
  // the card's count alone has a third of the weight
  expect([
    ...(await scene.sql`select source, ratings::float8 as n from rating_count where ratings is not null`),
  ]).toEqual([{ source: "play-search", n: 66_991 }])
  expect([...(await metrics())]).toEqual([])
  const counted = ["com.sinyee.babybus.restaurant", "com.yq.xmmg.gp"].map((id) => ({ id, ratings: 200_000, rating: 4 }))
  for (const app of counted) {
    const about = { parser: 1, origin: "own", sha256: new Uint8Array(32), seenAt: scene.now }
    const subject = { platform: "android" as const, storefront: "us", asked: [app.id], apps: [app] }
    await record(scene.sql, [{ kind: "apps", source: "play-details", ...subject, ...about }], () => scene.now)
  }
  await scene.read("search", { days: 1 })
  const demand = demandOf([66_991, 200_000, 200_000, ...Array<null>(7).fill(null)])!
  const estimate = estimatePopularity({ ratingMass: demand.parts.ratingMass, hints: null })!
  expect([...(await metrics())]).toEqual([
    { metric: "demand", score: demand.score, known: 3 },
    { metric: "popularity", score: estimate.score, known: null },
  ])
})
