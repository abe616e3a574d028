import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test"
import type { Sql } from "../../src/database/types.ts"
import { ALL_STOREFRONTS, isStorefront, STOREFRONTS } from "../../src/lib/storefronts.ts"
import { addApp } from "../../src/tracking/actions/add-app.ts"
import { trackApp } from "../../src/tracking/apps.ts"
import { addCountries } from "../../src/tracking/countries.ts"
import { type LiveStores, liveStores } from "../core/live.ts"
import { freshDatabase } from "../database.ts"
import { slow } from "../long.ts"
import { importLines } from "../record.ts"

setDefaultTimeout(60_000)

let sql: Sql
let scene: LiveStores
let workspaceId: number
let key: string

beforeEach(async () => {
  sql = await freshDatabase()
  scene = await liveStores(sql)
  workspaceId = await scene.service.workspace({ explorer: true, plan: "pro" })
  key = await scene.service.key(workspaceId)
})

afterEach(() => scene[Symbol.asyncDispose]())

const IDS = { ios: { iosId: "6744000010" }, android: { androidPkg: "com.example.droid" } }
const track = (ids: object, ...countries: string[]) =>
  sql.begin((tx) => trackApp(tx, { workspaceId, countries, keywords: [], origin: "own", ...ids }))
const get = async (path: string) => {
  const { status, body } = await scene.service.call(`/v1${path}`, { key })
  return [status, body.error ?? null, body.detail ?? null]
}

const PLAY_ALONE = "bd is a storefront of Google Play only. Use another country"

test("each reported country is tracked in the store that serves it and refused in the other store", async () => {
  const cases = await Bun.file(new URL("../cases/stores/countries.json", import.meta.url)).json()
  const results = cases.map(async ({ platform, country }: { platform: "ios" | "android"; country: string }) => {
    const result = await track(IDS[platform], country).then(
      () => "tracked",
      ({ message }) => message,
    )
    return `${platform} ${country}: ${result}`
  })
  expect(await Promise.all(results)).toEqual([
    "android bd: tracked",
    'ios uk: "uk" is not a storefront; the United Kingdom is gb',
    `ios bd: ${PLAY_ALONE}`,
  ])
})

describe("the storefronts of the two stores", () => {
  test("the list of all storefronts is the sorted union of both stores' lists, without duplicates", () => {
    expect(ALL_STOREFRONTS).toEqual([...new Set(ALL_STOREFRONTS)].sort())
    expect(STOREFRONTS.every((code) => isStorefront(code, "ios"))).toBe(true)
    const served = (code: string) => [isStorefront(code, "ios"), isStorefront(code, "android"), isStorefront(code)]
    expect(served("us")).toEqual([true, true, true])
    for (const code of ["bd", "aw", "ht", "tg", "li", "sd"])
      expect([code, served(code)]).toEqual([code, [false, true, true]])
    expect(served("cn")).toEqual([true, false, true])
    expect(served("uk")).toEqual([false, false, false])
  })

  test("an app of both stores is tracked in a storefront of either store", async () => {
    const id = await track({ ...IDS.ios, ...IDS.android }, "BD", "us")
    const added = await sql.begin((tx) => addCountries(tx, id, ["aw", "cn"]))
    expect(added.added).toEqual(["aw", "cn"])
  })

  test("a storefront of the other store is refused when added to an app or named in a preview", async () => {
    const id = await track(IDS.ios, "us")
    const adding = sql.begin((tx) => addCountries(tx, id, ["bd"]))
    expect(await adding.catch(({ message }) => message)).toBe(PLAY_ALONE)
    expect(() => addApp.refine?.({ ...IDS.android, countries: ["cn"] } as never)).toThrow("two-letter country code")
  })
})

describe("a call with a country that only Google Play has", () => {
  test("a country of Google Play is accepted for an Android app and refused for an iOS app", async () => {
    const android = await track(IDS.android, "bd")
    const ios = await track(IDS.ios, "us")
    expect((await get(`/apps/${android}/keywords?country=BD&platform=android`))[0]).toBe(200)
    expect((await get(`/apps/${android}/reviews/stats?country=bd&platform=android`))[0]).toBe(200)
    expect(await get(`/apps/${ios}/keywords?country=bd`)).toEqual([400, "bad_country", `${PLAY_ALONE}.`])
    expect(await get("/hive/charts?kind=free&country=bd")).toEqual([400, "bad_country", `${PLAY_ALONE}.`])
    expect(await get("/hive/keywords/tides/ranks?country=bd&platform=ios")).toEqual([
      400,
      "bad_country",
      `${PLAY_ALONE}.`,
    ])
    expect((await get("/hive/keywords/tides/ranks?country=bd&platform=android"))[1]).not.toBe("bad_country")
  })

  slow("a country is checked against the store of the app or platform in the call, also without a key", async () => {
    const sandbox = async (path: string) => (await scene.service.call(`/v1/sandbox${path}`)).body
    for (const ask of [
      "/hive/apps/1234567890?country=bd",
      "/rank-check?app=https://apps.apple.com/us/app/tides/id1234567890&term=tides&cc=bd",
      "/hive/resolve?q=id1234567890&country=bd",
      "/hive/spy/1234567890?country=bd",
      "/hive/gap?ids=1234567890,1234567891&country=bd",
      "/hive/find?text=tides&country=us,bd",
      "/hive/research?seed=tides&compare=de,bd",
    ]) {
      expect([ask, ...(await get(ask))]).toEqual([ask, 400, "bad_country", `${PLAY_ALONE}.`])
      expect([ask, (await sandbox(ask)).error]).toEqual([ask, "bad_country"])
    }
    for (const ask of [
      "/hive/apps/com.example.tides?country=bd",
      "/rank-check?app=com.example.tides&term=tides&cc=bd",
      "/hive/resolve?q=com.example.tides&country=bd",
      "/hive/spy/com.example.tides?country=bd&platform=android",
    ])
      expect([ask, (await get(ask))[1]]).not.toEqual([ask, "bad_country"])
  })

  test("a call with uk is refused, and the error names the code gb", async () => {
    const [status, code, detail] = await get("/hive/charts?kind=free&country=uk")
    expect([status, code]).toEqual([400, "bad_country"])
    expect(detail).toEndWith("The United Kingdom is gb.")
  })
})

test("an import accepts the countries of each store and refuses uk, naming the code gb", async () => {
  const line = (storefront: string, rest: object) =>
    JSON.stringify({ kind: "search", storefront, term: "tides", depth: 1, seenAt: "2025-11-20T03:00:00Z", ...rest })
  const play = { source: "play-search", platform: "android", results: [{ id: "com.example.droid", name: "Tides" }] }
  const apple = { source: "apple-web-search", platform: "ios", results: [{ id: "6744000010", name: "Tides" }] }
  const lines = [line("bd", play), line("BD", apple), line("cn", play), line("uk", play)]
  const read = async function* () {
    yield* lines
  }
  const { recorded, bad } = await importLines(sql, read(), { now: () => new Date("2025-11-21T00:00:00Z") })
  const rule = "the storefront must be a lower-case two-letter code of the store"
  expect([recorded, bad]).toEqual([
    1,
    [
      { line: 2, reason: rule },
      { line: 3, reason: rule },
      { line: 4, reason: `${rule}: the United Kingdom is gb` },
    ],
  ] as never)
})
