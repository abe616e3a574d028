import { expect, test } from "bun:test"
import type { ChartObservation } from "../../../src/charts/kinds/chart-shape.ts"
import { readOnce } from "../../../src/measuring/source.ts"
import { itunesLookup } from "../../../src/stores/apple/itunes-lookup.ts"
import { slow } from "../../long.ts"
import { rowsOf, SOME } from "../../measuring/record/chart-rows.ts"
import { charted } from "../../measuring/record/charted.ts"
import { appsReading } from "../../measuring/record/measured.ts"
import { record } from "../../record.ts"
import { openService } from "../../service.ts"
import { fixture } from "../../stores/parsing/parsed.ts"
import { reachOf } from "../../stores/parsing/replay.ts"
import { DAY_MS, daysAgo } from "../../world/clock.ts"
import { marketWorld } from "../../world/market.ts"
import { answersLookUps } from "../../world/stores.ts"

const scene = marketWorld({ forget: ["charts"] })

const ask = (query = "") => scene.get(`/v1/hive/landscape${query}`)
const onChart = (days: number, ids: readonly number[], rest: Partial<ChartObservation> = {}) =>
  record(scene.sql, [charted(daysAgo(days), ids, { source: "apple-charts", ...rest })])
const paths = () => scene.stores.requests.map(({ url }) => url.pathname)

/** The recorded chart of one day: a hundred apps in order, with look-up results for most of them. */
const LIST = rowsOf(SOME)
  .slice(0, 100)
  .map(({ id, name, developer }, i) => ({
    id,
    name,
    developer,
    row: i % 9 === 8 ? null : rowOf(i),
  }))

/** Every seventh app has no languages. */
function rowOf(i: number) {
  const ratings = (i * 7_919) % 100_003
  return {
    userRatingCount: ratings,
    averageUserRating: ratings === 0 ? 0 : 1 + (i % 9) / 2,
    fileSizeBytes: String(1_000_000 + i * 333),
    ...(i % 7 > 0 && { languageCodesISO2A: ["EN", "FR", "DE", "JA", "ZH"].slice(0, 1 + (i % 5)) }),
    releaseDate: `${daysAgo(i * 23).slice(0, 19)}Z`,
    currentVersionReleaseDate: `${daysAgo(i * 4).slice(0, 19)}Z`,
  }
}

/** Records the chart as read today, and lets the store answer look-ups. */
async function listToday() {
  const apps = LIST.map(({ id, name, developer }) => ({ id, name, developer }))
  await onChart(0, [], { storefront: "jp", apps, depth: apps.length })
  const rows = LIST.flatMap(({ id, name, developer, row }) =>
    row ? [[id, { ...row, trackName: name, artistName: developer }] as const] : [],
  )
  answersLookUps(scene.stores, Object.fromEntries(rows))
}

/**
 * Returns the expected figures of the chart after look-ups of its first apps, computed independently of the product.
 */
function reckoned(day: string, lookedUp: number) {
  const of = LIST.length
  const lookedUpRows = LIST.slice(0, lookedUp).flatMap(({ row }) => row ?? [])
  const wall = LIST.slice(0, 10).flatMap(({ row }) => row?.userRatingCount ?? [])
  const medianOf = (values: number[]) => ({
    median: values.length * 2 < of ? null : middle(values),
    n: values.length,
    of,
  })
  const shareOf = (field: "releaseDate" | "currentVersionReleaseDate", days: number) => {
    const since = new Date(Date.parse(day) - days * DAY_MS).toISOString().slice(0, 19)
    const share = lookedUpRows.filter((row) => row[field] >= since).length / lookedUpRows.length
    return { share: lookedUpRows.length * 2 < of ? null : Number(share.toFixed(3)), n: lookedUpRows.length, of }
  }
  const sold = LIST.map(({ developer }) => developer)
  const repeatedSellers = sold.filter((seller) => sold.indexOf(seller) !== sold.lastIndexOf(seller))
  return {
    ratingsWall: { least: Math.min(...wall), median: middle(wall), n: wall.length, of: 10 },
    rating: medianOf(lookedUpRows.flatMap(({ averageUserRating: rating }) => (rating > 0 ? [rating] : []))),
    nameLength: medianOf(LIST.map(({ name }) => Array.from(name).length)),
    releasedWithinYear: shareOf("releaseDate", 365),
    updatedWithin90Days: shareOf("currentVersionReleaseDate", 90),
    languages: medianOf(lookedUpRows.flatMap(({ languageCodesISO2A: codes }) => codes?.length ?? [])),
    sizeBytes: medianOf(lookedUpRows.map(({ fileSizeBytes }) => Number(fileSizeBytes))),
    publishers: { count: new Set(repeatedSellers).size, apps: repeatedSellers.length, n: of, of },
  }
}

