import { beforeAll, beforeEach, describe, expect, test } from "bun:test"
import { setWorkspace } from "../../src/access/workspaces.ts"
import type { Sql } from "../../src/database/types.ts"
import { loadDemo } from "../../src/demo/demo.ts"
import { removeDemo } from "../../src/demo/remove-demo.ts"
import { claim } from "../../src/measuring/claim.ts"
import { openLane } from "../../src/measuring/pace.ts"
import { recording } from "../../src/recording.ts"
import { removeApp, trackApp } from "../../src/tracking/apps.ts"
import { addTerms, removeTerms } from "../../src/tracking/terms.ts"
import { someWorkspace } from "../access/registered.ts"
import { freshDatabase } from "../database.ts"
import { errorOf } from "../error-of.ts"
import { slow } from "../long.ts"
import { trackOwn } from "../world/tracked.ts"
import { APPS } from "./scene.ts"
import { searches } from "./stand-in.ts"

let sql: Sql
let paying: { id: number; name: string }
let free: { id: number; name: string }
let count = 0

beforeAll(async () => {
  sql = await freshDatabase()
  await openLane(sql, APPS, 0)
})

beforeEach(async () => {
  await sql`delete from tracked_app`
  await sql`delete from due`
  const name = (plan: string) => `due ${process.pid} ${++count} ${plan}`
  paying = await someWorkspace(sql, { name: name("pays"), plan: "pro" })
  free = await someWorkspace(sql, { name: name("free"), plan: "free" })
})

interface New {
  workspaceId?: number
  iosId?: string
  androidPkg?: string
  countries?: string[]
  origin?: string
}

const track = (keywords: string[], rest: New = { iosId: "1234567" }) =>
  trackOwn(sql, { workspaceId: paying.id, ...rest, keywords })

/**
 * Returns "kind platform storefront subject priority" of everything due at once. For an app it contains only the
 * look-up; public-is-due.test.ts covers the rest.
 */
async function due(): Promise<string[]> {
  const rows = await sql<{ line: string }[]>`
    select concat_ws(' ', kind, platform, storefront, subject, priority) as line
    from due
    where next_at <= now() and failures = 0 and lease is null and measured_at is null
      and kind in ('app', 'hints', 'search')
    order by kind, platform, storefront, subject
    limit 1000`
  return rows.map(({ line }) => line)
}

/** Repeats claims of a search, which find nothing and delete the untracked rows that they meet. */
async function claimNothing(): Promise<void> {
  for (let hasMore = true; hasMore; ) {
    const result = await claim(sql, APPS, [searches], 30_000)
    expect(result.claimed).toBe(null)
    hasMore = result.again
  }
}

