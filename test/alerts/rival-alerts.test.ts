import { beforeEach, describe, expect, test } from "bun:test"
import type { Sql } from "../../src/database/types.ts"
import type { SearchObservation } from "../../src/keywords/kinds/search-shape.ts"
import { freshDatabase } from "../database.ts"
import { slow } from "../long.ts"
import { listed } from "../measuring/record/listed.ts"
import { appsReading, reading } from "../measuring/record/measured.ts"
import { deriveFor, lines, OWN, otherIds, readAlerts, storeAll, trackNew } from "./derived-alerts.ts"

const RIVAL = "30001"
const PASSINGS = ["rival_passed", "rival_beaten"]
let sql: Sql

beforeEach(async () => {
  sql = await freshDatabase()
})

/** Returns results with the app and the rival at these ranks. Null if absent. */
function listWith(
  day: number,
  ownRank: number | null,
  rivalRank: number | null,
  rest: Partial<SearchObservation> = {},
) {
  const ids = otherIds(rest.depth ?? 100)
  if (ownRank !== null) ids.splice(ownRank - 1, 1, OWN)
  if (rivalRank !== null) ids.splice(rivalRank - 1, 1, RIVAL)
  return reading("tea", `2025-11-${day}T10:00:00Z`, ids, rest)
}

type Places = [ours: number | null, theirs: number | null]

/** Returns alerts about the rival only, since apps between the two move too. */
async function passings(readings: SearchObservation[], manual = true): Promise<string[]> {
  await trackNew(sql, ["tea"], manual ? { manualRivals: [`ios:${RIVAL}`] } : {})
  await storeAll(sql, readings)
  await deriveFor(sql)
  return lines((await readAlerts(sql, ...PASSINGS)).filter(({ facts }) => facts.rival === RIVAL))
}

describe("a rival on a keyword", () => {
  test("a rival that passed the app causes an alert with the ranks of both apps before and after", async () => {
    await storeAll(sql, [appsReading("2025-11-01T10:00:00Z", [{ id: RIVAL, name: "Cup" }])])
    expect(await passings([listWith(19, 3, 5), listWith(20, 6, 2, { depth: 90 })])).toEqual([
      "2025-11-20 rival_passed 30001 tea",
    ])
    const [alert] = (await readAlerts(sql, ...PASSINGS)).filter(({ facts }) => facts.rival === RIVAL)
    expect(alert).toEqual({
      type: "rival_passed",
      storefront: "us",
      subject: "30001 tea",
      day: "2025-11-20",
      at: new Date("2025-11-20T10:00:00Z"),
      facts: {
        rival: RIVAL,
        name: "Cup",
        manual: true,
        term: "tea",
        ours: 6,
        theirs: 2,
        oursWas: 3,
        theirsWas: 5,
        depth: 90,
        wasDepth: 100,
        source: "import",
        against: "2025-11-19",
      },
    })
  })

  const passed = ["2025-11-20 rival_passed 30001 tea"]
  const beaten = ["2025-11-20 rival_beaten 30001 tea"]
  const cases: [string, Places, Places, string[]][] = [
    ["stays below the app causes no alert", [3, 5], [4, 6], []],
    ["stays above the app causes no alert", [5, 3], [50, 4], []],
    ["falls below the app causes rival_beaten", [5, 3], [3, 5], beaten],
    ["enters above the app causes rival_passed", [3, null], [4, 2], passed],
    ["enters below the app causes no alert", [3, null], [3, 4], []],
    ["drops out from above the app causes rival_beaten", [5, 3], [5, null], beaten],
    ["stays in the results when the app drops out causes rival_passed", [3, 5], [null, 5], passed],
    ["is below the app when the app enters causes rival_beaten", [null, 5], [4, 5], beaten],
    ["enters together with the app causes no alert", [null, null], [4, 3], []],
    ["drops out together with the app causes no alert", [3, 4], [null, null], []],
    ["passes the app and reaches rank 50 causes rival_passed", [49, 60], [60, 50], passed],
    ["passes the app and reaches rank 51 causes no alert", [49, 60], [60, 51], []],
    ["is passed by the app at rank 50 causes rival_beaten", [60, 49], [50, 60], beaten],
    ["is passed by the app at rank 51 causes no alert", [60, 49], [51, 60], []],
  ]
  test.each(cases)("a rival that %s", async (_, before, after, expected) => {
    expect(await passings([listWith(19, ...before), listWith(20, ...after)])).toEqual(expected)
  })

  test.each([
    [10, passed],
    [11, []],
  ])("a rival that was not added by hand and passes the app at rank %p causes %p", async (place, expected) => {
    // above the app for three keywords, so that it is followed
    const two = ["mate", "milk"].map((term) => reading(term, "2025-11-20T10:00:00Z", [RIVAL, OWN]))
    const rest = listWith(19, 9, 20)
    await trackNew(sql, ["tea", "mate", "milk"])
    await storeAll(sql, [...two, rest, listWith(20, 20, place)])
    await deriveFor(sql)
    const rows = (await readAlerts(sql, ...PASSINGS)).filter(({ facts }) => facts.rival === RIVAL)
    expect(lines(rows)).toEqual(expected)
    expect(rows.map(({ facts }) => facts.manual)).toEqual(expected.map(() => false))
  })

  test("a rival is compared across unmeasured days, but never across a change of source", async () => {
    expect(await passings([listWith(17, 3, 5), listWith(19, 5, 3)])).toEqual(["2025-11-19 rival_passed 30001 tea"])
    await storeAll(sql, [listWith(20, 3, 5, { source: "apple-web-search" })])
    await deriveFor(sql)
    expect(lines((await readAlerts(sql, ...PASSINGS)).filter(({ facts }) => facts.rival === RIVAL))).toEqual([
      "2025-11-19 rival_passed 30001 tea",
    ])
  })
})

