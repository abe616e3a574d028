import { describe, expect, test } from "bun:test"
import type { ChartObservation } from "../../../src/charts/kinds/chart-shape.ts"
import { ObservationProblem } from "../../../src/core/observation/invariants.ts"
import type { Observation } from "../../../src/kinds.ts"
import type { DeveloperAppsObservation } from "../../../src/stores/kinds/developer.ts"
import type { GenresObservation } from "../../../src/stores/kinds/genres.ts"
import type { ListingObservation } from "../../../src/stores/kinds/listing-shape.ts"
import { checkObservation } from "../../record.ts"

const NOW = new Date("2026-08-13")
const ABOUT = {
  platform: "ios",
  storefront: "us",
  seenAt: new Date("2026-08-12"),
  parser: 1,
  origin: "own",
  sha256: new Uint8Array(32),
} as const

const LISTING: ListingObservation = {
  ...ABOUT,
  kind: "listing",
  source: "apple-app-page",
  id: "1600000101",
  listing: {
    name: "One",
    versions: [{ version: "1.0", releasedAt: new Date("2026-01-01") }],
    similar: [{ id: "1600000102" }],
  },
}
const CHART: ChartObservation = {
  ...ABOUT,
  kind: "chart",
  source: "apple-charts",
  device: "iphone",
  chart: "free",
  genre: "36",
  depth: 2,
  complete: true,
  apps: [{ id: "1600000101", price: 0, currency: "USD", genre: "6015" }, { id: "1600000102" }],
}
const GENRES: GenresObservation = {
  ...ABOUT,
  kind: "genres",
  source: "apple-genres",
  genres: [
    { id: "36", name: "App Store" },
    { id: "6014", name: "Games", parent: "36" },
  ],
}
const DEVELOPER: DeveloperAppsObservation = {
  ...ABOUT,
  kind: "developer",
  source: "itunes-developer",
  developerId: "1500000011",
  complete: true,
  apps: [{ id: "1600000101", genre: "6013" }],
}

function problemOf(observation: unknown): string | undefined {
  try {
    checkObservation(observation as Observation, NOW)
  } catch (error) {
    expect(error).toBeInstanceOf(ObservationProblem)
    return (error as ObservationProblem).code
  }
  return undefined
}

test("an observation as a source returns it passes the check, and so does an empty chart", () => {
  for (const sound of [
    LISTING,
    CHART,
    GENRES,
    DEVELOPER,
    { ...CHART, depth: 0, apps: [] },
    { ...CHART, source: "import" },
  ])
    expect(problemOf(sound)).toBeUndefined()
})

test("an observation from the future, or with a wrong platform, storefront or source, fails the check", () => {
  for (const example of [LISTING, CHART, GENRES, DEVELOPER]) {
    expect(problemOf({ ...example, seenAt: new Date("2026-08-14") })).toBe("bad_time")
    expect(problemOf({ ...example, platform: "android" })).toBe("bad_platform")
    expect(problemOf({ ...example, storefront: "zz" })).toBe("bad_storefront")
    expect(problemOf({ ...example, source: "apple-hints" })).toBe("bad_source")
    expect(problemOf({ ...example, sha256: new Uint8Array(3) })).toBe("bad_provenance")
  }
})

describe("invalid observations", () => {
  const listing = (more: object) => ({ ...LISTING, listing: { ...LISTING.listing, ...more } })
  const chart = (more: object) => ({ ...CHART, ...more })
  const genres = (...all: object[]) => ({ ...GENRES, genres: [...GENRES.genres, ...all] })
  test.each([
    ["a listing without a name", listing({ name: " " }), "bad_text"],
    ["a text with a NUL, however deep", listing({ versions: [{ version: "1.0", notes: "a\0" }] }), "bad_text"],
    ["an empty text", listing({ subtitle: "" }), "bad_text"],
    ["an invalid date", listing({ events: [{ id: "1", title: "T", startsAt: new Date(Number.NaN) }] }), "bad_time"],
    ["six stars", listing({ rating: 6 }), "bad_figure"],
    ["four counts by star instead of five", listing({ ratingsByStar: [1, 2, 3, 4] }), "bad_figure"],
    ["a fractional rating count", listing({ ratingsByStar: [1, 2, 3, 4, 0.5] }), "bad_figure"],
    ["a negative price", listing({ price: -1 }), "bad_figure"],
    [
      "an app twice among similar ones",
      listing({ similar: [{ id: "1600000102" }, { id: "1600000102" }] }),
      "duplicate_app",
    ],
    ["an invalid app id", { ...LISTING, id: "12" }, "bad_app_id"],
    ["a list that is too long", listing({ languages: Array.from({ length: 6_000 }, () => "A") }), "too_many_results"],
    ["an unknown device", chart({ device: "watch" }), "bad_kind"],
    ["an unknown chart", chart({ chart: "new" }), "bad_kind"],
    ["a genre by its name", chart({ genre: "Finance" }), "bad_text"],
    ["an app's genre by its name", chart({ apps: [{ id: "1600000101", genre: "Finance" }] }), "bad_text"],
    [
      "an app's genre by its name on a developer's page",
      { ...DEVELOPER, apps: [{ id: "1600000101", genre: "Finance" }] },
      "bad_text",
    ],
    ["more apps than places", chart({ depth: 1 }), "too_many_results"],
    ["a fractional chart depth", chart({ depth: 2.5 }), "bad_depth"],
    ["an app twice on a chart", chart({ apps: [{ id: "1600000101" }, { id: "1600000101" }] }), "duplicate_app"],
    ["a genre before its parent", genres({ id: "7001", name: "Action", parent: "7000" }), "bad_text"],
    ["a second root", genres({ id: "7001", name: "Action" }), "bad_text"],
    ["a genre twice", genres({ id: "6014", name: "Games", parent: "36" }), "bad_text"],
    ["a developer by its name", { ...DEVELOPER, developerId: "northlight" }, "bad_text"],
    [
      "an app of the developer's twice",
      { ...DEVELOPER, apps: [DEVELOPER.apps[0], DEVELOPER.apps[0]] },
      "duplicate_app",
    ],
  ])("an observation is refused for %s", (_what, observation, code) => {
    expect(problemOf(observation)).toBe(code)
  })
})
