import { expect, test } from "bun:test"
import fc from "fast-check"
import { bestPlaces, bitsOf, orderedPlaces } from "../../src/formulas/best-places.ts"
import { cases } from "../long.ts"

interface PlainList {
  apps: number[]
  days: number[]
}

const list = fc
  .uniqueArray(fc.integer({ min: 1, max: 40 }), { maxLength: 12 })
  .chain((apps) =>
    fc.record({ apps: fc.constant(apps), days: fc.array(fc.integer({ min: 0, max: 5 }), { minLength: 12 }) }),
  )

// ids of the store do not rise with ours
const storeIdOf = (app: number) => ((app * 17) % 41) + 1_000_000_000_000

function typed({ apps, days }: PlainList) {
  return {
    apps: Int32Array.from(apps),
    highest: Math.max(0, ...apps),
    storeIds: Float64Array.from(apps.map(storeIdOf)),
    firstDays: Uint16Array.from(apps.map((_, i) => days[i]!)),
  }
}

test("each app once, at its best place on the first such list, in pages that add up to all of them in order", () => {
  const question = fc.record({
    lists: fc.array(list, { maxLength: 6 }),
    rankMin: fc.integer({ min: 1, max: 4 }),
    rankMax: fc.integer({ min: 1, max: 14 }),
    only: fc.option(fc.uniqueArray(fc.integer({ min: 1, max: 40 }))),
    since: fc.option(fc.integer({ min: -2, max: 5 })),
    size: fc.integer({ min: 1, max: 9 }),
  })
  const run = fc.property(question, ({ lists, rankMin, rankMax, only, since, size }) => {
    const places = lists.flatMap(({ apps, days }, list) =>
      apps.map((app, i) => ({ app, storeId: storeIdOf(app), rank: i + 1, list, firstDay: days[i]! })),
    )
    const fitting = places.filter(
      ({ app, rank }) => rank >= rankMin && rank <= rankMax && (only?.includes(app) ?? true),
    )
    const young = fitting.filter(({ firstDay }) => since === null || (firstDay > 0 && firstDay >= since))
    const expected = [...Map.groupBy(young, ({ app }) => app).values()].map(
      (own) => own.toSorted((a, b) => a.rank - b.rank || a.list - b.list)[0]!,
    )
    expected.sort((a, b) => a.rank - b.rank || a.storeId - b.storeId)
    const asked = { rankMin, rankMax, only: only && bitsOf(only), since }
    const pages = Array.from({ length: Math.ceil(expected.length / size) + 1 }, (_, page) => {
      const found = bestPlaces(lists.map(typed), { ...asked, upTo: (page + 1) * size })
      return orderedPlaces(found, lists.map(typed), page * size, (page + 1) * size)
    })
    expect(pages.flat()).toEqual(expected)
    const found = bestPlaces(lists.map(typed), { ...asked, upTo: size })
    expect(found.count).toBe(expected.length)
    const unsure = fitting.filter(({ app, firstDay }) => firstDay === 0 && !expected.some((one) => one.app === app))
    expect(found.unknown).toBe(since === null ? 0 : new Set(unsure.map(({ app }) => app)).size)
  })
  fc.assert(run, { seed: 20251101, numRuns: cases(300, 2_000) })
})
