import { expect } from "bun:test"
import type { Sql } from "../../src/database/types.ts"
import { addDays } from "../../src/lib/days.ts"
import { freshDatabase } from "../database.ts"
import { cases, long, slow } from "../long.ts"
import { randomOf, shuffled } from "../measuring/record/listed.ts"
import { trackNew } from "./derived-alerts.ts"
import { APP, importAll, type Line, RIVAL, randomWorld, readWholeFeed, termsOfWorld } from "./import-world.ts"

const TODAY = new Date("2025-11-20T23:59:00Z")
const DAYS = 16
const FIRST = addDays("2025-11-20", 1 - DAYS)

async function trackedWorld(): Promise<Sql> {
  const sql = await freshDatabase()
  await trackNew(sql, termsOfWorld, { iosId: APP, manualRivals: [`ios:${RIVAL}`] })
  return sql
}

const textsOf = (lines: readonly Line[]) => lines.map(({ text }) => text)

function splitBetween<T>(all: readonly T[], count: number): T[][] {
  return Array.from({ length: count }, (_, at) =>
    all.filter((_, place) => Math.floor((place * count) / all.length) === at),
  )
}

const byDay = (line: Line, other: Line) => (line.day < other.day ? -1 : line.day > other.day ? 1 : 0)

const CUTS: Record<string, (lines: Line[], random: () => number) => Line[][]> = {
  "in one import, shuffled": (lines, random) => [shuffled(lines, random)],
  "in six imports, shuffled": (lines, random) => splitBetween(shuffled(lines, random), 6),
  "in six imports, newest days first": (lines) => splitBetween(lines.toSorted(byDay), 6).reverse(),
  "in a file per kind and keyword": (lines) => {
    const name = ({ text }: Line) => {
      const { kind, term = "" } = JSON.parse(text) as { kind: string; term?: string }
      return `${kind} ${term}`
    }
    return [...Map.groupBy(lines, name).values()]
  },
}

const worlds = Array.from({ length: cases(1, 6) }, (_, at) => {
  return randomWorld(randomOf((at + 1) * 7919), { first: FIRST, days: DAYS })
})
const feeds = new Map<number, Promise<string[]>>()

/** Returns the feed of a world that is imported whole, in the order of its days. */
function feedOf(world: number): Promise<string[]> {
  const feed = feeds.get(world) ?? importWhole(worlds[world] as Line[])
  feeds.set(world, feed)
  return feed
}

async function importWhole(lines: readonly Line[]): Promise<string[]> {
  const sql = await trackedWorld()
  await importAll(sql, textsOf(lines.toSorted(byDay)), TODAY)
  return await readWholeFeed(sql)
}

async function importCut(world: number, cut: string): Promise<void> {
  const sql = await trackedWorld()
  for (const part of CUTS[cut]!(worlds[world] as Line[], randomOf(world + 1)))
    await importAll(sql, textsOf(part), TODAY)
  expect(await readWholeFeed(sql)).toEqual(await feedOf(world))
}

const LIMIT_MS = 120_000

/**
 * Leaves out everything that depends on the day of the import: whether an alert is news, and alerts about rivals that
 * are followed on that day only.
 */
function withoutHistory(feed: readonly string[]): string[] {
  return feed.flatMap((row) => {
    const { history: _, read: __, facts, ...alert } = JSON.parse(row)
    return facts.manual === false ? [] : [JSON.stringify({ ...alert, facts })]
  })
}

long(
  "importing day by day gives the same feed as one import, except for temporarily followed rivals",
  async () => {
    const sql = await trackedWorld()
    const byDays = Map.groupBy(worlds[0]!.toSorted(byDay), ({ day }) => day)
    for (const [day, lines] of byDays) await importAll(sql, textsOf(lines), new Date(`${day}T23:59:00Z`))
    const [lived, whole] = [await readWholeFeed(sql), await feedOf(0)]
    expect(withoutHistory(lived)).toEqual(withoutHistory(whole))
    const keysOf = (feed: string[]) =>
      feed.map((row) => JSON.parse(row)).map(({ day, type, subject }) => `${day} ${type} ${subject}`)
    expect(keysOf(whole).filter((key) => !keysOf(lived).includes(key))).toEqual([])
  },
  LIMIT_MS,
)

long(
  "data imported in six shuffled parts gives the same alerts of every type as one import",
  async () => {
    const types = new Set((await feedOf(0)).map((row) => JSON.parse(row).type))
    expect([...types].sort()).toEqual([
      ...["chart_drop", "chart_enter", "dropped_out", "entered", "featured", "off_topic", "rank_drop", "rank_rise"],
      ...["review_wave", "rival_beaten", "rival_event", "rival_passed"],
    ])
    await importCut(0, "in six imports, shuffled")
  },
  LIMIT_MS,
)

const EACH = worlds.flatMap((_, world) => Object.keys(CUTS).map((cut): [number, string] => [world, cut]))

long.each(EACH)(
  "data set %p imported %s gives the same feed as one import in the order of days",
  async (world, cut) => await importCut(world, cut),
  LIMIT_MS,
)

slow(
  "a repeated import changes no alert",
  async () => {
    const sql = await trackedWorld()
    const lines = textsOf(worlds[0]!.filter(({ day }) => day >= "2025-11-14"))
    const rows = () => sql`select *, xmin::text from alert order by id`
    await importAll(sql, lines, TODAY)
    const before = [...(await rows())]
    expect(before.length).toBeGreaterThan(5)
    await importAll(sql, lines.toReversed(), TODAY)
    expect([...(await rows())]).toEqual(before)
  },
  LIMIT_MS,
)