describe("tracked subjects", () => {
  test("tracking an app on both stores makes the app and its terms due in every storefront", async () => {
    await track(["tea", "mate"], { iosId: "1234567", androidPkg: "com.example.tea", countries: ["us", "de"] })
    expect(await due()).toEqual(
      [
        ...["de", "us"].map((storefront) => `app android ${storefront} com.example.tea 1`),
        ...["de", "us"].map((storefront) => `app ios ${storefront} 1234567 1`),
        ...["hints", "search"].flatMap((kind) =>
          ["android", "ios"].flatMap((platform) =>
            ["de", "us"].flatMap((storefront) =>
              ["mate", "tea"].map((term) => `${kind} ${platform} ${storefront} ${term} 1`),
            ),
          ),
        ),
      ].sort(),
    )
  })

  test("a tracked app becomes due when the transaction that tracks it commits", async () => {
    const undone = await errorOf(
      sql.begin(async (tx) => {
        await trackApp(tx, {
          workspaceId: paying.id,
          iosId: "1234567",
          countries: ["us"],
          keywords: ["tea"],
          origin: "own",
        })
        const [row] = await tx<{ n: number }[]>`
          select count(*) as n from due where kind in ('app', 'hints', 'search')`
        expect(row?.n).toBe(3)
        throw new Error("refused")
      }),
    )
    expect(String(undone)).toContain("refused")
    expect(await due()).toEqual([])
  })

  test("adding a keyword makes it due in each storefront and leaves existing keywords unchanged", async () => {
    const app = await track(["tea"], { iosId: "1234567", countries: ["us", "de"] })
    await sql`update due set next_at = now() + interval '1 day', measured_at = now() where subject = 'tea'`
    await sql.begin((tx) => addTerms(tx, app, "all", ["tea", "mate"]))
    expect((await due()).filter((line) => !line.startsWith("app"))).toEqual([
      "hints ios de mate 1",
      "hints ios us mate 1",
      "search ios de mate 1",
      "search ios us mate 1",
    ])
  })

  slow("the demo's app is not due until its workspace keeps the app and removes the demo", async () => {
    await loadDemo(recording, sql, paying.id, "")
    const [demo] = await sql<{ id: string }[]>`select id from tracked_app order by id limit 1`
    expect(await sql`select 1 from due`).toHaveLength(0)
    await sql`update tracked_app set goal = 'rank' where id = ${demo!.id}`
    expect(await sql`select 1 from due`).toHaveLength(0)
    await sql.begin((tx) => addTerms(tx, demo!.id, "all", ["my own keyword"]))
    expect(await sql`select 1 from due`).toHaveLength(0)
    await removeDemo(sql)
    const lines = await due()
    expect(lines.map((line) => line.replace(/\d{5,}/, "ID"))).toEqual([
      "app ios us ID 1",
      "hints ios us my own keyword 1",
      "search ios us my own keyword 1",
    ])
  })

  test("a term that two workspaces track has one row in due, with the priority of the paying plan", async () => {
    await track(["tea"], { workspaceId: free.id, iosId: "1234567" })
    expect(await due()).toContain("search ios us tea 2")
    await track(["mate", "tea"], { workspaceId: paying.id, iosId: "1234567" })
    expect(await due()).toEqual([
      "app ios us 1234567 1",
      "hints ios us mate 1",
      "hints ios us tea 1",
      "search ios us mate 1",
      "search ios us tea 1",
    ])
    await track(["tea"], { workspaceId: free.id, iosId: "7654321" })
    expect(await due()).toContain("search ios us tea 1")
  })

  test("adding a storefront or a store to an app makes the app and its terms due there", async () => {
    const app = await track(["tea"])
    await sql`delete from due`
    await sql`update tracked_app set countries = array['us', 'de'] where id = ${app}`
    expect(await due()).toEqual([
      "app ios de 1234567 1",
      "app ios us 1234567 1",
      "hints ios us tea 1",
      "search ios us tea 1",
    ])
    await sql`insert into store_app (platform, store_id) values ('android', 'com.example.later')`
    await sql`update tracked_app set android_app = (select max(id) from store_app) where id = ${app}`
    expect((await due()).filter((line) => line.includes("android"))).toEqual([
      "app android de com.example.later 1",
      "app android us com.example.later 1",
      "hints android us tea 1",
      "search android us tea 1",
    ])
  })

  test("a change of an app other than its stores, storefronts and terms schedules no reading", async () => {
    const app = await track(["tea"])
    await sql`delete from due`
    await sql`update tracked_app set goal = 'rank', countries = countries, name = 'Tea' where id = ${app}`
    expect(await due()).toEqual([])
  })
})

