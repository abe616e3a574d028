import type { SourceName } from "../../../src/lib/upstreams.ts"

/** An uncut recorded body, the question it answers, and questions it does not answer. */
export interface WholeBody {
  source: SourceName
  /** File name in fixtures/upstream; SOURCES.md there lists the origins. */
  file: string
  subject: object
  /** Number of apps, suggestions, ranks or reviews in it, counted by hand or by another reader. */
  holds: number
  /** Questions that it does not answer, as differences from `subject`. */
  otherSubjects: object[]
}

/** At least one per parser that has a known recording with a permissive licence. */
export const WHOLE_BODIES: readonly WholeBody[] = [
  {
    source: "play-search",
    file: "play-search-panda.whole.html.gz",
    subject: { storefront: "us", term: "panda" },
    holds: 20,
    otherSubjects: [{ storefront: "pl" }, { term: "chess" }],
  },
  {
    source: "play-details",
    file: "play-details-translate.whole.html.gz",
    subject: { storefront: "us", ids: ["com.google.android.apps.translate"] },
    holds: 1,
    otherSubjects: [{ storefront: "pl" }, { ids: ["com.mojang.minecraftpe"] }],
  },
  // This body and the next one name neither the country nor the question.
  {
    source: "play-suggest",
    file: "play-suggest-pand.txt",
    subject: { storefront: "us", prefix: "pand" },
    holds: 5,
    otherSubjects: [],
  },
  {
    source: "play-reviews",
    file: "play-reviews-translate.whole.txt.gz",
    subject: { storefront: "us", language: "en", storeId: "com.google.android.apps.translate" },
    holds: 150,
    otherSubjects: [],
  },
  {
    source: "itunes-lookup",
    file: "itunes-lookup-284882215-us.json",
    subject: { storefront: "us", ids: ["284882215"] },
    holds: 1,
    otherSubjects: [{ storefront: "fr" }, { ids: ["284882216"] }],
  },
  {
    source: "itunes-lookup",
    file: "itunes-lookup-338986109-fr.json",
    subject: { storefront: "fr", ids: ["338986109"] },
    holds: 1,
    otherSubjects: [{ storefront: "us" }, { ids: ["284882215"] }],
  },
  // This body does not name the term.
  {
    source: "itunes-search",
    file: "itunes-search-vpn-us-2026-03-20.json",
    subject: { storefront: "us", term: "vpn" },
    holds: 10,
    otherSubjects: [{ storefront: "de" }],
  },
  {
    source: "apple-charts",
    file: "apple-charts-v2-free-us-2026-03-20.json",
    subject: { storefront: "us", device: "iphone", chart: "free", genre: "36" },
    holds: 10,
    otherSubjects: [{ storefront: "de" }, { chart: "paid" }, { device: "ipad" }, { genre: "6015" }],
  },
]

/**
 * Parsers without a known recording that may be distributed. Their bodies are constructed, so they do not show the real
 * format.
 */
export const NO_RECORDING: Partial<Record<SourceName, string>> = {
  "apple-web-search": "no recorded search page of apps.apple.com is public; constructed after two public readers of it",
  "apple-store-search": "no recorded answer of MZStore's search is public; constructed after two public readers of it",
  "apple-app-page": "no recorded app page of apps.apple.com is public; constructed after a public reader of it",
  "apple-hints": "the recordings that are public have no licence; constructed in their shape",
  "apple-reviews":
    "no recorded XML feed is public, and the recorded JSON ones have no licence; constructed in their shape",
  "apple-genres": "no recorded answer is public; constructed after public clients",
  "itunes-developer": "no recorded answer to a developer's id is public; its rows are those of itunes-lookup",
  "app-ads-txt": "recorded files have no licence; its form is a published standard, and files are constructed by it",
}
