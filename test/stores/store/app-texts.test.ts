import { beforeEach, describe, expect, test } from "bun:test"
import fc from "fast-check"
import type { StoreApp } from "../../../src/core/observation/line-parts.ts"
import type { Sql } from "../../../src/database/types.ts"
import { removeDemo } from "../../../src/demo/remove-demo.ts"
import type { Observation } from "../../../src/kinds.ts"
import { appsWithText } from "../../../src/market/read/texts.ts"
import { foldApp, foldedWords, gramsOf } from "../../../src/stores/app-text.ts"
import { rebuildAppTexts } from "../../../src/stores/store/app-texts.ts"
import { explainEach, type Work } from "../../core/explained.ts"
import { freshDatabase } from "../../database.ts"
import { cases, long, slow } from "../../long.ts"
import { charted } from "../../measuring/record/charted.ts"
import { appsReading, NOW, reading, stored } from "../../measuring/record/measured.ts"
import { shelved } from "../../measuring/record/public-facts.ts"
import { record } from "../../record.ts"

let sql: Sql
beforeEach(async () => {
  sql = await freshDatabase()
})

const recordAll = (...readings: Observation[]) => record(sql, readings, () => NOW)
const lookup = (hour: number, app: StoreApp, storefront = "us") =>
  appsReading(`2025-11-19T0${hour}:00:00Z`, [app], { storefront })