describe("untracked subjects", () => {
  test("an untracked subject is deleted from due when it would be read, and no request is made", async () => {
    const app = await track(["tea", "mate", "milk"])
    await sql.begin((tx) => removeTerms(tx, app, "all", ["tea", "mate"]))
    await sql`update due set next_at = now() + interval '1 day' where subject = 'milk'`
    await claimNothing()
    const rows = await sql<{ subject: string }[]>`select subject from due where kind = 'search' order by subject`
    expect(rows.map(({ subject }) => subject)).toEqual(["milk"])
    const [pace] = await sql`select next_at <= now() as free from pace where upstream = ${APPS.upstream}`
    expect(pace).toEqual({ free: true })
  })

  test("a subject stays due while another workspace tracks it", async () => {
    const app = await track(["tea"])
    await track(["tea"], { workspaceId: free.id, iosId: "7654321" })
    await sql.begin((tx) => removeApp(tx, app))
    const { claimed } = await claim(sql, APPS, [searches], 30_000)
    expect(claimed?.subjects.map(({ subject }) => subject)).toEqual(["tea"])
  })

  test("an untracked subject is read only while a caller waits for it or if it is a canary", async () => {
    await sql`
      insert into due (kind, platform, storefront, subject, priority, asked_until)
      values ('search', 'ios', 'us', 'asked live', 0, now() + interval '1 minute'),
        ('canary', 'ios', 'us', 'apple-web-search', 1, null)`
    const kinds = [searches, { ...searches, name: "canary" as const }]
    const [first, second] = [await claim(sql, APPS, kinds, 30_000), await claim(sql, APPS, kinds, 30_000)]
    expect(first.claimed).toMatchObject({ live: true, subjects: [{ subject: "asked live" }] })
    expect(second.claimed).toMatchObject({ live: false, subjects: [{ kind: "canary" }] })
  })

  test("a suspended workspace's subjects are deleted from due, and are due again after the suspension", async () => {
    await track(["tea"])
    await setWorkspace(sql, paying.name, { suspended: true })
    await claimNothing()
    expect(await due()).toEqual(["app ios us 1234567 1", "hints ios us tea 1"])
    await setWorkspace(sql, paying.name, { suspended: false })
    expect(await due()).toEqual(["app ios us 1234567 1", "hints ios us tea 1", "search ios us tea 1"])
  })

  slow("thousands of untracked subjects are deleted within a few claims", async () => {
    const app = await track(Array.from({ length: 400 }, (_, i) => `term ${i}`))
    await sql.begin((tx) => removeApp(tx, app))
    let claims = 0
    for (let hasMore = true; hasMore; claims++) hasMore = (await claim(sql, APPS, [searches], 30_000)).again
    expect(claims).toBeLessThan(25)
    expect(await sql`select 1 from due where kind = 'search'`).toHaveLength(0)
  })
})

test.skipIf(!process.env.DATABASE_URL)(
  "postgres: a subject that is tracked again while a claim deletes it stays due",
  async () => {
    const app = await track(["tea"])
    await sql.begin((tx) => removeTerms(tx, app, "all", ["tea"]))
    const { promise: hold, resolve: letGo } = Promise.withResolvers<void>()
    const { promise: found, resolve: isFound } = Promise.withResolvers<void>()
    const tracking = sql.begin(async (tx) => {
      // this transaction finds the term's row and relies on it
      await addTerms(tx, app, "all", ["tea"])
      isFound()
      await hold
    })
    await found
    expect(await claim(sql, APPS, [searches], 30_000)).toEqual({ claimed: null, again: false })
    letGo()
    await tracking
    const { claimed } = await claim(sql, APPS, [searches], 30_000)
    expect(claimed?.subjects.map(({ subject }) => subject)).toEqual(["tea"])
  },
)

test.skipIf(!process.env.DATABASE_URL)(
  "postgres: concurrent tracking, untracking and claiming lose no row of a tracked subject",
  async () => {
    const app = await track([])
    const terms = Array.from({ length: 12 }, (_, i) => `term ${i}`)
    let done = false
    const claiming = (async () => {
      const leases: string[] = []
      while (!done) {
        const { claimed } = await claim(sql, APPS, [searches], 30_000)
        if (claimed) leases.push(claimed.lease)
        await sql`update due set lease = null, lease_until = null where lease = any(${leases.splice(0)}::uuid[])`
      }
    })()
    const changing = async (ownTerms: string[]) => {
      for (let round = 0; round < 25; round++) {
        await sql.begin((tx) => removeTerms(tx, app, "all", ownTerms))
        await sql.begin((tx) => addTerms(tx, app, "all", ownTerms))
      }
    }
    await Promise.all([changing(terms.slice(0, 4)), changing(terms.slice(4, 8)), changing(terms.slice(8))])
    done = true
    await claiming
    const rows = await sql<{ subject: string }[]>`select subject from due where kind = 'search' order by subject`
    expect(rows.map(({ subject }) => subject)).toEqual(terms.toSorted())
  },
)
