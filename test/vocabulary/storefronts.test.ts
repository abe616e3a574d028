import { expect, test } from "bun:test"
import { ALL_APPS, CHART_GENRES } from "../../src/vocabulary/storefronts.ts"
import { fixture } from "../sources/parsed.ts"

test("genres that charts are parted by are all apps and 27 below it, those of the recorded tree among them", () => {
  const tree: Record<string, { subgenres: Record<string, unknown> }> = JSON.parse(fixture("apple-genres-us.json"))
  expect(Object.keys(tree)).toEqual([ALL_APPS])
  const recorded = Object.keys(tree[ALL_APPS]!.subgenres)
  expect(recorded.length).toBeGreaterThan(5)
  expect([ALL_APPS, ...recorded].filter((genre) => !CHART_GENRES.includes(genre))).toEqual([])
  expect([CHART_GENRES.length, new Set(CHART_GENRES).size]).toEqual([28, 28])
})
