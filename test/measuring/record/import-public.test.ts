import { beforeEach, describe, expect, test } from "bun:test"
import type { Sql } from "../../../src/database/types.ts"
import type { Observation } from "../../../src/kinds.ts"
import { withPages } from "../../../src/stores/kinds/pages-in-look-ups.ts"
import { freshDatabase } from "../../database.ts"
import { slow } from "../../long.ts"
import { importLines, parseLine, record } from "../../record.ts"
import { reasonOf } from "../import/reason-of.ts"
import { listed } from "./listed.ts"
import { appsReading, stored } from "./measured.ts"
import { marketed, named, shelved, soldBy } from "./public-facts.ts"

let sql: Sql
const now = () => new Date("2026-08-01T00:00:00Z")
const AT = "2026-06-01T06:00:00.123Z"

beforeEach(async () => {
  sql = await freshDatabase()
})

/** A look-up with every possible part. */
const LOOK_UP = appsReading(AT, [
  {
    id: "1600000101",
    name: "Tea",
    price: 0,
    currency: "USD",
    genre: "6007",
    genres: ["6007", "6012"],
    version: "4.1",
    developerId: "1500000011",
    developerSite: "https://example.com",
    releasedAt: new Date("2019-01-02T03:04:05Z"),
    market: { hasInAppPurchases: true, inAppLeast: 0.99, inAppMost: 4.99, inAppCurrency: "USD" },
    listing: {
      language: "en",
      subtitle: "Steep",
      description: "A timer.",
      minimumOs: "17.0",
      ageRating: "4+",
      category: "Tea",
      screenshots: { phone: ["https://example.com/1.png"], pad: [] },
      versions: [{ version: "4.1", releasedAt: new Date("2026-05-01T00:00:00Z"), notes: "Faster." }],
      similar: [{ id: "1600000102", name: "Coffee", rating: 4.5 }],
      moreByDeveloper: [{ id: "1600000103", name: "Cup" }],
    },
  },
])
const PAGE = listed(AT, {
  inAppPurchases: [{ name: "More tea", price: "$0.99" }],
  hasInAppPurchases: true,
  size: "9 MB",
})
const ALL: Observation[] = [
  LOOK_UP,
  PAGE,
  named(AT),
  shelved(AT, ["1600000101"]),
  soldBy(AT, ["google.com"]),
  withPages(marketed(AT, { installs: 91_130_079, hasInAppPurchases: false })),
  soldBy(AT, [], { state: "no_site", domain: null, variables: {}, id: "1600000102" }),
]

const lineOf = ({ sha256, ...observation }: Observation) =>
  JSON.stringify({ ...observation, sha256: Buffer.from(sha256).toString("hex") })

describe("a line of public data", () => {
  test("a line of public data is parsed to the observation from which it was written", () => {
    for (const observation of ALL) {
      const parsed = parseLine(lineOf(observation))
      expect(parsed).toEqual({
        kind: "observation",
        observation: { ...observation, sha256: Buffer.from(observation.sha256) },
      } as never)
    }
  })

  slow("a line of public data stores the same rows as its reading, and a second import changes nothing", async () => {
    expect(await record(sql, ALL, now)).toEqual({ recorded: ALL.length, alreadyStored: 0, refused: [] })
    const expected = await stored(sql)
    const other = await freshDatabase()
    const lines = async function* () {
      for (const observation of ALL) yield lineOf(observation)
    }
    const done = { read: ALL.length, attempts: 0, bad: [] }
    expect(await importLines(other, lines(), { now })).toEqual({ ...done, recorded: ALL.length, known: 0 })
    expect(await stored(other)).toBe(expected)
    expect(await importLines(other, lines(), { now })).toEqual({ ...done, recorded: 0, known: ALL.length })
    expect(await stored(other)).toBe(expected)
  })

  test("an unreadable line of public data is refused with the field and the rule", () => {
    const line = (observation: Observation, rest: object = {}) => ({ ...JSON.parse(lineOf(observation)), ...rest })
    const app = (rest: object) => line(LOOK_UP, { apps: [{ id: "1600000101", ...rest }] })
    const cases: [object, string][] = [
      [app({ market: { installs: 1.5 } }), "apps[0].market.installs: must be a whole number"],
      [app({ market: { sold: 1 } }), "apps[0].market: has an unknown field"],
      [app({ listing: { name: "Tea" } }), "apps[0].listing: has an unknown field"],
      [app({ listing: { versions: [{}] } }), "apps[0].listing.versions[0].version: is missing"],
      [line(PAGE, { source: "apple-hints" }), "source: must be one of apple-app-page, itunes-lookup, play-details"],
      [line(PAGE, { listing: { language: "en" } }), "listing.name: is missing"],
      [
        line(PAGE, { listing: { name: "Tea", ratingsByStar: [1, 2] } }),
        "listing.ratingsByStar: must be five whole numbers",
      ],
      [
        line(PAGE, { listing: { name: "Tea", events: [{ id: "1", title: "x", endsAt: "soon" }] } }),
        "listing.events[0].endsAt: must be an ISO 8601 time with its zone",
      ],
      [
        line(PAGE, { listing: { name: "Tea", editorial: [{ id: "1", kind: "ad" }] } }),
        "listing.editorial[0].kind: must be story or collection",
      ],
      [line(named(AT), { genres: [{ id: "36" }] }), "genres[0].name: is missing"],
      [line(named(AT), { source: "import" }), "source: must be apple-genres"],
      [line(shelved(AT, []), { complete: undefined }), "complete: is missing"],
      [line(soldBy(AT, []), { storefront: "us" }), "the line: has an unknown field"],
      [line(soldBy(AT, []), { state: "maybe" }), "state: must be one of records, no_file, no_site, unreachable"],
      [line(soldBy(AT, []), { variables: { OTHER: [] } }), "variables: has an unknown field"],
      [
        line(soldBy(AT, []), { records: [{ system: "a.com", publisherId: "1", relation: "FRIEND" }] }),
        "records[0].relation: must be DIRECT or RESELLER",
      ],
    ]
    for (const [example, reason] of cases) expect(reasonOf(example)).toBe(reason)
  })
})
