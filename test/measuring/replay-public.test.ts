import { afterAll, beforeEach, describe, expect, setDefaultTimeout } from "bun:test"
import { appleCharts } from "../../src/charts/sources/apple-charts.ts"
import { replay } from "../../src/commands/replay/replay.ts"
import type { Attempt } from "../../src/core/observation/attempt.ts"
import type { Sql } from "../../src/database/types.ts"
import type { Observation } from "../../src/kinds.ts"
import type { RawBodies } from "../../src/measuring/raw-bodies.ts"
import { SOURCES } from "../../src/sources.ts"
import { appleGenres } from "../../src/stores/apple/genres.ts"
import { itunesDeveloper } from "../../src/stores/apple/itunes-developer.ts"
import { freshDatabase } from "../database.ts"
import { slow } from "../long.ts"
import { record, recordAttempt } from "../record.ts"
import { fixture } from "../stores/parsing/parsed.ts"
import { bodyOf, removeBodies, seenIn, someBodies } from "./bodies.ts"
import { NOW } from "./record/measured.ts"

setDefaultTimeout(60_000)

const AT = "2025-11-19T10:00:00Z"
const now = () => NOW
const CHART = { storefront: "us", device: "iphone", chart: "free", genre: "6015" } as const
const read = {
  chart: () => seenIn(appleCharts, CHART, fixture("apple-charts-us-free-finance.json"), AT),
  genres: () => seenIn(appleGenres, { storefront: "us" }, fixture("apple-genres-us.json"), AT),
  developer: () =>
    seenIn(itunesDeveloper, { storefront: "us", developerId: "1500000011" }, fixture("itunes-developer-us.json"), AT),
}
const TEXTS = {
  chart: "apple-charts-us-free-finance.json",
  genres: "apple-genres-us.json",
  developer: "itunes-developer-us.json",
} as const

let sql: Sql
let bodies: RawBodies

beforeEach(async () => {
  sql = await freshDatabase()
  bodies = someBodies(now)
})
afterAll(removeBodies)

const run = (write = false) =>
  replay(sql, { bodies, sources: SOURCES, write, now, since: "2025-01-01", pause: async () => {} })
const keep = (name: string) => bodies.keep(bodyOf(fixture(name), new Date(AT)))

/** Returns what an older parser might have read from the same body. */
function lesser(observation: Observation): Observation {
  const parser = 0
  if (observation.kind === "chart")
    return { ...observation, parser, apps: observation.apps.slice(1), depth: observation.depth - 1 }
  if (observation.kind === "genres") return { ...observation, parser, genres: observation.genres.slice(0, -1) }
  if (observation.kind === "developer") return { ...observation, parser, apps: observation.apps.slice(1) }
  throw new Error(`nothing lesser of ${observation.kind}`)
}

describe.each(["chart", "genres", "developer"] as const)("a stored body of %s", (kind) => {
  slow(`a replay reports ${kind} bodies that are now parsed differently, and records them with write on`, async () => {
    const observation = read[kind]()
    await record(sql, [observation], now)
    const whole = await countStored(kind)
    sql = await freshDatabase()
    await record(sql, [lesser(observation)], now)
    await keep(TEXTS[kind])

    const { sources, examples } = await run()
    expect(sources).toMatchObject([{ source: observation.source, different: 1, same: 0, recorded: 0 }])
    expect(sources[0]!.places).toBeGreaterThan(0)
    expect(examples).toMatchObject([
      { change: "different", storefront: "us", detail: expect.stringMatching(/^\d+ of \d+ /) },
    ])
    expect((await run(true)).sources).toMatchObject([{ different: 1, recorded: 1 }])
    expect((await run()).sources).toMatchObject([{ same: 1, different: 0 }])
    expect(await countStored(kind)).toBe(whole)
  })

  slow(`a replay turns ${kind} bodies that could not be parsed into readings once a parser reads them`, async () => {
    const observation = read[kind]()
    const subject = { chart: "iphone free 6015", genres: "36", developer: "1500000011" }[kind]
    const attempt: Attempt = {
      kind,
      at: new Date(AT),
      subject,
      storefront: "us",
      platform: "ios",
      source: observation.source,
      outcome: "changed",
      sha256: observation.sha256,
    }
    await recordAttempt(sql, attempt, now)
    await keep(TEXTS[kind])
    expect((await run(true)).sources).toMatchObject([{ source: observation.source, nowReadable: 1, recorded: 1 }])
    expect((await run(true)).sources).toMatchObject([
      { source: observation.source, same: 1, nowReadable: 0, recorded: 0 },
    ])
  })
})

/** Returns the number of stored places, genres or apps. */
async function countStored(kind: "chart" | "genres" | "developer"): Promise<number> {
  const [row] = await sql<{ n: number }[]>`
    select (case ${kind}
      when 'chart' then (select cardinality(app_ids) from chart_results)
      when 'genres' then (select count(*) from genre)
      else (select cardinality(app_ids) from developer_shelf)
    end)::int as n`
  return row!.n
}
