import type { AnswerOf } from "../../answers.ts"
import { isStoreId } from "../../lib/store-ids.ts"
import type { PageContext } from "../../ui/app/context.ts"

type Gap = AnswerOf<"hive_get_keyword_gap">
type GapRow = Gap["keywords"][number]

/** Keywords of several apps, with the rank of each. */
export interface Comparison {
  apps: { id: string; name: string; keywords: number }[]
  /**
   * Ranks by app. Null: the app is absent from the results. Undefined: unknown, because the keyword was not read for
   * this app.
   */
  rows: (Omit<GapRow, "held" | "missing" | "ranks"> & { ranks: ReadonlyMap<string, number | null | undefined> })[]
  searched: number
  /** True if there are more keywords than were read. */
  isCut: boolean
}

/** Maximum number of apps in one call of the operation, which needs at least two. */
const MAX_TOGETHER = 5

/** Compares one to ten apps of one store. Keywords that most apps rank for come first, then the most searched. */
export async function compareApps(context: PageContext, ids: readonly string[], country: string): Promise<Comparison> {
  const platform = isStoreId("ios", ids[0] ?? "") ? "ios" : "android"
  const [only] = ids
  if (only !== undefined && ids.length === 1) {
    const { name, total, keywords, searched, nextCursor } = await context.ask("hive_spy_app", {
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
    parts.map((part) => context.ask("hive_get_keyword_gap", { ids: [...part], country, platform })),
  )
  return joined(gaps)
}

/**
 * Joins comparisons of different apps. A complete comparison lists every keyword of its apps, so its apps are absent
 * for all other keywords. If a comparison was cut, their ranks for other keywords are unknown.
 */
function joined(gaps: readonly Gap[]): Comparison {
  const apps = gaps.flatMap((gap) => gap.apps).map(({ id, name, keywords }) => ({ id, name, keywords }))
  const parts = gaps.map((gap) => ({ ...gap, byTerm: new Map(gap.keywords.map((row) => [row.term, row])) }))
  const firsts = new Map(gaps.flatMap(({ keywords }) => keywords.map((row) => [row.term, row] as const)).reverse())
  const rows = [...firsts.values()].map(({ held: _, missing: __, ranks: ___, ...row }) => {
    const ranks = parts.flatMap(({ apps, byTerm, nextCursor }) => {
      const unlisted = nextCursor === null ? null : undefined
      const listed = byTerm.get(row.term)
      return apps.map(({ id }) => [id, listed ? (listed.ranks[id] ?? null) : unlisted] as const)
    })
    return { ...row, ranks: new Map(ranks) }
  })
  const heldBy = ({ ranks }: Comparison["rows"][number]) =>
    [...ranks.values()].filter((rank) => typeof rank === "number").length
  const searchesOf = ({ popularity, popularityLow }: Comparison["rows"][number]) => popularity ?? popularityLow ?? 0
  return {
    apps,
    rows: rows.toSorted((a, b) => heldBy(b) - heldBy(a) || searchesOf(b) - searchesOf(a) || (a.term < b.term ? -1 : 1)),
    searched: Math.max(...gaps.map(({ searched }) => searched)),
    isCut: gaps.some(({ nextCursor }) => nextCursor !== null),
  }
}
