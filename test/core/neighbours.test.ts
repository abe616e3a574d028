import { beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import type { Sql } from "../../src/database/types.ts"
import { kindsOf } from "../../src/due-kinds.ts"
import type { Measure } from "../../src/lib/live-read.ts"
import { createMeasure } from "../../src/measuring/measure.ts"
import { freshDatabase } from "../database.ts"
import { trackLarge } from "../keywords/large-app.ts"
import { beforeLong, cases, LONG, long } from "../long.ts"
import { openService, PUBLIC_URL, type Service } from "../service.ts"
import { slowness } from "../unit.ts"

// takes half a minute in the long run: 5,000 keywords are created, and each flood ends when its last call times out
setDefaultTimeout(120_000)

const KEYWORDS = cases(600, 5_000)
const CALLS = cases(20, 60)

let sql: Sql
let service: Service

beforeAll(async () => {
  sql = await freshDatabase()
})

/** Sends a request as a connection would. The checks of `service.call` would take longer than a large answer. */
async function timeCall(path: string, key: string) {
  const startedAt = performance.now()
  const request = new Request(`${PUBLIC_URL}${path}`, { headers: { authorization: `Bearer ${key}` } })
  const answer = await service.app.fetch(request, "127.0.0.1")
  const text = await answer.text()
  return { status: answer.status, ms: performance.now() - startedAt, text }
}

describe("a workspace with thousands of keywords", () => {
  let large: { app: string; key: string }
  let small: { app: string; key: string }

  beforeLong(async () => {
    service = openService({ sql })
    const workspaces = [await service.workspace(), await service.workspace()] as const
    large = { app: await trackLarge(sql, workspaces[0], KEYWORDS), key: await service.key(workspaces[0]) }
    small = { app: await trackLarge(sql, workspaces[1], 30), key: await service.key(workspaces[1]) }
  })

  /** Makes the light workspace's calls one by one. Returns their statuses, the 95th percentile and the median. */
  async function measureOthers(calls: number) {
    const paths = ["/v1/account", `/v1/apps/${small.app}/keywords`, "/v1/apps"]
    const results = []
    for (let call = 0; call < calls; call++) {
      results.push(await timeCall(paths[call % paths.length]!, small.key))
      await Bun.sleep(10)
    }
    const times = results.map(({ ms }) => ms).sort((a, b) => a - b)
    const statuses = [...new Set(results.map(({ status }) => status))]
    return { statuses, slow: times[Math.floor(times.length * 0.95)]!, median: times[times.length >> 1]! }
  }

  for (const read of LONG ? ["rivals", "keywords"] : ["rivals"]) {
    long(`a workspace that reads its ${read} five times a second does not slow down another workspace`, async () => {
      const single = await timeCall(`/v1/apps/${large.app}/${read}`, large.key)
      await measureOthers(6)
      const idle = await measureOthers(CALLS)
      const flood: ReturnType<typeof timeCall>[] = []
      const send = () => flood.push(timeCall(`/v1/apps/${large.app}/${read}`, large.key))
      for (let i = 0; i < 3; i++) send()
      const sender = setInterval(send, 200)
      const during = await measureOthers(CALLS)
      clearInterval(sender)
      await Bun.sleep(1_000)
      const after = await measureOthers(30)
      const answers = await Promise.all(flood)
      const slow = [idle, during, after].map(({ slow }) => slow.toFixed(0)).join(", ")
      const medians = [idle, during, after].map(({ median }) => median.toFixed(0)).join(", ")
      const statuses = Map.groupBy(answers, ({ status }) => status)
        .entries()
        .map(([status, all]) => [status, all.length])
      console.log(
        `${read}: alone ${single.ms.toFixed(0)} ms; other workspaces idle, during and a second after: ` +
          `95 of 100 within ${slow} ms, medians ${medians} ms; statuses: ` +
          `${JSON.stringify(Object.fromEntries(statuses))}`,
      )
      expect([...idle.statuses, ...during.statuses, ...after.statuses]).toEqual([200, 200, 200])
      // calls of the light workspace wait for less time than one large read takes
      const busy = await slowness()
      expect(during.slow).toBeLessThan(busy * Math.max(8 * idle.slow, single.ms / 2))
      expect(after.median).toBeLessThan(busy * Math.max(4 * idle.median, single.ms / 4))
      // calls that got no slot are refused with an explanation; all others are answered
      const refused = answers.filter(({ status }) => status !== 200)
      for (const { status, text } of refused) {
        expect([status, JSON.parse(text).error]).toEqual([503, "unavailable"])
        expect(JSON.parse(text).detail).toEndWith("Nothing was charged.")
      }
    })
  }
})

describe("previews on a server that does not measure", () => {
  test("a preview of add_app notes that the app ids are unchecked, and schedules no reading", async () => {
    const measure: Measure = createMeasure({
      sql,
      kinds: kindsOf({ egressCountry: "us" }),
      egress: "here",
      now: () => new Date(),
      isReading: () => false,
      nudge() {},
      onEnded() {},
    })
    const scene = openService({ sql, measure })
    const key = await scene.key(
      await scene.workspace({ plan: "free", overrides: { credits: 100, ratePerSecond: 1e5 } }),
    )
    const due = async () => (await sql`select count(*)::int as n from due`)[0]!.n
    const before = await due()
    for (let i = 0; i < 20; i++) {
      const args = { action: "add_app", args: { iosId: String(900_000_000 + i), androidPkg: `com.example.a${i}` } }
      const { status, body } = await scene
        .tool("preview_action", args, { key })
        .then(({ status, body }) => ({ status, body }))
      expect([status, body.preview?.notes?.length]).toEqual([200, 2])
      expect(await due()).toBe(before)
    }
  })
})
