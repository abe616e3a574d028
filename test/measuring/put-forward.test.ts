import { describe, expect, test } from "bun:test"
import { createFindings } from "../../src/alerts/findings-worker.ts"
import type { Tx } from "../../src/database/types.ts"
import { silentLog } from "../../src/lib/log.ts"
import { claim } from "../../src/measuring/claim.ts"
import { type Claim, endMeasured, putOff } from "../../src/measuring/due.ts"
import type { DueWork, Kind, Subject } from "../../src/measuring/due-kind.ts"
import {
  putForwardApps,
  putForwardChart,
  putForwardLookUp,
  putForwardReviews,
  putForwardTerms,
} from "../../src/measuring/put-forward.ts"
import { someWorkspace } from "../access/registered.ts"
import { errorOf } from "../error-of.ts"
import { trackOwn } from "../world/tracked.ts"
import { prepareScene } from "./scene.ts"
import { searches } from "./stand-in.ts"

const scene = prepareScene()
const OWN_APP = "700001"
const SOON_MS = 10_000

const subject = (kind: Subject["kind"], name: string, rest: Partial<Subject> = {}): Subject => ({
  kind,
  platform: "ios",
  storefront: "us",
  subject: name,
  ...rest,
})

type After = typeof putForwardTerms
const put = (after: After, target: Subject, afterMs = SOON_MS) => scene.sql.begin((tx) => after(tx, [target], afterMs))

/** Tracks an app. Only its findings are due, tomorrow. */
async function track(
  terms: string[] = ["tea"],
  rest: { iosId?: string; countries?: string[]; androidPkg?: string } = {},
) {
  const app = {
    workspaceId: scene.workspaceId,
    iosId: OWN_APP,
    countries: ["us"],
    origin: "own",
    ...rest,
    keywords: terms,
  }
  const id = await trackOwn(scene.sql, app)
  await scene.sql`delete from due where kind <> 'findings'`
  await scene.sql`update due set next_at = now() + interval '1 day'`
  return id as string
}

/** Returns "platform storefront subject" of the rows due within these seconds. */
async function soon(seconds = SOON_MS / 1_000 + 1, kind = "findings"): Promise<string[]> {
  const rows = await scene.sql<{ line: string }[]>`
    select concat_ws(' ', platform, storefront, subject) as line
    from due
    where kind = ${kind} and next_at < now() + ${seconds}::int * interval '1 second'
    order by platform, storefront, subject`
  return rows.map(({ line }) => line)
}

const storeApp = async (storeId: string) =>
  (await scene.sql<{ id: number }[]>`select id from store_app where store_id = ${storeId}`)[0]!.id

/** Makes one app the rival of another. */
async function rival(app: string, rivalId: string, storefront = "us") {
  await scene.sql`insert into store_app (platform, store_id) values ('ios', ${rivalId}) on conflict do nothing`
  await scene.sql`
    insert into app_rival (app_id, platform, storefront, rival, manual, terms)
    values (${app}, 'ios', ${storefront}, ${await storeApp(rivalId)}, true, 0)`
}

