import { beforeEach, describe, expect, test } from "bun:test"
import type { Sql } from "../../src/database/types.ts"
import { freshDatabase } from "../database.ts"
import { slow } from "../long.ts"
import { appsReading, reading } from "../measuring/record/measured.ts"
import { deriveFor, lines, OWN, otherIds, readAlerts, storeAll, trackNew } from "./derived-alerts.ts"

const OWN_GENRE = "6015"
let sql: Sql

beforeEach(async () => {
  sql = await freshDatabase()
  await trackNew(sql, ["tea"])
  await storeAll(sql, [
    withGenre([OWN], OWN_GENRE),
    withGenre(similar(10), OWN_GENRE),
    withGenre(different(10), "6016"),
  ])
})

const similar = (count: number) => otherIds(count, 40_001)
const different = (count: number) => otherIds(count, 50_001)
const unknown = (count: number) => otherIds(count, 60_001)

function withGenre(ids: string[], genre: string) {
  return appsReading(
    "2025-11-01T10:00:00Z",
    ids.map((id) => ({ id, name: `App ${id}`, genre })),
  )
}

/** Returns look-ups that list all categories of these apps, the main one first. */
function withGenres(ids: string[], ...genres: string[]) {
  return appsReading(
    "2025-11-02T10:00:00Z",
    ids.map((id) => ({ id, name: `App ${id}`, genre: genres[0]!, genres })),
  )
}

function results(day: number, ids: string[]) {
  return reading("tea", `2025-11-${day}T10:00:00Z`, ids)
}

async function alertsOf(...readings: ReturnType<typeof results>[]): Promise<string[]> {
  await storeAll(sql, readings)
  await deriveFor(sql)
  return lines(await readAlerts(sql, "off_topic"))
}

describe("the first ten results of a keyword", () => {
  test("a keyword with ten results of other categories on its first measured day is off topic", async () => {
    expect(await alertsOf(results(20, [...different(10), ...similar(10), OWN]))).toEqual(["2025-11-20 off_topic tea"])
    const [alert] = await readAlerts(sql, "off_topic")
    expect(alert).toMatchObject({ storefront: "us", at: new Date("2025-11-20T10:00:00Z") })
    expect(alert?.facts).toEqual({
      term: "tea",
      genre: OWN_GENRE,
      genreName: null,
      genres: Array<string>(10).fill("6016"),
      source: "import",
      against: null,
    })
  })

  test("a keyword whose results include the app or another app of its category is not off topic", async () => {
    expect(await alertsOf(results(19, [...different(9), ...similar(1)]), results(20, [...different(9), OWN]))).toEqual(
      [],
    )
  })

  test.each([
    [8, ["2025-11-20 off_topic tea"]],
    [7, []],
  ])(
    "a keyword is judged only with at least eight results of known category: %p are known",
    async (knownCount, expected) => {
      expect(await alertsOf(results(20, [...different(knownCount), ...unknown(10 - knownCount)]))).toEqual(expected)
      const genres = [...Array<string>(knownCount).fill("6016"), ...Array<null>(10 - knownCount).fill(null)]
      expect((await readAlerts(sql, "off_topic")).map(({ facts }) => facts.genres)).toEqual(expected.map(() => genres))
    },
  )

  test("a keyword whose results change to other categories causes an alert on that day only", async () => {
    const [onTopic, offTopic] = [[...different(9), ...similar(1)], different(10)]
    expect(
      await alertsOf(results(17, onTopic), results(18, offTopic), results(19, offTopic), results(20, offTopic)),
    ).toEqual(["2025-11-18 off_topic tea"])
    const [alert] = await readAlerts(sql, "off_topic")
    expect(alert?.facts).toMatchObject({ against: "2025-11-17" })
  })

  test("a keyword that was off topic or not judged on the previous measured day causes no alert", async () => {
    expect(await alertsOf(results(10, different(10)), results(18, different(10)))).toEqual([])
    const vague = [...similar(1), ...different(6), ...unknown(3)]
    expect(await alertsOf(results(19, vague), results(20, different(10)))).toEqual([])
    const clear = [...vague.slice(0, 8), ...different(9).slice(6, 8)]
    expect(await alertsOf(reading("tea", "2025-11-19T11:00:00Z", clear))).toEqual(["2025-11-20 off_topic tea"])
  })

  test("a keyword of an app with unknown category causes no alert", async () => {
    await sql`update store_app set genre = null where store_id = ${OWN}`
    expect(await alertsOf(results(20, different(10)))).toEqual([])
  })
})

