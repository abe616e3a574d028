import { readFileSync } from "node:fs"
import { join } from "node:path"
import { gunzipSync } from "node:zlib"
import { appleCharts } from "../../../src/charts/sources/apple-charts.ts"
import { appleHints } from "../../../src/keywords/sources/apple-hints.ts"
import { appleStoreSearch } from "../../../src/keywords/sources/apple-store-search.ts"
import { appleWebSearch } from "../../../src/keywords/sources/apple-web-search.ts"
import { playSearch } from "../../../src/keywords/sources/play-search.ts"
import { playSuggest } from "../../../src/keywords/sources/play-suggest.ts"
import type { Observation } from "../../../src/kinds.ts"
import { appleAppPage } from "../../../src/listings/sources/apple-app-page.ts"
import type { Source } from "../../../src/measuring/source.ts"
import { appleReviews, appleReviewsJson } from "../../../src/reviews/sources/apple-reviews.ts"
import { playReviews } from "../../../src/reviews/sources/play-reviews.ts"
import { appleGenres } from "../../../src/stores/apple/genres.ts"
import { itunesDeveloper } from "../../../src/stores/apple/itunes-developer.ts"
import { itunesLookup } from "../../../src/stores/apple/itunes-lookup.ts"
import { itunesSearch } from "../../../src/stores/apple/itunes-search.ts"
import { playDetails } from "../../../src/stores/play/details.ts"
import type { As } from "./mutations.ts"

/** A source, its question, and the body of fixtures/upstream that answers it. */
export interface Parsed {
  source: Source<object, Observation>
  subject: object
  fixture: string
  as: As
}

/** Returns a recorded or constructed body of fixtures/upstream. */
export function fixture(name: string): string {
  return readFileSync(join(import.meta.dirname, "../../../fixtures/upstream", name), "utf8")
}

/** Returns an uncut recorded body of fixtures/upstream. Long ones are stored compressed. */
export function wholeBody(name: string): string {
  const bytes = readFileSync(join(import.meta.dirname, "../../../fixtures/upstream", name))
  return (name.endsWith(".gz") ? gunzipSync(bytes) : bytes).toString("utf8")
}

function parsed<Asked extends object>(
  source: Source<Asked, Observation>,
  as: As,
  bodies: Record<string, Asked>,
): Parsed[] {
  return Object.entries(bodies).map(([fixture, subject]) => ({
    source: source as unknown as Source<object, Observation>,
    subject,
    fixture,
    as,
  }))
}

/** Every parser with its bodies. */
export const PARSED: readonly Parsed[] = [
  ...parsed(appleWebSearch, "html-json", {
    "apple-web-search-us.html": { storefront: "us", term: "sleep sounds" },
    "apple-web-search-de.html": { storefront: "de", term: "haushaltsbuch" },
    "apple-web-search-few.html": { storefront: "jp", term: "家計簿 共有" },
    "apple-web-search-none.html": { storefront: "us", term: "zxqv wobble lantern" },
  }),
  ...parsed(appleStoreSearch, "json", {
    "apple-store-search-us.json": { storefront: "us", term: "sleep sounds" },
    "apple-store-search-jp.json": { storefront: "jp", term: "家計簿" },
    "apple-store-search-none.json": { storefront: "us", term: "zxqv wobble lantern" },
  }),
  ...parsed(itunesLookup, "json", {
    "itunes-lookup-338986109-fr.json": { storefront: "fr", ids: ["338986109", "284882215"] },
    "itunes-search-deliveries-us-cut3.json": { storefront: "us", ids: ["924726344", "1520308763", "1507602536"] },
    "itunes-lookup-developer-us.json": {
      storefront: "us",
      ids: ["1700000001", "1700000010", "1700000020", "1700000022", "500009"],
    },
    "itunes-lookup-empty-us.json": { storefront: "us", ids: ["338986109"] },
  }),
  ...parsed(itunesSearch, "json", {
    "itunes-search-vpn-us-2026-03-20.json": { storefront: "us", term: "vpn" },
    "itunes-search-deliveries-us-cut3.json": { storefront: "us", term: "deliveries" },
    "itunes-search-empty-us.json": { storefront: "us", term: "zxqv wobble lantern" },
  }),
  ...parsed(appleHints, "xml", {
    "apple-hints-tide-us.plist": { storefront: "us", prefix: "tide" },
    "apple-hints-strings-jp.plist": { storefront: "jp", prefix: "潮" },
    "apple-hints-empty-us.plist": { storefront: "us", prefix: "zxqv" },
  }),
  ...parsed(playSearch, "html-json", {
    "play-search-panda.html": { storefront: "us", term: "panda" },
    "play-search-none.html": { storefront: "us", term: "zxqv wobble lantern" },
  }),
  ...parsed(playDetails, "html-json", {
    "play-details-translate.html": { storefront: "us", ids: ["com.google.android.apps.translate"] },
    "play-details-minecraft.html": { storefront: "us", ids: ["com.mojang.minecraftpe"] },
  }),
  ...parsed(playSuggest, "json", {
    "play-suggest-pand.txt": { storefront: "us", prefix: "pand" },
  }),
  ...parsed(appleAppPage, "html-json", {
    "apple-app-page-us.html": { storefront: "us", id: "1600000101" },
    "apple-app-page-jp.html": { storefront: "jp", id: "1620000100" },
    "apple-app-page-de.html": { storefront: "de", id: "1610000300" },
  }),
  ...parsed(appleCharts, "json", {
    "apple-charts-us-free-finance.json": { storefront: "us", device: "iphone", chart: "free", genre: "6015" },
    "apple-charts-mt-paid-ipad-one.json": { storefront: "mt", device: "ipad", chart: "paid", genre: "6001" },
    "apple-charts-nr-grossing-empty.json": { storefront: "nr", device: "iphone", chart: "grossing", genre: "6020" },
    "apple-charts-v2-free-us-2026-03-20.json": { storefront: "us", device: "iphone", chart: "free", genre: "36" },
    "apple-charts-v2-free-de-2026-03-20.json": { storefront: "de", device: "iphone", chart: "free", genre: "36" },
  }),
  ...parsed(appleGenres, "json", { "apple-genres-us.json": { storefront: "us" } }),
  ...parsed(itunesDeveloper, "json", {
    "itunes-developer-us.json": { storefront: "us", developerId: "1500000011" },
  }),
  ...parsed(appleReviews, "xml", {
    "apple-reviews-us.xml": { storefront: "us", storeId: "1600000201", page: 1 },
    "apple-reviews-app-first-de.xml": { storefront: "de", storeId: "1600000202", page: 1 },
    "apple-reviews-none-jp.xml": { storefront: "jp", storeId: "1600000203", page: 1 },
  }),
  ...parsed(appleReviewsJson, "json", {
    "apple-reviews-fr.json": { storefront: "fr", storeId: "1600000205", page: 10 },
    "apple-reviews-one-nz.json": { storefront: "nz", storeId: "1600000206", page: 1 },
  }),
  ...parsed(playReviews, "json", {
    "play-reviews-translate-1.txt": {
      storefront: "us",
      language: "en",
      storeId: "com.google.android.apps.translate",
    },
    "play-reviews-translate-2.txt": {
      storefront: "de",
      language: "de",
      storeId: "com.google.android.apps.translate",
      token: "asked-with",
    },
  }),
]
