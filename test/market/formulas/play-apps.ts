import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { gunzipSync } from "node:zlib"
import type { TruthPair } from "../../../src/market/formulas/conformal.ts"
import { daysBetween } from "../../../src/market/formulas/count-readings.ts"
import { randomFrom } from "./calibration.ts"
import { installsOf, type LevelFacts } from "./installs/level.ts"
import type { LevelFit } from "./installs/level-fit.ts"

const ROOT = join(import.meta.dirname, "../../..")

/**
 * Apps of Google Play with their exact installs. The repository contains those that no fit used; an optional second
 * file has all apps.
 */
export const SOME = join(ROOT, "fixtures/upstream/play-exact-installs-us-2020-07-2021-06-cut.csv.gz")
export const ALL = join(ROOT, "../shared/data/21-play-exact-installs/play_exact_installs_2020-07_2021-06.csv")
export const isAllHere = existsSync(ALL)

/** An app on the day on which its page was read. */
export interface PlayApp {
  id: string
  /** "2020-07" or "2021-06" */
  month: string
  installs: number
  released: string | null
  facts: LevelFacts
}

/** The two readings of one app. */
export interface AppTwice {
  id: string
  first: PlayApp
  second: PlayApp
}

/** Days from the first readings to the second. */
export const APART = 328
const MONTHS = { "2020-07": "2020-07-22", "2021-06": "2021-06-15" } as const
const [EARLIER, LATER] = Object.keys(MONTHS) as [string, string]

/** The file has no quoted fields. */
export function appsOf(path: string): PlayApp[] {
  const bytes = readFileSync(path)
  const text = (path.endsWith(".gz") ? gunzipSync(bytes) : bytes).toString()
  const [head, ...lines] = text.trimEnd().split(/\r?\n/)
  const names = (head as string).split(",")
  return lines.map((line) => {
    const fields = line.split(",")
    return appOf(Object.fromEntries(names.map((name, at) => [name, fields[at] ?? ""])))
  })
}

export function appsTwice(apps: readonly PlayApp[]): AppTwice[] {
  const later = new Map(apps.filter(({ month }) => month === LATER).map((app) => [app.id, app]))
  return apps
    .filter(({ month }) => month === EARLIER)
    .flatMap((first) => {
      const second = later.get(first.id)
      return second ? [{ id: first.id, first, second }] : []
    })
    .sort((a, b) => (a.id < b.id ? -1 : 1))
}

/** Returns the apps with at least ten ratings that occur in only one month. */
export function ratedOnce(apps: readonly PlayApp[], month?: string): PlayApp[] {
  const twiceIds = new Set(appsTwice(apps).map(({ id }) => id))
  return apps.filter(
    (app) => !twiceIds.has(app.id) && app.facts.ratings >= 10 && app.installs > 0 && (!month || app.month === month),
  )
}

/** Returns whether an app belongs to the fifth of all apps that no fit ever uses, chosen by id alone. */
export function isLeftOut({ id }: Pick<PlayApp, "id">): boolean {
  return hashOf(`17:${id}`) % 5 === 0
}

export function truthPairs(apps: readonly PlayApp[], fit?: LevelFit): TruthPair[] {
  return apps.map(({ facts, installs }) => ({
    ratings: facts.ratings,
    stated: installsOf(facts, fit) as number,
    truth: installs,
  }))
}

/** Returns the items in a random order that the seed determines. */
export function shuffled<T>(items: readonly T[], seed: number): T[] {
  const random = randomFrom(seed)
  return items
    .map((item) => ({ item, at: random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item)
}

function appOf(row: Record<string, string>): PlayApp {
  const month = row.set as keyof typeof MONTHS
  const day = row.scraped || MONTHS[month]
  return {
    id: row.app_id as string,
    month,
    installs: Number(row.installs),
    released: row.released || null,
    facts: {
      ratings: Number(row.ratings || 0),
      rating: row.rating ? Number(row.rating) : null,
      ageDays: row.released ? Math.max(1, daysBetween(row.released, day)) : null,
      updatedDays: row.updated ? Math.max(1, daysBetween(row.updated, day)) : null,
      priceUsd: row.free === "1" ? 0 : Number(row.price_usd || 0),
      inApp: row.iap === "1",
      ads: row.ads === "1",
      category: row.category || null,
    },
  }
}

/** FNV-1a, 32 bits. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5
  for (const byte of new TextEncoder().encode(text)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0
  return hash
}
