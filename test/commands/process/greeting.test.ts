import { beforeEach, expect, test } from "bun:test"
import { listKeys } from "../../../src/access/key-register.ts"
import type { Invocation } from "../../../src/commands/cli/command.ts"
import { isFirstStart } from "../../../src/commands/process/first-start.ts"
import { greet } from "../../../src/commands/process/greeting.ts"
import type { Stop } from "../../../src/commands/process/stop.ts"
import type { Database, Sql } from "../../../src/database/types.ts"
import { createLog } from "../../../src/lib/log.ts"
import { readSettings } from "../../../src/settings/settings.ts"
import { freshDatabase } from "../../database.ts"
import { errorOf } from "../../error-of.ts"
import { long } from "../../long.ts"

let sql: Sql

beforeEach(async () => {
  sql = await freshDatabase()
})

/** Returns the database, whose nth statement fails with `code`, and the number of statements so far. */
function failAt(at: number, code: string): { sql: Sql; count(): number } {
  let count = 0
  const flaky = new Proxy(sql, {
    apply(target, self, args) {
      if (args[0]?.raw && ++count === at) throw Object.assign(new Error("gone"), { code })
      return Reflect.apply(target, self, args)
    },
  })
  return { sql: flaky, count: () => count }
}

async function greetWith(sql: Sql): Promise<{ keys: string[]; events: string[] }> {
  const [liveKeys, events]: [string[], string[]] = [[], []]
  const invocation = {
    settings: readSettings({}, () => ""),
    has: (option: string) => option === "json",
    terminal: {
      json: (value: { keys: { live: string } | null }) => liveKeys.push(value.keys!.live),
      flush: async () => {},
    },
  } as unknown as Invocation
  const stop: Stop = { ask: () => {}, isAsked: () => false, reason: new Promise(() => {}) }
  const log = createLog((line) => events.push(JSON.parse(line).event))
  await greet(invocation, { database: { sql, kind: "embedded" } as Database, url: "http://127.0.0.1" }, stop, log)
  return { keys: liveKeys, events }
}

long("a first start that loses the database at any statement waits and then shows its keys once", async () => {
  const whole = failAt(0, "")
  await greetWith(whole.sql)
  expect(whole.count()).toBeGreaterThan(8)
  for (let at = 1; at <= whole.count(); at++) {
    sql = await freshDatabase()
    const { keys, events } = await greetWith(failAt(at, "CONNECTION_CLOSED").sql)
    expect(keys).toEqual([expect.stringMatching(/^svc_live_/)])
    expect(events).toEqual(["welcome_waiting"])
    expect(await isFirstStart(sql)).toBeFalse()
    const usable = (await listKeys(sql, "default")).filter(({ state }) => state === "usable")
    expect(usable.map(({ name }) => name)).toEqual(["first live key", "first test key", "pages of owner"])
  }
})

test("an SQL error ends the first start instead of letting it wait", async () => {
  expect(String(await errorOf(greetWith(failAt(2, "42P01").sql)))).toMatch("gone")
})
