import { beforeAll, expect, test } from "bun:test"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import type { Sql } from "../../src/database/types.ts"
import { kindsOf } from "../../src/due-kinds.ts"
import type { Upstream } from "../../src/lib/upstreams.ts"
import { freshDatabase } from "../database.ts"
import { requestsADay, type Tracked } from "./requests-a-day.ts"

let sql: Sql
beforeAll(async () => {
  sql = await freshDatabase()
})

const ONE: Tracked = { platform: "ios", countries: ["us"], keywords: 50, rivals: 10 }
const TABLE: Record<string, Tracked> = {
  // 50 searches; its page and ten rivals' pages; 12 charts; a look-up; 10/7 for difficulties; 5/4 for reviews; 1/7 and
  // 1/30; 50 * 4/7; 1/14
  "an iOS app in one storefront": ONE,
  "an iOS app in three": { ...ONE, countries: ["us", "de", "jp"] },
  // 50 searches, 11 pages of apps, 50/7 suggestions, 5/4 for reviews
  "an Android app in one": { ...ONE, platform: "android" },
}

test.each(Object.entries(TABLE))("%s takes as many requests a day as the manual says", async (row, tracked) => {
  expect(await requestsADay(sql, tracked)).toEqual(stated(row))
})

test("one more app takes as many more requests as the manual says", async () => {
  const [one, two] = [await requestsADay(sql, ONE), await requestsADay(sql, { ...ONE, apps: 2 })]
  const { "developer-sites": _, ...more } = stated("one more iOS app, same storefront and genre")
  for (const [upstream, requests] of Object.entries(more)) {
    const between = two[upstream as Upstream]! - one[upstream as Upstream]!
    expect([upstream, between]).toEqual([upstream, requests])
  }
})

test("every kind of measurement has requests", () => {
  for (const { name, requests, together, everyDays } of kindsOf({ egressCountry: "us" })) {
    expect([name, requests > 0]).toEqual([name, true])
    expect([together, everyDays].every((one) => one >= 1)).toBeTrue()
  }
})

/** Returns the row of the manual's table with these upstreams. */
function stated(row: string): Partial<Record<Upstream, number>> {
  const cells = (line: string) =>
    line
      .split("|")
      .slice(2, -1)
      .map((cell) => cell.trim())
  const page = join(import.meta.dirname, "../../src/docs/manual/measuring.md")
  const lines = readFileSync(page, "utf8").split("\n")
  const place = lines.findIndex((line) => line.startsWith(`| ${row} `))
  const heads = lines.slice(0, place).findLast((line) => line.startsWith("| tracked ")) as string
  const figures = cells(lines[place] as string).map((cell) => /^(?:about )?(\d+)$/.exec(cell)?.[1])
  const named = cells(heads).map((head) => (head === "developers' sites" ? "developer-sites" : head))
  return Object.fromEntries(
    named.flatMap((head, at) => (figures[at] === undefined ? [] : [[head, Number(figures[at])]])),
  )
}
