import { beforeAll, expect, setDefaultTimeout, test } from "bun:test"
import type { Sql } from "../../src/database/types.ts"
import { kindsOf } from "../../src/measuring/kinds.ts"
import { createMeasure } from "../../src/measuring/measure.ts"
import { freshDatabase } from "../database.ts"
import { type House, openHouse } from "../house.ts"
import { live } from "../operations/live.ts"
import { trackOwn } from "../world/tracked.ts"

setDefaultTimeout(60_000)

// One branch of a call fails while another branch still waits: what the other branch takes must come back.

const RIVALS = Array.from({ length: 12 }, (_, index) => String(1_600_000_101 + index))
const MANUAL_RIVALS = RIVALS.map((id) => `ios:${id}`)
const ROUNDS = 3

let sql: Sql
beforeAll(async () => {
  sql = await freshDatabase()
})

async function askMarkets(house: House, appId: string, key: string): Promise<[number, string][]> {
  const answers = await Promise.all(RIVALS.map((id) => house.call(`/v1/apps/${appId}/rivals/${id}/market`, { key })))
  return answers.map(({ status, body }) => [status, body.error])
}

/** Reads that need the database: one of the workspace that asked for the markets, one of another workspace. */
async function expectBothServed(house: House, own: { appId: string; key: string }): Promise<void> {
  const other = await house.key(await house.workspace())
  const answers = await Promise.all([
    house.call(`/v1/apps/${own.appId}/keywords`, { key: own.key }),
    house.call("/v1/apps", { key: other }),
  ])
  expect(answers.map(({ status }) => status)).toEqual([200, 200])
}

test("twelve rivals' markets at once leave every workspace served where no process measures", async () => {
  const measure = createMeasure({
    sql,
    kinds: kindsOf({ egressCountry: "us" }),
    egress: "here",
    now: () => new Date(),
    isReading: () => false,
    nudge() {},
    onEnded() {},
  })
  const house = openHouse({ sql, measure, settings: { requestDeadlineMs: 4_500 } })
  const workspaceId = await house.workspace()
  const key = await house.key(workspaceId)
  const appId = await trackOwn(sql, {
    workspaceId,
    iosId: "10002",
    countries: ["us"],
    keywords: [],
    manualRivals: MANUAL_RIVALS,
  })
  for (let round = 0; round < ROUNDS; round++)
    expect(await askMarkets(house, appId, key)).toEqual(RIVALS.map(() => [404, "not_measured"]))
  await expectBothServed(house, { appId, key })
})

test("twelve rivals' markets at once leave every workspace served while a store refuses look-ups", async () => {
  await using on = await live(sql, MANUAL_RIVALS)
  on.stores.on("itunes.apple.com", "/lookup", () => new Response("no", { status: 503 }))
  on.stores.on("apps.apple.com", "/us/app/", async () => {
    await Bun.sleep(1_000)
    return new Response("no", { status: 403 })
  })
  for (let round = 0; round < ROUNDS; round++)
    // undefined is a 202: the look-up has not ended yet
    for (const [, error] of await askMarkets(on.house, on.appId, on.key))
      expect([undefined, "measure_busy"]).toContain(error)
  await expectBothServed(on.house, on)
})
