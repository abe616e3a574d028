import { hash } from "node:crypto"
import type { MarketFacts } from "../../../src/core/observation/line-parts.ts"
import type { AppAdsObservation } from "../../../src/listings/kinds/app-ads.ts"
import type { DeveloperAppsObservation } from "../../../src/stores/kinds/developer.ts"
import type { GenresObservation } from "../../../src/stores/kinds/genres.ts"
import { appsReading } from "./measured.ts"

const source = { parser: 1, origin: "own" }

/** Returns a reading of a storefront's genres. The hash covers the reading. */
export function named(seenAt: string, rest: Partial<GenresObservation> = {}): GenresObservation {
  const genres = [
    { id: "36", name: "App Store" },
    { id: "6014", name: "Games", parent: "36" },
    { id: "7001", name: "Action", parent: "6014" },
  ]
  const place = { platform: "ios" as const, storefront: "us" }
  return dated(seenAt, { kind: "genres", source: "apple-genres", ...place, genres, ...source, ...rest })
}

/** Returns a reading of the apps of a developer in the US. */
export function shelved(
  seenAt: string,
  ids: string[],
  rest: Partial<DeveloperAppsObservation> = {},
): DeveloperAppsObservation {
  const apps = ids.map((id) => ({ id, name: `App ${id}`, ratings: 7, rating: 4, developerId: "1500000011" }))
  const place = { platform: "ios" as const, storefront: "us", developerId: "1500000011" }
  return dated(seenAt, {
    kind: "developer",
    source: "itunes-developer",
    complete: true,
    apps,
    ...place,
    ...source,
    ...rest,
  })
}

/** Returns a reading of an app-ads.txt with these sellers. */
export function soldBy(seenAt: string, systems: string[], rest: Partial<AppAdsObservation> = {}): AppAdsObservation {
  const records = systems.map((system) => ({ system, publisherId: "pub-1", relation: "DIRECT" as const }))
  return dated(seenAt, {
    kind: "app_ads",
    source: "app-ads-txt",
    platform: "ios",
    id: "1600000101",
    domain: "example.com",
    state: "records",
    records,
    variables: { OWNERDOMAIN: ["example.com"] },
    ...source,
    ...rest,
  })
}

/** Returns a reading of a Google Play page with these market facts. */
export function marketed(seenAt: string, market: MarketFacts, rest: object = {}) {
  const place = { platform: "android", source: "play-details", storefront: "de" } as const
  return appsReading(seenAt, [{ id: "com.example.tea", name: "Tea", market }], { ...place, ...rest })
}

function dated<Seen extends { seenAt: Date; sha256: Uint8Array }>(seenAt: string, content: object): Seen {
  const sha256 = hash("sha256", JSON.stringify([seenAt, content]), "buffer")
  return { sha256, ...content, seenAt: new Date(seenAt) } as unknown as Seen
}
