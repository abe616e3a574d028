// Recorded reviews besides those of the three games: of Google Play, and of the App Store if DATA has them, whose
// licence forbids copying.

import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { playReviews } from "../../src/reviews/sources/play-reviews.ts"
import type { SummedReview } from "../../src/texts/themes/theme-figures.ts"
import { DATA } from "../measuring/record/review-rows.ts"
import type { Feed } from "./writing-asking.ts"

const RECORDED = join(import.meta.dirname, "../../fixtures/upstream")
const SEEN_AT = new Date("2026-07-15T00:00:00Z")

export async function otherFeeds(): Promise<(Feed & { label: string })[]> {
  const question = { storefront: "us", language: "en", storeId: "com.google.android.apps.translate" }
  const provenance = { seenAt: SEEN_AT, sha256: new Uint8Array(32) }
  const play = [1, 2].flatMap((page) => {
    const body = readFileSync(join(RECORDED, `play-reviews-translate-${page}.txt`), "utf8")
    return playReviews.parse(body, question as never, provenance as never).reviews as readonly StoreReview[]
  })
  const apple = [
    ["us-instagram-page1-2026-10-06-cut4.json", "us-instagram-single-entry-object-2026-10-06.json"],
    ["ru-id894649641-2019-older-format-no-updated-cut7.json"],
  ].map((files) => files.map((file) => join(DATA, "02-customer-reviews-rss", file)).filter((path) => existsSync(path)))
  const [english, russian] = apple.map((paths) => paths.flatMap(entriesIn)) as [SummedReview[], SummedReview[]]
  const feeds: (Feed & { label: string })[] = [
    { label: "Google Play's of a translator", reviews: distinct(play.map(reviewOf)), languages: ["en"] },
    { label: "the App Store's of a social network", reviews: distinct(english), languages: ["en"] },
    { label: "the App Store's in Russian", reviews: russian, languages: ["ru", "en"] },
  ]
  const missing = feeds.filter(({ reviews }) => reviews.length === 0)
  for (const { label } of missing) console.log(`${label}: not measured, DATA does not have it`)
  return feeds.filter(({ reviews }) => reviews.length > 0)
}

interface StoreReview {
  id: string
  title?: string
  text: string
  stars: number
  at: Date
}

function reviewOf({ id, title = "", text, stars, at }: StoreReview): SummedReview {
  return { id, title: title === "" ? null : title, text, stars, at }
}

function distinct(reviews: readonly SummedReview[]): SummedReview[] {
  return [...new Map(reviews.map((review) => [review.id, review])).values()]
}

type Labels = Record<string, { label: string } | undefined>

function entriesIn(path: string): SummedReview[] {
  const { entry } = JSON.parse(readFileSync(path, "utf8")).feed as { entry: Labels | Labels[] }
  return [entry].flat().map((item, at) => ({
    id: item.id?.label ?? String(at),
    title: item.title?.label ?? null,
    text: item.content?.label ?? "",
    stars: Number(item["im:rating"]?.label),
    at: new Date(item.updated?.label ?? "2019-06-01T00:00:00Z"),
  }))
}
