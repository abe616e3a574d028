import { expect, test } from "bun:test"
import fc from "fast-check"
import { bitsOf } from "../../../src/formulas/places/app-bits.ts"
import { bestPlaces, orderedPlaces } from "../../../src/formulas/places/best-places.ts"
import { indexLists } from "../../../src/formulas/places/lists-index.ts"
import { cases } from "../../long.ts"

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
    perhaps: fc.uniqueArray(fc.integer({ min: 1, max: 40 })),
    since: fc.option(fc.integer({ min: -2, max: 5 })),
    size: fc.integer({ min: 1, max: 9 }),
  })
  const run = fc.property(question, ({ lists, rankMin, rankMax, only, perhaps, since, size }) => {
    const places = lists.flatMap(({ apps, days }, list) =>
      apps.map((app, i) => ({ app, storeId: storeIdOf(app), rank: i + 1, list, firstDay: days[i]! })),
    )
    const isYoung = ({ firstDay }: { firstDay: number }) => since === null || (firstDay > 0 && firstDay >= since)
    const ranked = places.filter(({ rank }) => rank >= rankMin && rank <= rankMax)
    const fitting = ranked.filter(({ app }) => only?.includes(app) ?? true)
    const young = fitting.filter(isYoung)
    const expected = [...Map.groupBy(young, ({ app }) => app).values()].map(
      (own) => own.toSorted((a, b) => a.rank - b.rank || a.list - b.list)[0]!,
    )
    expected.sort((a, b) => a.rank - b.rank || a.storeId - b.storeId)
    const others = only && perhaps.filter((app) => !only.includes(app))
    const asked = { rankMin, rankMax, only: only && bitsOf(only), unsure: others && bitsOf(others), since }
    const indexes = [lists.slice(0, 2), lists.slice(2)].map((some) => indexLists(some.map(typed))!)
    const pagesBy = (by: typeof indexes | null) =>
      Array.from({ length: Math.ceil(expected.length / size) + 1 }, (_, page) => {
        const found = bestPlaces(lists.map(typed), { ...asked, upTo: (page + 1) * size }, by)
        return orderedPlaces(found, lists.map(typed), page * size, (page + 1) * size)
      })
    for (const by of [null, indexes]) expect(pagesBy(by).flat()).toEqual(expected)
    const found = bestPlaces(lists.map(typed), { ...asked, upTo: size })
    const counted = bestPlaces(lists.map(typed), { ...asked, upTo: size }, indexes)
    for (const count of ["count", "unknown", "unsure"] as const) expect(counted[count]).toBe(found[count])
    expect(found.count).toBe(expected.length)
    const unsure = ranked.filter((place) => others?.includes(place.app) && isYoung(place))
    expect(found.unsure).toBe(new Set(unsure.map(({ app }) => app)).size)
    const undated = fitting.filter(({ app, firstDay }) => firstDay === 0 && !expected.some((one) => one.app === app))
    expect(found.unknown).toBe(since === null ? 0 : new Set(undated.map(({ app }) => app)).size)
  })
  fc.assert(run, { seed: 20251101, numRuns: cases(300, 2_000) })
})
