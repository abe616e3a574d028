import { describe, expect, setDefaultTimeout } from "bun:test"
import * as v from "valibot"
import { type Operation, operation } from "../../src/core/operation.ts"
import type { Sql } from "../../src/database/types.ts"
import { kindsOf } from "../../src/due-kinds.ts"
import type { FaultCode } from "../../src/lib/faults.ts"
import { createMeasure } from "../../src/measuring/measure.ts"
import { freshDatabase } from "../database.ts"
import { trackLarge } from "../keywords/large-app.ts"
import { beforeSlow, slow } from "../long.ts"
import { openService, PUBLIC_URL, type Service } from "../service.ts"
import { live } from "../world/stores.ts"
import { trackOwn } from "../world/tracked.ts"

setDefaultTimeout(60_000)

const RIVALS = Array.from({ length: 12 }, (_, index) => String(1_600_000_101 + index))
const MANUAL_RIVALS = RIVALS.map((id) => `ios:${id}`)
const ROUNDS = 3

let sql: Sql
beforeSlow(async () => {
  sql = await freshDatabase()
})

async function askMarkets(service: Service, appId: string, key: string): Promise<[number, string][]> {
  const answers = await Promise.all(RIVALS.map((id) => service.call(`/v1/apps/${appId}/rivals/${id}/market`, { key })))
  return answers.map(({ status, body }) => [status, body.error])
}

/** Expects answers with data for the workspace that requested the markets, and for another workspace. */
async function expectBothServed(service: Service, caller: { appId: string; key: string }): Promise<void> {
  const other = await service.key(await service.workspace())
  const answers = await Promise.all([
    service.call(`/v1/apps/${caller.appId}/keywords`, { key: caller.key }),
    service.call("/v1/apps", { key: other }),
  ])
  expect(answers.map(({ status }) => status)).toEqual([200, 200])
}

describe("a light workspace", () => {
  slow("a light workspace gets thirty answers before most of another workspace's 48 searches end", async () => {
    const service = openService({ sql })
    const [heavy, light] = [await service.workspace(), await service.workspace()]
    const heavyKey = await service.key(heavy)
    const lightKey = await service.key(light)
    await trackLarge(sql, heavy, 100)
    const lightApp = await trackLarge(sql, light, 30)
    let unanswered = 48
    const flood = Array.from({ length: unanswered }, async () => {
      const { status } = await service.call("/v1/search?q=word", { key: heavyKey })
      unanswered--
      return status
    })
    for (let call = 0; call < 30; call++)
      expect((await service.call(`/v1/apps/${lightApp}/keywords`, { key: lightKey })).status).toBe(200)
    // if each statement of the light calls waited for a statement of a search, more searches would have ended by now: a
    // third fewer would be unanswered
    expect(unanswered).toBeGreaterThan(process.env.DATABASE_URL ? 24 : 36)
    // on a busy machine the last searches may exceed their deadline
    for (const status of await Promise.all(flood)) expect([200, 503]).toContain(status)
  })

  slow("password hashing in a preview holds no database slot, so that another call is answered first", async () => {
    const service = openService({ sql })
    const workspaceId = await service.workspace()
    const key = await service.key(workspaceId)
    const appId = await trackOwn(sql, { workspaceId, iosId: "10003", countries: ["us"], keywords: [] })
    let unanswered = 4
    const previews = Array.from({ length: unanswered }, async (_, index) => {
      const args = { appId, country: "us", password: `open sesame ${index}` }
      const { status } = await service.tool("preview_action", { action: "create_share_link", args }, { key })
      unanswered--
      return status
    })
    while (unanswered === 4) await Bun.sleep(1)
    expect((await service.call("/v1/apps", { key })).status).toBe(200)
    expect(unanswered).toBeGreaterThan(0)
    expect(await Promise.all(previews)).toEqual([200, 200, 200, 200])
  })
})

