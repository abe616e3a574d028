import { expect, test } from "bun:test"
import { localisationGrid } from "../../../src/listings/formulas/localisation-grid.ts"

const NAMES = { name: "Lumen", developer: "Acme" }

function wasteOf(grid: ReturnType<typeof localisationGrid>, locale: string) {
  const words = grid.locales.find((each) => each.locale === locale)!.words
  return words.map(({ text, waste, also }) => [text, waste, also])
}

test("a word in two locales of one storefront counts once, and counts again in another storefront", () => {
  const grid = localisationGrid(
    [
      { locale: "en-US", texts: { name: "Lumen: Tide Chart", subtitle: "", keywords: "moon,tide" } },
      { locale: "es-MX", texts: { name: "Lumen: Tide", keywords: "surf,moon" } },
    ],
    ["us"],
    NAMES,
  )
  expect(wasteOf(grid, "en-US")).toEqual([
    ["Lumen", null, null],
    ["Tide", null, null],
    ["Chart", null, null],
    ["moon", null, null],
    ["tide", "repeated_in_name", null],
  ])
  expect(wasteOf(grid, "es-MX")).toEqual([
    ["Lumen", "repeated_across", "en-US"],
    ["Tide", "repeated_across", "en-US"],
    ["surf", null, null],
    ["moon", "repeated_across", "en-US"],
  ])
  expect(grid.storefronts[0]).toMatchObject({ country: "us", words: 5 })
  expect(grid.storefronts[0]!.cells.slice(0, 3)).toEqual([
    { locale: "en-US", isDefault: true, adds: 4 },
    { locale: "es-MX", isDefault: false, adds: 1 },
    { locale: "ar-SA", isDefault: false, adds: null },
  ])
  // Mexico's first locale is not English (US), so the same words count there.
  const mexicanGrid = localisationGrid(
    [
      { locale: "en-US", texts: { name: "Lumen: Tide Chart" } },
      { locale: "es-MX", texts: { name: "Lumen: Tide" } },
    ],
    ["us", "mx"],
    NAMES,
  )
  expect(wasteOf(mexicanGrid, "es-MX").map(([, waste]) => waste)).toEqual([null, null])
})

test("the words of a locale that no tracked storefront reads are not counted", () => {
  const grid = localisationGrid([{ locale: "ja", texts: { name: "潮見表" } }], ["us"], NAMES)
  expect(grid.locales[0]!.readBy).toEqual([])
  expect(new Set(wasteOf(grid, "ja").map(([, waste]) => waste))).toEqual(new Set(["unread"]))
  expect(grid.storefronts[0]!.words).toBe(0)
})

test("stop words, plurals of used words and the developer's name in the keywords add no word", () => {
  const texts = { name: "Tide Times", subtitle: "Charts for the sea", keywords: "chart,acme,surf" }
  const grid = localisationGrid([{ locale: "en-US", texts }], ["us"], NAMES)
  expect(wasteOf(grid, "en-US")).toEqual([
    ["Tide", null, null],
    ["Times", null, null],
    ["Charts", null, null],
    ["for", "stop_word", null],
    ["the", "stop_word", null],
    ["sea", null, null],
    ["chart", "similar_word", null],
    ["acme", "own_brand", null],
    ["surf", null, null],
  ])
})

test("a field with an unknown text has a null length, and an empty field has the length zero", () => {
  const grid = localisationGrid([{ locale: "en-GB", texts: { name: "Tide", subtitle: "" } }], ["gb"], NAMES)
  expect(grid.locales[0]!.fields).toEqual([
    { field: "name", text: "Tide", length: 4, limit: 30 },
    { field: "subtitle", text: "", length: 0, limit: 30 },
    { field: "keywords", text: null, length: null, limit: 100 },
  ])
  const german = localisationGrid([], ["de"], NAMES)
  expect(german.locales.map(({ locale, words }) => [locale, words.length])).toEqual([
    ["de-DE", 0],
    ["en-GB", 0],
  ])
})
