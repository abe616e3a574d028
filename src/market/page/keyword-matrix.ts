import type { AnswerOf } from "../../answers.ts"
import { isStoreId } from "../../lib/store-ids.ts"
import type { Desk } from "../../ui/app/desk.ts"

type Gap = AnswerOf<"hive_get_keyword_gap">
type GapRow = Gap["keywords"][number]

/** Keywords of several apps, with the rank of each. */
export interface Comparison {
  apps: { id: string; name: string; keywords: number }[]
  rows: (Omit<GapRow, "held" | "missing" | "ranks"> & { ranks: ReadonlyMap<string, number | null> })[]
  searched: number
  /** There are more keywords than were read. */
  isCut: boolean
}

/** The operation compares two to five apps. */
const MAX_TOGETHER = 5

/** Compares one to ten apps of one store. Keywords of most apps come first, then the most searched. */
export async function compareApps(desk: Desk, ids: readonly string[], country: string): Promise<Comparison> {
  const platform = isStoreId("ios", ids[0] ?? "") ? "ios" : "android"
  const [only] = ids
  if (only !== undefined && ids.length === 1) {
    const { name, total, keywords, searched, nextCursor } = await desk.ask("hive_spy_app", {
      id: only,
      country,
      platform,
    })
    const rows = keywords.map(({ rank, ...row }) => ({ ...row, ranks: new Map([[only, rank]]) }))
    return { apps: [{ id: only, name, keywords: total }], rows, searched, isCut: nextCursor !== null }
  }
  const half = ids.length > MAX_TOGETHER ? Math.ceil(ids.length / 2) : ids.length
  const parts = [ids.slice(0, half), ids.slice(half)].filter((part) => part.length > 0)
  const gaps = await Promise.all(
    parts.map((part) => desk.ask("hive_get_keyword_gap", { ids: [...part], country, platform })),
  )
  return joined(gaps)
}

/** Joins comparisons of different apps. A keyword that only one of them lists has none of the other's apps. */
function joined(gaps: readonly Gap[]): Comparison {
  const apps = gaps.flatMap((gap) => gap.apps).map(({ id, name, keywords }) => ({ id, name, keywords }))
  const byTerm = Map.groupBy(
    gaps.flatMap(({ keywords }) => keywords),
    ({ term }) => term,
  )
  const rows = [...byTerm.values()].map((found) => {
    const { held: _, missing: __, ranks: ___, ...row } = found[0]!
    const ranks = new Map(apps.map(({ id }) => [id, found.find(({ ranks }) => id in ranks)?.ranks[id] ?? null]))
    return { ...row, ranks }
  })
  const heldBy = ({ ranks }: Comparison["rows"][number]) => [...ranks.values()].filter((rank) => rank !== null).length
  const searchesOf = ({ popularity, popularityLow }: Comparison["rows"][number]) => popularity ?? popularityLow ?? 0
  return {
    apps,
    rows: rows.toSorted((a, b) => heldBy(b) - heldBy(a) || searchesOf(b) - searchesOf(a) || (a.term < b.term ? -1 : 1)),
    searched: Math.max(...gaps.map(({ searched }) => searched)),
    isCut: gaps.some(({ nextCursor }) => nextCursor !== null),
  }
}
