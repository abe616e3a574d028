import type { Scope } from "../../access/scopes.ts"

export const FEED_FORMATS = ["atom", "csv"] as const
export type FeedFormat = (typeof FEED_FORMATS)[number]

interface DatasetOf {
  title: string
  /** The right that the feed's creator must have for as long as the feed is read. */
  scope: Scope
  formats: readonly FeedFormat[]
  /** True if the feed belongs to a storefront of one store. */
  isOfStorefront: boolean
  /** The columns of its table. No column contains money, because anybody with the address can read the feed. */
  columns: readonly string[]
}

/** The contents that a feed can have. Columns are named as in the operations that show the same data. */
export const FEED_DATASETS = {
  alerts: {
    title: "Alerts",
    scope: "apps:read",
    formats: ["atom", "csv"],
    isOfStorefront: false,
    columns: ["id", "day", "at", "type", "appName", "platform", "country", "sentence"],
  },
  reviews: {
    title: "Reviews",
    scope: "reviews:read",
    formats: ["atom", "csv"],
    isOfStorefront: true,
    columns: ["id", "date", "rating", "title", "text", "version", "country", "platform"],
  },
  ranks: {
    title: "Ranks",
    scope: "apps:read",
    formats: ["csv"],
    isOfStorefront: true,
    columns: [
      "term",
      "country",
      "platform",
      "day",
      "measured",
      "rank",
      "searchDepth",
      "source",
      "popularity",
      "difficulty",
    ],
  },
} as const satisfies Record<string, DatasetOf>

export type FeedDataset = keyof typeof FEED_DATASETS

export const DATASETS = Object.keys(FEED_DATASETS) as FeedDataset[]

export function datasetOf(dataset: FeedDataset): DatasetOf {
  return FEED_DATASETS[dataset]
}