describe("findings scheduled by a reading", () => {
  test("a search schedules findings only for apps that track its term in its storefront", async () => {
    await track(["tea"])
    await track(["tea"], { iosId: "700002", countries: ["de"] })
    await track(["mate"], { iosId: "700003" })
    await put(putForwardTerms, subject("search", "tea"))
    expect(await soon()).toEqual([`ios us ${OWN_APP}`])
    await put(putForwardTerms, subject("difficulty", "mate"))
    expect(await soon()).toEqual([`ios us ${OWN_APP}`, "ios us 700003"])
  })

  test("a search on Google Play schedules no findings for the App Store", async () => {
    await track(["tea"], { androidPkg: "com.example.tea" })
    await put(putForwardTerms, subject("search", "tea", { platform: "android" }))
    expect(await soon()).toEqual(["android us com.example.tea"])
  })

  test("a reading of an app schedules findings for the app and for the apps that have it as a rival", async () => {
    await track([], { countries: ["us", "de"] })
    const other = await track([], { iosId: "700002" })
    await rival(other, OWN_APP)
    await rival(await track([], { iosId: "700003", countries: ["de"] }), OWN_APP, "de")
    await put(putForwardApps, subject("listing", OWN_APP))
    expect(await soon()).toEqual([`ios us ${OWN_APP}`, "ios us 700002"])
  })

  test("Google Play reviews schedule findings for all storefronts of the app", async () => {
    await track([], { androidPkg: "com.example.tea", countries: ["us", "de"] })
    await put(putForwardReviews, subject("reviews", "com.example.tea", { platform: "android" }))
    expect(await soon()).toEqual(["android de com.example.tea", "android us com.example.tea"])
  })

  test("a chart schedules findings for apps of its genre and storefront unless it covers all genres", async () => {
    for (const [iosId, genre] of [
      ["700001", "6013"],
      ["700002", "6015"],
    ] as const) {
      await track([], { iosId })
      await scene.sql`update store_app set genre = ${genre} where store_id = ${iosId}`
    }
    await track([], { iosId: "700003", countries: ["de"] })
    await put(putForwardChart, subject("chart", "ipad grossing 36"))
    expect(await soon()).toEqual([])
    await put(putForwardChart, subject("chart", "iphone free 6013"))
    expect(await soon()).toEqual(["ios us 700001"])
  })

  test("a reading schedules no findings for the demo or for a suspended workspace", async () => {
    await track(["tea"])
    await scene.sql`update workspace set suspended_at = now() where id = ${scene.workspaceId}`
    await scene.sql`delete from due`
    await put(putForwardTerms, subject("search", "tea"))
    await scene.sql`update workspace set suspended_at = null where id = ${scene.workspaceId}`
    await scene.sql`update tracked_app set origin = 'demo'`
    await scene.sql`delete from due`
    await put(putForwardTerms, subject("search", "tea"))
    expect(await scene.sql`select 1 from due`).toHaveLength(0)
  })

  test("a reading schedules findings even if the app has no row for findings in due", async () => {
    await track(["tea"])
    await scene.sql`delete from due`
    await put(putForwardTerms, subject("search", "tea"))
    expect(await soon()).toEqual([`ios us ${OWN_APP}`])
  })
})

describe("the due time of the findings", () => {
  const at = async () => (await scene.due(OWN_APP)).next_at.getTime()

  test("findings are due ten seconds after the first reading unless a later one sets a shorter delay", async () => {
    await track(["tea", "mate"])
    await put(putForwardTerms, subject("search", "tea"))
    const first = await at()
    expect(first - Date.now()).toBeWithin(SOON_MS - 3_000, SOON_MS + 3_000)
    await Bun.sleep(20)
    await put(putForwardTerms, subject("search", "mate"))
    expect(await at()).toBe(first)
    await put(putForwardTerms, subject("search", "mate"), 1_000)
    expect(await at()).toBeLessThan(first - 5_000)
  })

  test("findings that a reading schedules during their calculation are calculated again", async () => {
    await track(["tea"])
    const claimed = await claimFindings()
    await put(putForwardTerms, subject("search", "tea"))
    const wished = await at()
    await scene.sql.begin((tx) => endMeasured(tx, claimed))
    expect(await at()).toBe(wished)
    expect(await scene.due(OWN_APP)).toMatchObject({ lease: null, failures: 0, measured_at: expect.any(Date) })
    const reclaimed = await claimFindings()
    await scene.sql.begin((tx) => endMeasured(tx, reclaimed))
    expect((await at()) - Date.now()).toBeGreaterThan(60_000)
  })

  test("findings scheduled without a delay during their calculation are calculated again", async () => {
    await track(["tea"])
    const claimed = await claimFindings()
    await put(putForwardTerms, subject("search", "tea"), 0)
    await scene.sql.begin((tx) => endMeasured(tx, claimed))
    expect(await soon(60)).toEqual([`ios us ${OWN_APP}`])
  })
})

