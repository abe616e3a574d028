import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import type { ChartObservation } from "../../../src/charts/kinds/chart-shape.ts"
import { charted } from "../../measuring/record/charted.ts"

const ROOT = join(import.meta.dirname, "../../..")
/**
 * Real top-100 charts of one day. The file in the repository contains five genres of two storefronts; an optional
 * second file contains 25 genres of ten storefronts.
 */
export const SOME = join(ROOT, "fixtures/upstream/app-store-charts-gb-us-cut.csv")
export const ALL = join(ROOT, "../shared/data/23-charts-by-storefront/charts_10_storefronts_top100.csv")
export const isAllHere = existsSync(ALL)

export interface MarketApp {
  id: string
  name: string
  developer: string
  developerId: string
}

/** A reading of a chart, as plain values. */
export interface Reading {
  day: string
  country: string
  device: "iphone" | "ipad"
  kind: "free" | "paid" | "grossing"
  genre: string
  apps: MarketApp[]
}

/**
 * Turns the first `places` rows of each list in the file into readings of four days. The file has only bundle ids:
 * store ids, names and publishers are derived from them. The grossing chart is the free chart reversed, the iPad chart
 * has every second app of the free chart, and the overall chart has the first apps of every genre. On the earlier days
 * some apps are missing, and some charts were not read.
 */
export function readingsOf(path: string, days: readonly [string, string, string, string], places: number): Reading[] {
  const [, ...lines] = readFileSync(path, "utf8").trimEnd().split("\n")
  const all = lines.map((line) => line.split(",") as [string, "free" | "paid", string, string, string])
  const rows = all.filter(([, , , place]) => Number(place) <= places)
  const apps = appsOf(rows.map(([, , , , bundle]) => bundle))
  const genres = [...new Set(rows.map(([, , genre]) => genre))].sort()
  const lists = Map.groupBy(rows, ([country, kind, genre]) => `${country} ${kind} ${genre}`)
  const now: Omit<Reading, "day">[] = []
  for (const [key, entries] of lists) {
    const [country, kind, name] = key.split(" ") as [string, "free" | "paid", string]
    const genre = String(6_000 + genres.indexOf(name))
    const listed = entries.toSorted((a, b) => Number(a[3]) - Number(b[3])).map(([, , , , bundle]) => apps.get(bundle)!)
    now.push({ country, device: "iphone", kind, genre, apps: [...new Set(listed)] })
    if (kind === "paid") continue
    now.push({ country, device: "iphone", kind: "grossing", genre, apps: [...new Set(listed)].reverse() })
    now.push({ country, device: "ipad", kind: "free", genre, apps: [...new Set(listed)].filter((_, i) => i % 2 === 0) })
  }
  for (const country of new Set(now.map((list) => list.country))) {
    const free = now.filter((list) => list.country === country && list.device === "iphone" && list.kind === "free")
    const first = [0, 1, 2, 3, 4, 5].flatMap((place) => free.flatMap(({ apps }) => apps[place] ?? []))
    now.push({ country, device: "iphone", kind: "free", genre: "36", apps: [...new Set(first)] })
  }
  const isMissing = (app: MarketApp, of: number) => Number(app.id) % of === 0
  return now.flatMap((list, i) => {
    const thinned = (of: number) => ({ ...list, apps: list.apps.filter((app) => !isMissing(app, of)) })
    const before: Reading[] = []
    if (i % 5 !== 0) before.push({ ...thinned(3), day: days[0] })
    if (i % 7 !== 0) before.push({ ...thinned(4), day: days[1] })
    if (i % 2 === 0) before.push({ ...thinned(5), day: days[2] })
    return i % 11 === 3 && before.length > 0 ? before : [...before, { ...list, day: days[3] }]
  })
}

function appsOf(bundles: readonly string[]): Map<string, MarketApp> {
  const sorted = [...new Set(bundles)].sort()
  const makers = [...new Set(sorted.map((bundle) => makerOf(bundle)))].sort()
  return new Map(
    sorted.map((bundle, i) => {
      // the order of ids differs from that of names
      const id = String(100_000_000 + ((i * 7_919) % 1_000_003))
      const developer = makerOf(bundle)
      const name = bundle.split(".").findLast((part) => part !== "")!
      return [bundle, { id, name, developer, developerId: String(700_000 + makers.indexOf(developer)) }]
    }),
  )
}

function makerOf(bundle: string): string {
  return bundle.split(".")[1] ?? bundle
}

export function observed({ day, country, device, kind, genre, apps }: Reading): ChartObservation {
  return charted(`${day}T06:00:00Z`, [], {
    source: "apple-charts",
    storefront: country,
    device,
    chart: kind,
    genre,
    depth: apps.length,
    apps,
  })
}
