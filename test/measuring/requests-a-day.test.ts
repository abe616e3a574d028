import { beforeAll, expect, test } from "bun:test"
import type { Sql } from "../../src/database/types.ts"
import { kindsOf } from "../../src/due-kinds.ts"
import type { Upstream } from "../../src/lib/upstreams.ts"
import { freshDatabase } from "../database.ts"
import { cells, pageOf } from "../docs/pages.ts"
import { slow } from "../long.ts"
import { requestsADay, type Tracked } from "./requests-a-day.ts"

let sql: Sql
beforeAll(async () => {
  sql = await freshDatabase()
})

const IOS_APP: Tracked = { platform: "ios", countries: ["us"], keywords: 50, rivals: 10 }
const TABLE: Record<string, Tracked> = {
  // 50 searches; its page and ten rivals' pages; 12 charts; a look-up; 10/7 for difficulties; 5/4 for reviews; 1/7 and
  // 1/30; 50 * 4/7; 1/14
  "an iOS app": IOS_APP,
  "in three storefronts": { ...IOS_APP, countries: ["us", "de", "jp"] },
  // 50 searches, 11 pages of apps, 50/7 suggestions, 5/4 for reviews
  "an Android app": { ...IOS_APP, platform: "android" },
}

test.each(Object.entries(TABLE))("the requests per day of %s are those in the manual", async (column, tracked) => {
  expect(await requestsADay(sql, tracked)).toEqual(stated(column))
})

slow("the additional requests per day for one more app are those in the manual", async () => {
  const [single, two] = [await requestsADay(sql, IOS_APP), await requestsADay(sql, { ...IOS_APP, apps: 2 })]
  const { "developer-sites": _, ...more } = stated("one more iOS app of the genre")
  for (const [upstream, requests] of Object.entries(more)) {
    const between = two[upstream as Upstream]! - single[upstream as Upstream]!
    expect([upstream, between]).toEqual([upstream, requests])
  }
})

test("every kind of measurement takes requests and has an interval of at least one day", () => {
  for (const { name, requests, together, everyDays } of kindsOf({ egressCountry: "us" })) {
    expect([name, requests > 0]).toEqual([name, true])
    expect([together, everyDays].every((count) => count >= 1)).toBeTrue()
  }
})

/** Returns the figures by upstream in a column of the manual's table. */
function stated(column: string): Partial<Record<Upstream, number>> {
  const [, table = ""] = pageOf("measuring").split("## Requests per day")
  const [heads = [], , ...rows] = cells(table)
  const place = heads.indexOf(column)
  return Object.fromEntries(
    rows.flatMap((row) => {
      const upstream = row[0] === "developers' sites" ? "developer-sites" : row[0]
      const figure = /^(?:about )?(\d+)$/.exec(row[place] as string)?.[1]
      return figure === undefined ? [] : [[upstream, Number(figure)]]
    }),
  )
}
