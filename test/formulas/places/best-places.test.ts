import { expect, test } from "bun:test"
import fc from "fast-check"
import { bitsOf } from "../../../src/formulas/places/app-bits.ts"
import { bestPlaces } from "../../../src/formulas/places/best-places.ts"
import { indexedPlaces } from "../../../src/formulas/places/indexed-places.ts"
import { bitsOfLists, indexLists, partOfIndex } from "../../../src/formulas/places/lists-index.ts"
import type { PlaceQuery } from "../../../src/formulas/places/place-query.ts"
import { cases } from "../../long.ts"

const list = fc.record({
  storefront: fc.integer({ min: 0, max: 2 }),
  isOverall: fc.boolean(),
  isFree: fc.boolean(),
  apps: fc.uniqueArray(fc.integer({ min: 1, max: 40 }), { maxLength: 12 }),
  days: fc.array(fc.integer({ min: 0, max: 5 }), { minLength: 12, maxLength: 12 }),
})

const question = fc.record({
  lists: fc.array(list, { maxLength: 7 }),
  // of ids with gaps there are no bits
  gap: fc.constantFrom(1, 1_000),
  isFree: fc.boolean(),
  rankMin: fc.integer({ min: 1, max: 4 }),
  rankMax: fc.integer({ min: 1, max: 14 }),
  only: fc.option(fc.uniqueArray(fc.integer({ min: 1, max: 40 }))),
  perhaps: fc.uniqueArray(fc.integer({ min: 1, max: 40 })),
  since: fc.option(fc.integer({ min: -2, max: 5 })),
  size: fc.integer({ min: 1, max: 9 }),
})

// ids of the store do not rise with ours
const storeIdOf = (app: number) => ((app * 17) % 41) + 1_000_000_000_000

test("each app once, at its best place on the first such list, in pages that add up to all of them in order", () => {
  const run = fc.property(question, ({ lists: drawn, gap, isFree, rankMin, rankMax, only, perhaps, since, size }) => {
    const all = drawn.map(({ apps, days, ...rest }) => ({
      ...rest,
      apps: Int32Array.from(apps, (app) => app * gap),
      highest: Math.max(0, ...apps) * gap,
      firstDays: Uint16Array.from(apps, (_, i) => days[i]!),
    }))
    type Drawn = (typeof all)[number]
    const storefronts = [0, 1, 2].map((at) => all.filter(({ storefront }) => storefront === at))
    const parts = (lists: Drawn[]) =>
      [true, false].map((is) => lists.filter(({ isOverall }) => isOverall === is)) as [Drawn[], Drawn[]]
    // in the order in which the first counts
    const inOrder = [0, 1].flatMap((part) => storefronts.flatMap((own) => parts(own)[part]!))
    const lists = inOrder.filter((one) => !isFree || one.isFree)

    const places = lists.flatMap((list, at) =>
      [...list.apps].map((app, i) => {
        const place = { app, storeId: storeIdOf(app / gap), rank: i + 1, list, firstDay: list.firstDays[i]! }
        return { ...place, at }
      }),
    )
    const isYoung = ({ firstDay }: { firstDay: number }) => since === null || (firstDay > 0 && firstDay >= since)
    const ranked = places.filter(({ rank }) => rank >= rankMin && rank <= rankMax)
    const fitting = ranked.filter(({ app }) => only?.includes(app / gap) ?? true)
    const expected = [...Map.groupBy(fitting.filter(isYoung), ({ app }) => app).values()].map(
      (own) => own.toSorted((a, b) => a.rank - b.rank || a.at - b.at)[0]!,
    )
    expected.sort((a, b) => a.rank - b.rank || a.storeId - b.storeId)
    const others = only && perhaps.filter((app) => !only.includes(app))
    const unsure = ranked.filter((place) => others?.includes(place.app / gap) && isYoung(place))
    const undated = fitting.filter(({ app, firstDay }) => firstDay === 0 && !expected.some((one) => one.app === app))
    const sizeOf = (some: typeof places) => new Set(some.map(({ app }) => app)).size
    const counts = {
      count: expected.length,
      unsure: sizeOf(unsure),
      unknown: since === null ? 0 : sizeOf(undated),
    }

    const storeIds = Float64Array.from({ length: 40 * gap + 1 }, (_, app) => storeIdOf(app / gap))
    const bitsOfSome = (apps: number[] | null) => apps && bitsOf(apps.map((app) => app * gap))
    const indexes = storefronts.map((own) => {
      const whole = indexLists(...parts(own), storeIds)
      return isFree ? partOfIndex(whole, (one) => one.isFree) : whole
    })
    const bits = indexes.flatMap((index) => bitsOfLists(index.lists, index.highest) ?? [])
    const ways = [
      (query: PlaceQuery) => bestPlaces(lists, query, storeIds),
      (query: PlaceQuery) => indexedPlaces(indexes, null, query, storeIds),
      (query: PlaceQuery) => indexedPlaces(indexes, bits.length === indexes.length ? bits : null, query, storeIds),
    ]
    const terms = { rankMin, rankMax, only: bitsOfSome(only), unsure: bitsOfSome(others), since }
    for (const way of ways) {
      const pages = Array.from({ length: Math.ceil(expected.length / size) + 1 }, (_, page) => {
        const found = way({ ...terms, from: page * size, to: (page + 1) * size })
        expect({ count: found.count, unsure: found.unsure, unknown: found.unknown }).toEqual(counts)
        return found.page
      })
      expect(pages.flat()).toEqual(expected.map(({ at: _, ...place }) => place))
    }
  })
  fc.assert(run, { seed: 20251101, numRuns: cases(100, 600) })
})