async function found(text: string): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select store_id as id
    from store_app
    where id in (${appsWithText(sql, text)})
    order by store_id`
  return rows.map(({ id }) => id)
}

interface Text {
  id: string
  folded: string
  grams: number[]
}

async function storedTexts(): Promise<Text[]> {
  return await sql<Text[]>`
    select s.store_id as id, t.folded, t.grams
    from app_text t
    join store_app s on s.id = t.app_id
    order by s.store_id`
}

/** Returns the expected texts, from the current names and developers. */
async function byTruth(): Promise<Text[]> {
  const rows = await sql<{ id: string; developer: string | null; names: string[] }[]>`
    select s.store_id as id, s.developer,
      array(select name from store_app_name where app_id = s.id and name is not null) as names
    from store_app s
    order by s.store_id`
  return rows.flatMap(({ id, names, developer }) => {
    const folded = foldApp(names, developer)
    return folded === null ? [] : [{ id, folded, grams: gramsOf(foldedWords(folded)) }]
  })
}

const IDS = ["10001", "10002", "10003"]
const DEVELOPERS = ["Leaves", "Blätter", "…", "Leaves"]
const MAKERS = ["71", "71", "72", "71"]
const three = <One>(...ones: One[]) => fc.array(fc.constantFrom(...ones), { minLength: 3, maxLength: 3 })
const anyTelling: fc.Arbitrary<Observation> = fc
  .record({
    kind: fc.constantFrom("search", "demo", "chart", "lookup", "shelf"),
    storefront: fc.constantFrom("us", "jp"),
    hour: fc.integer({ min: 1, max: 4 }),
    names: three(undefined, "Tea", "TEA", "お茶", "Thé", "🍵", '"jp": "x\\'),
  })
  .map(({ kind, storefront, hour, names }) => {
    const at = `2025-11-19T0${hour}:00:00Z`
    const apps = IDS.map((id, place) => {
      const name = names[place]
      // One developer per moment: of two at the same moment the first one recorded would win.
      return { id, ...(name && { name }), developer: DEVELOPERS[hour - 1]!, developerId: MAKERS[hour - 1]! }
    })
    if (kind === "chart") return charted(at, IDS, { storefront, apps })
    if (kind === "lookup") return appsReading(at, apps, { storefront })
    if (kind === "shelf") return { ...shelved(at, IDS, { storefront }), apps }
    return reading("tea", at, [], { storefront, depth: 3, results: apps, origin: kind === "demo" ? "demo" : "own" })
  })

describe("search texts of apps", () => {
  slow(
    "search texts follow from the current app names for any order of readings, and contain no demo names",
    async () => {
      let texts = 0
      await fc.assert(
        fc.asyncProperty(fc.array(anyTelling, { minLength: 1, maxLength: 10 }), fc.nat(10), async (readings, cut) => {
          const orders = [
            [readings],
            readings.toReversed().map((single) => [single]),
            [readings.slice(cut), readings.slice(0, cut)],
          ]
          const after: Text[][] = []
          for (const parts of orders) {
            await freshDatabase()
            await Promise.all(parts.map((part) => recordAll(...part)))
            after.push(await storedTexts())
            expect(after.at(-1)).toEqual(await byTruth())
          }
          expect(after).toEqual([after[0]!, after[0]!, after[0]!])
          texts += after[0]!.length
          const before = await stored(sql)
          await recordAll(...readings)
          expect(await rebuildAppTexts(sql, async () => {})).toBe(0)
          expect(await stored(sql)).toBe(before)
          await removeDemo(sql)
          expect(await storedTexts()).toEqual(await byTruth())
        }),
        { seed: 20251119, numRuns: cases(2, 10) },
      )
      expect(texts).toBeGreaterThan(0)
    },
    240_000,
  )

  test("a search text is written only when a name or developer changes", async () => {
    const versions = async () => await sql`select app_id, xmin::text, ctid::text from app_text order by app_id`
    await recordAll(lookup(1, { id: "10001", name: "Tea", developer: "Leaves", ratings: 4 }))
    const first = await versions()
    await recordAll(lookup(2, { id: "10001", name: "Tea", developer: "Leaves", ratings: 5, version: "2" }))
    await recordAll(lookup(3, { id: "10001", name: "TEA", icon: "https://a.example/1.png" }))
    expect(await versions()).toEqual(first)
    await recordAll(lookup(4, { id: "10001", name: "Tea", developer: "Other" }))
    expect(await versions()).not.toEqual(first)
    expect(await storedTexts()).toMatchObject([{ folded: "\n tea\n\t other\n" }])
  })

  slow("lost, wrong, extra and outdated search texts are rebuilt from the names", async () => {
    await recordAll(
      appsReading(
        "2025-11-19T01:00:00Z",
        Array.from({ length: 230 }, (_, n) => ({ id: `${10_001 + n}`, name: `Tea ${n}` })),
      ),
    )
    const before = await stored(sql)
    const [first] = await sql<{ id: number }[]>`select min(app_id) as id from app_text`
    await sql`delete from app_text where app_id = ${first!.id}`
    await sql`update app_text set folded = 'x', grams = '{}' where app_id = ${first!.id + 1}`
    await sql`update app_text set formula = 0, grams = '{}' where app_id = ${first!.id + 2}`
    await recordAll(reading("tea", "2025-11-19T01:00:00Z", [99999]))
    await sql`insert into app_text select max(id), 1, 'y', '{}' from store_app`
    let pauses = 0
    const pause = async () => {
      pauses += 1
    }
    expect(await rebuildAppTexts(sql, pause)).toBe(4)
    expect(pauses).toBe(3)
    expect(await rebuildAppTexts(sql, pause)).toBe(0)
    await sql`delete from store_app where store_id = '99999'`
    await sql`truncate list, search_results cascade`
    expect(await stored(sql)).toBe(before)
  })
})

describe("apps found by a text", () => {
  test("an app is found if every word occurs in its names or publisher; wildcards have no effect", async () => {
    await recordAll(lookup(1, { id: "10001", name: "Hearth & Home", developer: "Northfield" }))
    await recordAll(
      lookup(1, { id: "10001", name: "暖炉と家" }, "jp"),
      lookup(1, { id: "10002", name: "100% Café_Home" }),
    )
    const short = {
      hearth: ["10001"],
      "HOME hearth": ["10001"],
      炉と: ["10001"],
      "north hom": ["10001"],
      "%": [],
      _: [],
    }
    const two = { h_me: [], ho: ["10001", "10002"], cafe: ["10002"], "CAFÉ%": ["10002"], "c%f": [], "": [], om: [] }
    const hostile = {
      "'; drop table app_text; --": [],
      "\\": [],
      "\0": [],
      ["x".repeat(100_000)]: [],
      ["家 ".repeat(5_000)]: ["10001"],
    }
    const expected = { ...short, ...two, ...hostile }
    const answers: Record<string, string[]> = {}
    for (const text of Object.keys(expected)) answers[text] = await found(text)
    expect(answers).toEqual(expected)
  })

  long(
    "apps are found through the index, without reading all apps",
    async () => {
      await sql`
        insert into store_app (platform, store_id) select 'ios', (20000 + i)::text from generate_series(1, 20000) i`
      await sql`
      insert into store_app_name (app_id, storefront, origin, name, name_at, name_weight)
      select id, 'us', 'own', 'Tea ' || md5(store_id), now(), 1 from store_app`
      await rebuildAppTexts(sql, async () => {})
      await sql`analyze app_text`
      for (const text of ["tea abc12", "abc", "ab"]) {
        const works: Work[] = []
        const rows = await explainEach(sql, works)`
        select *
        from (${appsWithText(sql, text)}) found
        limit 30000`
        const plan = JSON.stringify(works[0]!.plan)
        expect([text, plan.includes("app_text_grams"), works[0]!.rows < 30_000]).toEqual([text, true, true])
        expect(rows.length > 0).toBe(text !== "tea abc12")
      }
    },
    60_000,
  )
})
