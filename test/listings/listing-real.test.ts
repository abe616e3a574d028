import { describe, expect, test } from "bun:test"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { csvRecords } from "../../src/lib/csv.ts"
import type { AppBackground } from "../../src/listings/checks/listing.ts"
import type { Texts } from "../../src/listings/checks/report.ts"
import { appleAppPage } from "../../src/listings/sources/apple-app-page.ts"
import { slow } from "../long.ts"
import { checked, found } from "./listing.ts"

const fixtures = join(import.meta.dirname, "../../fixtures")
const read = (name: string) => readFileSync(join(fixtures, name), "utf8")
const ABOUT = { seenAt: new Date("2026-08-12T00:00:00Z"), sha256: new Uint8Array(32), egress: "de" }

function demoNames(): string[] {
  const lines = read("demo/search-us-2025-10-25.jsonl").trim().split("\n")
  const results = lines.flatMap((line) => (JSON.parse(line) as { results: { name: string }[] }).results)
  return [...new Set(results.map(({ name }) => name))]
}

/**
 * Checks a real listing as one of its own developer. Returns the errors, and the findings that call a word a brand, a
 * platform or a price.
 */
function accused(texts: Texts, locale: string, background: Partial<AppBackground>) {
  const accusing = [
    "known_brand",
    "other_platform",
    "apple_product",
    "price_word",
    "deal_word",
    "foreign_script",
    "wrong_language",
  ]
  return checked(texts, locale, background)
    .findings.filter(({ code, severity }) => severity === "error" || (accusing.includes(code) && severity !== "hint"))
    .map(({ code, what }) => `${code}: ${what} in ${texts.name}`)
}

test.each([
  ["us", "1600000101", "en-US"],
  ["de", "1610000300", "de-DE"],
  ["jp", "1620000100", "ja"],
] as const)("the checks report no false finding for the page of the %s storefront", (storefront, id, locale) => {
  const body = read(`upstream/apple-app-page-${storefront}.html`)
  const { listing } = appleAppPage.parse(body, { storefront, id }, ABOUT)
  const { name, subtitle, promotionalText, description } = listing
  const texts = { name, subtitle, promotionalText, description }
  const present = Object.fromEntries(Object.entries(texts).filter(([, text]) => text !== undefined)) as Texts
  expect(Object.keys(present).length).toBeGreaterThan(1)
  expect(accused(present, locale, { name })).toEqual([])
})

test("the checks report no false finding for any recorded English listing", () => {
  const { results } = JSON.parse(read("upstream/itunes-search-vpn-us-2026-03-20.json")) as { results: Looked[] }
  const described = results.filter(({ description }) => description)
  expect(described.length).toBeGreaterThanOrEqual(10)
  const all = described.flatMap(({ trackName: name, description, artistName: developer }) =>
    accused({ name, description }, "en-US", { name, developer }),
  )
  expect(all).toEqual([])
  // The same name is reported in a draft of another app.
  expect(found({ name: "Free VPN by Free VPN .org™" }, "en-US", {}, ["price_word"])).toHaveLength(2)
})

interface Looked {
  trackName: string
  artistName: string
  description: string
}

slow("645 app names of the US store give no false finding if the name is known to be in the store", () => {
  const names = demoNames()
  expect(names.length).toBeGreaterThan(600)
  const all = names.flatMap((name) => accused({ name }, "en-US", { name }))
  const count = (code: string) => all.filter((entry) => entry.startsWith(`${code}:`)).length
  expect([count("known_brand"), count("other_platform"), count("apple_product")]).toEqual([0, 0, 0])
  expect([count("price_word"), count("deal_word"), count("wrong_language")]).toEqual([0, 0, 0])
  // One name is Chinese, and four names date from when the store allowed more than 30 characters.
  expect([count("foreign_script"), count("too_long")]).toEqual([1, 4])
  // Four names end or begin with a direction mark, which App Store Connect now refuses.
  expect(all).toHaveLength(9)
})

slow("5 of 645 app names have a price or platform word when checked as drafts of an unknown app", () => {
  const names = demoNames()
  const broken = names.filter((name) =>
    checked({ name }, "en-US").findings.some(
      ({ severity, code }) => severity === "error" && !["too_long", "invisible_character"].includes(code),
    ),
  )
  expect(broken.sort()).toEqual([
    "Amazon Fire TV",
    "Flow Free",
    "Food Sharing — free food",
    "Freebie Alerts: Free Stuff App",
    "Text Free: Second Call Number",
  ])
})

describe("review texts of at least 60 characters", () => {
  const STOREFRONTS: Record<string, string> = {
    Japan: "ja",
    Turkey: "tr",
    Germany: "de-DE",
    "United States": "en-US",
    "United Kingdom": "en-GB",
    Canada: "en-CA",
  }
  const rows = [...csvRecords(read("upstream/apple-reviews-3games-6countries-cut.csv"))]
  const written = rows.slice(1).flatMap(({ fields }) => {
    const [, , country = "", , , , text = ""] = fields ?? []
    return STOREFRONTS[country] && [...text].length >= 60 ? [{ locale: STOREFRONTS[country], text }] : []
  })
  const strange = (description: string, locale: string) =>
    found({ description }, locale, {}, ["wrong_language", "foreign_script"]).length > 0

  test("exactly the 3 of 130 review texts in a language foreign to their storefront are reported", () => {
    expect(written).toHaveLength(130)
    const other = written.filter(({ text, locale }) => strange(text, locale)).map(({ text }) => text.slice(0, 12))
    expect(other.sort()).toEqual(["In-app purch", "Your awful a", "Я обожаю эту"])
  })

  test("more than 80 % of the review texts are reported if they are checked in the locale of another language", () => {
    const moved = written.map(({ text, locale }) => strange(text, locale === "de-DE" ? "tr" : "de-DE"))
    expect(moved.filter((isFound) => isFound).length).toBeGreaterThan(0.8 * moved.length)
  })
})
