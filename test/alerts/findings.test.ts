import { beforeEach, describe, expect, test } from "bun:test"
import { deriveFindings } from "../../src/alerts/findings.ts"
import type { Sql } from "../../src/database/types.ts"
import { listRivals } from "../../src/keywords/operations/list-rivals.ts"
import { removeApp } from "../../src/tracking/apps.ts"
import { freshDatabase } from "../database.ts"
import { cases, slow } from "../long.ts"
import { charted } from "../measuring/record/charted.ts"
import { listed } from "../measuring/record/listed.ts"
import { appsReading, ask, contextOf, newWorkspace, reading } from "../measuring/record/measured.ts"
import { reviewed } from "../measuring/record/reviewed.ts"
import { countRowsRead } from "../measuring/rows-read.ts"
import { deriveFor, lines, listOf, OWN, otherIds, readAlerts, storeAll, TODAY, trackNew } from "./derived-alerts.ts"

const US = { platform: "ios", storefront: "us", subject: OWN } as const
let sql: Sql

beforeEach(async () => {
  sql = await freshDatabase()
})

/** Stores readings that cause an alert of every type. */
async function storeEverything(): Promise<void> {
  await storeAll(sql, [
    appsReading(
      "2025-11-01T10:00:00Z",
      [OWN, ...otherIds(10)].map((id) => ({ id, genre: "6016", name: id })),
    ),
  ])
  await storeAll(sql, [appsReading("2025-11-02T10:00:00Z", [{ id: OWN, name: "Tea", genre: "6015" }])])
  const ranks: [string, number | null, number | null][] = [
    ["drop", 5, 30],
    ["rise", 30, 5],
    ["in", null, 30],
    ["out", 30, null],
  ]
  await storeAll(
    sql,
    ranks.flatMap(([term, before, after]) => [
      reading(term, "2025-11-19T10:00:00Z", listOf(before, 40)),
      reading(term, "2025-11-20T10:00:00Z", listOf(after, 40)),
    ]),
  )
  await storeAll(sql, [
    ...["drop", "enter"].flatMap((kind, at) => {
      const rest = { chart: (["free", "paid"] as const)[at] as "free" }
      const [before, after] = kind === "drop" ? [10, 100] : [null, 90]
      return [
        charted("2025-11-19T05:00:00Z", listOf(before, 110), rest),
        charted("2025-11-20T05:00:00Z", listOf(after, 110), rest),
      ]
    }),
    listed("2025-11-19T09:00:00Z", { editorial: [] }, { id: OWN }),
    listed("2025-11-20T09:00:00Z", {}, { id: OWN }),
    listed("2025-11-19T09:00:00Z", { version: "1" }, { id: "20001" }),
    listed("2025-11-20T09:00:00Z", { version: "2" }, { id: "20001" }),
    reviewed(
      "2025-11-20T11:00:00Z",
      [
        { id: "1", stars: 5, at: new Date("2025-10-01T00:00:00Z") },
        ...otherIds(9).map((id) => ({ id, stars: 1, at: new Date("2025-11-20T00:00:00Z") })),
      ],
      { storeId: OWN, end: { pages: 1, complete: true, empty: false } },
    ),
  ])
}

const TERMS = ["drop", "rise", "in", "out"]
const TYPES = [
  "chart_drop",
  "chart_enter",
  "dropped_out",
  "entered",
  "featured",
  "off_topic",
  "rank_drop",
  "rank_rise",
  "review_wave",
  "rival_beaten",
  "rival_event",
  "rival_passed",
]