test("a reading schedules its findings when it is stored, and a failed reading does not", async () => {
  await track(["tea", "mate"])
  await scene.sql`
    insert into due (kind, platform, storefront, subject)
    values ('search', 'ios', 'us', 'tea')`
  const kinds = [{ ...searches, putsForward: putForwardTerms }]
  scene.stores.on("apps.apple.com", "/us/search", () => new Response("", { status: 500 }))
  await scene.measuring({ kinds }).runOnce()
  expect(await soon()).toEqual([])
  await scene.sql`update due set next_at = now() where kind = 'search'`
  scene.stores.on("apps.apple.com", "/us/search", () => Response.json(["10001"]))
  await scene.measuring({ kinds, findingsAfterMs: 5_000 }).runOnce()
  expect(await soon(6)).toEqual([`ios us ${OWN_APP}`])
})

test("a reading schedules findings two to four minutes ahead, and later readings do not delay them", async () => {
  await track(["tea", "mate"])
  const kinds = [{ ...searches, putsForward: putForwardTerms }]
  scene.stores.on("apps.apple.com", "/us/search", () => Response.json(["10001"]))
  const dueAt = async () => (await scene.due(OWN_APP))!.next_at
  const read = async (term: string) => {
    await scene.sql`
      insert into due (kind, platform, storefront, subject)
      values ('search', 'ios', 'us', ${term})`
    await scene.measuring({ kinds }).runOnce()
  }
  await read("tea")
  expect(await soon(120)).toEqual([])
  expect(await soon(240)).toEqual([`ios us ${OWN_APP}`])
  const first = await dueAt()
  await read("mate")
  expect(await dueAt()).toEqual(first)
})

test("a look-up makes the app's unread app-ads.txt due, but not one that was already read", async () => {
  await track([])
  await scene.sql`
    insert into due (kind, platform, storefront, subject, next_at)
    values ('app_ads', 'ios', 'us', ${OWN_APP}, now() + interval '1 hour')`
  await put(putForwardLookUp, subject("app", OWN_APP))
  expect(await soon(11, "app_ads")).toEqual([`ios us ${OWN_APP}`])
  await scene.sql`update due set next_at = now() + interval '14 days', measured_at = now() where kind = 'app_ads'`
  await put(putForwardLookUp, subject("app", OWN_APP))
  expect(await soon(60, "app_ads")).toEqual([])
})

test("a look-up during a postponed reading of app-ads.txt makes the app-ads.txt due again", async () => {
  const app_ads: DueWork = { ...findings, name: "app_ads" }
  const claimAds = async () => {
    await scene.sql`update due set next_at = now() - interval '1 second' where kind = 'app_ads'`
    return (await claim(scene.sql, null, [app_ads], 30_000)).claimed as Claim<DueWork>
  }
  await track([])
  await scene.sql`insert into due (kind, platform, storefront, subject) values ('app_ads', 'ios', 'us', ${OWN_APP})`
  const claimedAds = await claimAds()
  await scene.sql.begin((tx) => putOff(tx, claimedAds, 3_600_000))
  expect(await soon(60, "app_ads")).toEqual([])
  expect(await soon(3_700, "app_ads")).toEqual([`ios us ${OWN_APP}`])
  const overtaken = await claimAds()
  await put(putForwardLookUp, subject("app", OWN_APP))
  await scene.sql.begin((tx) => putOff(tx, overtaken, 3_600_000))
  expect(await soon(11, "app_ads")).toEqual([`ios us ${OWN_APP}`])
  expect(await scene.sql`select 1 from due where lease is not null`).toHaveLength(0)
})

const findings: DueWork = { name: "findings", platform: "ios", together: 1, everyDays: 1 }

async function claimFindings(): Promise<Claim<DueWork>> {
  await scene.sql`update due set next_at = now() - interval '1 second' where kind = 'findings'`
  return (await claim(scene.sql, null, [findings], 30_000)).claimed as Claim<DueWork>
}

const postgres = test.skipIf(!process.env.DATABASE_URL)