// One branch of each call fails while another branch still waits.
describe("calls for rival markets", () => {
  slow("twelve concurrent calls for rivals leave free database slots while no process measures", async () => {
    const measure = createMeasure({
      sql,
      kinds: kindsOf({ egressCountry: "us" }),
      egress: "here",
      now: () => new Date(),
      isReading: () => false,
      nudge() {},
      onEnded() {},
    })
    const service = openService({ sql, measure, settings: { requestDeadlineMs: 4_500 } })
    const workspaceId = await service.workspace()
    const key = await service.key(workspaceId)
    const appId = await trackOwn(sql, {
      workspaceId,
      iosId: "10002",
      countries: ["us"],
      keywords: [],
      manualRivals: MANUAL_RIVALS,
    })
    for (let round = 0; round < ROUNDS; round++)
      expect(await askMarkets(service, appId, key)).toEqual(RIVALS.map(() => [404, "not_measured"]))
    await expectBothServed(service, { appId, key })
  })

  slow("twelve concurrent calls for rivals leave free database slots while a store refuses requests", async () => {
    await using scene = await live(sql, MANUAL_RIVALS)
    scene.stores.on("itunes.apple.com", "/lookup", () => new Response("no", { status: 503 }))
    scene.stores.on("apps.apple.com", "/us/app/", async () => {
      await Bun.sleep(1_000)
      return new Response("no", { status: 403 })
    })
    for (let round = 0; round < ROUNDS; round++)
      // undefined is a 202: the look-up is not finished yet
      for (const [, error] of await askMarkets(scene.service, scene.appId, scene.key))
        expect([undefined, "measure_busy"]).toContain(error)
    await expectBothServed(scene.service, scene)
  })
})

const declared = {
  method: "GET",
  group: "Account",
  toolset: "account",
  summary: "Reads a number.",
  effect: "reads",
  scope: null,
  price: 1,
  input: v.strictObject({}),
  output: v.strictObject({ number: v.number() }),
} as const
const faults: FaultCode[] = []

/** The connection of this statement is lost silently: the statement never settles. */
const stuckOperation: Operation = operation({ ...declared, faults, id: "lose_statement", path: "/lost" }).run(
  async (_, { sql }) => {
    const [row] = await sql<[{ number: number }]>`select 1 as number /* lost */`
    return row
  },
)

const answered: Operation = operation({ ...declared, faults, id: "read_number", path: "/number" }).run(
  async (_, { sql }) => {
    const [row] = await sql<[{ number: number }]>`select 2 as number`
    return row
  },
)

/** Returns the same database, except that statements marked as lost never settle. */
function loseStatements(database: Sql): Sql {
  return new Proxy(database, {
    apply(target, self, args) {
      const query = Reflect.apply(target as never, self, args) as { handler(): void }
      if (args[0].raw?.[0].includes("/* lost */")) query.handler = () => {}
      return query
    },
  })
}

describe("statements that never settle", () => {
  slow("statements that never end make the service unready until their database slots are taken back", async () => {
    const sample = JSON.stringify({ input: {}, answer: { number: 1 } })
    const service = openService({
      sql: loseStatements(sql),
      catalog: [stuckOperation, answered],
      fixtures: new Map([stuckOperation, answered].map(({ id }) => [`${id}.json`, sample])),
      settings: { requestDeadlineMs: 500 },
      slotLimits: { maxHeldMs: 4_000, stuckAfterMs: 700 },
    })
    // each active workspace has a share of the slots; this many workspaces together occupy all eight slots of a server
    const losers = await Promise.all(Array.from({ length: 8 }, () => service.workspace()))
    const other = await service.workspace()
    const keys = await Promise.all(losers.map((id) => service.key(id)))
    const key = await service.key(other)
    const number = async () => (await service.call("/v1/number", { key })).status
    const readiness = async () => {
      const answer = await service.app.fetch(new Request(`${PUBLIC_URL}/readyz`), null)
      return [answer.status, await answer.json()]
    }
    expect([await number(), await readiness()]).toEqual([200, [200, { status: "ready" }]])
    const calls = keys.map((heldKey) => service.call("/v1/lost", { key: heldKey }))
    expect((await Promise.all(calls)).map(({ status }) => status)).toEqual(calls.map(() => 503))
    expect(await number()).toBe(503)
    expect(await readiness()).toEqual([503, { status: "not ready", reason: "database_busy" }])
    while ((await number()) !== 200) await Bun.sleep(100)
    expect(await readiness()).toEqual([200, { status: "ready" }])
    const logged = service.logged.map((line) => JSON.parse(line)).filter(({ event }) => event === "database_slots")
    expect(new Set(logged.map(({ code }) => code))).toEqual(new Set(["timeout", "taken_back"]))
    expect(logged[0].reason).toMatch(new RegExp(`^held by lose_statement of (${losers.join("|")}) for \\d+ ms, `))
    expect(await readUsed(other)).toBe(2)
  })
})

async function readUsed(workspaceId: number): Promise<number> {
  const [row] = await sql<[{ used: number }]>`
    select coalesce(sum(cost), 0)::int as used from ledger where workspace_id = ${workspaceId}`
  return row.used
}
