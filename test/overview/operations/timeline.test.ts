import { beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test"
import type { Plan } from "../../../src/access/plans.ts"
import type { Sql } from "../../../src/database/types.ts"
import { addDays, dayOf } from "../../../src/lib/days.ts"
import { getTimeline } from "../../../src/overview/operations/timeline.ts"
import { contextOn, IOS_ID, june, PACKAGE, played, recordAll, trackTea } from "../../core/paged.ts"
import { freshDatabase } from "../../database.ts"
import { slow } from "../../long.ts"
import { listed, PAGE, randomOf } from "../../measuring/record/listed.ts"
import { ask, newWorkspace, reading } from "../../measuring/record/measured.ts"
import { recordAttempt } from "../../record.ts"
import { openService } from "../../service.ts"

setDefaultTimeout(60_000)

let sql: Sql
let workspaceId: number

beforeEach(async () => {
  sql = await freshDatabase()
  workspaceId = await newWorkspace(sql)
})

interface Options {
  country?: string
  platform?: string
  window?: number
}

const timeline = (appId: string, options: Options = {}, rest: { plan?: Plan; now?: Date } = {}) =>
  ask(getTimeline, contextOn(sql, workspaceId, rest), { appId, ...options })

/** Returns a reading with the app at this rank, or without the app. */
function ranked(term: string, seenAt: Date, rank: number | null, { depth = 20, source = "apple-web-search" } = {}) {
  const ids = Array.from({ length: depth }, (_, place) => (place + 1 === rank ? IOS_ID : 1_700_000_000 + place))
  return reading(term, seenAt.toISOString(), ids, { source: source as never, depth })
}

slow("two page readings yield exactly the changes of the timeline, each with the moves of the keywords", async () => {
  const appId = await trackTea(sql, workspaceId, { keywords: ["tea", "mate", "chai", "cocoa"] })
  await recordAll(
    sql,
    listed(june(1)),
    listed(june(2), {
      name: "Brew Clock",
      subtitle: "Never bitter",
      description: "A clock.",
      promotionalText: "Mate!",
      price: 0,
      version: "4.2",
      screenshots: { phone: PAGE.screenshots?.phone as string[], pad: [] },
      editorial: [...PAGE.editorial!, { id: "1400000002", kind: "collection" }],
    }),
    ...[ranked("tea", june(1), 9), ranked("tea", june(5), 4), ranked("tea", june(9), 2), ranked("tea", june(10), 20)],
    ...[ranked("mate", june(1), 3), ranked("mate", june(9), null), ranked("chai", june(1), 3)],
  )
  const { changes, ...rest } = await timeline(appId)
  expect(rest).toEqual({
    country: "us",
    platform: "ios",
    window: 7,
    from: "2026-03-23",
    to: "2026-06-20",
    measured: true,
    firstReadAt: june(1).toISOString(),
    measuredAt: june(2).toISOString(),
    keywordFieldConnected: false,
    truncated: false,
  })
  const move = { fromDay: "2026-06-01", toDay: "2026-06-09", source: "apple-web-search" }
  const shared = {
    at: june(2).toISOString(),
    day: "2026-06-02",
    notYetAt: june(1).toISOString(),
    source: "apple-app-page",
    subjectKind: null,
    subjectId: null,
    title: null,
    startsAt: null,
    endsAt: null,
    before: null,
    after: null,
    picturesBefore: null,
    picturesAfter: null,
    windowTo: "2026-06-09",
    windowOver: true,
    // cocoa was never measured, and chai not after the change
    up: 1,
    down: 0,
    entered: 0,
    dropped: 1,
    unchanged: 0,
    uncertain: 0,
    unmeasured: 2,
    biggest: [
      { term: "mate", direction: "dropped", from: 3, to: null, places: 18, ...move },
      { term: "tea", direction: "up", from: 9, to: 2, places: 7, ...move },
    ],
  }
  expect(changes).toEqual([
    { ...shared, kind: "version", before: "4.1", after: "4.2" },
    { ...shared, kind: "screenshots", picturesBefore: PAGE.screenshots?.pad, picturesAfter: [] },
    { ...shared, kind: "featured", subjectKind: "collection", subjectId: "1400000002" },
  ])
  const text = JSON.stringify(changes)
  for (const hidden of ["Brew Clock", "Tea Timer", "Never bitter", "Mate!"]) expect(text).not.toContain(hidden)
})

describe("the window", () => {
  test("the window spans the requested days after the change and shows whether it is over", async () => {
    const appId = await trackTea(sql, workspaceId, { keywords: ["tea"] })
    const ranks = [1, 2, 3, 8, 9, 10].map((n, place) => ranked("tea", june(n), 20 - place))
    await recordAll(sql, listed(june(1)), listed(june(2), { version: "4.2" }), ...ranks)
    const after = async (window: number, now = june(20)) => {
      const [change] = (await timeline(appId, { window }, { now })).changes
      return [change.windowTo, change.windowOver, change.biggest[0]?.toDay]
    }
    expect(await after(1)).toEqual(["2026-06-03", true, "2026-06-03"])
    expect(await after(7)).toEqual(["2026-06-09", true, "2026-06-09"])
    expect(await after(30)).toEqual(["2026-07-02", false, "2026-06-10"])
    expect(await after(7, june(9, 23))).toEqual(["2026-06-09", false, "2026-06-09"])
    expect(await after(7, june(10, 0))).toEqual(["2026-06-09", true, "2026-06-09"])
  })

  test("the window must be 1 to 30 whole days, and other values are refused with the field's name", async () => {
    const service = openService({ sql, now: () => june(20) })
    const id = await service.workspace()
    const appId = await trackTea(sql, id)
    const key = await service.key(id)
    const call = async (query: string) => {
      const { status, body } = await service.call(`/v1/apps/${appId}/timeline${query}`, { key })
      return [status, body.error ?? body.window, body.field]
    }
    expect(await call("")).toEqual([200, 7, undefined])
    for (const window of [1, 30]) expect(await call(`?window=${window}`)).toEqual([200, window, undefined])
    expect(await call("?window=")).toEqual([400, "invalid_arguments", "window"])
    for (const window of ["0", "31", "-1", "1.5", "seven"])
      expect(await call(`?window=${window}`)).toEqual([400, "invalid_arguments", "window"])
    expect(await call("?country=zz")).toEqual([400, "bad_country", "country"])
    expect(await call("?platform=web")).toEqual([400, "invalid_arguments", "platform"])
    const unknown = await service.call("/v1/apps/app_none/timeline", { key })
    expect([unknown.status, unknown.body.error]).toEqual([404, "not_found"])
  })
})

slow("the movements over random histories equal those computed from the readings one by one", async () => {
  const random = randomOf(20_260_620)
  const any = <T>(all: readonly T[]) => all[Math.floor(random() * all.length)] as T
  const terms = Array.from({ length: 12 }, (_, n) => `term ${n}`)
  const appId = await trackTea(sql, workspaceId, { keywords: terms })
  const days = Array.from({ length: 60 }, (_, n) => addDays("2026-04-20", n))
  const byTermAndDay = new Map<string, DayReading>()
  for (const [place, term] of terms.entries()) {
    const frequency = any([0.1, 0.5, 0.95])
    const readings = days.flatMap((day) => {
      if (random() > frequency) return []
      // on a day with readings of two sources, the first source counts
      const sources = any([["apple-web-search"], ["apple-web-search", "import"], ["import"]])
      const read = sources.map((source) => {
        const depth = any([5, 20, 40])
        return { day, source, depth, rank: random() < 0.25 ? null : 1 + Math.floor(random() * depth) }
      })
      byTermAndDay.set(`${term} ${day}`, read[0] as DayReading)
      return read.map(({ rank, ...rest }) => ranked(term, new Date(`${day}T0${place % 10}:00:00Z`), rank, rest))
    })
    await recordAll(sql, ...readings)
  }
  const read = days.filter(() => random() < 0.5)
  await recordAll(sql, ...read.map((day, n) => listed(`${day}T05:00:00Z`, { version: `4.${n}` })))
  for (const window of [1, 7, 30]) {
    const { changes } = await timeline(appId, { window })
    expect(changes.map(({ day }: { day: string }) => day)).toEqual(read.slice(1).toReversed())
    for (const [place, change] of changes.entries()) {
      const { up, down, entered, dropped, unchanged, uncertain, unmeasured, biggest } = change
      const counts = { up, down, entered, dropped, unchanged, uncertain, unmeasured }
      const before = read.toReversed()[place + 1] as string
      const outcomes = terms.map((term) => becameOf(byTermAndDay, term, { before, day: change.day, window }))
      const count = (kind: string) => outcomes.filter((outcome) => outcome.kind === kind).length
      expect(counts).toEqual(Object.fromEntries(Object.keys(counts).map((kind) => [kind, count(kind)])) as never)
      const moved = outcomes.filter(({ places }) => places > 0).sort((a, b) => b.places - a.places)
      expect(biggest.map((move: { places: number }) => move.places)).toEqual(
        moved.slice(0, 5).map(({ places }) => places),
      )
      for (const { term, from, to, places } of biggest)
        expect(moved).toContainEqual({ term, from, to, places, kind: expect.any(String) })
    }
  }
})

interface DayReading {
  source: string
  depth: number
  rank: number | null
}

/** Computes the movement by going through the days. */
function becameOf(
  byTermAndDay: ReadonlyMap<string, DayReading>,
  term: string,
  { before, day, window }: { before: string; day: string; window: number },
) {
  const readingAt = (offset: number, from: string) => byTermAndDay.get(`${term} ${addDays(from, offset)}`)
  const beforeReading = Array.from({ length: 30 }, (_, n) => readingAt(-n, before)).find((entry) => entry !== undefined)
  const afterReading = Array.from({ length: window }, (_, n) => readingAt(n + 1, day)).findLast(
    (entry) => entry && entry.source === beforeReading?.source,
  )
  const outcome = (kind: string, places = 0) => ({
    term,
    kind,
    places,
    from: beforeReading?.rank ?? null,
    to: afterReading?.rank ?? null,
  })
  if (!beforeReading || !afterReading) return outcome("unmeasured")
  if (beforeReading.rank === afterReading.rank) return outcome("unchanged")
  if (beforeReading.rank && afterReading.rank)
    return outcome(
      afterReading.rank < beforeReading.rank ? "up" : "down",
      Math.abs(afterReading.rank - beforeReading.rank),
    )
  const [absent, rank] = beforeReading.rank
    ? [afterReading, beforeReading.rank]
    : [beforeReading, afterReading.rank as number]
  if (absent.depth < rank) return outcome("uncertain")
  return outcome(beforeReading.rank ? "dropped" : "entered", absent.depth + 1 - rank)
}

describe("unknown movements", () => {
  test("the timeline of an unread page or an untracked storefront is unknown instead of empty", async () => {
    const appId = await trackTea(sql, workspaceId)
    const unknown = { measured: false, firstReadAt: null, measuredAt: null, keywordFieldConnected: false, changes: [] }
    expect(await timeline(appId)).toMatchObject(unknown)
    await recordAll(
      sql,
      ...["us", "gb"].flatMap((storefront) =>
        ["4.1", "4.2"].map((version, n) => listed(june(n + 1), { version }, { storefront })),
      ),
    )
    expect(await timeline(appId, { country: "gb" })).toMatchObject({ ...unknown, country: "gb" })
    expect(await timeline(appId, { platform: "android" })).toMatchObject({ ...unknown, platform: "android" })
    expect(await timeline(appId)).toMatchObject({ measured: true, changes: { length: 1 } })
  })

  test("a failed read between two pages does not change the timeline", async () => {
    const appId = await trackTea(sql, workspaceId, { keywords: ["tea"] })
    await recordAll(sql, listed(june(1)), ranked("tea", june(1), 5), ranked("tea", june(6), 3))
    const failed = { at: june(3), platform: "ios", storefront: "us", outcome: "blocked" } as const
    await recordAttempt(sql, { ...failed, kind: "listing", subject: IOS_ID, source: "apple-app-page" })
    await recordAttempt(sql, { ...failed, kind: "search", subject: "tea", source: "apple-web-search" })
    expect((await timeline(appId)).changes).toEqual([])
    await recordAll(sql, listed(june(4), { version: "4.2" }))
    const [change, ...more] = (await timeline(appId)).changes
    expect(more).toEqual([])
    expect(change).toMatchObject({ day: "2026-06-04", notYetAt: june(1).toISOString(), up: 1, unmeasured: 0 })
    expect(change.biggest[0]).toMatchObject({ fromDay: "2026-06-01", toDay: "2026-06-06" })
  })

  test("the movement of a keyword is unknown if its source changed in between", async () => {
    const appId = await trackTea(sql, workspaceId, { keywords: ["tea"] })
    await recordAll(sql, listed(june(1)), listed(june(2), { version: "4.2" }))
    await recordAll(sql, ranked("tea", june(1), 5, { source: "import" }), ranked("tea", june(6), 3))
    expect((await timeline(appId)).changes).toMatchObject([{ unmeasured: 1, up: 0, biggest: [] }])
  })
})

test("Google Play's page has a timeline of its own, with the ranks there", async () => {
  const appId = await trackTea(sql, workspaceId, { androidPkg: PACKAGE, keywords: ["tea"] })
  const play = { platform: "android" as const, source: "play-search" as const }
  await recordAll(
    sql,
    listed(june(1)),
    listed(june(2), { version: "9" }),
    played(june(1)),
    played(june(3), { version: "4.2" }),
  )
  await recordAll(
    sql,
    reading("tea", june(1).toISOString(), ["com.other", PACKAGE], play),
    reading("tea", june(5).toISOString(), [PACKAGE, "com.other"], play),
  )
  const { changes } = await timeline(appId, { platform: "android" })
  expect(changes).toMatchObject([{ kind: "version", after: "4.2", source: "play-details", up: 1 }])
  expect((await timeline(appId)).changes).toMatchObject([{ after: "9", unmeasured: 1 }])
})

test("the timeline lists the newest 50 changes of the plan's history and shows that there are more", async () => {
  const appId = await trackTea(sql, workspaceId)
  const daily = (count: number) =>
    Array.from({ length: count }, (_, n) => listed(june(n + 1 - 40), { version: `${n}` }))
  await recordAll(sql, ...daily(51))
  const before = await timeline(appId)
  expect([before.truncated, before.changes.length]).toEqual([false, 50])
  await recordAll(sql, ...daily(52))
  const after = await timeline(appId)
  expect([after.truncated, after.changes.length, after.changes[0].after]).toEqual([true, 50, "51"])
  const free = await timeline(appId, {}, { plan: "free" })
  expect([free.from, free.changes.at(-1).day]).toEqual(["2026-05-22", "2026-05-22"])
  expect(dayOf(june(20))).toBe(free.to)
})
