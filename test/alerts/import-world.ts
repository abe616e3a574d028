import { openImportFindings } from "../../src/alerts/imported.ts"
import type { Sql } from "../../src/database/types.ts"
import { addDays } from "../../src/lib/days.ts"
import { shuffled } from "../measuring/record/listed.ts"
import { importLines } from "../record.ts"

export const APP = "10001"
export const RIVAL = "30001"
const STRANGERS = Array.from({ length: 16 }, (_, at) => String(20_001 + at))
const TERMS = ["tea", "mate"]

/** A line of an import file, with the UTC day of its reading. */
export interface Line {
  day: string
  text: string
}

export const termsOfWorld = TERMS

/**
 * Generates readings that cause alerts of every type: gaps, unfinished readings, two sources, several readings per day,
 * and facts (categories, names, the app's genre) that are read on a later day.
 */
export function randomWorld(random: () => number, { first, days }: { first: string; days: number }): Line[] {
  const all = Array.from({ length: days }, (_, at) => addDays(first, at))
  const pick = <T>(from: readonly T[]) => from[Math.floor(random() * from.length)] as T
  const hour = () => String(1 + Math.floor(random() * 10)).padStart(2, "0")
  const at = (day: string) => `${day}T${hour()}:${String(Math.floor(random() * 60)).padStart(2, "0")}:00Z`
  const place = { platform: "ios", storefront: "us" }
  const lines: Line[] = []
  const add = (day: string, line: object) => lines.push({ day, text: JSON.stringify({ ...line, ...place }) })

  const written = new Map(all.map((day) => [day, reviewsOn(day, random)]))
  for (const day of all) {
    for (const term of TERMS) {
      for (let times = pick([0, 1, 1, 1, 2]); times > 0; times--) {
        const apps = shuffled([APP, RIVAL, ...STRANGERS], random).filter(() => random() < 0.85)
        const results = apps.slice(0, pick([6, 12, 18, 18, 18])).map((id) => {
          return { id, ...(random() < 0.05 && { name: `App ${id}` }) }
        })
        const source = pick(["import", "import", "import", "apple-web-search"])
        const complete = random() < 0.9
        add(day, { kind: "search", source, term, seenAt: at(day), depth: results.length, complete, results })
      }
    }
    if (random() < 0.7) {
      const filler = Array.from({ length: 120 }, (_, place) => String(50_001 + place))
      filler.splice(pick([5, 20, 60, 105]), 1, APP)
      const apps = filler.map((id) => ({ id }))
      const chart = { device: "iphone", chart: pick(["free", "grossing"]), genre: "6015" }
      add(day, { kind: "chart", source: "import", ...chart, seenAt: at(day), depth: 120, apps })
    }
    for (const id of [RIVAL, pick(STRANGERS)]) {
      if (random() < 0.3) continue
      const app = {
        id,
        name: `App ${id}`,
        version: pick(["1.0", "1.1", "1.2"]),
        price: pick([0, 1.99]),
        currency: "USD",
      }
      const apps = [app]
      add(day, { kind: "apps", source: "itunes-lookup", seenAt: at(day), asked: [id], apps })
    }
    if (random() < 0.6) {
      const cards = ["1", "2"].filter(() => random() < 0.5).map((id) => ({ id, kind: "story", title: `Card ${id}` }))
      const listing = { name: "Tea Timer", language: "en-US", editorial: cards }
      add(day, { kind: "listing", source: "apple-app-page", id: APP, seenAt: at(day), listing })
    }
    if (random() < 0.8) {
      const reviews = [day, addDays(day, -1), addDays(day, -2)].flatMap((reviewDay) => written.get(reviewDay) ?? [])
      const common = { storeId: APP, seenAt: `${day}T23:10:00Z`, complete: true, reviews }
      add(day, { kind: "reviews", source: "apple-reviews", ...common })
    }
  }
  const late = all.slice(-all.length / 2)
  for (const id of STRANGERS) {
    const genre = id === STRANGERS[0] ? "6015" : "6016"
    const day = pick(late)
    add(day, { kind: "apps", source: "itunes-lookup", seenAt: at(day), asked: [id], apps: [{ id, genre }] })
  }
  const day = pick(late)
  const ownApp = { id: APP, name: "Tea Timer", genre: "6015" }
  add(day, { kind: "apps", source: "itunes-lookup", seenAt: at(day), asked: [APP], apps: [ownApp] })
  return lines.filter((line) => line.day <= (all.at(-1) as string))
}

/** Generates the reviews written on a day. Some days have many one-star reviews. */
function reviewsOn(day: string, random: () => number) {
  const isWave = random() < 0.15
  return Array.from({ length: isWave ? 9 : 2 }, (_, at) => {
    return {
      id: `${day.replaceAll("-", "")}${at}`,
      stars: isWave ? 1 : 5,
      title: "t",
      text: "x",
      at: `${day}T0${at}:30:00Z`,
    }
  })
}

export async function importAll(sql: Sql, lines: readonly string[], now: Date, keptDays = 0): Promise<void> {
  const clock = () => now
  const pause = async () => {}
  const findings = openImportFindings({ now: clock, pause, keptDays })
  async function* each() {
    yield* lines
  }
  const { bad } = await importLines(sql, each(), { now: clock, pause, note: findings.note })
  if (bad[0]) throw new Error(`line ${bad[0].line}: ${bad[0].reason}`)
  await findings.tell(sql)
}

/** Returns the whole feed, without ids and times of discovery. */
export async function readWholeFeed(sql: Sql): Promise<string[]> {
  const rows = await sql<Record<string, unknown>[]>`
    select day, type, platform, storefront, subject, at, facts, history, read_at is not null as read
    from alert
    order by day, type, storefront, subject`
  return rows.map((row) => JSON.stringify(row))
}