/** Computes a median by removing the smallest and the largest in turn. */
function middle(values: readonly number[]): number {
  const remaining = [...values].sort((a, b) => a - b)
  while (remaining.length > 2) {
    remaining.pop()
    remaining.shift()
  }
  return remaining.reduce((sum, value) => sum + value) / remaining.length
}

slow("concurrent calls for a category share one iTunes lookup, and the figures match the reference", async () => {
  await listToday()
  const all = await Promise.all(Array.from({ length: 10 }, () => ask("?country=jp&genre=finance")))
  const { status, body } = all[0]!
  expect([status, new Set(all.map(({ text }) => text)).size, await scene.creditsUsed()]).toEqual([200, 1, 100])
  expect(paths()).toEqual(["/lookup"])
  const [category] = body.categories
  expect(category).toMatchObject({
    key: "finance",
    genre: { id: "6015" },
    source: "apple-charts",
    listed: 100,
    origin: "own",
  })
  expect(category).toMatchObject(reckoned(category.day, 50))
  expect([category.ratingsWall.n, category.sizeBytes]).toEqual([9, { median: null, n: 45, of: 100 }])
  expect(category.restsOn.ratings.sources).toEqual(["itunes-lookup"])
  expect(category.restsOn.lookUps.from <= category.restsOn.lookUps.to).toBe(true)
  // requesting the category by id gives the same answer, without another look-up
  expect((await ask("?country=jp&genre=6015")).body).toEqual(body)
  expect(paths()).toHaveLength(1)
})

slow("if every app of a chart is stored, its figures and their numbers of apps match the reference", async () => {
  await listToday()
  for (const from of [0, 50]) {
    const ids = LIST.slice(from, from + 50).map(({ id }) => id)
    const { seen: reading } = await readOnce(itunesLookup, { storefront: "jp", ids }, reachOf(scene.stores))
    await record(scene.sql, [reading])
  }
  const [category] = (await ask("?country=jp&genre=finance")).body.categories
  expect(category).toMatchObject(reckoned(category.day, 100))
  const stats = ["ratingsWall", "rating", "releasedWithinYear", "languages", "sizeBytes", "publishers"]
  expect(stats.map((name) => category[name].n)).toEqual([9, 88, 89, 76, 89, 100])
  expect(stats.every((name) => Object.values(category[name]).every((value) => value !== null))).toBe(true)
})

slow("a call for an unread category reads its chart and its apps", async () => {
  scene.stores.on("itunes.apple.com", "/us/rss/", () => new Response(fixture("apple-charts-us-free-finance.json")))
  const entries = JSON.parse(fixture("apple-charts-us-free-finance.json")).feed.entry
  const ids: string[] = entries.map(
    (entry: { id: { attributes: Record<string, string> } }) => entry.id.attributes["im:id"],
  )
  answersLookUps(scene.stores, Object.fromEntries(ids.map((id) => [id, { userRatingCount: 77 }])))
  const [category] = (await ask("?genre=finance")).body.categories
  const listed = new Set(ids).size
  expect([category.listed, category.ratingsWall]).toEqual([listed, { least: 77, median: 77, n: listed, of: listed }])
  expect(paths().map((path) => path.split("/").at(1))).toEqual(["us", "lookup"])
})

