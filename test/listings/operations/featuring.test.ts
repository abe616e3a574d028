import { beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test"
import type { Sql } from "../../../src/database/types.ts"
import { getFeaturing } from "../../../src/listings/operations/featuring.ts"
import type { Listing } from "../../../src/stores/kinds/listing-shape.ts"
import { contextOn, IOS_ID, june, PACKAGE, played, recordAll, recorded, TODAY, trackTea } from "../../core/paged.ts"
import { freshDatabase } from "../../database.ts"
import { slow } from "../../long.ts"
import { listed, PAGE } from "../../measuring/record/listed.ts"
import { ask, newWorkspace } from "../../measuring/record/measured.ts"
import { recordAttempt } from "../../record.ts"
import { openService } from "../../service.ts"

setDefaultTimeout(60_000)

let sql: Sql
let workspaceId: number

beforeEach(async () => {
  sql = await freshDatabase()
  workspaceId = await newWorkspace(sql)
})

const featuring = (appId: string, country?: string, now = TODAY) =>
  ask(getFeaturing, contextOn(sql, workspaceId, { now }), { appId, ...(country && { country }) })

const STORY = { id: "1400000001", kind: "story" as const, title: "Slow mornings" }
const ROOM = { id: "1400000002", kind: "collection" as const }
const HARVEST = PAGE.events?.[0] as NonNullable<Listing["events"]>[number]
const TASTING = { id: "6000002", title: "Tasting", startsAt: june(25, 0), endsAt: june(28, 0) }
const OPEN = { id: "6000003", title: "Open house" }

test("a recorded page gives the app's editorial cards, current events and similar apps", async () => {
  const appId = await trackTea(sql, workspaceId, { countries: ["us"] })
  const at = "2026-08-12T06:00:00.000Z"
  await recordAll(sql, recorded("us", IOS_ID, new Date(at)))
  const { from, storefronts, editorial, events, similar, standsOn, history } = await featuring(
    appId,
    undefined,
    new Date("2026-08-21T00:00:00Z"),
  )
  const period = { firstSeenAt: at, lastSeenAt: at }
  expect(from).toBe("2026-05-24")
  expect(storefronts).toEqual([
    {
      country: "us",
      platform: "ios",
      tracked: true,
      measured: true,
      measuredAt: at,
      firstReadAt: at,
      hasEditorial: true,
      hasEvents: true,
      similarAt: at,
      shelvesRead: 0,
      historyTruncated: false,
    },
  ])
  expect(editorial).toEqual([
    {
      country: "us",
      kind: "collection",
      id: "1400000012",
      title: "Apps We Love Right Now",
      dedicated: false,
      ...period,
    },
    { country: "us", kind: "story", id: "1400000011", title: "Wind down for the night", dedicated: true, ...period },
  ])
  expect(events.map(({ id, state }: Record<string, string>) => [id, state])).toEqual([
    ["6750000001", "live"],
    ["6750000002", "scheduled"],
  ])
  expect(similar[0]).toEqual({
    country: "us",
    platform: "ios",
    place: 1,
    id: "1600000102",
    name: "Rain & Thunder — White Noise",
  })
  expect(similar.map(({ id }: { id: string }) => id)).toEqual(["1600000102", "1600000103", "1600000104", "1600000105"])
  expect(standsOn).toEqual([])
  expect(history.map(({ id, state }: Record<string, string>) => [id, state])).toEqual([
    ["1400000012", "shown"],
    ["6750000001", "shown"],
    ["6750000002", "shown"],
    ["1400000011", "shown"],
  ])
})

describe("history of featuring", () => {
  const similarLines = async (appId: string, now?: Date) =>
    (await featuring(appId, "us", now)).history.map(
      ({ id, firstSeenAt, lastSeenAt, state, goneAt }: Record<string, string>) =>
        [id, firstSeenAt?.slice(5, 10), lastSeenAt?.slice(5, 10), state, goneAt?.slice(5, 10) ?? null].join(" "),
    )

  test("the history has the first and last time of each card and event, and the time it was gone", async () => {
    const appId = await trackTea(sql, workspaceId)
    await recordAll(
      sql,
      listed(june(1), { editorial: [STORY, ROOM], events: [HARVEST] }),
      listed(june(3), { editorial: [STORY], events: [HARVEST, TASTING] }),
      listed(june(5), { editorial: [STORY], events: [TASTING, OPEN] }),
    )
    expect(await similarLines(appId)).toEqual([
      "6000003 06-05 06-05 shown ",
      "6000002 06-03 06-05 shown ",
      "1400000001 06-01 06-05 shown ",
      "6000001 06-01 06-03 gone 06-05",
      "1400000002 06-01 06-01 gone 06-03",
    ])
    const { editorial, events } = await featuring(appId, "us")
    expect(editorial.map(({ id }: { id: string }) => id)).toEqual(["1400000001"])
    // An event without a start date has no state.
    expect(events.map(({ id, state }: Record<string, string>) => [id, state])).toEqual([
      ["6000003", null],
      ["6000002", "scheduled"],
    ])
  })

  test("a card that returned has the state shown; if its section is missing later, its state is unknown", async () => {
    const appId = await trackTea(sql, workspaceId)
    await recordAll(
      sql,
      listed(june(1), { editorial: [STORY, ROOM], events: undefined }),
      listed(june(2), { editorial: [ROOM], events: undefined }),
      listed(june(3), { editorial: [STORY, ROOM], events: undefined }),
    )
    expect(await similarLines(appId)).toEqual(["1400000002 06-01 06-03 shown ", "1400000001 06-01 06-03 shown "])
    await recordAll(sql, listed(june(4), { editorial: undefined, events: undefined }))
    expect(await similarLines(appId)).toEqual(["1400000002 06-01 06-03 unknown ", "1400000001 06-01 06-03 unknown "])
    const { editorial, storefronts } = await featuring(appId, "us")
    expect([editorial, storefronts[0].hasEditorial, storefronts[0].measuredAt]).toEqual([
      [],
      false,
      june(4).toISOString(),
    ])
  })

  test("an event is over at its scheduled end, even if no page was read since", async () => {
    const appId = await trackTea(sql, workspaceId)
    await recordAll(sql, listed(june(1), { editorial: undefined, events: [TASTING] }))
    const states = async (now: Date) => {
      const { events } = await featuring(appId, "us", now)
      return [events[0]?.state, (await similarLines(appId, now))[0]?.slice(20)]
    }
    expect(await states(new Date(TASTING.startsAt.getTime() - 1))).toEqual(["scheduled", "shown "])
    expect(await states(TASTING.startsAt)).toEqual(["live", "shown "])
    expect(await states(new Date(TASTING.endsAt.getTime() - 1))).toEqual(["live", "shown "])
    expect(await states(TASTING.endsAt)).toEqual([undefined, "gone 06-28"])
  })

  slow("the history covers the plan's days and does not change when a read fails", async () => {
    const appId = await trackTea(sql, workspaceId)
    await recordAll(sql, listed(june(1), { editorial: [STORY], events: [] }))
    const before = await similarLines(appId)
    await recordAttempt(sql, {
      kind: "listing",
      at: june(2),
      subject: IOS_ID,
      source: "apple-app-page",
      platform: "ios",
      storefront: "us",
      outcome: "blocked",
    })
    expect(before).toEqual(["1400000001 06-01 06-01 shown "])
    expect(await similarLines(appId)).toEqual(before)
    await recordAll(sql, listed(june(2), { editorial: [ROOM], events: [] }))
    const free = async (now: string) => {
      const ctx = contextOn(sql, workspaceId, { plan: "free", now: new Date(now) })
      return (await ask(getFeaturing, ctx, { appId })).history.map(({ id }: { id: string }) => id)
    }
    expect(await free("2026-06-30T23:00:00Z")).toEqual([ROOM.id, STORY.id])
    expect(await free("2026-07-01T00:00:00Z")).toEqual([ROOM.id])
    // The contents of the latest page are listed, no matter how old that page is.
    expect(await free("2026-09-01T00:00:00Z")).toEqual([ROOM.id])
  })

  slow("the history has the latest 200 items of a storefront, and states whether there are more", async () => {
    const appId = await trackTea(sql, workspaceId)
    const cards = (count: number) =>
      Array.from({ length: count }, (_, n) => ({ ...STORY, id: String(1_400_000_000 + n) }))
    const read = async (n: number, count: number) => {
      await recordAll(sql, listed(june(n), { editorial: cards(count), events: [] }))
      const { history, storefronts } = await featuring(appId, "us")
      return [history.length, storefronts[0].historyTruncated]
    }
    expect(await read(1, 200)).toEqual([200, false])
    expect(await read(2, 201)).toEqual([200, true])
  })
})

describe("storefronts of featuring", () => {
  slow("without a storefront in the request, all tracked storefronts of both stores are returned", async () => {
    const appId = await trackTea(sql, workspaceId, { androidPkg: PACKAGE })
    const german = { storefront: "de" }
    await recordAll(sql, listed(june(1)), listed(june(2), { editorial: [ROOM], similar: [] }, german), played(june(3)))
    const all = await featuring(appId)
    const toLine = ({ country, platform, measured, similarAt }: Record<string, string>) =>
      [country, platform, measured, similarAt?.slice(5, 10)].join(" ")
    expect(all.storefronts.map(toLine)).toEqual([
      "us ios true 06-01",
      "us android true 06-03",
      "de ios true 06-02",
      "de android false ",
    ])
    // Cards and events are null for Google Play and for pages that were not read.
    expect(
      all.storefronts.map(({ hasEditorial, hasEvents }: Record<string, unknown>) => [hasEditorial, hasEvents]),
    ).toEqual([
      [true, true],
      [null, null],
      [true, true],
      [null, null],
    ])
    expect(all.editorial.map(({ country, id }: Record<string, string>) => [country, id])).toEqual([
      ["us", STORY.id],
      ["de", ROOM.id],
    ])
    expect(all.similar.map(({ platform, id }: Record<string, string>) => [platform, id])).toEqual([
      ["ios", "1600000201"],
      ["ios", "1600000202"],
      ["android", "com.example.coffee"],
    ])
    const filtered = await featuring(appId, "de")
    expect(filtered.storefronts.map(toLine)).toEqual(["de ios true 06-02", "de android false "])
    expect(filtered.editorial.map(({ id }: { id: string }) => id)).toEqual([ROOM.id])
    expect(JSON.stringify(filtered)).not.toContain("Slow mornings")
  })

  test("an untracked storefront is not measured, even if its pages were read", async () => {
    const appId = await trackTea(sql, workspaceId)
    await recordAll(sql, listed(june(1), {}, { storefront: "gb" }))
    expect(await featuring(appId, "gb")).toEqual({
      from: "2026-03-23",
      storefronts: [
        {
          country: "gb",
          platform: "ios",
          tracked: false,
          measured: false,
          measuredAt: null,
          firstReadAt: null,
          hasEditorial: null,
          hasEvents: null,
          similarAt: null,
          shelvesRead: 0,
          historyTruncated: false,
        },
      ],
      editorial: [],
      events: [],
      similar: [],
      standsOn: [],
      history: [],
    })
  })

  slow("an unknown storefront and another workspace's app are refused", async () => {
    const service = openService({ sql, now: () => TODAY })
    const id = await service.workspace()
    const key = await service.key(id)
    const appId = await trackTea(sql, id)
    const other = await trackTea(sql, workspaceId)
    const call = async (path: string) => {
      const { status, body } = await service.call(path, { key })
      return [status, body.error ?? body.storefronts.length, body.field]
    }
    expect(await call(`/v1/apps/${appId}/featuring`)).toEqual([200, 2, undefined])
    expect(await call(`/v1/apps/${appId}/featuring?country=`)).toEqual([200, 2, undefined])
    expect(await call(`/v1/apps/${appId}/featuring?country=DE`)).toEqual([200, 1, undefined])
    expect(await call(`/v1/apps/${appId}/featuring?country=zz`)).toEqual([400, "bad_country", "country"])
    expect(await call(`/v1/apps/${appId}/featuring?platform=ios`)).toEqual([400, "invalid_arguments", "platform"])
    expect(await call(`/v1/apps/${other}/featuring`)).toEqual([404, "not_found", undefined])
    expect(await call(`/v1/apps/${other}/page`)).toEqual([404, "not_found", undefined])
    expect(await call(`/v1/apps/${appId}/page?country=zz`)).toEqual([400, "bad_country", "country"])
  })
})

test("the app's place is returned for each read page of a rival or similar app that lists the app", async () => {
  const appId = await trackTea(sql, workspaceId, { countries: ["us"] })
  const row = (n: number, id: string, ids: string[], storefront = "us") =>
    listed(june(n), { name: `App ${id}`, similar: ids.map((similarId) => ({ id: similarId })) }, { id, storefront })
  await recordAll(
    sql,
    listed(june(1)),
    row(2, "1600000201", ["1600000202", IOS_ID]),
    // The app was in this row at the earlier reading and is in another storefront's row. An unrelated app's row is
    // ignored.
    row(2, "1600000202", [IOS_ID]),
    row(3, "1600000202", ["1600000201"]),
    row(3, "1600000202", [IOS_ID], "de"),
    row(3, "1600000777", [IOS_ID]),
    row(4, "1600000888", [IOS_ID, "1600000201"]),
  )
  const readPlaces = async () => {
    const { standsOn, storefronts } = await featuring(appId, "us")
    return [storefronts[0].shelvesRead, standsOn]
  }
  const side = { country: "us", platform: "ios" }
  const first = { ...side, place: 2, id: "1600000201", name: "App 1600000201", seenAt: june(2).toISOString() }
  expect(await readPlaces()).toEqual([2, [first]])
  await sql`
    insert into app_rival (app_id, platform, storefront, rival, manual, terms)
    select ${appId}, 'ios', 'us', id, true, 0
    from store_app
    where store_id = '1600000888'`
  const second = { ...side, place: 1, id: "1600000888", name: "App 1600000888", seenAt: june(4).toISOString() }
  expect(await readPlaces()).toEqual([3, [second, first]])
})
