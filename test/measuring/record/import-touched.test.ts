import { beforeEach, describe, expect, test } from "bun:test"
import type { Sql, Tx } from "../../../src/database/types.ts"
import { deriveFigures } from "../../../src/keywords/store/figures.ts"
import { readKeywordMetrics } from "../../../src/keywords/store/keyword-metrics.ts"
import { addDays } from "../../../src/lib/days.ts"
import { freshDatabase } from "../../database.ts"
import { cases, slow } from "../../long.ts"
import { importLines } from "../../record.ts"
import { trackOwn } from "../../world/tracked.ts"
import { countRowsRead } from "../rows-read.ts"
import { randomOf, shuffled } from "./listed.ts"
import { NOW, newWorkspace } from "./measured.ts"

let sql: Sql
const now = () => NOW
const pause = async () => {}
const TODAY = NOW.toISOString().slice(0, 10)

beforeEach(async () => {
  sql = await freshDatabase()
})

async function* lines(values: readonly object[]): AsyncGenerator<string> {
  for (const value of values) yield JSON.stringify(value)
}

const load = (values: readonly object[], into = sql) => importLines(into, lines(values), { now, pause })

const STOREFRONTS = ["us", "de"]
const TERMS = ["a", "ab", "abc", "abd", "ab cd", "tea"]
const APPS = Array.from({ length: 14 }, (_, at) => String(20_001 + at))

/** Readings of keywords that share apps and prefixes: deep, short, demo and old ones. */
function randomLines(random: () => number, count: number): object[] {
  const oneOf = <T>(values: readonly T[]) => values[Math.floor(random() * values.length)] as T
  const named = (id: string) => (random() < 0.4 ? { id, name: `${oneOf(TERMS)} ${oneOf(TERMS)}` } : { id })
  return Array.from({ length: count }, (_, at) => {
    const day = addDays(TODAY, -Math.floor(random() ** 2 * 110))
    const place = { platform: "ios", storefront: oneOf(STOREFRONTS), seenAt: `${day}T0${at % 10}:00:00Z` }
    const kind = random()
    if (kind < 0.4) {
      const results = shuffled([...APPS], random)
        .slice(0, oneOf([2, 11, 14]))
        .map(named)
      const origin = random() < 0.1 ? { origin: "demo" } : {}
      const depth = oneOf([results.length, 30])
      return { kind: "search", source: "import", ...place, term: oneOf(TERMS), depth, results, ...origin }
    }
    if (kind < 0.7) {
      const prefix = oneOf(["a", "ab", "abc", "abd", "ab c", "ab cd", "abe", "te", "tea"])
      const terms = shuffled([...TERMS, "abe", "abcde", "teapot"], random).slice(0, 5)
      return { kind: "hints", source: "apple-hints", ...place, prefix, terms }
    }
    const ids = shuffled([...APPS], random).slice(0, 3)
    const apps = ids.slice(random() < 0.1 ? 1 : 0).map((id) => ({
      ...named(id),
      ratings: Math.floor(random() * 50_000),
      updatedAt: `${addDays(day, -Math.floor(random() * 400))}T00:00:00Z`,
    }))
    return { kind: "apps", source: "itunes-lookup", ...place, asked: ids, apps }
  })
}

const figures = async () =>
  await Promise.all(
    STOREFRONTS.map(async (storefront) => [
      ...(await readKeywordMetrics(sql, { platform: "ios", storefront, terms: [...TERMS, "abe"], today: TODAY })),
    ]),
  )

/** Derives every searched and every tracked keyword, as an import that affects all of them does. */
async function deriveAll(): Promise<void> {
  await sql`
    insert into figure_due (kind, platform, storefront, subject)
    select 'term', platform, storefront, term
    from list
    union
    select 'term', 'ios', country, term
    from tracked_term`
  await deriveFigures(sql, { now, pause })
}

describe("metrics derived by an import", () => {
  slow("after each part of an import, the derived metrics equal those of a full rebuild", async () => {
    let derived = 0
    for (let world = 1; world <= cases(1, 60); world++) {
      sql = await freshDatabase()
      const app = { workspaceId: await newWorkspace(sql), iosId: "10001", countries: STOREFRONTS, origin: "own" }
      await trackOwn(sql, { ...app, keywords: ["abe"] })
      const random = randomOf(world * 7919)
      const all = randomLines(random, cases(24, 60))
      while (all.length > 0) {
        const part = all.splice(0, 1 + Math.floor(random() * 14))
        await load(part)
        const derivedFigures = await figures()
        await deriveAll()
        expect({ world, part, figures: await figures() }).toEqual({ world, part, figures: derivedFigures })
        derived += JSON.stringify(derivedFigures).match(/"demand":\d/g)?.length ?? 0
      }
    }
    expect(derived).toBeGreaterThan(0)
  })

  test("metrics derived by an import include the readings of an interrupted earlier import", async () => {
    const broken = async () => {
      throw new Error("killed")
    }
    const day = addDays(TODAY, -2)
    const place = { platform: "ios", storefront: "us" }
    const results = APPS.map((id) => ({ id }))
    const search = { kind: "search", source: "import", ...place, term: "tea", depth: 30, results }
    const apps = APPS.map((id) => ({ id, ratings: 5_000 }))
    const lookupLine = {
      kind: "apps",
      source: "itunes-lookup",
      ...place,
      seenAt: `${day}T09:00:00Z`,
      asked: APPS,
      apps,
    }
    await load([{ ...search, seenAt: `${day}T08:00:00Z` }])
    const failed = importLines(sql, lines([lookupLine]), { now, pause: broken }).catch(String)
    expect(await failed).toBe("Error: killed")
    expect((await figures())[0]!.at(-2)![1]).toMatchObject({ demand: null })
    await load([
      { kind: "hints", source: "apple-hints", ...place, prefix: "zz", seenAt: `${day}T09:00:00Z`, terms: [] },
    ])
    expect((await figures())[0]!.at(-2)![1]).toMatchObject({ demand: expect.any(Number) })
  })

  slow("the number of rows read to derive metrics after an import does not grow with the other keywords", async () => {
    const rows: number[] = []
    for (const otherCount of [10, 200]) {
      sql = await freshDatabase()
      const day = addDays(TODAY, -3)
      const place = { kind: "search", source: "import", platform: "ios", storefront: "us", depth: 30 }
      const results = APPS.map((id) => ({ id, name: `App ${id}` }))
      await load(
        Array.from({ length: otherCount }, (_, at) => {
          return { ...place, term: `word ${at}`, seenAt: `${day}T08:00:00Z`, results }
        }),
      )
      await sql`analyze`
      const laterReading = {
        ...place,
        term: "word 5",
        seenAt: `${addDays(day, 1)}T08:00:00Z`,
        results: results.toReversed(),
      }
      rows.push(await countRowsRead(sql, null, (tx) => load([laterReading], withinOf(tx))))
    }
    const [few, many] = rows as [number, number]
    expect(many).toBeLessThan(1.5 * few)
  })
})

/** Returns the transaction as a database whose own transactions run within it. */
function withinOf(tx: Tx): Sql {
  return new Proxy(tx, {
    get: (target, key) => (key === "begin" ? (run: (tx: Tx) => unknown) => run(tx) : Reflect.get(target, key)),
  }) as unknown as Sql
}