describe("an app without its main category in the first ten", () => {
  const [first, ...rest] = different(10)

  slow("an app whose second category matches a result's main or second one is not off topic", async () => {
    await storeAll(sql, [withGenres([OWN], OWN_GENRE, "6016")])
    expect(await alertsOf(results(20, [...unknown(2), ...different(8)]))).toEqual([])
    await storeAll(sql, [withGenres([OWN], OWN_GENRE, "6012"), withGenres([first!], "6017", OWN_GENRE)])
    expect(await alertsOf(results(19, different(10)))).toEqual([])
  })

  slow("an app that shares a second category, or is a game among games, is not off topic", async () => {
    await storeAll(sql, [withGenres([OWN], OWN_GENRE, "6012"), withGenres([first!], "6017", "6012")])
    expect(await alertsOf(results(20, different(10)))).toEqual([])
    await storeAll(sql, [withGenres([OWN], "6014", "7001"), withGenres([first!], "6017", "6014", "7002")])
    expect(await alertsOf(results(19, different(10)))).toEqual([])
  })

  test("an app that shares only the general category 36 with a result is off topic", async () => {
    await storeAll(sql, [withGenres([OWN], OWN_GENRE, "6012", "36"), withGenres([first!], "6017", "6005", "36")])
    expect(await alertsOf(results(20, different(10)))).toEqual(["2025-11-20 off_topic tea"])
    expect((await readAlerts(sql, "off_topic"))[0]?.facts).toMatchObject({
      genre: OWN_GENRE,
      genres: ["6017", ...rest.map(() => "6016")],
    })
  })

  test("an app becomes off topic when the result that shared its second category is gone", async () => {
    await storeAll(sql, [withGenres([OWN], OWN_GENRE, "6012"), withGenres(["70001"], "6017", "6012")])
    expect(await alertsOf(results(19, [...rest, "70001"]), results(20, different(10)))).toEqual([
      "2025-11-20 off_topic tea",
    ])
  })

  test("a result whose only known category is the general category of all apps counts as unknown", async () => {
    await storeAll(sql, [withGenres([OWN], OWN_GENRE, "6012"), withGenres(unknown(3), "36")])
    expect(await alertsOf(results(20, [...unknown(3), ...rest.slice(0, 7)]))).toEqual([])
    expect(await alertsOf(reading("tea", "2025-11-20T11:00:00Z", [...unknown(2), ...rest.slice(0, 8)]))).toEqual([
      "2025-11-20 off_topic tea",
    ])
  })
})

test("an app on Google Play is compared by Google Play's categories", async () => {
  const packageName = "com.example.tea"
  await trackNew(sql, ["chai"], { iosId: undefined, androidPkg: packageName })
  const packages = otherIds(10).map((id) => `com.example.a${id}`)
  const play = { platform: "android" as const, source: "play-details" as const }
  const genres = (ids: string[], genre: string) =>
    appsReading(
      "2025-11-01T10:00:00Z",
      ids.map((id) => ({ id, name: id, genre })),
      play,
    )
  await storeAll(sql, [
    genres([packageName], "FOOD_AND_DRINK"),
    genres(packages, "TOOLS"),
    reading("chai", "2025-11-20T10:00:00Z", packages, { platform: "android", source: "play-search" }),
  ])
  await deriveFor(sql, { platform: "android", subject: packageName })
  expect(lines(await readAlerts(sql))).toEqual(["2025-11-20 off_topic chai"])
})
