import { expect, test } from "bun:test"
import { compareApps } from "../../../src/market/page/keyword-matrix.ts"
import type { PageContext } from "../../../src/ui/app/context.ts"

const row = (term: string, ranks: Record<string, number | null>) => ({
  term,
  ranks,
  held: [],
  missing: [],
  popularity: null,
  popularityLow: null,
})

/** A context in which the comparison of the second half of the apps is cut after one keyword. */
const context = {
  ask: async (_: string, { ids }: { ids: string[] }) =>
    ids.includes("1000001")
      ? { apps: ids.map(appOf), keywords: [row("tides", { 1000001: 3 })], searched: 9, nextCursor: null }
      : {
          apps: ids.map(appOf),
          keywords: [row("moon", { 1000006: 1, 1000004: null })],
          searched: 9,
          nextCursor: "more",
        },
} as unknown as PageContext
const appOf = (id: string) => ({ id, name: id, keywords: 1 })

test("an app missing from a keyword's row is absent if all keywords were loaded, and unknown otherwise", async () => {
  const ids = ["1000001", "1000002", "1000003", "1000004", "1000005", "1000006"]
  const { rows, isCut } = await compareApps(context, ids, "us")
  const ranksOf = (term: string) => ids.map((id) => rows.find((item) => item.term === term)!.ranks.get(id))
  expect(ranksOf("tides")).toEqual([3, null, null, undefined, undefined, undefined])
  expect(ranksOf("moon")).toEqual([null, null, null, null, null, 1])
  expect(isCut).toBe(true)
})
