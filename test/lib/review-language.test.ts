import { expect, test } from "bun:test"
import { reviewLanguage } from "../../src/lib/review-language.ts"
import { ALL_STOREFRONTS, isStorefront } from "../../src/lib/storefronts.ts"
import { reviewedOnPlay } from "../measuring/record/reviewed.ts"
import { checkObservation } from "../record.ts"

test("a storefront's reviews on Google Play have its language, English by default", () => {
  const named = ["us", "at", "ch", "br", "pt", "mx", "tw", "hk", "jp", "il", "no", "in", "ng", "qq"]
  expect(named.map(reviewLanguage)).toEqual([
    "en",
    "de",
    "de",
    "pt-BR",
    "pt-PT",
    "es",
    "zh-TW",
    "zh-HK",
    "ja",
    "iw",
    "no",
    "en",
    "en",
    "en",
  ])
})

test("every storefront of Google Play has a language for storing reviews", () => {
  for (const storefront of ALL_STOREFRONTS.filter((code) => isStorefront(code, "android"))) {
    const query = { storefront, language: reviewLanguage(storefront) }
    checkObservation(reviewedOnPlay("2025-11-10T10:00:00Z", [], query), new Date("2025-11-11T00:00:00Z"))
  }
})
