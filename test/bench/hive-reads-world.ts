import type { Sql, Tx } from "../../src/database/types.ts"
import { deriveKeywordMetrics } from "../../src/keywords/store/keyword-metrics.ts"
import type { Measure } from "../../src/lib/live-read.ts"
import { DAY_MS } from "../../src/lib/time.ts"
import { answersReviews, reviewPages } from "../measuring/public-pages.ts"
import { charted } from "../measuring/record/charted.ts"
import { appsReading, hintsReading, reading } from "../measuring/record/measured.ts"
import { hintsAnswer, searchPage, someApps } from "../measuring/store-pages.ts"
import { record } from "../record.ts"
import type { Service } from "../service.ts"
import { fixture } from "../stores/parsing/parsed.ts"
import { answersLookUps, live } from "../world/stores.ts"

const GENRES = Array.from({ length: 12 }, (_, i) => String(i === 0 ? 36 : 6_005 + i))
const PLACES = 100
/** Days with readings of the lists. */
const DAYS = 8
const WEEK = Array.from({ length: DAYS }, (_, i) => DAYS - 1 - i)
const DEPTH = 200

export interface HiveWorld {
  service: Service
  measure: Measure
  /** An app of the lists that ranks for the term and has reviews. */
  appId: string
  name: string
  /** An app with a page. */
  pageId: string
  publisherId: string
  term: string
  close: () => Promise<void>
}

/** Creates a storefront that is followed for a week, and stores that answer requests for its apps. */
export async function fillMarket(
  sql: Sql,
  today: string,
  { genres = GENRES, daysAgo = WEEK }: { genres?: readonly string[]; daysAgo?: readonly number[] } = {},
): Promise<HiveWorld> {
  const scene = await live(sql, [])
  const apps = someApps(genres.length * PLACES * 2).map((app, i) => ({ ...app, name: nameOf(i) }))
  const term = "tide table"
  const pageId = "1600000101"
  answersLookUps(
    scene.stores,
    Object.fromEntries([
      ...apps.map(({ id }, i) => [id, { trackName: nameOf(i), ...lookedUp(i) }]),
      [pageId, lookedUp(7)],
    ]),
  )
  scene.stores.on("apps.apple.com", "/", ({ url }) =>
    url.pathname.endsWith("/search") ? searchPage("us", term, apps.slice(0, DEPTH)) : page(),
  )
  scene.stores.on("search.itunes.apple.com", "/", ({ url }) => hintsAnswer([term, "tide tables usa"], url))
  const [{ id: appId, name }] = apps as [(typeof apps)[0]]
  answersReviews(scene.stores, appId, reviewPages(9_000, 500))
  for (const ago of daysAgo) {
    const at = new Date(Date.parse(`${today}T00:00:01Z`) - ago * DAY_MS).toISOString()
    const lists = genres.flatMap((genre, g) =>
      (["free", "paid", "grossing"] as const).map((chart) => {
        const dayApps = apps
          .slice(g * PLACES, g * PLACES + PLACES + DAYS)
          .slice(DAYS - 1 - ago)
          .slice(0, PLACES)
        const turned = [...dayApps.slice(ago % 5), ...dayApps.slice(0, ago % 5)]
        return charted(at, [], {
          source: "apple-charts",
          genre,
          chart,
          depth: turned.length,
          apps: turned.map(({ id, name }) => ({
            id,
            name,
            developer: `Maker ${Number(id) % 60}`,
            developerId: makerOf(id),
          })),
        })
      }),
    )
    const searched = reading(
      term,
      at,
      apps.slice(ago, DEPTH + ago).map(({ id }) => id),
      { source: "apple-web-search" },
    )
    const { bad } = { bad: [], ...(await record(sql, [...lists, searched])) }
    if (bad.length > 0) throw new Error(JSON.stringify(bad))
  }
  const publisherId = makerOf(appId)
  await sql`
    insert into developer_shelf (platform, storefront, developer_id, source, seen_at, complete, parser, origin, sha256,
      app_ids)
    select 'ios', 'us', ${publisherId}, 'itunes-developer', now(), true, 1, 'own', '', array_agg(id)
    from store_app
    where developer_id = ${publisherId}`
  // with the oldest formula: a later one would not be written from today's readings
  await sql`
    insert into keyword_metric (list_id, metric, day, source, seen_at, score, formula, parts)
    select l.id, metric, current_date - ago, case when metric = 'popularity' then 'estimate' else 'calculated' end,
      now() - ago * interval '1 day', 30 + ago % 7, 1, '{"rank": 0.5, "ratings": 0.25, "read": []}'
    from list l
    cross join unnest('{popularity,difficulty,demand,hints}'::text[]) metric
    cross join generate_series(1, 29) ago
    where l.term = ${term}`
  const at = `${today}T00:00:01Z`
  const rated = apps.slice(0, DEPTH / 10).map(({ id, name }, i) => ({ id, name, ratings: 1_000 + i }))
  await record(sql, [hintsReading(term, at, [`${term} usa`]), appsReading(at, rated)])
  await sql.begin((tx) => deriveKeywordMetrics(tx as Tx, [{ platform: "ios", storefront: "us", term }], new Date()))
  return {
    service: scene.service,
    measure: scene.measure,
    appId,
    name,
    pageId,
    publisherId,
    term,
    close: async () => await scene[Symbol.asyncDispose](),
  }
}

/** Returns an app name: two words that some twenty apps share, and a purpose. */
function nameOf(i: number): string {
  const word = (n: number) =>
    ["ba", "ke", "lo", "mi", "nu", "pa", "re", "so", "ti", "vu"][n % 10]! +
    ["dar", "fen", "gil", "hos", "jun", "kal", "lem", "mor", "nas", "pet"][Math.floor(n / 10) % 10]
  return `${word(i)} ${word(i * 7 + Math.floor(i / 100))}: tides`
}

const makerOf = (id: string) => String(700_000_000 + (Number(id) % 60))
const page = () =>
  new Response(fixture("apple-app-page-us.html"), { headers: { "content-type": "text/html; charset=utf-8" } })

function lookedUp(i: number) {
  return {
    userRatingCount: (i * 7_919) % 100_003,
    averageUserRating: 1 + (i % 9) / 2,
    fileSizeBytes: String(1_000_000 + i),
    languageCodesISO2A: ["EN", "FR"],
    releaseDate: "2020-01-01T08:00:00Z",
    currentVersionReleaseDate: "2025-11-01T08:00:00Z",
  }
}