postgres(
  "postgres: findings that are scheduled while their calculation ends stay scheduled, whichever waits for the other",
  async () => {
    await track(["tea"])
    const wish = () => put(putForwardTerms, subject("search", "tea"))
    const first = await claimFindings()
    let waiting: Promise<unknown> = Promise.resolve()
    await scene.sql.begin(async (tx) => {
      await endMeasured(tx, first)
      waiting = wish()
      await Bun.sleep(100)
    })
    await waiting
    expect(await soon()).toEqual([`ios us ${OWN_APP}`])

    const second = await claimFindings()
    await scene.sql.begin(async (tx) => {
      await putForwardTerms(tx, [subject("search", "tea")], SOON_MS)
      waiting = scene.sql.begin((other) => endMeasured(other, second))
      await Bun.sleep(100)
    })
    await waiting
    expect(await soon()).toEqual([`ios us ${OWN_APP}`])
  },
)

postgres(
  "postgres: a claim sees all data stored before it, and data that it does not see schedules the findings once more",
  async () => {
    await track(["tea"])
    await scene.sql`create table if not exists effect (at timestamptz not null)`
    await scene.sql`delete from effect`
    // simulates the calculation of findings, which uses what is stored
    let reckoned = 0
    const find = async (tx: Tx) => {
      const [row] = await tx<{ n: number }[]>`select count(*)::int as n from effect`
      await Bun.sleep(2)
      reckoned = row!.n
    }
    const worker = createFindings({ sql: scene.sql, log: silentLog, find, pollMs: 5 })
    worker.start()
    for (let i = 0; i < 150; i++) {
      await scene.sql.begin(async (tx) => {
        await tx`insert into effect (at) values (now())`
        await putForwardTerms(tx, [subject("search", "tea")], 0)
      })
    }
    const until = Date.now() + 5_000
    while (reckoned < 150 && Date.now() < until) await Bun.sleep(20)
    await worker.stop()
    expect(reckoned).toBe(150)
  },
)

postgres("postgres: a reading and a transaction that tracks the same app at the same time never deadlock", async () => {
  for (const name of ["app", "listing"] as const) {
    await track([])
    await scene.sql`insert into due (kind, platform, storefront, subject) values (${name}, 'ios', 'us', ${OWN_APP})`
    const { promise: isStoring, resolve: storing } = Promise.withResolvers<void>()
    let tries = 0
    const slow: Kind = {
      ...searches,
      name,
      read: async () => [],
      async putsForward(tx, subjects, afterMs) {
        tries++
        await putForwardApps(tx, subjects, afterMs)
        storing()
        await Bun.sleep(300)
      },
    }
    const reading = scene.measuring({ kinds: [slow] }).runOnce()
    await isStoring
    const other = await someWorkspace(scene.sql, { name: `${name} ${process.pid}` })
    const secondApp = { workspaceId: other.id, iosId: OWN_APP, countries: ["us"], origin: "own", keywords: [] }
    const tracking = errorOf(trackOwn(scene.sql, secondApp))
    expect(await reading).toBe(1)
    expect([name, tries, await tracking]).toEqual([name, 1, undefined])
    await scene.sql`delete from tracked_app`
    await scene.sql`delete from due`
  }
})

postgres(
  "postgres: a list's reading and a transaction that tracks its app and term at the same time never deadlock",
  async () => {
    await track(["tea"])
    await scene.sql`
    insert into due (kind, platform, storefront, subject)
    values ('search', 'ios', 'us', 'tea')`
    // a response without new apps: creating apps waits for other transactions anyway
    scene.stores.on("apps.apple.com", "/us/search", () => Response.json([OWN_APP]))
    const { promise: isStoring, resolve: storing } = Promise.withResolvers<void>()
    let tries = 0
    const slow: Kind = {
      ...searches,
      async putsForward(tx, subjects, afterMs) {
        tries++
        storing()
        // the list is locked, the findings are not yet
        await Bun.sleep(300)
        await putForwardTerms(tx, subjects, afterMs)
      },
    }
    const reading = scene.measuring({ kinds: [slow] }).runOnce()
    await isStoring
    const other = await someWorkspace(scene.sql, { name: `list ${process.pid}`, plan: "pro" })
    const secondApp = { workspaceId: other.id, iosId: OWN_APP, countries: ["us"], origin: "own", keywords: ["tea"] }
    const tracking = errorOf(trackOwn(scene.sql, secondApp))
    expect(await reading).toBe(1)
    expect([tries, await tracking]).toEqual([1, undefined])
  },
)
