import { expect, test } from "bun:test"
import type { Tx } from "../../../src/database/types.ts"
import { readKeywordEvidence } from "../../../src/keywords/read/keyword-evidence.ts"
import { deriveKeywordMetrics } from "../../../src/keywords/store/keyword-metrics.ts"
import { SOURCES } from "../../../src/sources.ts"
import { freshDatabase } from "../../database.ts"
import { appsReading, hintsReading, NOW, reading } from "../../measuring/record/measured.ts"
import { record } from "../../record.ts"

test("evidence without a requested day has the current figures, even if the results are older", async () => {
  const sql = await freshDatabase()
  const list = { platform: "ios", storefront: "us", term: "tea" } as const
  const AT = "2025-11-20T09:00:00Z"
  await record(
    sql,
    [reading("tea", "2025-11-17T10:00:00Z", ["20001"]), hintsReading("tea", AT, ["tea time"])],
    () => NOW,
  )
  await record(sql, [appsReading(AT, [{ id: "20001", ratings: 7 }])], () => NOW)
  await sql.begin((tx) => deriveKeywordMetrics(tx as Tx, [list], NOW))
  const [app] = await sql<{ id: number; storeId: string }[]>`select id, store_id as "storeId" from store_app`
  const evidenceOn = async (day?: string) => {
    const parts = { sql, bodies: { has: async () => false }, sources: SOURCES }
    const evidence = await readKeywordEvidence(parts, { list, app: app!, day, today: "2025-11-20" })
    return [evidence.day, evidence.metrics.map(({ metric }) => metric), evidence.ratings.map(({ ratings }) => ratings)]
  }
  expect(await evidenceOn()).toEqual(["2025-11-17", ["hints", "popularity"], [7]])
  expect(await evidenceOn("2025-11-17")).toEqual(["2025-11-17", [], []])
})
