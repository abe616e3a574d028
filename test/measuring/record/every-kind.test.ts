import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import type { AnyKind } from "../../../src/core/kind.ts"
import { ObservationProblem } from "../../../src/core/observation/invariants.ts"
import type { AnyObservation } from "../../../src/core/observation/provenance.ts"
import type { Sql } from "../../../src/database/types.ts"
import type { Observation } from "../../../src/kinds.ts"
import { KINDS } from "../../../src/kinds.ts"
import { importLines } from "../../../src/measuring/import/import-lines.ts"
import { LineProblem, parseLine } from "../../../src/measuring/import/lines.ts"
import { createRecording } from "../../../src/measuring/record/record.ts"
import { recording as shipped } from "../../../src/recording.ts"
import { holdAccount } from "../../consoles/reported.ts"
import { freshDatabase } from "../../database.ts"
import { cases } from "../../long.ts"
import { AWARDS, awards } from "./awards.ts"
import { randomOf, shuffled } from "./listed.ts"
import { WRONG } from "./wrong-readings.ts"

/** The invented kind needs nothing more than this line. */
const ALL: readonly AnyKind[] = [...KINDS, awards]
const recording = createRecording({ ...shipped, kinds: ALL })
const { record, checkObservation } = recording

const NOW = new Date("2026-01-01T00:00:00Z")
const now = () => NOW
let sql: Sql

beforeEach(async () => {
  sql = await freshDatabase()
})

const lineOf = ({ name, example }: AnyKind, rest: object = {}) => JSON.stringify({ kind: name, ...example, ...rest })

function exampleOf(kind: AnyKind, rest: object = {}): AnyObservation {
  const parsed = parseLine(lineOf(kind), ALL)
  if (parsed.kind === "attempt") throw new Error("read as an attempt")
  return { ...parsed.observation, ...rest } as AnyObservation
}

const recordAll = (...all: AnyObservation[]) => record(sql, all as Observation[], now)

/** Returns what is stored: complete observations, or the rows of a kind that cannot be read back. */
async function storedOf(kind: AnyKind): Promise<AnyObservation[]> {
  if (!kind.stored) return await ROWS[kind.name as string]!()
  const pages: AnyObservation[] = []
  for await (const page of kind.stored(sql, { since: null, sources: kind.sources })) pages.push(...page)
  return pages
}

/** Bodies that name people are not stored, and nothing reads the pages again. */
const ROWS: Record<string, () => Promise<AnyObservation[]>> = {
  reviews: () => sql`
    select v.feed, v.review_id, v.current, v.stars, v.text, v.first_seen_at, v.seen_at as "seenAt", v.parser, v.sha256,
      r.complete, r.pages, r.seen_at, r.parser as "endParser", encode(r.sha256, 'hex') as "endSha"
    from review_version v
    join review_read r using (app_id, feed)
    order by v.feed, v.review_id, v.digest, r.complete`,
  console_reviews: () => sql`
    select c.review_id, c.at, c.language, c.version, c.version_code, c.device, c.android_api, c.reply, c.reply_at,
      v.feed, v.current, v.stars, v.text, c.seen_at as "seenAt", c.parser, c.sha256
    from console_review c
    join review_version v using (app_id, review_id)
    order by c.review_id, v.digest`,
  listing: () => sql`
    select m.at as "seenAt", r.parser, r.origin, m.sha256, r.section, c.content, i.items
    from listing_run r
    join listing_content c using (app_id, storefront, source, section, digest)
    cross join lateral unnest(r.moments, r.sha256s) m (at, sha256)
    cross join lateral (
      select jsonb_agg(to_jsonb(l) - 'app_id' order by l.kind, l.item_id) as items
      from listing_item l
      where l.app_id = r.app_id
    ) i
    order by r.section, m.at`,
}

/** Deletes what is stored; by hand if the kind's table is not part of the schema. */
async function empty(kind: AnyKind): Promise<void> {
  if (kind === awards) await sql`truncate award`
  else await freshDatabase()
  if (kind.private) await holdAccount(sql)
}

test("every kind of observation has a different name", () => {
  const names = KINDS.map(({ name }) => name)
  expect(new Set(names).size).toBe(names.length)
})

