import { afterAll, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test"
import { replay } from "../../src/commands/replay/replay.ts"
import type { Attempt } from "../../src/core/observation/attempt.ts"
import type { Sql } from "../../src/database/types.ts"
import type { SearchObservation } from "../../src/keywords/kinds/search-shape.ts"
import { listKeywordRanks } from "../../src/keywords/operations/keywords.ts"
import { appleHints } from "../../src/keywords/sources/apple-hints.ts"
import { playSearch } from "../../src/keywords/sources/play-search.ts"
import type { Observation } from "../../src/kinds.ts"
import type { RawBodies } from "../../src/measuring/raw-bodies.ts"
import type { Source } from "../../src/measuring/source.ts"
import { SOURCES } from "../../src/sources.ts"
import { itunesLookup } from "../../src/stores/apple/itunes-lookup.ts"
import { itunesSearch } from "../../src/stores/apple/itunes-search.ts"
import type { AppsObservation } from "../../src/stores/kinds/apps-shape.ts"
import { freshDatabase } from "../database.ts"
import { slow } from "../long.ts"
import { record, recordAttempt } from "../record.ts"
import { fixture, PARSED } from "../stores/parsing/parsed.ts"
import { blockData, withData } from "../stores/parsing/play-pages.ts"
import { trackOwn } from "../world/tracked.ts"
import { bodyOf, removeBodies, seenIn, someBodies } from "./bodies.ts"
import { ask, contextOf, NOW, newWorkspace, stored } from "./record/measured.ts"

setDefaultTimeout(60_000)

const AT = "2025-11-19T10:00:00Z"
const now = () => NOW
let sql: Sql
let bodies: RawBodies

beforeEach(async () => {
  sql = await freshDatabase()
  bodies = someBodies(now)
})
afterAll(removeBodies)

const run = (rest: Partial<Parameters<typeof replay>[1]> = {}) =>
  replay(sql, { bodies, sources: SOURCES, now, pause: async () => {}, ...rest })
const keep = (text: string) => bodies.keep(bodyOf(text, NOW))
/** Returns the reading as an earlier version of the parser would have read it. */
const misread = <Seen extends Observation>(observation: Seen, rest: Partial<Seen>): Seen => ({
  ...observation,
  parser: 0,
  ...rest,
})

const PANDA = fixture("play-search-panda.html")
const panda = (at = AT) => seenIn(playSearch, { storefront: "us", term: "panda" }, PANDA, at)

describe("unchanged bodies", () => {
  slow("a replay of unchanged bodies of every source changes nothing, with write on or off", async () => {
    const all: readonly Source<never>[] = Object.values(SOURCES).flat()
    // bodies that name people are not stored
    const replayed = all.filter(({ namesPeople }) => !namesPeople).map(({ name }): string => name)
    for (const { source, subject, fixture: name } of PARSED.filter((entry) => replayed.includes(entry.source.name))) {
      const text = fixture(name)
      await record(sql, [seenIn(source, subject, text, AT)], now)
      await keep(text)
    }
    const before = await stored(sql)
    for (const write of [false, true]) {
      const { sources, examples } = await run({ write })
      expect(examples).toEqual([])
      expect(sources.map(({ source }) => source as string)).toEqual(replayed.toSorted())
      for (const { source: _, same, notKept: __, ...rest } of sources) {
        expect(same).toBeGreaterThan(0)
        expect(rest).toEqual({
          different: 0,
          places: 0,
          nowReadable: 0,
          stillUnreadable: 0,
          unreadable: 0,
          recorded: 0,
        })
      }
      expect(await stored(sql)).toBe(before)
    }
  })

  test("a replay reads only bodies since the given day and of the given source", async () => {
    await record(sql, [panda(), panda("2025-11-18T10:00:00Z")], now)
    await record(
      sql,
      [seenIn(appleHints, { storefront: "us", prefix: "tide" }, fixture("apple-hints-tide-us.plist"), AT)],
      now,
    )
    await keep(PANDA)
    await keep(fixture("apple-hints-tide-us.plist"))
    const same = async (rest: object) =>
      (await run({ since: "2025-01-01", ...rest })).sources.map((source) => `${source.source} ${source.same}`)
    expect(await same({})).toEqual(["apple-hints 1", "play-search 2"])
    expect(await same({ since: "2025-11-19" })).toEqual(["apple-hints 1", "play-search 1"])
    expect(await same({ since: "2025-11-20" })).toEqual([])
    expect(await same({ source: "apple-hints" })).toEqual(["apple-hints 1"])
    expect(await same({ source: "itunes-lookup" })).toEqual([])
  })

  slow("a replay reads all bodies, even if there are more than fit on a page", async () => {
    const days = Array.from({ length: 60 }, (_, i) => new Date(Date.parse(AT) - i * 3_600_000))
    const text = fixture("apple-hints-tide-us.plist")
    const hints = Array.from({ length: 210 }, (_, i) => ({ storefront: "us", prefix: `tide ${i}` }))
    await record(
      sql,
      days.map((at) => panda(at.toISOString())),
      now,
    )
    await record(
      sql,
      hints.map((subject) => seenIn(appleHints, subject, text, AT)),
      now,
    )
    await keep(PANDA)
    await keep(text)
    const progress: number[] = []
    const { sources } = await run({ since: "2025-01-01", onProgress: (readings) => progress.push(readings) })
    expect(sources.map(({ same }) => same)).toEqual([210, 60])
    expect(progress).toEqual([50, 60, 260, 270])
  })

  test("a replay counts deleted bodies separately, unless no bodies are stored at all", async () => {
    await record(sql, [panda()], now)
    expect(await run()).toEqual({ sources: [], examples: [] })
    await keep("something else")
    expect((await run({ since: "2025-01-01" })).sources).toMatchObject([{ source: "play-search", same: 0, notKept: 1 }])
  })
})

describe("bodies with another result", () => {
  slow("a replay lists the differences of a search by rank, and with write on also replaces derived data", async () => {
    const workspaceId = await newWorkspace(sql)
    const reading = panda()
    const [first, second, ...otherResults] = reading.results
    const appId = await trackOwn(sql, {
      workspaceId,
      androidPkg: second!.id,
      keywords: ["panda"],
    })
    const rank = async () => {
      const args = { appId, platform: "android" }
      return (await ask(listKeywordRanks, contextOf(sql, workspaceId), args)).keywords[0].rank
    }
    await record(
      sql,
      [
        misread(reading, {
          results: [second!, first!, ...otherResults],
          origin: "elsewhere",
          depth: 12 + otherResults.length,
        }),
      ],
      now,
    )
    await keep(PANDA)
    expect(await rank()).toBe(1)
    const before = await stored(sql)
    const dry = await run()
    expect(await stored(sql)).toBe(before)
    expect(dry.sources).toMatchObject([{ same: 0, different: 1, places: 2, recorded: 0 }])
    expect(dry.examples).toEqual([
      {
        source: "play-search",
        change: "different",
        platform: "android",
        storefront: "us",
        subject: "panda",
        seenAt: new Date(AT),
        detail: `2 of ${reading.results.length} places, depth ${reading.depth}, was ${12 + otherResults.length}`,
      },
    ])
    const wet = await run({ write: true })
    expect(wet).toEqual({ ...dry, sources: [{ ...dry.sources[0]!, recorded: 1 }] })
    expect(await rank()).toBe(2)
    expect((await sql`select parser, egress, origin from search_results`)[0]).toEqual({
      parser: playSearch.parser,
      origin: "elsewhere",
      egress: "us",
    })
    expect((await run({ write: true })).sources).toMatchObject([{ same: 1, different: 0, recorded: 0 }])
  })

  test("a replay with write on recalculates keyword metrics", async () => {
    const hints = async () => [...(await sql`select score from keyword_metric where metric = 'hints'`)]
    const tide = seenIn(appleHints, { storefront: "us", prefix: "tide" }, fixture("apple-hints-tide-us.plist"), AT)
    await record(sql, [misread(tide, { terms: [] })], now)
    await keep(fixture("apple-hints-tide-us.plist"))
    const app = { workspaceId: await newWorkspace(sql), iosId: "10001", countries: ["us"], origin: "own" }
    await trackOwn(sql, { ...app, keywords: ["tide"] })
    await run()
    expect(await hints()).toEqual([])
    await run({ write: true })
    expect(await hints()).toEqual([{ score: tide.terms.filter((term) => /^tide./.test(term)).length }])
  })

  test("a replay lists differences of hints by term and of apps by fact", async () => {
    const tide = seenIn(appleHints, { storefront: "us", prefix: "tide" }, fixture("apple-hints-tide-us.plist"), AT)
    const lookupSubject = { storefront: "us", ids: ["284882215", "10009"] }
    const text = fixture("itunes-lookup-284882215-us.json")
    const lookup = seenIn(itunesLookup, lookupSubject, text, AT)
    const apps = lookup.apps.map(({ version: _, ...app }) => ({ ...app, price: 5 }))
    await record(sql, [misread(tide, { terms: tide.terms.slice(1) }), misread(lookup, { apps })], now)
    await keep(fixture("apple-hints-tide-us.plist"))
    await keep(text)
    const { sources, examples } = await run({ write: true })
    expect(sources).toMatchObject([
      { source: "apple-hints", different: 1, places: tide.terms.length, recorded: 1 },
      { source: "itunes-lookup", same: 1, different: 1, places: 2, recorded: 1 },
    ])
    expect(examples.map(({ subject, detail }) => [subject, detail])).toEqual([
      ["tide", `${tide.terms.length} of ${tide.terms.length} terms`],
      ["284882215", "version, price"],
    ])
    expect((await run()).sources.map(({ same, different }) => [same, different])).toEqual([
      [1, 0],
      [2, 0],
    ])
  })

  test("a replay by a parser with an unchanged version reports differences but does not record them", async () => {
    const reading = panda()
    await record(sql, [{ ...reading, results: reading.results.slice(1) }], now)
    await keep(PANDA)
    expect((await run({ write: true })).sources).toMatchObject([{ different: 1, recorded: 0 }])
  })

  test("a replay by a newer parser stores app facts even if the search results are unchanged", async () => {
    const reading = panda()
    const bare = reading.results.map(({ id }) => ({ id }))
    await record(sql, [misread<SearchObservation>(reading, { results: bare })], now)
    await keep(PANDA)
    const named = async () => (await sql`select count(name) as named from store_app_name`)[0]!.named
    expect((await run()).sources).toMatchObject([{ same: 1, recorded: 0 }])
    expect(await named()).toBe(0)
    expect((await run({ write: true })).sources).toMatchObject([{ same: 1, recorded: 1 }])
    expect(await named()).toBe(bare.length)
  })

  slow("a replay keeps the origin of a reading, and does not change apps that were read again later", async () => {
    const text = fixture("itunes-search-vpn-us-2026-03-20.json")
    const found = seenIn(itunesSearch, { storefront: "us", term: "vpn" }, text, AT)
    const ids = found.apps.map(({ id }) => id)
    const reading = seenIn(itunesLookup, { storefront: "us", ids }, text, AT)
    const apps = reading.apps.map((app) => ({ ...app, version: "0" }))
    await record(sql, [misread<AppsObservation>(reading, { apps, origin: "elsewhere" })], now)
    // one of them was looked up again, and its body is no longer stored
    await record(
      sql,
      [{ ...reading, seenAt: NOW, sha256: new Uint8Array(32), apps: apps.slice(0, 1), asked: ids.slice(0, 1) }],
      now,
    )
    await keep(text)
    const { sources } = await run({ write: true })
    expect(sources).toMatchObject([
      { same: 0, different: ids.length - 1, places: ids.length - 1, notKept: 1, recorded: 1 },
    ])
    const rows = await sql`select version = '0' as old, origin, count(*) from app_storefront group by 1, 2 order by 1`
    expect(rows.map(({ old, origin, count }) => [old, origin, count])).toEqual([
      [false, "elsewhere", ids.length - 1],
      [true, "own", 1],
    ])
  })
})

test("a replay of an unreadable body keeps the stored data and reports the reason", async () => {
  const page = "<html><title>Panda</title></html>"
  const { sha256 } = bodyOf(page, NOW)
  await record(
    sql,
    [
      { ...panda(), sha256 },
      { ...panda("2025-11-18T10:00:00Z"), sha256 },
    ],
    now,
  )
  await keep(page)
  const before = await stored(sql)
  const { sources, examples } = await run({ write: true, since: "2025-01-01" })
  expect(sources).toMatchObject([{ unreadable: 2, same: 0, recorded: 0 }])
  expect(examples).toHaveLength(2)
  expect(examples[0]).toMatchObject({
    change: "unreadable",
    subject: "panda",
    detail: expect.stringMatching(/^changed: /),
  })
  expect(await stored(sql)).toBe(before)
})

slow("a replay lists at most twenty changes as examples", async () => {
  const reading = panda()
  const hours = Array.from({ length: 30 }, (_, i) => new Date(Date.parse(AT) - i * 3_600_000))
  const wrong = hours.map((seenAt) => misread(reading, { seenAt, results: reading.results.slice(1) }))
  await record(sql, wrong, now)
  await keep(PANDA)
  const { sources, examples } = await run({ since: "2025-01-01" })
  expect(sources).toMatchObject([{ different: 30 }])
  expect(examples).toHaveLength(20)
})

describe("failed reads", () => {
  const attempt = (text: string, rest: Partial<Attempt>): Attempt => ({
    kind: "search",
    at: new Date(AT),
    subject: "panda",
    storefront: "us",
    platform: "android",
    source: "play-search",
    outcome: "changed",
    detail: "no results are found",
    sha256: bodyOf(text, NOW).sha256,
    ...rest,
  })
  const lookup = fixture("itunes-lookup-284882215-us.json")
  const hints = fixture("apple-hints-tide-us.plist")
  const ios = { platform: "ios" } as const

  slow("a failed read becomes a reading of its own day once it can be parsed, and is reported once", async () => {
    const details = fixture("play-details-translate.html")
    const apps = { kind: "apps", subject: "284882215,10009", source: "itunes-lookup", ...ios } as const
    for (const entry of [
      attempt(PANDA, { at: new Date("2025-11-17T10:00:00Z") }),
      attempt(lookup, apps),
      attempt(lookup, { ...apps, at: new Date("2025-11-15T10:00:00Z") }),
      attempt(hints, { kind: "hints", subject: "tide", source: "apple-hints", ...ios }),
      attempt(details, { kind: "apps", subject: "com.google.android.apps.translate", source: "play-details" }),
    ])
      expect(await recordAttempt(sql, entry, now)).toBe(true)
    for (const text of [PANDA, lookup, hints, details]) await keep(text)
    const before = await stored(sql)
    const dry = await run()
    expect(await stored(sql)).toBe(before)
    expect(dry.sources.map(({ source, nowReadable, recorded }) => [source, nowReadable, recorded])).toEqual([
      ["apple-hints", 1, 0],
      ["itunes-lookup", 2, 0],
      ["play-details", 1, 0],
      ["play-search", 1, 0],
    ])
    expect(dry.examples[0]).toMatchObject({
      change: "now readable",
      subject: "panda",
      detail: `by parser ${playSearch.parser}`,
    })
    const wet = await run({ write: true })
    expect(wet.sources.map(({ recorded }) => recorded)).toEqual([1, 2, 1, 1])
    const [list] = await sql`select term, first_day from list`
    expect(list).toEqual({ term: "panda", first_day: "2025-11-17" })
    const days = await sql`select distinct day from rating_count where source = 'itunes-lookup' order by day`
    expect(days.map(({ day }) => day)).toEqual(["2025-11-15", "2025-11-19"])
    const after = await stored(sql)
    const repeated = await run({ write: true, since: "2025-01-01" })
    expect(repeated.sources.map(({ nowReadable, recorded }) => [nowReadable, recorded])).toEqual(Array(4).fill([0, 0]))
    expect(await stored(sql)).toBe(after)
  })

  test("a failed read becomes a reading of an unavailable app if its page does not offer the app", async () => {
    const page = fixture("play-details-minecraft.html")
    const data = blockData(page, "ds:5") as unknown[][][]
    Object.assign(data[1]![2]!, { 18: [0], 57: null })
    const text = withData(page, "ds:5", data)
    const read = { kind: "apps", subject: "com.mojang.minecraftpe", source: "play-details" } as const
    await recordAttempt(sql, attempt(text, read), now)
    await keep(text)
    expect((await run({ write: true })).sources).toMatchObject([{ nowReadable: 1, recorded: 1 }])
    expect([...(await sql`select available, source from app_storefront`)]).toEqual([
      { available: false, source: "play-details" },
    ])
    expect((await run({ write: true })).sources).toMatchObject([{ same: 1, nowReadable: 0, recorded: 0 }])
  })

  test("a replay leaves a blocked, unparsable or bodiless failed read unchanged", async () => {
    for (const [hour, entry] of [
      attempt(PANDA, { outcome: "blocked" }),
      attempt(PANDA, { sha256: undefined as never }),
      attempt("<html></html>", {}),
      attempt(PANDA, { detail: "status 400" }),
      attempt("not kept", {}),
    ].entries())
      await recordAttempt(sql, { ...entry, at: new Date(Date.parse(AT) - hour * 3_600_000) }, now)
    for (const text of [PANDA, "<html></html>"]) await keep(text)
    const before = await stored(sql)
    const { sources, examples } = await run({ write: true })
    expect(sources).toMatchObject([{ nowReadable: 0, stillUnreadable: 1, notKept: 1, recorded: 0 }])
    expect(examples).toEqual([])
    expect(await stored(sql)).toBe(before)
  })
})
