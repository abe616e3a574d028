import { beforeEach, describe, expect } from "bun:test"
import { rebuildCharts } from "../../src/charts/store/rebuild-charts.ts"
import type { Sql } from "../../src/database/types.ts"
import { removeOrigin } from "../../src/demo/remove-origin.ts"
import { deriveFigures } from "../../src/keywords/store/figures.ts"
import { rebuildNow } from "../../src/keywords/store/now.ts"
import { rebuildReviews } from "../../src/reviews/store/rebuild-reviews.ts"
import { rebuildAppTexts } from "../../src/stores/store/app-texts.ts"
import { freshDatabase } from "../database.ts"
import { slow } from "../long.ts"
import { charted } from "../measuring/record/charted.ts"
import { listed } from "../measuring/record/listed.ts"
import { NOW, newWorkspace, popularityReading, reading, stored } from "../measuring/record/measured.ts"
import { reviewed } from "../measuring/record/reviewed.ts"
import { importLines, record } from "../record.ts"
import { answered } from "../visibility/answered.ts"
import { trackOwn } from "../world/tracked.ts"

let sql: Sql

beforeEach(async () => {
  sql = await freshDatabase()
  const workspaceId = await newWorkspace(sql)
  await trackOwn(sql, { workspaceId, iosId: "10001", keywords: ["tea", "mate"] })
  await recordAll(OWN_READINGS)
})

const OWN_READINGS = [
  reading("tea", "2025-11-17T10:00:00Z", [10_001, 10_002]),
  reading("tea", "2025-11-18T10:00:00Z", [], { depth: 2, results: [{ id: "10001", name: "Tea", ratings: 5 }] }),
  charted("2025-11-18T10:00:00Z", [10_002, 10_001]),
  reviewed("2025-11-18T10:00:00Z", [{ id: "1" }]),
  listed("2025-11-18T10:00:00Z", { subtitle: "Own" }, { id: "10001" }),
  popularityReading("tea", "2025-09-01", 63),
]

const FROM = { origin: "elsewhere" }
const THEIRS = [
  // one reading at a day and time that also has a reading of this instance, one on a day between such days, one on a
  // later day, and one of a keyword and app that only this publisher has
  reading("tea", "2025-11-18T10:00:00Z", [10_002, 10_001], { ...FROM, depth: 200 }),
  reading("tea", "2025-11-18T12:00:00Z", [], {
    ...FROM,
    source: "foreign",
    depth: 3,
    results: [{ id: "10001", name: "Their tea", ratings: 9, developer: "Them" }],
  }),
  reading("tea", "2025-11-19T10:00:00Z", [], {
    ...FROM,
    depth: 30,
    results: [{ id: "10009", name: "New", ratings: 1 }],
  }),
  reading("mate", "2025-10-02T10:00:00Z", [10_009, 10_001], FROM),
  charted("2025-10-01T10:00:00Z", [10_009, 10_001], FROM),
  charted("2025-11-19T10:00:00Z", [10_009], FROM),
  charted("2025-11-19T10:00:00Z", [10_009], { ...FROM, storefront: "gb" }),
  reviewed("2025-11-19T10:00:00Z", [{ id: "2" }], FROM),
  listed("2025-11-19T10:00:00Z", { subtitle: "Theirs" }, { ...FROM, id: "10009" }),
  popularityReading("mate", "2025-09-01", 20, FROM),
  answered({ seenAt: "2025-11-19T10:00:00Z", ...FROM }),
]

const recordAll = (readings: Parameters<typeof record>[1]) => record(sql, readings, () => NOW, { all: true })
const remove = () => sql.begin((tx) => removeOrigin(tx, "elsewhere", { now: NOW }))

describe("a publisher that is removed", () => {
  slow("removing a publisher restores the data from before its import, and a rebuild changes nothing", async () => {
    const before = await stored(sql)
    expect((await recordAll(THEIRS)).recorded).toBeGreaterThanOrEqual(THEIRS.length - 1)
    expect(await stored(sql)).not.toBe(before)
    expect(await remove()).toBeGreaterThanOrEqual(THEIRS.length - 1)
    expect(await stored(sql)).toBe(before)
    const pause = async () => {}
    expect(await rebuildNow(sql, pause)).toEqual({ ranks: 0, figures: 0 })
    expect(await rebuildCharts(sql, pause)).toBe(0)
    expect(await rebuildReviews(sql, pause)).toBe(0)
    expect(await rebuildAppTexts(sql, pause)).toBe(0)
  })

  slow("removing a publisher a second time removes no readings", async () => {
    await recordAll(THEIRS)
    await remove()
    const before = await stored(sql)
    expect(await remove()).toBe(0)
    expect(await stored(sql)).toBe(before)
  })

  slow("a failed removal of a publisher changes nothing, and can be repeated", async () => {
    const before = await stored(sql)
    await recordAll(THEIRS)
    const whole = await stored(sql)
    await sql`create function refuse() returns trigger language plpgsql as 'begin raise exception ''refused''; end'`
    await sql`create trigger refuse before delete on store_app_name execute function refuse()`
    expect(await remove().catch(String)).toContain("refused")
    expect(await stored(sql)).toBe(whole)
    await sql`drop trigger refuse on store_app_name`
    await remove()
    expect(await stored(sql)).toBe(before)
  })

  slow("after removing a publisher, keyword figures are derived from this instance's readings alone", async () => {
    const ids = Array.from({ length: 10 }, (_, at) => String(20_001 + at))
    const line = (seenAt: string, ratings: number, more: object = {}) => ({
      kind: "search",
      source: "import",
      platform: "ios",
      storefront: "us",
      term: "tea",
      depth: 30,
      seenAt,
      results: ids.map((id) => ({ id, name: `tea ${id}`, ratings })),
      ...more,
    })
    const bring = (...lines: object[]) =>
      importLines(
        sql,
        (async function* () {
          for (const item of lines) yield JSON.stringify(item)
        })(),
        { now: () => NOW, pause: async () => {} },
      )
    const figures = () => sql`select metric, day, score from keyword_metric where formula > 0 order by 1, 2`
    await bring(line("2025-11-18T08:00:00Z", 5_000))
    const ownFigures = [...(await figures())]
    await bring(line("2025-11-18T09:00:00Z", 7, FROM), line("2025-11-19T09:00:00Z", 7, FROM))
    expect([...(await figures())]).not.toEqual(ownFigures)
    await remove()
    await deriveFigures(sql, { now: () => NOW, pause: async () => {} })
    expect([...(await figures())]).toEqual(ownFigures)
  })
})

slow("removing this instance's own readings as if they came from a publisher is refused", async () => {
  expect(await sql.begin((tx) => removeOrigin(tx, "own")).catch(String)).toContain("own readings have no publisher")
})
