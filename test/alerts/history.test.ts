import { beforeAll, expect, test } from "bun:test"
import type { Sql } from "../../src/database/types.ts"
import { addDays } from "../../src/lib/days.ts"
import { SOURCE_CODES } from "../../src/lib/rank-sources.ts"
import type { RankSource } from "../../src/lib/upstreams.ts"
import { freshDatabase } from "../database.ts"
import { randomOf, shuffled } from "../measuring/record/listed.ts"
import { reading } from "../measuring/record/measured.ts"
import { deriveFor, OWN, otherIds, RANKS, readAlerts, storeAll, trackNew } from "./derived-alerts.ts"

const SEED = 20_251_120
const FIRST = "2025-10-20"
const DAYS = Array.from({ length: 24 }, (_, at) => addDays(FIRST, at))
const TERMS = Array.from({ length: 12 }, (_, at) => `term ${at}`)
const NAMED = ["30001", "30002"]
/** The day on which tracking of each keyword began. */
const SINCE = new Map(TERMS.map((term, at) => [term, at % 3 === 0 ? "2025-11-05" : FIRST]))

interface Reading {
  term: string
  day: string
  hour: number
  source: RankSource
  complete: boolean
  ids: string[]
}

/** Generates readings with gaps, several per day, three sources and different depths. Few ranks stay the same. */
function randomHistory(random: () => number): Reading[] {
  const pick = <T>(all: readonly T[]) => all[Math.floor(random() * all.length)] as T
  return DAYS.flatMap((day) =>
    TERMS.flatMap((term) => {
      const times = pick([0, 1, 1, 1, 1, 2])
      return Array.from({ length: times }, (_, at): Reading => {
        const apps = [OWN, ...NAMED, ...otherIds(17)].filter(() => random() < 0.8)
        const ids = shuffled(apps, random).slice(0, pick([4, 10, 20, 20]))
        const source = pick(["import", "import", "import", "apple-web-search"] as const)
        return { term, day, hour: 3 + 4 * at, source, complete: random() < 0.9, ids }
      })
    }),
  )
}

const history = randomHistory(randomOf(SEED))
let sql: Sql

beforeAll(async () => {
  sql = await freshDatabase()
  const appId = await trackNew(sql, TERMS, { since: FIRST, manualRivals: NAMED.map((id) => `ios:${id}`) })
  for (const [term, since] of SINCE)
    await sql`
      update tracked_term
      set added_at = ${`${since}T20:00:00Z`}
      where app_id = ${appId} and term = ${term}`
  for (const day of DAYS) {
    const readings = history.filter((candidate) => candidate.day === day)
    await storeAll(
      sql,
      readings.map(({ term, hour, source, complete, ids }) =>
        reading(term, `${day}T0${hour}:00:00Z`, ids, { source, complete }),
      ),
    )
    await deriveFor(sql, {}, new Date(`${day}T12:00:00Z`))
  }
})

/** Returns the measured days of a keyword, each with the reading that provides its results. */
function measuredDays(term: string): Reading[] {
  return DAYS.flatMap((day) => {
    const [best] = history
      .filter((candidate) => candidate.term === term && candidate.day === day && candidate.complete)
      .sort((a, b) => SOURCE_CODES[a.source] - SOURCE_CODES[b.source] || b.ids.length - a.ids.length || b.hour - a.hour)
    return best ? [best] : []
  })
}

/** Returns each measured day with the previous one, if they are comparable and the keyword was tracked. */
function comparable(): [Reading, Reading][] {
  return TERMS.flatMap((term) => {
    const days = measuredDays(term)
    const pairs = days.slice(1).map((after, at): [Reading, Reading] => [days[at] as Reading, after])
    return pairs.filter(([before, after]) => before.source === after.source && after.day >= (SINCE.get(term) as string))
  })
}

const place = (id: string, { ids }: Reading) => ids.indexOf(id) + 1

test("every move of every keyword has exactly one alert, and there are no other alerts", async () => {
  const expected = comparable().flatMap(([before, after]) => {
    const [was, is] = [place(OWN, before), place(OWN, after)]
    const line = (type: string) =>
      `${after.day} ${type} ${after.term}: ${was || "-"} to ${is || "-"} since ${before.day}`
    if (was && is) return is - was >= 3 ? line("rank_drop") : was - is >= 3 ? line("rank_rise") : []
    if (was) return after.ids.length >= was ? line("dropped_out") : []
    return is && before.ids.length >= is ? line("entered") : []
  })
  const rows = await readAlerts(sql, ...RANKS)
  const lines = rows.map(
    ({ day, type, facts: { term, rank, was, against } }) =>
      `${day} ${type} ${term}: ${was ?? "-"} to ${rank ?? "-"} since ${against}`,
  )
  expect(lines.sort()).toEqual(expected.sort())
  for (const type of RANKS) expect(lines.filter((line) => line.includes(` ${type} `)).length).toBeGreaterThan(5)
})

test("every passing of a rival added by hand has exactly one alert, and there are no other alerts", async () => {
  const above = (rank: number, other: number) => rank > 0 && (other === 0 || rank < other)
  const expected = comparable().flatMap(([before, after]) =>
    NAMED.flatMap((rival) => {
      const [was, is] = [before, after].map((observed) => ({
        ours: place(OWN, observed),
        theirs: place(rival, observed),
      })) as [{ ours: number; theirs: number }, { ours: number; theirs: number }]
      const line = (type: string) =>
        `${after.day} ${type} ${rival} ${after.term}: ${was.ours}/${was.theirs} to ${is.ours}/${is.theirs}`
      if (above(was.ours, was.theirs) && above(is.theirs, is.ours)) return line("rival_passed")
      return above(was.theirs, was.ours) && above(is.ours, is.theirs) ? line("rival_beaten") : []
    }),
  )
  const rows = (await readAlerts(sql, "rival_passed", "rival_beaten")).filter(({ facts }) => facts.manual)
  const lines = rows.map(({ day, type, facts: { rival, term, ours, theirs, oursWas, theirsWas } }) => {
    const [was, is] = [`${oursWas ?? 0}/${theirsWas ?? 0}`, `${ours ?? 0}/${theirs ?? 0}`]
    return `${day} ${type} ${rival} ${term}: ${was} to ${is}`
  })
  expect(lines.sort()).toEqual(expected.sort())
  expect(lines.length).toBeGreaterThan(40)
})
