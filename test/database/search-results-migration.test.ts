import { afterAll, expect, test } from "bun:test"
import { readTree } from "../../src/database/assets.ts"
import type { Sql } from "../../src/database/types.ts"
import { freshDatabase } from "../database.ts"
import { randomFrom } from "../formulas/calibration.ts"

interface Reading {
  listId: number
  source: number
  /** As the database prints it, to the microsecond. */
  seenAt: string
  depth: number
  complete: boolean
  parser: number
  origin: string
  egress: string | null
  /** In hexadecimal digits. */
  sha256: string
  appIds: number[]
}

const FORTNIGHT = 14
const DAY_MS = 86_400_000
/** Three lists over two turns of a month; three of four readings are packed. */
const READINGS = randomReadings()

const PACKED_SINCE = /_(search_fortnights|vacuum_fortnights|search_places)\.sql$/
const UNPACKED = /_unpack_search_results\.sql$/

let sql: Sql

afterAll(async () => {
  await freshDatabase()
})

test("packed readings become the rows of search_results that they were, beside unpacked ones", async () => {
  sql = await freshDatabase()
  await run(PACKED_SINCE)
  await sql`create function next_search_day(of_list int, after_day date) returns date language sql return null::date`
  await sql`
    insert into list (platform, storefront, term)
    values ('ios', 'us', 'tea'), ('ios', 'us', 'mate'), ('android', 'de', 'kaffee')`
  const isPacked = ({ origin }: Reading, place: number) => place % 4 > 0 && origin !== "demo"
  // the partitions of packed readings alone are missing in a restored database
  await insertRows(READINGS.filter((reading, place) => !isPacked(reading, place)))
  await insertPacked(READINGS.filter(isPacked))
  await run(UNPACKED)
  const rows = await sql<Reading[]>`
    select list_id as "listId", source, seen_at::text as "seenAt", depth, complete, parser, origin, egress,
      encode(sha256, 'hex') as sha256, app_ids as "appIds", day
    from search_results
    order by list_id, seen_at, source`
  expect([...rows]).toEqual(READINGS.map((reading) => ({ ...reading, day: reading.seenAt.slice(0, 10) })))
  expect(await sql`select to_regclass('search_fortnight') as packed`).toMatchObject([{ packed: null }])
})

async function run(names: RegExp): Promise<void> {
  const files = [...readTree("sql", ".sql")].filter(([name]) => names.test(name)).sort(([a], [b]) => (a < b ? -1 : 1))
  expect(files.length).toBeGreaterThan(0)
  for (const [, text] of files) await sql.unsafe(text)
}

function randomReadings(): Reading[] {
  const random = randomFrom(39)
  const below = (limit: number) => Math.floor(random() * limit)
  const readings = Array.from({ length: 240 }, (_, i): Reading => {
    const at = new Date(Date.parse("2025-10-20") + below(50) * DAY_MS + below(86_400) * 1_000 + i).toISOString()
    const length = [0, 1, 5, 200, 250][below(5)]!
    return {
      listId: 1 + (i % 3),
      source: [10, 20, 40][below(3)]!,
      seenAt: `${at.slice(0, 10)} ${at.slice(11, 23)}${String(101 + 10 * below(80))}+00`,
      depth: Math.max(1, length),
      complete: below(6) > 0,
      parser: 1 + below(2),
      origin: ["own", "own", "elsewhere", "demo"][below(4)]!,
      egress: ["us", "de", null][below(3)]!,
      sha256: String(i).padStart(64, "0"),
      appIds: Array.from({ length }, (_, place) => 1 + ((place * 7 + below(3)) % 300)),
    }
  })
  return readings.sort((a, b) => a.listId - b.listId || (a.seenAt < b.seenAt ? -1 : 1))
}

async function insertRows(readings: readonly Reading[]): Promise<void> {
  for (const { seenAt } of readings) await sql`select open_month(${seenAt.slice(0, 10)}::date)`
  for (const { listId, seenAt, sha256, appIds, ...row } of readings)
    await sql`
      insert into search_results
        (list_id, day, source, seen_at, depth, complete, parser, origin, egress, sha256, app_ids)
      values (
        ${listId}, ${seenAt.slice(0, 10)}, ${row.source}, ${seenAt}::text::timestamptz, ${row.depth}, ${row.complete},
        ${row.parser}, ${row.origin}, ${row.egress}, decode(${sha256}, 'hex'), ${appIds}::int[]
      )`
}

/** Packs as earlier versions did: readings of one list, fortnight and provenance share a row of at most 256 apps. */
async function insertPacked(readings: readonly Reading[]): Promise<void> {
  const groups: Reading[][] = []
  for (const reading of readings) {
    const group = groups.find((members) => {
      const apps = new Set([...members, reading].flatMap(({ appIds }) => appIds))
      return provenanceOf(members[0]!) === provenanceOf(reading) && members.length < FORTNIGHT && apps.size <= 256
    })
    if (group) group.push(reading)
    else groups.push([reading])
  }
  for (const [part, members] of groups.entries()) {
    const { listId, source, complete, parser, origin, egress } = members[0]!
    const apps = [...new Set(members.flatMap(({ appIds }) => appIds))]
    const places = members.flatMap(({ appIds }) => appIds.map((app) => apps.indexOf(app)))
    const ends = members.map((_, i) => members.slice(0, i + 1).reduce((sum, { appIds }) => sum + appIds.length, 0))
    await sql`
      insert into search_fortnight
        (list_id, fortnight, part, source, complete, parser, origin, egress, seen_ats, depths, ends, sha256s, apps,
          places)
      values (
        ${listId}, ${fortnightOf(members[0]!)}, ${part}, ${source}, ${complete}, ${parser}, ${origin}, ${egress},
        ${members.map(({ seenAt }) => seenAt)}::text[]::timestamptz[],
        ${Buffer.from(members.map(({ depth }) => depth))}, ${ends}::smallint[],
        ${Buffer.from(members.map(({ sha256 }) => sha256).join(""), "hex")}, ${apps}::int[], ${Buffer.from(places)}
      )`
  }
}

function fortnightOf({ seenAt }: Reading): string {
  const day = Date.parse(seenAt.slice(0, 10)) / DAY_MS
  return new Date((day - (day % FORTNIGHT)) * DAY_MS).toISOString().slice(0, 10)
}

function provenanceOf(reading: Reading): string {
  const { listId, source, complete, parser, origin, egress } = reading
  return [listId, fortnightOf(reading), source, complete, parser, origin, egress].join(" ")
}
