import { beforeEach, expect, test } from "bun:test"
import type { Sql } from "../../src/database/types.ts"
import type { EditorialCard } from "../../src/stores/kinds/listing-shape.ts"
import { freshDatabase } from "../database.ts"
import { listed } from "../measuring/record/listed.ts"
import { deriveFor, lines, OWN, readAlerts, storeAll, trackNew } from "./derived-alerts.ts"

const STORY: EditorialCard = { id: "1400000001", kind: "story", title: "Slow mornings" }
const COLLECTION: EditorialCard = { id: "1500000001", kind: "collection" }
let sql: Sql

beforeEach(async () => {
  sql = await freshDatabase()
  await trackNew(sql, ["tea"])
})

function page(day: number, editorial: EditorialCard[], id = OWN) {
  return listed(`2025-11-${day}T09:00:00Z`, { editorial }, { id })
}

test("a new editorial card on a page causes an alert; a removed card or another app's card does not", async () => {
  await storeAll(sql, [page(18, [STORY]), page(19, [STORY, COLLECTION]), page(20, [COLLECTION])])
  await storeAll(sql, [page(19, [], "39999"), page(20, [STORY], "39999")])
  await deriveFor(sql)
  const rows = await readAlerts(sql)
  expect(lines(rows)).toEqual(["2025-11-19 featured collection 1500000001"])
  expect(rows[0]).toMatchObject({ storefront: "us", at: new Date("2025-11-19T09:00:00Z") })
  expect(rows[0]?.facts).toEqual({
    card: "collection",
    id: "1500000001",
    title: null,
    source: "apple-app-page",
    beforeSeenAt: "2025-11-18T09:00:00.000Z",
  })
})

test.each([
  [17, []],
  [18, ["2025-11-18 featured story 1400000001"]],
])("an editorial card first seen on the %pth gives the alerts %p", async (day, expected) => {
  await storeAll(sql, [page(10, []), page(day, [STORY])])
  await deriveFor(sql)
  expect(lines(await readAlerts(sql))).toEqual(expected)
})