describe.each(ALL.map((kind) => [kind.name as string, kind] as const))("a kind: %s", (_, kind) => {
  beforeEach(async () => {
    if (kind === awards) await sql.unsafe(AWARDS)
    if (kind.private) await holdAccount(sql)
  })
  // a changed schema is created anew for the next test, which takes a hundred times as long
  afterEach(async () => {
    if (kind === awards) await sql`drop table award`
  })

  test(`the example of ${kind.name} imports, changes nothing when repeated, and is read back unchanged`, async () => {
    const lines = async function* () {
      yield lineOf(kind)
    }
    const options = { now, pause: async () => {} }
    expect(await importLines(recording, sql, lines(), options)).toEqual({
      read: 1,
      recorded: 1,
      known: 0,
      attempts: 0,
      bad: [],
    })
    expect(await importLines(recording, sql, lines(), options)).toMatchObject({ recorded: 0, known: 1 })
    const stored = await storedOf(kind)
    if (!kind.stored) return expect(stored).toHaveLength(1)
    expect(stored).toEqual([
      expect.objectContaining({ ...plain(exampleOf(kind)), ...STORED_FIELDS[kind.name as string] }),
    ])
    // and everything stored can be recorded again from what was read back
    await empty(kind)
    expect(await recordAll(...stored)).toEqual({ recorded: 1, alreadyStored: 0, refused: [] })
    expect(await storedOf(kind)).toEqual(stored)
  })

  test(`${kind.name} readings store the same rows in any order, in parts and when repeated`, async () => {
    const seenAt = new Date("2025-10-25T09:00:00Z")
    const sha = (byte: number) => ({ sha256: Buffer.alloc(32, byte) })
    const readings = [
      exampleOf(kind),
      exampleOf(kind, { ...sha(1), parser: 2 }),
      exampleOf(kind, { ...sha(9), seenAt, parser: 1 }),
      exampleOf(kind, { ...sha(2), seenAt, parser: 3 }),
      exampleOf(kind, { ...sha(3), seenAt, parser: 3 }),
    ]
    const random = randomOf(3)
    let first: AnyObservation[] | null = null
    for (let round = 0; round < cases(1, 4); round++) {
      await empty(kind)
      const order = shuffled(readings, random)
      const size = 3 - (round % 3)
      for (let from = 0; from < order.length; from += size) await recordAll(...order.slice(from, from + size))
      const stored = await storedOf(kind)
      first ??= stored
      expect(stored).toEqual(first)
      expect(await recordAll(...order, ...order)).toEqual({ recorded: 0, alreadyStored: 10, refused: [] })
      expect(await storedOf(kind)).toEqual(stored)
    }
    expect(first?.at(-1)).toMatchObject({ seenAt, parser: 3, ...sha(3) })
  })

  test(`${kind.name} readings that break a rule are refused with the rule's code, from any publisher`, async () => {
    const wrong: [object, string][] = [
      [{ source: "nobody" }, "bad_source"],
      ...(kind.storeless ? [] : [[{ platform: "windows" }, "bad_platform"] as [object, string]]),
      [{ seenAt: new Date("2026-01-02") }, "bad_time"],
      [{ parser: -1 }, "bad_provenance"],
      [{ sha256: Buffer.alloc(3) }, "bad_provenance"],
      ...(kind.demo ? [] : [[{ origin: "demo" }, "bad_provenance"] as [object, string]]),
      ...(kind.everywhere ? [] : [[{ storefront: "zz" }, "bad_storefront"] as [object, string]]),
      ...(WRONG[kind.name as string] as [object, string][]),
    ]
    for (const [rest, code] of wrong) expect([rest, codeOf(exampleOf(kind, rest))]).toEqual([rest, code])
    const all = wrong.map(([rest]) => exampleOf(kind, rest))
    const { refused } = await recordAll(...all)
    expect(refused.map(({ problem }) => problem.code as string)).toEqual(wrong.map(([, code]) => code))
    expect(await storedOf(kind)).toEqual([])
  })

  test(`a line of ${kind.name} with an unknown or a missing field is refused`, () => {
    const problemOf = (rest: object) => {
      try {
        parseLine(lineOf(kind, rest), ALL)
        return null
      } catch (error) {
        expect(error).toBeInstanceOf(LineProblem)
        return (error as Error).message
      }
    }
    expect(problemOf({ more: 1 })).toBe("the line: has an unknown field")
    const missing = Object.keys(kind.example).filter((field) => problemOf({ [field]: undefined }) !== null)
    expect(missing.length).toBeGreaterThan(1)
    for (const field of missing) expect(problemOf({ [field]: undefined })).toBe(`${field}: is missing`)
  })
})

/**
 * The parts of an example that are read back differently: names and ratings are stored with the app, not with the
 * reading.
 */
const STORED_FIELDS: Record<string, object> = {
  apps: {
    asked: ["399355755", "897446215"],
    apps: [
      {
        id: "897446215",
        name: "Canva",
        version: "4.1",
        price: 0,
        currency: "USD",
        genre: "6008",
        updatedAt: new Date("2025-10-20T08:00:00Z"),
        languages: ["de", "en", "fr"],
        sizeBytes: 412_876_800,
      },
    ],
  },
  search: { results: [{ id: "897446215" }, { id: "1617391485" }] },
  chart: { apps: [{ id: "1435783608" }, { id: "1156875272" }] },
  developer: { apps: [{ id: "897446215" }] },
}

function codeOf(observation: AnyObservation): string | null {
  try {
    checkObservation(observation as Observation, NOW)
    return null
  } catch (error) {
    expect(error).toBeInstanceOf(ObservationProblem)
    return (error as ObservationProblem).code
  }
}

/** Returns the observation without undefined fields. */
function plain(observation: AnyObservation): object {
  return Object.fromEntries(Object.entries(observation).filter(([, value]) => value !== undefined))
}

test("an observation of an unknown account is not stored, from any publisher", async () => {
  for (const kind of KINDS.filter((candidate) => candidate.private)) {
    expect(await recordAll(exampleOf(kind))).toEqual({ recorded: 0, alreadyStored: 1, refused: [] })
    expect(await storedOf(kind)).toEqual([])
  }
})
