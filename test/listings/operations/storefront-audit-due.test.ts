import { beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test"
import type { Sql } from "../../../src/database/types.ts"
import { beginScan } from "../../../src/listings/audits/storefront-audits.ts"
import { freshDatabase } from "../../database.ts"
import { appsReading } from "../../measuring/record/measured.ts"
import { record } from "../../record.ts"
import { trackOwn } from "../../world/tracked.ts"
import { type Audited, audited, OWN_APP, otherStorefronts } from "./audited.ts"

setDefaultTimeout(60_000)

let sql: Sql
let scene: Audited

beforeAll(async () => {
  sql = await freshDatabase()
})

beforeEach(async () => {
  scene = await audited(sql)
})

describe("due work of a storefront audit", () => {
  const forgets = async (storefront: string) =>
    (
      await sql<{ gone: number }[]>`
      select forget_untracked('listing', 'ios', ${storefront}, array[${OWN_APP}]::text[]) as gone`
    )[0]!.gone

  test("without further calls, a page of a scan stays due until it is found missing or the hour is over", async () => {
    await scene.ask("?refresh=true")
    await scene.fails(["fr"])
    await scene.fails(["jp"], "blocked")
    expect([await forgets("fr"), await forgets("jp"), await forgets("de")]).toEqual([1, 0, 0])
    await scene.ages("59 minutes 50 seconds")
    expect(await forgets("jp")).toBe(0)
    await scene.ages("10 seconds")
    expect([await forgets("jp"), await forgets("de"), await forgets("us")]).toEqual([1, 1, 0])
  })

  test("a scan starts even if every page reading currently fails as busy", async () => {
    scene = await audited(sql, async () => ({ state: "failed", why: "busy" }))
    expect((await scene.ask("?refresh=true")).status).toBe(202)
  })

  test("a scan leaves leased rows and rows with a higher priority unchanged", async () => {
    await sql`
      insert into due (kind, platform, storefront, subject, priority, next_at, lease, lease_until)
      values ('listing', 'ios', 'de', ${OWN_APP}, 2, now() - interval '1 hour', gen_random_uuid(),
        now() + interval '1 minute'), ('listing', 'ios', 'fr', ${OWN_APP}, 0, now() - interval '1 hour', null, null),
        ('listing', 'ios', 'jp', ${OWN_APP}, 2, now() + interval '9 hours', null, null)`
    await scene.ask("?refresh=true")
    const rows = await sql`
      select storefront, priority, round(extract(epoch from now() - next_at) / 3600)::int as hours,
        lease is not null as leased
      from due
      where kind = 'listing' and storefront in ('de', 'fr', 'jp')
      order by storefront`
    expect([...rows]).toEqual([
      { storefront: "de", priority: 2, hours: 1, leased: true },
      { storefront: "fr", priority: 0, hours: 1, leased: false },
      { storefront: "jp", priority: 1, hours: 0, leased: false },
    ])
  })

  test("a scan of a Free workspace gets a higher priority when a paying workspace joins it", async () => {
    const free = await scene.service.workspace({ plan: "free" })
    const app = await trackOwn(sql, { workspaceId: free, iosId: OWN_APP, countries: ["fr"] })
    const classes = async () =>
      (
        await sql<
          { priority: number }[]
        >`select distinct priority from due where kind = 'listing' and storefront <> 'fr'`
      ).map((row) => row.priority)
    await beginScan(sql, app)
    expect(await classes()).toEqual([2])
    await scene.ask("?refresh=true")
    expect(await classes()).toEqual([1])
    expect(await scene.scans()).toHaveLength(1)
  })

  test("a scan skips storefronts whose page was read recently and storefronts that do not sell the app", async () => {
    await scene.says({ us: {} }, 719)
    await scene.says({ de: {} }, 721)
    await scene.fails(["fr"], "not_found", 719)
    await scene.fails(["it"], "not_found", 721)
    await scene.fails(["es"], "blocked", 1)
    const look = (storefront: string, hours: number) =>
      record(sql, [
        appsReading(new Date(Date.now() - hours * 3_600_000).toISOString(), [], { asked: [OWN_APP], storefront }),
      ])
    await look("nl", 71)
    await look("be", 73)
    await scene.ask("?refresh=true")
    expect(await scene.due()).toEqual(otherStorefronts("us", "fr", "nl"))
  })
})
