import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import type { Serving } from "../commands/child.ts"
import { until } from "../jobs/platform.ts"
import { booksAt, booksOf, outcomeOf, someWriter } from "../writes/writer.ts"
import { call, cannotRun, type Fleet, fleetOf, linesOf, post } from "./fleet.ts"

setDefaultTimeout(90_000)

const HOUR_MS = 3_600_000
const SKEW_MS = 3 * HOUR_MS

// Time limits follow the database's clock, whatever the clocks of the processes are.
describe.skipIf(cannotRun)("postgres: three processes whose clocks are 3 h apart", () => {
  let fleet: Fleet
  let right: Serving
  let ahead: Serving
  let behind: Serving
  beforeAll(async () => {
    fleet = await fleetOf(1, "clocks")
    right = fleet.servers[0]!
    ahead = await fleet.start({ SKEW_MS: String(SKEW_MS) })
    behind = await fleet.start({ SKEW_MS: String(-SKEW_MS) })
  })
  afterAll(() => fleet?.[Symbol.asyncDispose]())

  test("a server logs at startup how far its clock is off, and logs nothing if the clock is right", () => {
    const skew = (server: Serving) => linesOf(server).filter(({ event }) => event === "clock_skew")
    expect(skew(right)).toEqual([])
    expect(skew(ahead)).toMatchObject([
      { level: "warn", reason: expect.stringMatching(/ 10(799|800)\.\d s ahead of /) },
    ])
    expect(skew(behind)).toMatchObject([{ level: "warn", reason: expect.stringMatching(/ 10(799|800)\.\d s behind /) }])
    expect(Math.abs(Date.parse(linesOf(ahead)[0].at) - Date.now() - SKEW_MS)).toBeLessThan(HOUR_MS)
  })

  test("a token of a server with another clock is confirmed once, and refused after ten minutes", async () => {
    for (const [previewing, confirming] of [
      [ahead, behind],
      [behind, ahead],
    ] as const) {
      const { workspace, key, app } = await someWriter(fleet.service)
      const token = async (word: string) => {
        const body = { action: "add_keywords", args: { appId: app, keywords: [word] } }
        return (await post(previewing.url, "/v1/actions", key, body)).body.confirmToken as string
      }
      const confirm = (confirmToken: string) => post(confirming.url, "/v1/actions/confirm", key, { confirmToken })
      const [fresh, old] = [await token("tea"), await token("coffee")]
      await fleet.service.sql`
        update confirm_token
        set created_at = created_at - interval '11 minutes'
        where created_at = (select max(created_at) from confirm_token)`
      expect([outcomeOf(await confirm(fresh)), outcomeOf(await confirm(fresh)), outcomeOf(await confirm(old))]).toEqual(
        ["200", "400 confirm_token_invalid", "400 confirm_token_expired"],
      )
      expect(await booksOf(fleet.service.sql, workspace)).toEqual(booksAt(1))
    }
  })

  test("servers with different clocks do not take over each other's running jobs", async () => {
    const { workspace, key, app } = await someWriter(fleet.service)
    fleet.platform.on("PUT", async (_, answer) => {
      await Bun.sleep(1_500)
      return answer()
    })
    const targets = Array.from({ length: 9 }, (_, i) => `slow-${i}`)
    const jobs = await Promise.all(
      targets.map(async (target, i) => {
        const url = fleet.servers[i % 3]!.url
        const previewed = await post(url, "/v1/actions", key, {
          action: "set_bid",
          args: { appId: app, target, bid: 2 },
        })
        const { confirmToken } = previewed.body
        return (await post(url, "/v1/actions/confirm", key, { confirmToken })).body.jobId as string
      }),
    )
    const states = () => Promise.all(jobs.map(async (id) => (await call(right.url, `/v1/jobs/${id}`, key)).body))
    await until(async () => (await states()).every(({ status }) => status !== "queued" && status !== "running"))
    for (const state of await states()) expect(state).toMatchObject({ status: "done", attempts: 1 })
    expect(targets.map((target) => fleet.platform.writes(target).length)).toEqual(targets.map(() => 1))
    expect(await booksOf(fleet.service.sql, workspace)).toEqual(booksAt(9, 18))
  })

  test("servers with different clocks accept a key until it expires, and all refuse the expired key", async () => {
    const workspace = await fleet.service.workspace()
    const createExpiringKey = (inMs: number) => fleet.service.key(workspace, { expiresAt: new Date(Date.now() + inMs) })
    const [later, soon] = [await createExpiringKey(HOUR_MS), await createExpiringKey(1_500)]
    const ask = (key: string) =>
      Promise.all(fleet.servers.map(async ({ url }) => outcomeOf(await call(url, "/v1/account", key))))
    expect(await ask(later)).toEqual(["200", "200", "200"])
    await Bun.sleep(2_500)
    expect(await ask(soon)).toEqual(Array(3).fill("401 key_expired"))
    expect(await ask(later)).toEqual(["200", "200", "200"])
  })
})