describe("a change of a rival", () => {
  const page = (day: number, listing: Parameters<typeof listed>[1], id = RIVAL) =>
    listed(`2025-11-${day}T09:00:00Z`, listing, { id })

  test("a rival's change causes an alert with the old and new value; other apps' changes cause none", async () => {
    await trackNew(sql, ["tea"], { manualRivals: [`ios:${RIVAL}`] })
    const before = { version: "1.0", price: 1.99, rating: 4.5, subtitle: "a", description: "a", promotionalText: "a" }
    const after = { version: "1.1", price: 0, rating: 4.4, subtitle: "b", description: "b", promotionalText: "b" }
    const shots = { phone: ["https://is1-ssl.mzstatic.com/new.png"] }
    const rest = { name: "Cup 2", icon: "https://is1-ssl.mzstatic.com/new/512x512bb.jpg", screenshots: shots }
    await storeAll(sql, [
      ...[page(19, before), page(20, { ...after, ...rest })],
      ...[page(19, before, "39999"), page(20, after, "39999")],
      ...[page(19, before, OWN), page(20, after, OWN)],
    ])
    await deriveFor(sql)
    const rows = await readAlerts(sql, "rival_event")
    expect(lines(rows)).toEqual(
      ["icon", "name", "price", "rating_jump", "screenshots", "version"].map(
        (kind) => `2025-11-20 rival_event ${RIVAL} ${kind}`,
      ),
    )
    const version = rows.find(({ facts }) => facts.change === "version")
    expect(version?.at).toEqual(new Date("2025-11-20T09:00:00Z"))
    expect(version?.facts).toEqual({
      rival: RIVAL,
      name: "Cup 2",
      manual: true,
      change: "version",
      before: "1.0",
      after: "1.1",
      source: "apple-app-page",
      beforeSeenAt: "2025-11-19T09:00:00.000Z",
    })
    const price = rows.find(({ facts }) => facts.change === "price")?.facts
    expect([price.before, price.after]).toEqual([
      { price: 1.99, currency: "USD" },
      { price: 0, currency: "USD" },
    ])
  })

  test.each([
    [17, []],
    [18, [`2025-11-18 rival_event ${RIVAL} version`]],
  ])("a rival's change causes an alert only on recent days (18 to 20 November): %p November", async (day, expected) => {
    await trackNew(sql, ["tea"], { manualRivals: [`ios:${RIVAL}`] })
    await storeAll(sql, [page(10, { version: "1.0" }), page(day, { version: "1.1" })])
    await deriveFor(sql)
    expect(lines(await readAlerts(sql, "rival_event"))).toEqual(expected)
  })

  describe("a change shown by both the iTunes API and the store page", () => {
    const lookUp = (at: string, version: string, rest: object = {}) =>
      appsReading(`2025-11-${at}:00Z`, [{ id: RIVAL, name: "Cup", version, ...rest, listing: {} }])
    const pageOf = (at: string, version: string, rest: object = {}) =>
      listed(`2025-11-${at}:00Z`, { version, ...rest }, { id: RIVAL })
    type Reading = ReturnType<typeof lookUp> | ReturnType<typeof pageOf>
    /** Derives after each reading, and returns the alerts about its version with their source. */
    const afterEach = async (readings: Reading[], change = "version") => {
      await trackNew(sql, ["tea"], { manualRivals: [`ios:${RIVAL}`] })
      for (const reading of readings) {
        await storeAll(sql, [reading])
        await deriveFor(sql)
      }
      const rows = (await readAlerts(sql, "rival_event")).filter(({ facts }) => facts.change === change)
      return rows.map(({ day, facts }) => `${day} ${facts.source} ${facts.after}`)
    }

    test("a change that iTunes and the page show is taken from a recently read page", async () => {
      const earlier = [pageOf("18T06:00", "1.0"), lookUp("18T07:00", "1.0")]
      const byPage = ["2025-11-20 apple-app-page 1.1"]
      expect(await afterEach([...earlier, lookUp("19T23:00", "1.1"), pageOf("20T06:00", "1.1")])).toEqual(byPage)
    })

    test("a change that iTunes and the page show is taken from iTunes if the page is read late", async () => {
      const earlier = [pageOf("16T06:00", "1.0"), lookUp("16T07:00", "1.0"), lookUp("18T07:00", "1.0")]
      const byLookUp = ["2025-11-19 itunes-lookup 1.1"]
      expect(await afterEach([...earlier, lookUp("19T07:00", "1.1"), pageOf("20T06:00", "1.1")])).toEqual(byLookUp)
    })

    slow("a new icon with different addresses in iTunes and on the page causes one alert", async () => {
      const icon = (name: string) => ({ icon: `https://is1-ssl.mzstatic.com/${name}/512x512bb.jpg` })
      const readings = [
        ...[pageOf("16T06:00", "1", icon("a")), lookUp("16T07:00", "1", icon("b")), lookUp("18T07:00", "1", icon("b"))],
        ...[lookUp("19T07:00", "1", icon("c")), pageOf("20T06:00", "1", icon("d"))],
      ]
      expect(await afterEach(readings, "icon")).toEqual([`2025-11-19 itunes-lookup ${icon("c").icon}`])
    })

    slow("a version that only the page shows causes a separate alert", async () => {
      const earlier = [pageOf("16T06:00", "1.0"), lookUp("16T07:00", "1.0"), lookUp("18T07:00", "1.0")]
      expect(await afterEach([...earlier, lookUp("19T07:00", "1.1"), pageOf("20T06:00", "1.2")])).toEqual([
        "2025-11-19 itunes-lookup 1.1",
        "2025-11-20 apple-app-page 1.2",
      ])
    })
  })

  test("a rival's change in another storefront, or before the app was tracked, causes no alert", async () => {
    await trackNew(sql, ["tea"], { manualRivals: [`ios:${RIVAL}`], since: "2025-11-20" })
    await storeAll(sql, [page(18, { version: "1.0" }), page(19, { version: "1.1" })])
    const inGermany = { id: RIVAL, storefront: "de" }
    await storeAll(sql, [
      listed("2025-11-19T09:00:00Z", { version: "1.0" }, inGermany),
      listed("2025-11-20T09:00:00Z", { version: "1.1" }, inGermany),
    ])
    await deriveFor(sql)
    expect(await readAlerts(sql)).toEqual([])
  })
})
