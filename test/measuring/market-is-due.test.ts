import { beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test"
import type { Sql } from "../../src/database/types.ts"
import { kindsOf } from "../../src/due-kinds.ts"
import { CHART_GENRES } from "../../src/lib/storefronts.ts"
import { followMarket } from "../../src/market/followed-storefronts.ts"
import { readFollowedMarket } from "../../src/market/read/followed.ts"
import { claim } from "../../src/measuring/claim.ts"
import { type Claim, endMeasured } from "../../src/measuring/due.ts"
import { openLane } from "../../src/measuring/pace.ts"
import { PRIORITY } from "../../src/measuring/priority.ts"
import { someWorkspace } from "../access/registered.ts"
import { freshDatabase } from "../database.ts"
import { cases, long, slow } from "../long.ts"
import { record } from "../record.ts"
import { withoutTransactions } from "../without-transactions.ts"
import { trackOwn } from "../world/tracked.ts"
import { charted } from "./record/charted.ts"
import { readRowCount } from "./rows-read.ts"
import { ITUNES } from "./scene.ts"

setDefaultTimeout(60_000)

const LISTS = ["ipad free", "iphone free", "iphone grossing", "iphone paid"]
const KINDS = kindsOf({ egressCountry: undefined }).filter(({ upstream }) => upstream === ITUNES.upstream)
const LOOK_UPS = KINDS.filter(({ name }) => name === "app")
const FINANCE = { genres: ["36", "6015"] }

let sql: Sql

beforeEach(async () => {
  sql = await freshDatabase()
  await openLane(sql, ITUNES, 0)
})

const ids = (count: number, from = 1_000_000) => Array.from({ length: count }, (_, at) => String(from + at))
const recordChart = (apps: readonly string[], rest: Parameters<typeof charted>[2] = {}) =>
  record(sql, [charted(new Date().toISOString(), apps, rest)])

async function dueOf(kind: string): Promise<string[]> {
  const rows = await sql<{ line: string }[]>`
    select concat_ws(' ', storefront, subject, priority) as line
    from due
    where kind = ${kind} and platform = 'ios' and next_at <= now() and lease is null
    order by storefront, subject`
  return rows.map(({ line }) => line)
}

/**
 * Claims and ends everything due in this lane. Returns what each claim took, such as "app 50", with the lowest and
 * highest priority.
 */
async function claims(): Promise<{ what: string; priorities: number[]; subjects: string[] }[]> {
  const all = []
  while (true) {
    const { claimed, again: hasMore } = await claim(sql, ITUNES, KINDS, 30_000)
    if (!claimed && !hasMore) return all
    if (claimed) all.push(await end(claimed))
  }
}

async function end(claimed: Claim) {
  const { kind, subjects, lease } = claimed
  const rows = await sql<{ priority: number }[]>`
    select distinct priority
    from due
    where lease = ${lease}
    order by priority`
  await sql.begin((tx) => endMeasured(tx, claimed))
  return {
    what: `${kind.name} ${subjects.length}`,
    priorities: rows.map(({ priority }) => priority),
    subjects: subjects.map(({ subject }) => subject),
  }
}

async function track(iosId: string, plan: "free" | "pro" = "free"): Promise<void> {
  const { id: workspaceId } = await someWorkspace(sql, { name: `market ${plan} ${crypto.randomUUID()}`, plan })
  await trackOwn(sql, { workspaceId, iosId } as never)
}

describe("a followed storefront", () => {
  test("only four charts per genre and the genre names are scheduled for a followed storefront", async () => {
    await followMarket(sql, [
      { storefront: "us", genres: CHART_GENRES },
      { storefront: "jp", ...FINANCE },
    ])
    expect(await dueOf("genres")).toEqual(["jp 36 5", "us 36 5"])
    const charts = (place: string, genres: readonly string[]) =>
      LISTS.flatMap((list) => genres.map((genre) => `${place} ${list} ${genre} ${PRIORITY.market}`))
    expect(await dueOf("chart")).toEqual([...charts("jp", FINANCE.genres), ...charts("us", CHART_GENRES)].sort())
    expect(CHART_GENRES).toHaveLength(28)
    expect([...(await sql`select distinct kind from due order by kind`)].map(({ kind }) => kind)).toEqual([
      "chart",
      "genres",
    ])
  })

  test("a storefront that stays followed keeps its first day, and an unfollowed storefront is deleted", async () => {
    await followMarket(sql, [
      { storefront: "us", ...FINANCE },
      { storefront: "gb", ...FINANCE },
    ])
    await sql`update market_storefront set since = since - 5`
    // most starts find this setting unchanged
    await followMarket(withoutTransactions(sql), [
      { storefront: "gb", ...FINANCE },
      { storefront: "us", ...FINANCE },
    ])
    await recordChart(["800001"])
    await followMarket(sql, [
      { storefront: "us", genres: ["36"] },
      { storefront: "de", ...FINANCE },
    ])
    const [{ today, before } = { today: "", before: "" }] = await sql<{ today: string; before: string }[]>`
      select (now() at time zone 'utc')::date as today, (now() at time zone 'utc')::date - 5 as before`
    const followed = await readFollowedMarket(sql)
    expect([...followed]).toEqual([
      { storefront: "de", genres: FINANCE.genres, since: today },
      { storefront: "us", genres: ["36"], since: before },
    ])
    await followMarket(sql, followed)
    expect([...(await readFollowedMarket(sql))]).toEqual([...followed])
    const subjectsClaimed = (await claims()).flatMap(({ subjects }) => subjects)
    expect(subjectsClaimed.toSorted()).toEqual(
      ["36", "36", ...LISTS.flatMap((list) => [`${list} 36`, `${list} 36`, `${list} 6015`])].toSorted(),
    )
    expect([...(await sql`select distinct storefront from due order by storefront`)].map((r) => r.storefront)).toEqual([
      "de",
      "us",
    ])
  })

  test("each followed storefront is added in its own transaction, with the apps of its recorded charts", async () => {
    for (const storefront of ["de", "jp", "us"]) await recordChart(ids(5), { storefront })
    const three = ["us", "de", "jp"].map((storefront) => ({ storefront, ...FINANCE }))
    await followMarket(sql, three)
    const transactions = async () =>
      (await sql`select distinct xmin::text as id from market_storefront`).map(({ id }) => id)
    const first = await transactions()
    expect([first.length, (await dueOf("app")).length]).toEqual([3, 15])
    // rows that stay are not rewritten, and a storefront with other genres counts as the same storefront
    await followMarket(sql, [three[0]!, { storefront: "de", genres: ["36"] }, three[2]!])
    expect((await transactions()).filter((id) => first.includes(id))).toHaveLength(2)
    expect((await readFollowedMarket(sql)).map(({ genres }) => genres)).toEqual([
      ["36"],
      FINANCE.genres,
      FINANCE.genres,
    ])
  })

  test("a recorded chart schedules no reading while no storefront is followed", async () => {
    await followMarket(sql, [])
    await recordChart(ids(3))
    expect([...(await sql`select * from due`)]).toEqual([])
    expect([...(await readFollowedMarket(sql))]).toEqual([])
  })
})

describe("apps on followed charts", () => {
  test("each app on the four charts of a followed genre and storefront is looked up once", async () => {
    await followMarket(sql, [{ storefront: "us", ...FINANCE }])
    await recordChart(["800001", "800002"])
    await recordChart(["800002", "800003"], { genre: "36", chart: "paid" })
    await recordChart(["800004"], { device: "ipad", chart: "free" })
    await recordChart(["800005"], { device: "ipad", chart: "paid" })
    await recordChart(["800006"], { genre: "6014" })
    await recordChart(["800007"], { storefront: "de" })
    expect(await dueOf("app")).toEqual(["800001", "800002", "800003", "800004"].map((id) => `us ${id} 5`))
  })

  test("apps on followed charts are looked up, whichever publisher the chart's reading is from", async () => {
    await followMarket(sql, [{ storefront: "us", ...FINANCE }])
    await recordChart(["800001"], { origin: "elsewhere" })
    expect(await dueOf("app")).toEqual(["us 800001 5"])
  })

  test("apps on charts recorded before the storefront was followed are looked up", async () => {
    await recordChart(["800001"])
    await followMarket(sql, [{ storefront: "us", ...FINANCE }])
    expect(await dueOf("app")).toEqual(["us 800001 5"])
    await sql`delete from due`
    await recordChart(["800001"], { depth: 2 })
    expect(await dueOf("app")).toEqual([])
    await record(sql, [
      charted(new Date(Date.now() - 86_400_000).toISOString(), ["800001"], { source: "apple-charts" }),
    ])
    await sql`update chart_place set day = day - 1`
    expect(await dueOf("app")).toEqual(["us 800001 5"])
  })

  test("apps are no longer scheduled on the day after they left the chart", async () => {
    await followMarket(sql, [{ storefront: "us", ...FINANCE }])
    await record(sql, [charted(new Date(Date.now() - 86_400_000).toISOString(), ["800001", "800002"])])
    await recordChart(["800002"])
    const appClaims = (await claims()).filter(({ what }) => what.startsWith("app"))
    expect(appClaims.map(({ subjects }) => subjects)).toEqual([["800002"]])
    expect([...(await sql`select subject from due where kind = 'app'`)]).toEqual([{ subject: "800002" }])
  })

  long("apps on followed charts are looked up fifty per request, also after new apps joined a chart", async () => {
    await followMarket(sql, [
      { storefront: "us", ...FINANCE },
      { storefront: "gb", ...FINANCE },
    ])
    const apps = ids(230)
    for (const storefront of ["us", "gb"]) await recordChart(apps, { storefront, depth: 230 })
    const lookUps = async () => (await claims()).filter(({ what }) => what.startsWith("app")).map(({ what }) => what)
    const fifties = ["app 50", "app 50", "app 50", "app 50", "app 30"]
    expect((await lookUps()).toSorted()).toEqual([...fifties, ...fifties].toSorted())
    // rows come due together per storefront, not each app at its own time
    for (const newcomers of [0, 20]) {
      if (newcomers > 0) await recordChart([...apps, ...ids(20, 2_000_000)], { depth: 250, source: "apple-charts" })
      const moments = await sql<{ storefront: string; at: Date; apps: number }[]>`
        select storefront, next_at as at, count(*)::int as apps
        from due
        where kind = 'app'
        group by storefront, next_at
        order by storefront, apps desc`
      expect(moments.map(({ apps }) => apps)).toEqual(newcomers === 0 ? [230, 230] : [230, 230, 20])
      const lookedUp: string[] = []
      for (const { at } of moments.toSorted((a, b) => a.at.getTime() - b.at.getTime())) {
        await sql`update due set next_at = now() - interval '1 second' where next_at = ${at}`
        lookedUp.push(...(await lookUps()))
      }
      expect(lookedUp).toHaveLength(newcomers === 0 ? 10 : 11)
    }
    const [row] = await sql<{ places: number }[]>`
      select count(distinct next_at)::int as places from due where kind = 'app' and storefront = 'us'`
    expect(row!.places).toBe(1)
  })
})

describe("tracked subjects", () => {
  slow("tracked apps of any plan are read before the other apps of followed charts", async () => {
    await followMarket(sql, [{ storefront: "us", ...FINANCE }])
    await recordChart(["800001", ...ids(60)], { depth: 61 })
    await track("800001")
    await track("900001", "pro")
    const rows = await sql<{ priority: number; charts: number; looked: number }[]>`
      select priority, (count(*) filter (where kind = 'chart'))::int as charts,
        (count(*) filter (where kind = 'app'))::int as looked
      from due
      where kind in ('chart', 'app')
      group by priority
      order by priority`
    // the app needs the six charts of all apps (four are also the market's); only the market needs the finance charts
    expect([...rows]).toEqual([
      { priority: 1, charts: 6, looked: 1 },
      { priority: 2, charts: 0, looked: 1 },
      { priority: 5, charts: 4, looked: 60 },
    ])
    const order = await claims()
    const firsts = order.map(({ priorities }) => priorities[0] as number)
    expect(firsts).toEqual(firsts.toSorted())
    expect(order.filter(({ what }) => what.startsWith("app")).map(({ what }) => what)).toEqual(["app 50", "app 12"])
    const subjects = order.filter(({ what }) => what === "chart 1").flatMap(({ subjects }) => subjects)
    expect([subjects.length, new Set(subjects).size]).toEqual([10, 10])
  })

  test("an app on a followed chart has its own due time only while the app is tracked", async () => {
    await followMarket(sql, [{ storefront: "us", ...FINANCE }])
    await recordChart(["800001", "800002"])
    await track("800001")
    await claims()
    const moments = async () => (await sql`select count(distinct next_at)::int as n from due where kind = 'app'`)[0]!.n
    expect(await moments()).toBe(2)
    await sql`delete from tracked_app`
    await sql`update due set next_at = now() where kind = 'app'`
    await claims()
    expect(await moments()).toBe(1)
    expect([...(await sql`select distinct priority from due where kind = 'app'`)]).toEqual([{ priority: 5 }])
  })
})

describe("followed charts with 30,000 places, in the long run 100,000", () => {
  long("a claim reads at most 20 rows per app, even with a query plan made while the tables were empty", async () => {
    await sql.begin(async (outer) => {
      const tx = outer as unknown as Sql
      // one connection, so that the plan is cached while the tables are empty, as on a newly installed server
      expect((await claim(tx, ITUNES, KINDS, 30_000)).claimed).toBe(null)
      await fillPlaces(tx)
      expect((await tx`select count(*)::int as n from chart_place`)[0]!.n).toBe(STOREFRONTS.length * 84 * 200)
      await tx`insert into market_storefront values ('de', ${CHART_GENRES as string[]}, now())`
      const before = await readRowCount(outer, LOOKED_AT)
      expect((await claim(tx, ITUNES, LOOK_UPS, 30_000)).claimed?.subjects).toHaveLength(50)
      // 70 apps take this many rows each: the app itself, its two or three places, their charts, and the storefront
      expect((await readRowCount(outer, LOOKED_AT)) - before).toBeLessThan(70 * 20)
    })
  })
})

const STOREFRONTS = ["de", "us", "gb", "jp", "fr", "br"].slice(0, cases(2, 3))

/** Tables besides `due` that a claim of an app look-up reads. */
const LOOKED_AT = ["store_app", "chart_place", "chart", "market_storefront"]

/** Creates apps on three lists per genre, with 200 places each. */
async function fillPlaces(tx: Sql): Promise<void> {
  await tx`
    insert into chart (platform, storefront, device, chart, genre, first_day, last_day)
    select 'ios', s.storefront, 'iphone', k.chart, g.genre, '2025-11-01', '2025-11-01'
    from unnest(${STOREFRONTS}::text[]) s (storefront)
    cross join unnest(${CHART_GENRES as string[]}::text[]) g (genre)
    cross join (values ('free'), ('paid'), ('grossing')) k (chart)`
  await tx`
    insert into store_app (platform, store_id) select 'ios', (1000000 + g)::text from generate_series(1, 30000) g`
  await tx`
    insert into chart_place (app_id, chart_id, rank, day)
    select a.id, c.id, r, '2025-11-01'
    from chart c
    cross join generate_series(1, 200) r
    join store_app a on a.store_id = (1000001 + ((c.id - (select min(id) from chart)) * 200 + r - 1) % 30000)::text
    on conflict do nothing`
}
