import { expect } from "bun:test"
import type { Sql } from "../../../src/database/types.ts"
import type { SearchObservation } from "../../../src/keywords/kinds/search-shape.ts"
import { freshDatabase } from "../../database.ts"
import { cases, slow } from "../../long.ts"
import { shuffled } from "../../market/formulas/play-apps.ts"
import { NOW, newWorkspace } from "../../measuring/record/measured.ts"
import { randomReadings, readAnswers, TERMS } from "../../measuring/record/search-answers.ts"
import { record } from "../../record.ts"
import { trackOwn } from "../../world/tracked.ts"

/** Readings per call. */
const BATCH = cases(60, 20)
/** Each day takes some twenty statements per list. */
const DAYS = cases(6, 16)

slow("the order and repetition of recorded results do not change the answer of any read function", async () => {
  const readings = randomReadings(17)
  const expected = await answersAfter(readings, readings.length)
  expect(expected.readings.length).toBeGreaterThan(270)
  for (let seed = 1; seed <= cases(1, 3); seed++)
    expect(await answersAfter(shuffled([...readings, ...readings.slice(0, 80)], seed), BATCH)).toEqual(expected)
})

async function answersAfter(readings: readonly SearchObservation[], batch: number) {
  const sql: Sql = await freshDatabase()
  const workspaceId = await newWorkspace(sql)
  const app = await trackOwn(sql, { workspaceId, iosId: "10001", keywords: TERMS })
  for (let i = 0; i < readings.length; i += batch)
    expect((await record(sql, readings.slice(i, i + batch), () => NOW)).refused).toEqual([])
  return await readAnswers(sql, app, DAYS)
}