slow("if its apps cannot be read, a category has no ratings wall, at the price of an empty answer", async () => {
  scene.stores.on("itunes.apple.com", "/us/rss/", () => new Response(fixture("apple-charts-us-free-finance.json")))
  scene.stores.on("itunes.apple.com", "/lookup", () => new Response("no", { status: 503 }))
  const { status, body } = await ask("?genre=6015")
  const [category] = body.categories
  expect([status, category.ratingsWall, await scene.creditsUsed()]).toEqual([
    200,
    { least: null, median: null, n: 0, of: category.listed },
    1,
  ])
  expect(category.languages).toEqual({ median: null, n: 0, of: category.listed })
  expect(category.nameLength.n).toBe(category.listed)
  expect(category.restsOn).toEqual({ ratings: null, lookUps: null })
})

test("a call without a genre returns every measured category with its day, and reads no store", async () => {
  expect([(await ask()).body.categories, await scene.creditsUsed()]).toEqual([[], 1])
  await onChart(3, [10_001, 10_002], { genre: "6015" })
  await onChart(1, [10_001], { genre: "36" })
  await onChart(2, [10_003], { genre: "6014", chart: "paid" })
  await onChart(2, [10_003], { genre: "6014", storefront: "gb" })
  await record(scene.sql, [appsReading(daysAgo(2), [{ id: "10001", ratings: 40, rating: 4 }])])
  const { body } = await ask()
  const categories = body.categories.map(({ key, day, ratingsWall }: Record<string, unknown>) => [
    key,
    day,
    ratingsWall,
  ])
  expect(categories).toEqual([
    ["all", daysAgo(1).slice(0, 10), { least: 40, median: 40, n: 1, of: 1 }],
    ["finance", daysAgo(3).slice(0, 10), { least: 40, median: 40, n: 1, of: 2 }],
  ])
  expect([scene.stores.requests.length, await scene.creditsUsed()]).toEqual([0, 11])
  expect((await ask("?fields=key,listed")).body.categories).toEqual([
    { genre: { id: "36", name: null }, key: "all", listed: 1 },
    { genre: { id: "6015", name: null }, key: "finance", listed: 2 },
  ])
})

slow("rating counts and updates read long before the chart are unknown, and release dates stay known", async () => {
  const [releasedAt, updatedAt] = [new Date(daysAgo(400)), new Date(daysAgo(60))]
  await record(scene.sql, [appsReading(daysAgo(45), [{ id: "10001", ratings: 40, rating: 4, releasedAt, updatedAt }])])
  await onChart(0, [10_001], { genre: "6015" })
  const [category] = (await ask()).body.categories
  expect([category.ratingsWall.n, category.updatedWithin90Days.n]).toEqual([0, 0])
  expect(category.releasedWithinYear).toEqual({ share: 0, n: 1, of: 1 })
  await onChart(20, [10_001], { genre: "6014" })
  const near = (await ask()).body.categories.find(({ key }: { key: string }) => key === "games")
  expect([near.ratingsWall.least, near.updatedWithin90Days]).toEqual([40, { share: 1, n: 1, of: 1 }])
})

test("on an instance that reads no store, an unread category fails with not_measured for 1 credit", async () => {
  const service = openService({ sql: scene.sql })
  const { status, body, credits } = await service.call("/v1/hive/landscape?genre=games", { key: scene.key })
  expect([status, body.error, credits.used]).toEqual([404, "not_measured", 1])
  expect(body.detail).toContain("does not read")
})

test("an unknown genre fails with bad_genre, lists the allowed keys and costs nothing", async () => {
  for (const genre of ["sport", "06015", "Finance", "1234567"]) {
    const { status, body } = await ask(`?genre=${genre}`)
    expect([status, body.error, body.field]).toEqual([400, "bad_genre", "genre"])
    expect(body.detail).toContain("photo-video")
  }
  expect(await scene.creditsUsed()).toBe(0)
})
