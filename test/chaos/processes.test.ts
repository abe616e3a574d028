import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import { answer } from "../commands/child.ts"
import { until } from "../jobs/platform.ts"
import { booksAt, booksOf, outcomeOf, someWriter, tally, termsOf } from "../writes/writer.ts"
import { call, cannotRun, type Fleet, fleetOf, linesOf, post } from "./fleet.ts"

setDefaultTimeout(90_000)

const SERVERS = 4

// Four real servers on one PostgreSQL and one Redis behave like a single one.
describe.skipIf(cannotRun)("postgres: four processes", () => {
  let fleet: Fleet
  beforeAll(async () => {
    fleet = await fleetOf(SERVERS, "four")
  })
  afterAll(() => fleet?.[Symbol.asyncDispose]())

  test("four servers that start together on an empty database migrate it once and count calls in Redis", () => {
    const lines = fleet.servers.flatMap(linesOf)
    const migrated = lines.filter(({ event }) => event === "migrated").map(({ reason }) => reason)
    expect(migrated.length).toBeGreaterThan(0)
    expect(migrated).toEqual([...new Set(migrated)])
    const listening = lines.filter(({ event }) => event === "listening").map(({ limits }) => limits)
    expect(listening).toEqual(Array(SERVERS).fill("redis"))
    expect(lines.filter(({ level }) => level === "warn" || level === "error")).toEqual([])
  })

  test("with a limit of 10 calls a second, four servers together accept 10 of 100 calls", async () => {
    const key = await fleet.service.key(await fleet.service.workspace({ overrides: { ratePerSecond: 10 } }))
    const burst = async () => {
      // every process has cached the key and opened connections before the next second begins
      await Promise.all(overServers(8, (url) => call(url, "/v1/account", key)))
      const second = Math.ceil((Date.now() + 100) / 1_000) * 1_000
      await Bun.sleep(second + 20 - Date.now())
      const answers = await Promise.all(overServers(100, (url) => call(url, "/v1/account", key)))
      return { answers, withinMs: Date.now() - second }
    }
    let burstResult = await burst()
    for (let tries = 1; burstResult.withinMs > 950 && tries < 10; tries++) burstResult = await burst()
    console.log(`100 calls over ${SERVERS} processes ended ${burstResult.withinMs} ms into their second`)
    expect(burstResult.withinMs).toBeLessThan(950)
    expect(tally(burstResult.answers.map(outcomeOf))).toEqual({ "200": 10, "429 rate_limited": 90 })
    for (const { status, headers } of burstResult.answers) {
      if (status === 429) expect(headers.get("retry-after")).toBe("1")
    }
  })

  test("400 concurrent calls to four servers spend a budget of 100 credits exactly", async () => {
    const workspace = await fleet.service.workspace({ overrides: { credits: 100, ratePerSecond: 100_000 } })
    const key = await fleet.service.key(workspace)
    const answers = await Promise.all(overServers(400, (url) => call(url, "/v1/apps", key)))
    expect(tally(answers.map(outcomeOf))).toEqual({ "200": 100, "402 credits_exhausted": 300 })
    const { body } = await call(fleet.servers[3]!.url, "/v1/account", key)
    expect(body.credits).toMatchObject({ used: 100, limit: 100 })
    expect((await booksOf(fleet.service.sql, workspace)).credits.slice(0, 3)).toEqual([100, 100, 100])
  })

  test("a confirm token from one of four servers is confirmed once, whichever server gets the request", async () => {
    const { workspace, key, app } = await someWriter(fleet.service)
    const previewed = await post(fleet.servers[0]!.url, "/v1/actions", key, {
      action: "add_keywords",
      args: { appId: app, keywords: ["tea"] },
    })
    expect(previewed.status).toBe(200)
    const body = { confirmToken: previewed.body.confirmToken }
    const answers = await Promise.all(overServers(40, (url) => post(url, "/v1/actions/confirm", key, body)))
    const later = await Promise.all(overServers(SERVERS, (url) => post(url, "/v1/actions/confirm", key, body)))
    console.log(`40 confirms over ${SERVERS} processes: ${JSON.stringify(tally(answers.map(outcomeOf)))}`)
    expect(tally(answers.map(outcomeOf))).toEqual({ "200": 1, "400 confirm_token_invalid": 39 })
    expect(tally(later.map(outcomeOf))).toEqual({ "400 confirm_token_invalid": SERVERS })
    expect(await booksOf(fleet.service.sql, workspace)).toEqual(booksAt(1))
    expect(await termsOf(fleet.service.sql, app)).toEqual(["us tea"])
  })

  test("four servers run each job once, whichever server confirmed the job", async () => {
    const { workspace, key, app } = await someWriter(fleet.service)
    const targets = Array.from({ length: 60 }, (_, i) => `keyword-${i}`)
    const ids = await Promise.all(
      targets.map(async (target, i) => {
        const args = { appId: app, target, bid: 2 }
        const previewed = await post(serverAt(i), "/v1/actions", key, { action: "set_bid", args })
        const { confirmToken } = previewed.body
        const { body } = await post(serverAt(i + 1), "/v1/actions/confirm", key, { confirmToken })
        return body.jobId as string
      }),
    )
    const states = () => Promise.all(ids.map((id, i) => call(serverAt(i + 2), `/v1/jobs/${id}`, key)))
    await until(async () => (await states()).every(({ body }) => body.status === "done"))
    expect(targets.map((target) => fleet.platform.writes(target).length)).toEqual(targets.map(() => 1))
    expect((await states()).every(({ body }) => body.attempts === 1 && body.result.bid === 2)).toBe(true)
    expect(await booksOf(fleet.service.sql, workspace)).toEqual(booksAt(60, 120))
    const workers = fleet.servers.filter((server) => linesOf(server).some(({ operation }) => operation === "set_bid"))
    console.log(`60 jobs were done by ${workers.length} of ${SERVERS} processes`)
  })

  test("all four servers refuse a revoked key within a second", async () => {
    const workspace = await fleet.service.workspace()
    const key = await fleet.service.key(workspace)
    const ask = () => Promise.all(overServers(SERVERS, (url) => call(url, "/v1/account", key)))
    expect(tally((await ask()).map(outcomeOf))).toEqual({ "200": SERVERS })
    const [keyRow] = await fleet.service.sql`select id from api_key where workspace_id = ${workspace}`
    let going = true
    // constant calls, so that each process has cached the key before the revocation
    const busy = (async () => {
      while (going) await ask()
    })()
    await answer(["key", "revoke", String(keyRow!.id), "--force"], { env: { DATABASE_URL: fleet.databaseUrl } })
    await Bun.sleep(1_000)
    expect(tally((await ask()).map(outcomeOf))).toEqual({ "401 key_revoked": SERVERS })
    going = false
    await busy
  })

  const serverAt = (i: number) => fleet.servers[i % SERVERS]!.url
  /** Makes this many requests, to each of the processes in turn. */
  const overServers = <T>(count: number, request: (at: string) => T): T[] =>
    Array.from({ length: count }, (_, i) => request(serverAt(i)))
})