describe("findings", () => {
  slow("findings of all types come from one read of each keyword's results", async () => {
    const terms = Array.from({ length: 20 }, (_, at) => `term ${at}`)
    await trackNew(sql, terms)
    await storeAll(sql, [appsReading("2025-11-18T10:00:00Z", [{ id: OWN, name: "Tea", genre: "6015" }])])
    await storeAll(
      sql,
      terms.flatMap((term) => [
        reading(term, "2025-11-19T10:00:00Z", listOf(5, 40)),
        reading(term, "2025-11-20T10:00:00Z", listOf(30, 40)),
      ]),
    )
    await sql`analyze`
    const rows = await countRowsRead(sql, ["search_results_2025_11"], (tx) => deriveFindings(tx, [US], TODAY))
    expect(await readAlerts(sql, "rank_drop")).toHaveLength(terms.length)
    // the planner may scan such a small table once per keyword
    expect(rows).toBeLessThanOrEqual(terms.length * 2 * terms.length)
  })

  slow("findings are derived without looking up every app that ranks above the tracked one", async () => {
    const terms = Array.from({ length: 20 }, (_, at) => `term ${at}`)
    await trackNew(sql, terms)
    const first = otherIds(12)
    const above = (at: number) => [...first, ...Array.from({ length: 15 }, (_, n) => String(40_000 + 15 * at + n))]
    await storeAll(
      sql,
      terms.map((term, at) => reading(term, "2025-11-20T10:00:00Z", [...above(at), OWN])),
    )
    await sql`analyze`
    const rows = await countRowsRead(sql, ["store_app"], (tx) => deriveFindings(tx, [US], TODAY))
    expect(rows).toBeLessThan(150)
    const followed = await sql<{ id: string }[]>`
      select s.store_id as id
      from app_rival r
      join store_app s on s.id = r.rival
      order by s.store_id`
    expect(followed.map(({ id }) => id)).toEqual(first.slice(0, 10).toSorted())
  })

  slow("findings are stored once, for any number of repeated or simultaneous runs", async () => {
    await trackNew(sql, TERMS)
    await storeEverything()
    await deriveFor(sql)
    const [first, rivals] = [await rows(), await rivalRows()]
    expect([...new Set(first.map(({ type }) => type))].sort()).toEqual(TYPES)
    await deriveFor(sql)
    await Promise.all(Array.from({ length: cases(2, 6) }, () => deriveFor(sql)))
    expect(await rows()).toEqual(first)
    expect(await rivalRows()).toEqual(rivals)
    // no ids were consumed either
    const [{ next }] = (await sql`select nextval(pg_get_serial_sequence('alert', 'id')) as next`) as unknown as [
      { next: number },
    ]
    expect(next).toBe(first.length + 1)
  })

  slow("several simultaneous first runs give the same findings as a single run", async () => {
    await trackNew(sql, TERMS)
    await storeEverything()
    await Promise.all(Array.from({ length: cases(3, 6) }, () => deriveFor(sql)))
    const concurrent = [lines(await readAlerts(sql)), await rivalsOf()]
    await sql`delete from alert`
    await sql`delete from app_rival`
    await deriveFor(sql)
    expect([lines(await readAlerts(sql)), await rivalsOf()]).toEqual(concurrent)
    expect(new Set(concurrent[0] as string[]).size).toBe((concurrent[0] as string[]).length)
  })

  slow("every workspace that tracks the app gets its own alerts", async () => {
    const [first, second] = [await trackNew(sql, TERMS), await trackNew(sql, ["rise"])]
    await storeEverything()
    await deriveFor(sql)
    const typesOf = async (app: string) => {
      const rows = await sql<{ type: string }[]>`
        select distinct a.type
        from alert a
        join tracked_app t on (t.id, t.workspace_id) = (a.app_id, a.workspace_id)
        where a.app_id = ${app}
        order by a.type`
      return rows.map(({ type }) => type)
    }
    expect(await typesOf(first)).toEqual(TYPES)
    expect(await typesOf(second)).not.toContain("rank_drop")
    expect(await typesOf(second)).toContain("rank_rise")
  })

  slow("the demo, suspended workspaces and untracked storefronts get no alerts", async () => {
    const suspended = await newWorkspace(sql)
    await trackNew(sql, TERMS, { workspaceId: suspended })
    await sql`update workspace set suspended_at = now() where id = ${suspended}`
    await trackNew(sql, TERMS, { origin: "demo" })
    await trackNew(sql, TERMS, { countries: ["de"] })
    await storeEverything()
    await deriveFor(sql)
    await deriveFor(sql, { storefront: "gb" })
    await deriveFor(sql, { subject: "99999" })
    await sql.begin((tx) => deriveFindings(tx, [], TODAY))
    expect(await readAlerts(sql)).toEqual([])
    expect(await rivalRows()).toEqual([])
  })

  slow("one run for several apps and storefronts gives the same alerts as separate runs", async () => {
    await trackNew(sql, TERMS, { countries: ["us", "de"] })
    await trackNew(sql, ["rise"], { iosId: "20001" })
    await storeEverything()
    const subjects = [US, { ...US, storefront: "de" }, { ...US, subject: "20001" }, US]
    await sql.begin((tx) => deriveFindings(tx, subjects, TODAY))
    const combined = lines(await readAlerts(sql))
    await sql`delete from alert`
    for (const subject of subjects) await sql.begin((tx) => deriveFindings(tx, [subject], TODAY))
    expect(lines(await readAlerts(sql))).toEqual(combined)
  })

  slow("alerts are deleted with the app, even while they are derived", async () => {
    const appId = await trackNew(sql, TERMS)
    await storeEverything()
    await Promise.all([deriveFor(sql), sql.begin((tx) => removeApp(tx, appId)), deriveFor(sql)])
    expect(await readAlerts(sql)).toEqual([])
    expect(await rivalRows()).toEqual([])
  })
})

