import { hash } from "node:crypto"
import type { StoreApp } from "../../src/core/observation/line-parts.ts"
import type { HintsObservation } from "../../src/keywords/kinds/hints.ts"
import type { PopularityObservation } from "../../src/keywords/kinds/popularity.ts"
import type { SearchObservation } from "../../src/keywords/kinds/search-shape.ts"
import type { AppsObservation } from "../../src/stores/kinds/apps-shape.ts"

export { charted as chartReading } from "../measuring/record/charted.ts"
export { listed as listingReading } from "../measuring/record/listed.ts"
export { reviewed as reviewsReading } from "../measuring/record/reviewed.ts"

/** Returns a complete search of the US App Store whose results are `ids`. The hash covers the whole reading. */
export function searchReading(
  term: string,
  seenAt: string,
  ids: readonly (string | number)[],
  rest: Partial<SearchObservation> = {},
): SearchObservation {
  const content = {
    kind: "search" as const,
    source: "import" as const,
    platform: "ios" as const,
    storefront: "us",
    term,
    depth: Math.max(1, ids.length),
    complete: true,
    parser: 1,
    origin: "own",
    results: ids.map((id) => ({ id: String(id) })),
    ...rest,
  }
  return { ...content, seenAt: new Date(seenAt), sha256: sumOf(content) }
}

/**
 * Returns a look-up of `apps` in the US App Store. It requests the apps that it returns, unless `rest` says otherwise.
 */
export function appsReading(seenAt: string, apps: StoreApp[], rest: Partial<AppsObservation> = {}): AppsObservation {
  const content = {
    kind: "apps" as const,
    source: "itunes-lookup" as const,
    platform: "ios" as const,
    storefront: "us",
    asked: apps.map(({ id }) => id),
    apps,
    parser: 1,
    origin: "own",
    ...rest,
  }
  return { ...content, seenAt: new Date(seenAt), sha256: rest.sha256 ?? sumOf(content) }
}

/** Returns suggestions of the US App Store for a prefix. */
export function hintsReading(prefix: string, seenAt: string, terms: string[], rest: object = {}): HintsObservation {
  const content = {
    kind: "hints" as const,
    source: "apple-hints" as const,
    platform: "ios" as const,
    storefront: "us",
    prefix,
    terms,
    parser: 1,
    origin: "own",
    ...rest,
  }
  return { ...content, seenAt: new Date(seenAt), sha256: sumOf(content) }
}

/** Returns a published popularity of a term in the US, seen five days after the 28th of its month. */
export function popularityReading(
  term: string,
  month: string,
  popularity: number,
  rest: object = {},
): PopularityObservation {
  const content = {
    kind: "popularity" as const,
    source: "apple-ads-report" as const,
    platform: "ios" as const,
    storefront: "us",
    term,
    month,
    popularity,
    genres: [],
    parser: 1,
    origin: "own",
    seenAt: new Date(`${month.slice(0, 7)}-28T00:00:00Z`),
    ...rest,
  }
  content.seenAt = new Date(content.seenAt.getTime() + 5 * 86_400_000)
  return { ...content, sha256: sumOf(content) }
}

function sumOf(content: object): Uint8Array {
  return hash("sha256", JSON.stringify(content), "buffer")
}
