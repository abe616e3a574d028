import { expect, test } from "bun:test"
import { ALL_APPS, CHART_GENRES, isStorefront, otherStoreProblem, STOREFRONTS } from "../../src/lib/storefronts.ts"
import { fixture } from "../stores/parsing/parsed.ts"

test("the genres with charts are the genre of all apps and the 27 below it, as in the recorded tree", () => {
  const tree: Record<string, { subgenres: Record<string, unknown> }> = JSON.parse(fixture("apple-genres-us.json"))
  expect(Object.keys(tree)).toEqual([ALL_APPS])
  const recorded = Object.keys(tree[ALL_APPS]!.subgenres)
  expect(recorded.length).toBeGreaterThan(5)
  expect([ALL_APPS, ...recorded].filter((genre) => !CHART_GENRES.includes(genre))).toEqual([])
  expect([CHART_GENRES.length, new Set(CHART_GENRES).size]).toEqual([28, 28])
})

test("Google Play has every inhabited country but mainland China, North Korea and Syria; the App Store has 175", () => {
  const play = (codes: string) => codes.split(" ").filter((code) => !isStorefront(code, "android"))
  // served as "rest of world", countries with free apps only, and countries named by the Play Console
  expect(play("lr mw so ss mn cx ck gu ki mh fm nr nu nf mp pw ws tk to tv vu")).toEqual([])
  expect(play("cu ir sd bd aw li as ax bq us")).toEqual([])
  expect(play("cn kp sy aq bv xx")).toEqual(["cn", "kp", "sy", "aq", "bv", "xx"])
  expect([STOREFRONTS.length, isStorefront("bd", "ios"), isStorefront("cn", "ios")]).toEqual([175, false, true])
  expect(otherStoreProblem("tk", ["ios"])).toBe("tk is a storefront of Google Play only. Use another country.")
  expect(otherStoreProblem("cn", ["android"])).toStartWith("cn is a storefront of the App Store only")
  expect([otherStoreProblem("tk", ["ios", "android"]), otherStoreProblem("xx", ["ios"])]).toEqual([null, null])
})