describe("followed rivals", () => {
  test("the followed rivals are the first ten of list_rivals and all rivals added by hand", async () => {
    const workspaceId = await newWorkspace(sql)
    const manualRivals = ["ios:20030", "ios:39999", `ios:${OWN}`, "android:com.example.rival"]
    const appId = await trackNew(sql, ["tea", "mate", "milk"], { workspaceId, manualRivals })
    await storeAll(sql, [
      reading("tea", "2025-11-20T10:00:00Z", [...otherIds(40), OWN]),
      reading("mate", "2025-11-20T10:00:00Z", [...otherIds(25, 20_010), OWN]),
      reading("milk", "2025-11-20T10:00:00Z", [...otherIds(3), OWN, ...otherIds(9, 20_020)]),
    ])
    await deriveFor(sql)
    const { rivals } = await ask(listRivals, contextOf(sql, workspaceId), { appId })
    const listedRivals = (rivals as { id: string; manual: boolean }[]).filter(({ id }) => id !== OWN)
    const found = listedRivals.filter(({ manual }) => !manual).slice(0, 10)
    const named = listedRivals.filter(({ manual }) => manual)
    expect(found).toHaveLength(10)
    expect(named.map(({ id }) => id).sort()).toEqual(["20030", "39999"])
    const followedRivals = await rivalsOf()
    expect(followedRivals.map(({ rival, manual }) => [rival, manual])).toEqual(
      [...found, ...named].map(({ id, manual }) => [id, manual] as [string, boolean]).sort(),
    )
    const day = "2025-11-20"
    expect(followedRivals).toContainEqual({ rival: "20030", manual: true, terms: 2, day })
    expect(followedRivals).toContainEqual({ rival: "39999", manual: true, terms: 0, day })
    expect(followedRivals).toContainEqual({ rival: "20001", manual: false, terms: 2, day })
  })

  test("rivals added by hand are followed before their first reading, with the day null", async () => {
    await trackNew(sql, ["tea"], { manualRivals: ["ios:39999"] })
    await deriveFor(sql)
    expect(await rivalsOf()).toEqual([{ rival: "39999", manual: true, terms: 0, day: null }])
  })

  test("followed rivals change with the latest results, and unchanged rows are not written", async () => {
    await trackNew(sql, ["tea", "mate"])
    const mate = reading("mate", "2025-11-20T09:00:00Z", ["20001", OWN])
    await storeAll(sql, [mate, reading("tea", "2025-11-20T10:00:00Z", ["20001", "20002", OWN])])
    await deriveFor(sql)
    const before = await rivalRows()
    await storeAll(sql, [reading("tea", "2025-11-20T11:00:00Z", ["20001", "20003", OWN])])
    await deriveFor(sql)
    expect((await rivalsOf()).map(({ rival, terms }) => [rival, terms])).toEqual([
      ["20001", 2],
      ["20003", 1],
    ])
    const same = await rivalRows()
    expect(same[0]).toEqual(before[0])
  })
})

describe("a storefront that is no longer tracked", () => {
  const leave = (appId: string) => sql`update tracked_app set countries = '{us}' where id = ${appId}`
  const readStorefronts = async () =>
    (await sql<{ storefront: string }[]>`select distinct storefront from app_rival order by 1`).map(
      (row) => row.storefront,
    )

  test("a storefront that is no longer tracked loses its followed rivals; other storefronts keep theirs", async () => {
    const appId = await trackNew(sql, ["tea"], { countries: ["us", "de"], manualRivals: ["ios:39999"] })
    await deriveFor(sql)
    await deriveFor(sql, { storefront: "de" })
    expect(await readStorefronts()).toEqual(["de", "us"])
    await leave(appId)
    expect(await readStorefronts()).toEqual(["us"])
    const read = await sql`select storefront from tracked_subject where kind = 'app' and subject = '39999'`
    expect([...read]).toEqual([{ storefront: "us" }])
  })

  const postgres = test.skipIf(!process.env.DATABASE_URL)

  postgres("postgres: a storefront that is removed during a run keeps no followed rivals", async () => {
    for (const first of ["finds", "leaves"] as const) {
      sql = await freshDatabase()
      const appId = await trackNew(sql, ["tea"], { countries: ["us", "de"], manualRivals: ["ios:39999"] })
      let later: Promise<unknown> = Promise.resolve()
      await sql.begin(async (tx) => {
        if (first === "finds") await deriveFindings(tx, [{ ...US, storefront: "de" }], TODAY)
        else await tx`update tracked_app set countries = '{us}' where id = ${appId}`
        later = first === "finds" ? leave(appId).execute() : deriveFor(sql, { storefront: "de" })
        await Bun.sleep(200)
      })
      await later
      expect([first, await readStorefronts()]).toEqual([first, []])
    }
  })
})

async function rows() {
  return [...(await sql<{ type: string }[]>`select *, xmin::text from alert order by id`)]
}

async function rivalRows() {
  return [...(await sql`select *, xmin::text from app_rival order by app_id, platform, storefront, rival`)]
}

async function rivalsOf() {
  const rows = await sql<{ rival: string; manual: boolean; terms: number; day: string | null }[]>`
    select s.store_id as rival, r.manual, r.terms, r.day
    from app_rival r
    join store_app s on s.id = r.rival
    order by s.store_id collate "C"`
  return [...rows]
}
