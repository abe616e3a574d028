import { beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test"
import type { Sql } from "../../../src/database/types.ts"
import { type ListingChangeKind, PAGE_CHANGES } from "../../../src/listings/changes.ts"
import { readChanges } from "../../../src/listings/read/changes.ts"
import type { Listing, ListingObservation } from "../../../src/stores/kinds/listing-shape.ts"
import { freshDatabase } from "../../database.ts"
import { cases, slow } from "../../long.ts"
import { listed, PAGE, randomOf, shuffled } from "../../measuring/record/listed.ts"
import { record, recordAttempt } from "../../record.ts"

// The tests run many transactions each, so they need more time.
setDefaultTimeout(60_000)

let sql: Sql
const now = () => new Date("2026-08-01T00:00:00Z")
const day = (n: number, hour = 6) => new Date(Date.UTC(2026, 5, n, hour))
const recordAll = (...pages: ListingObservation[]) => record(sql, pages, now)
const ALL = { from: "2026-01-01", to: "2026-12-31", limit: 1_000 }

beforeEach(async () => {
  sql = await freshDatabase()
})

const appIds = async () => (await sql`select id from store_app order by id`).map(({ id }) => id as number)

/** Returns changes as "06-02 version 4.1 > 4.2", oldest first. */
async function changeKinds(): Promise<string[]> {
  const changes = await readChanges(sql, { ...ALL, apps: await appIds() })
  return changes.toReversed().map(({ day, kind, subject }) => `${day.slice(5)} ${kind} ${subject}`.trim())
}

const EDITS: [ListingChangeKind, Partial<Listing>][] = [
  ["version", { version: "4.2" }],
  ["name", { name: "Tea Clock" }],
  ["subtitle", { subtitle: "Steep it well" }],
  ["icon", { icon: "https://example.com/icon.png" }],
  ["price", { price: 0 }],
  ["screenshots", { screenshots: { phone: [] } }],
  ["description", { description: "A clock." }],
  ["promotional_text", { promotionalText: "Mate!" }],
  ["event_started", { events: [...PAGE.events!, { id: "6000002", title: "Tasting" }] }],
  ["event_ended", { events: [] }],
  ["featured", { editorial: [...PAGE.editorial!, { id: "1400000002", kind: "story" }] }],
  ["unfeatured", { editorial: [] }],
  ["rating_jump", { rating: 4.3 }],
  ["ratings_jump", { ratings: 6_000 }],
]
// Further parts of a page, which cause no change.
const SILENT: Partial<Listing>[] = [
  { size: "20 MB" },
  { languages: ["English"] },
  { ratings: 5_001 },
  { ratingsByStar: [1, 1, 1, 1, 1] },
  { similar: [] },
  { versions: [{ version: "4.1" }] },
]

describe("changes of a listing", () => {
  test("each changed part is listed with before, after and both times", async () => {
    const times = EDITS.map((_, place) => [day(1 + 2 * place), day(2 + 2 * place)] as const)
    await recordAll(...EDITS.flatMap(([, edit], place) => [listed(times[place]![0]), listed(times[place]![1], edit)]))
    const changes = await readChanges(sql, { ...ALL, apps: await appIds() })
    for (const [place, [kind]] of EDITS.entries()) {
      const [beforeSeenAt, at] = times[place]!
      const [change, ...more] = changes.filter((item) => item.at.valueOf() === at.valueOf())
      expect(change).toMatchObject({ kind, day: at.toISOString().slice(0, 10), at, beforeSeenAt, storefront: "us" })
      expect([kind, more]).toEqual([kind, []])
    }
    await recordAll(listed(day(1 + 2 * EDITS.length), { name: "Tea Clock", ratings: 6_000 }))
    const [name] = await readChanges(sql, { ...ALL, apps: await appIds() })
    expect(name).toMatchObject({ before: "Tea Timer", after: "Tea Clock", subject: "", source: "apple-app-page" })
  })

  test("equal pages and pages with irrelevant differences have no changes", async () => {
    await recordAll(listed(day(1)))
    await recordAll(listed(day(2)), ...SILENT.map((edit, place) => listed(day(3 + place), edit)))
    expect(await changeKinds()).toEqual([])
  })

  test("a change stores null for a missing value", async () => {
    await recordAll(listed(day(1), { events: [] }), listed(day(2)), listed(day(3), { events: [] }))
    expect([
      ...(await sql`select kind, before is null as b, after is null as a from listing_change order by at`),
    ]).toEqual([
      { kind: "event_started", b: true, a: false },
      { kind: "event_ended", b: false, a: true },
    ])
  })

  test("a change has the times of the readings before and after it, and failed readings are ignored", async () => {
    await recordAll(listed(day(1)), listed(day(2)))
    await recordAttempt(sql, {
      kind: "apps",
      at: day(3),
      subject: "1600000101",
      source: "itunes-lookup",
      platform: "ios",
      storefront: "us",
      outcome: "blocked",
    })
    expect(await changeKinds()).toEqual([])
    await recordAll(listed(day(4), { version: "4.2" }), listed(day(5), { version: "4.2" }))
    expect(await readChanges(sql, { ...ALL, apps: await appIds() })).toMatchObject([
      { at: day(4), beforeSeenAt: day(2) },
    ])
  })

  test("a reading that arrives late updates the changes around it", async () => {
    await recordAll(listed(day(1)), listed(day(5), { version: "4.3", rating: 4.2 }))
    expect(await changeKinds()).toEqual(["06-05 rating_jump", "06-05 version"])
    await recordAll(listed(day(3), { version: "4.2", rating: 4.2 }))
    expect(await changeKinds()).toEqual(["06-03 rating_jump", "06-03 version", "06-05 version"])
    // The version that was taken for a change on the fifth was already on the page of the second.
    await recordAll(listed(day(2), { version: "4.3" }), listed(day(4), { version: "4.3", rating: 4.2 }))
    expect(await changeKinds()).toEqual(["06-02 version", "06-03 rating_jump", "06-03 version", "06-04 version"])
  })

  slow("changes do not depend on the order of recording or on repeated recording", async () => {
    const random = randomOf(3)
    const pick = <T>(all: readonly T[]) => all[Math.floor(random() * all.length)] as T
    const edits = [...EDITS.map(([, edit]) => edit), ...SILENT, {}]
    const silent = ["subtitle", "events", "editorial", "price", "description", "screenshots", "rating"]
    const pages = Array.from({ length: 30 }, (_, i) =>
      listed(
        day(1, i * 15),
        { ...pick(edits), ...pick(edits), ...(random() < 0.4 && { [pick(silent)]: undefined }) },
        { parser: i > 20 ? 2 : 1 },
      ),
    )
    await recordAll(...pages)
    const rows = async () =>
      JSON.stringify(
        await sql`select at, kind, subject, before, after, before_seen_at from listing_change order by 1, 2, 3`,
      )
    const expected = await rows()
    const kinds = new Set(JSON.parse(expected).map(({ kind }: { kind: string }) => kind))
    expect(PAGE_CHANGES.filter((kind) => !kinds.has(kind))).toEqual([])
    for (let round = 0; round < cases(1, 5); round++) {
      await freshDatabase()
      const order = shuffled(pages, random)
      const size = 1 + Math.floor(random() * 12)
      for (let i = 0; i < order.length; i += size) await recordAll(...order.slice(i, i + size))
      expect(await rows()).toBe(expected)
    }
    const places = await sql`select ctid::text from listing_change`
    expect((await recordAll(...pages)).recorded).toBe(0)
    expect([...(await sql`select ctid::text from listing_change`)]).toEqual([...places])
  })
})

describe("readChanges", () => {
  test("changes are filtered by apps, storefront, days and kinds, newest first, up to the limit", async () => {
    const rival = { id: "1600000777" }
    await recordAll(
      listed(day(1), { similar: [], moreByDeveloper: [] }),
      listed(day(2), { similar: [], moreByDeveloper: [], name: "Tea Clock", version: "4.2" }),
      listed(day(1), {}, rival),
      listed(day(2, 7), { version: "5" }, rival),
      listed(day(1), {}, { storefront: "fr" }),
      listed(day(3, 23), { price: 0 }, { storefront: "fr" }),
    )
    const ids = Object.fromEntries(
      (await sql`select store_id, id from store_app`).map(({ store_id, id }) => [store_id, id]),
    )
    const [ownId, other] = [ids["1600000101"] as number, ids["1600000777"] as number]
    const read = async (filter: Partial<Parameters<typeof readChanges>[1]>) =>
      (await readChanges(sql, { ...ALL, apps: [ownId, other], ...filter })).map(
        ({ appId, day, storefront, kind }) =>
          `${day.slice(8)} ${appId === ownId ? "own" : "rival"} ${storefront} ${kind}`,
      )
    const every = ["03 own fr price", "02 rival us version", "02 own us version", "02 own us name"]
    expect(await read({})).toEqual(every)
    expect(await read({ apps: [other, other] })).toEqual(every.slice(1, 2))
    expect(await read({ apps: [] })).toEqual([])
    expect(await read({ storefront: "us" })).toEqual(every.slice(1))
    expect(await read({ kinds: ["price", "name"] })).toEqual([every[0]!, every[3]!])
    expect(await read({ from: "2026-06-03" })).toEqual(every.slice(0, 1))
    expect(await read({ to: "2026-06-02", limit: 2 })).toEqual(every.slice(1, 3))
  })
})
