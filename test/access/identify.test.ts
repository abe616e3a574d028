import { beforeAll, describe, expect, test } from "bun:test"
import { randomBytes } from "node:crypto"

import { creditsKnownAt } from "../../src/access/identify.ts"
import { markLeaked, pauseKey, resumeKey, revokeKey } from "../../src/access/key-register.ts"
import { makeKey } from "../../src/access/keys.ts"
import { deleteWorkspace, setWorkspace } from "../../src/access/workspaces.ts"
import type { Sql } from "../../src/database/types.ts"
import { Fault, type FaultCode } from "../../src/lib/faults.ts"
import { freshDatabase } from "../database.ts"
import { errorOf } from "../error-of.ts"
import { slow } from "../long.ts"
import {
  bearing,
  chargeAlone,
  countingLookUps,
  faultOf,
  freshIdentify,
  outcomeOf,
  someKey,
  someWorkspace,
} from "./registered.ts"

let sql: Sql

beforeAll(async () => {
  sql = await freshDatabase()
})

const HERE = "203.0.113.9"

/** Returns the result code for a key, from a process with an empty cache. */
const verdict = (secret: string, address: string | null = HERE) =>
  outcomeOf(freshIdentify(sql).identify(bearing(secret), address))

const expire = (id: number) => sql`update api_key set expires_at = now() - interval '1 ms' where id = ${id}`

describe("the key in the headers", () => {
  test("a key is accepted in either header; two headers must contain the same key", async () => {
    const workspace = await someWorkspace(sql)
    const { secret } = await someKey(sql, workspace)
    const other = (await someKey(sql, workspace)).secret
    const { identify } = freshIdentify(sql)
    const identifyWith = (authorization: string | null, apiKey: string | null) =>
      outcomeOf(identify({ authorization, apiKey }, HERE))
    expect(await identifyWith(`Bearer ${secret}`, null)).toBe("ok")
    expect(await identifyWith(`bearer  ${secret}`, "")).toBe("ok")
    expect(await identifyWith(null, secret)).toBe("ok")
    expect(await identifyWith(`Bearer ${secret}`, secret)).toBe("ok")
    expect(await identifyWith(`Bearer ${secret}`, other)).toBe("invalid_api_key")
    expect(await identifyWith("Basic dXNlcjpwYXNz", secret)).toBe("invalid_api_key")
    expect(await identifyWith("Basic dXNlcjpwYXNz", null)).toBe("invalid_api_key")
    expect(await identifyWith(null, null)).toBe("missing_api_key")
    expect(await identifyWith("Bearer ", " ")).toBe("missing_api_key")
  })

  test("a key with a wrong checksum gets the same error as an unknown key, without a database query", async () => {
    const counted = countingLookUps(sql)
    const { identify } = freshIdentify(counted.sql)
    const unknown = makeKey("live", randomBytes)
    const wrong = unknown.slice(0, -1) + (unknown.endsWith("0") ? "1" : "0")
    const bodies = []
    for (const text of [wrong, "nonsense", "x".repeat(1e6)]) bodies.push(await faultOf(identify(bearing(text), HERE)))
    expect(counted.count()).toBe(0)
    bodies.push(await faultOf(identify(bearing(unknown), HERE)))
    expect(counted.count()).toBe(1)
    expect(new Set(bodies.map((fault) => JSON.stringify(fault.body("https://example.com")))).size).toBe(1)
    expect(bodies.map(creditsKnownAt)).toEqual([null, null, null, null])
  })
})

describe("codes of refused keys", () => {
  const codes: [FaultCode, (key: { id: number }, workspace: { name: string }, secret: string) => Promise<unknown>][] = [
    ["account_deleted", (_, { name }) => deleteWorkspace(sql, name)],
    ["key_expired", ({ id }) => expire(id)],
    ["key_revoked", ({ id }) => revokeKey(sql, id)],
    ["key_leaked", (_, __, secret) => markLeaked(sql, secret)],
    ["key_paused", ({ id }) => pauseKey(sql, id)],
    ["key_limit", (_, { name }) => setWorkspace(sql, name, { overrides: { liveKeys: 0 } })],
    ["workspace_suspended", (_, { name }) => setWorkspace(sql, name, { suspended: true })],
    ["ip_list_required", (_, { name }) => setWorkspace(sql, name, { ipListRequired: true })],
  ]

  test.each(codes)("a refused key has the code %s", async (code, cause) => {
    const workspace = await someWorkspace(sql)
    const { key, secret } = await someKey(sql, workspace)
    expect(await verdict(secret)).toBe("ok")
    await cause(key, workspace, secret)
    const fault = await faultOf(freshIdentify(sql).identify(bearing(secret), HERE))
    expect(fault.code).toBe(code)
    expect(fault.extra).toEqual(code === "key_limit" ? { limit: 0 } : {})
    // A 403 includes the figures, a 401 reveals nothing about the workspace.
    expect(creditsKnownAt(fault)).toEqual(fault.status === 403 ? expect.objectContaining({ limit: 50_000 }) : null)
  })

  test("an address outside the key's list is refused with ip_not_allowed", async () => {
    const workspace = await someWorkspace(sql, { ipListRequired: true })
    const { secret } = await someKey(sql, workspace, { ipAllowList: ["198.51.100.0/24", "2001:db8::/64"] })
    const { identify } = freshIdentify(sql)
    const from = (address: string | null) => outcomeOf(identify(bearing(secret), address))
    expect(await from("198.51.100.7")).toBe("ok")
    expect(await from("::ffff:198.51.100.7")).toBe("ok")
    expect(await from("2001:db8::7")).toBe("ok")
    // The same cached record is used with another address.
    expect(await from(HERE)).toBe("ip_not_allowed")
    expect(await from("2001:db8:0:1::7")).toBe("ip_not_allowed")
    expect(await from(null)).toBe("ip_not_allowed")
    expect(await from("198.51.100.7")).toBe("ok")
  })

  test("a key with several problems is refused for the first problem in a fixed order", async () => {
    const workspace = await someWorkspace(sql, { ipListRequired: true })
    const { key, secret } = await someKey(sql, workspace)
    await markLeaked(sql, secret)
    await pauseKey(sql, key.id)
    await expire(key.id)
    await setWorkspace(sql, workspace.name, { suspended: true, overrides: { liveKeys: 0 } })
    await deleteWorkspace(sql, workspace.name)
    const verdicts = [await verdict(secret)]
    const repairs = [
      () => sql`update workspace set deleted_at = null where id = ${workspace.id}`,
      () => sql`update api_key set expires_at = null where id = ${key.id}`,
      () => sql`update api_key set leaked_at = null where id = ${key.id}`,
      () => sql`update api_key set revoked_at = null where id = ${key.id}`,
      () => resumeKey(sql, key.id),
      () => setWorkspace(sql, workspace.name, { overrides: { liveKeys: null } }),
      () => setWorkspace(sql, workspace.name, { suspended: false }),
      () => sql`update api_key set ip_allow_list = '{198.51.100.7}' where id = ${key.id}`,
      () => sql`update api_key set ip_allow_list = '{203.0.113.9}' where id = ${key.id}`,
    ]
    for (const repair of repairs) {
      await repair()
      verdicts.push(await verdict(secret))
    }
    expect(verdicts).toEqual([
      "account_deleted",
      "key_expired",
      "key_leaked",
      "key_revoked",
      "key_paused",
      "key_limit",
      "workspace_suspended",
      "ip_list_required",
      "ip_not_allowed",
      "ok",
    ])
  })

  test("the newest live keys above the limit are on hold; revoked, expired and test keys do not count", async () => {
    const workspace = await someWorkspace(sql)
    const keys: Awaited<ReturnType<typeof someKey>>[] = []
    for (let n = 0; n < 4; n++) keys.push(await someKey(sql, workspace))
    const trial = await someKey(sql, workspace, { kind: "test" })
    const verdicts = async () => await Promise.all([...keys, trial].map(({ secret }) => verdict(secret)))
    await setWorkspace(sql, workspace.name, { plan: "free" })
    expect(await verdicts()).toEqual(["ok", "key_limit", "key_limit", "key_limit", "ok"])
    // A paused key still counts against the limit.
    await pauseKey(sql, keys[0]!.key.id)
    expect(await verdicts()).toEqual(["key_paused", "key_limit", "key_limit", "key_limit", "ok"])
    await revokeKey(sql, keys[0]!.key.id)
    expect(await verdicts()).toEqual(["key_revoked", "ok", "key_limit", "key_limit", "ok"])
    await expire(keys[1]!.key.id)
    expect(await verdicts()).toEqual(["key_revoked", "key_expired", "ok", "key_limit", "ok"])
    await markLeaked(sql, keys[2]!.key.id)
    expect(await verdicts()).toEqual(["key_revoked", "key_expired", "key_leaked", "ok", "ok"])
  })

  test("a key is accepted until it expires by the database's clock", async () => {
    const workspace = await someWorkspace(sql)
    const { key, secret } = await someKey(sql, workspace, { expiresAt: new Date(Date.now() + 3_600_000) })
    const wrongClock = freshIdentify(sql, { now: () => new Date(Date.now() + 7_200_000) })
    expect(await outcomeOf(wrongClock.identify(bearing(secret), HERE))).toBe("ok")
    await expire(key.id)
    expect(await verdict(secret)).toBe("key_expired")
  })
})

describe("the record of a key", () => {
  test("the caller of a key has the key's scopes and the workspace's plan, entitlements and credits", async () => {
    const workspace = await someWorkspace(sql, {
      plan: "pro",
      explorer: true,
      overrides: { credits: 70, apps: 4 },
      pack: 30,
    })
    const { key, secret } = await someKey(sql, workspace, { scopes: ["apps:read"], monthlyBudget: 50 })
    await chargeAlone(sql, { workspaceId: workspace.id, keyId: key.id, cost: 20, operation: "test", requestId: "1" })
    const caller = await freshIdentify(sql).identify(bearing(secret), HERE)
    const now = new Date()
    const resetsAt = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1)).toISOString()
    expect(caller).toMatchObject({
      workspaceId: workspace.id,
      keyId: key.id,
      kind: "live",
      plan: "pro",
      explorer: true,
      hasPack: true,
      boughtPack: true,
      scopes: ["apps:read"],
      appList: null,
      budget: { used: 20, limit: 50 },
    })
    expect(caller.entitlements).toMatchObject({ credits: 70, apps: 4, liveKeys: 3, ratePerSecond: 5 })
    expect(caller.credits).toEqual({ used: 20, limit: 100, remaining: 80, resetsAt })
  })

  test("a key's usage of last month does not count in this month", async () => {
    const workspace = await someWorkspace(sql, { overrides: { credits: 10 }, pack: 30 })
    const { key, secret } = await someKey(sql, workspace, { monthlyBudget: 50 })
    await chargeAlone(sql, { workspaceId: workspace.id, keyId: key.id, cost: 25, operation: "test", requestId: "1" })
    await sql`update account set month = (month - interval '1 month')::date where workspace_id = ${workspace.id}`
    await sql`update key_month set month = (month - interval '1 month')::date where key_id = ${key.id}`
    const { credits, budget } = await freshIdentify(sql).identify(bearing(secret), HERE)
    expect(credits).toMatchObject({ used: 0, limit: 25, remaining: 25 })
    expect(budget).toEqual({ used: 0, limit: 50 })
  })

  test("calls of a key within the cache time share one database query, and a later call queries again", async () => {
    const { secret } = await someKey(sql, await someWorkspace(sql))
    const counted = countingLookUps(sql)
    const clock = { ms: 1_000 }
    const { identify } = freshIdentify(counted.sql, { elapsedMs: () => clock.ms })
    await Promise.all(Array.from({ length: 100 }, () => identify(bearing(secret), HERE)))
    clock.ms = 1_749
    await identify(bearing(secret), HERE)
    expect(counted.count()).toBe(1)
    clock.ms = 1_750
    await identify(bearing(secret), HERE)
    expect(counted.count()).toBe(2)
  })

  test("a charge is visible immediately to the current call and to the key's next call", async () => {
    const workspace = await someWorkspace(sql, { overrides: { credits: 10 }, pack: 5 })
    const { key, secret } = await someKey(sql, workspace, { monthlyBudget: 100 })
    const { identify, charged } = freshIdentify(sql, { elapsedMs: () => 0 })
    const caller = await identify(bearing(secret), HERE)
    const due = { workspaceId: workspace.id, keyId: key.id, operation: "test" }
    const first = await chargeAlone(sql, { ...due, cost: 12, requestId: "1" })
    const second = await chargeAlone(sql, { ...due, cost: 3, requestId: "2" })
    charged(caller, second)
    // A result that arrives late does not reset the figures.
    charged(caller, first)
    for (const state of [caller, await identify(bearing(secret), HERE)]) {
      expect(state.credits).toMatchObject({ used: 15, limit: 15, remaining: 0 })
      expect(state.hasPack).toBe(false)
      expect(state.budget).toEqual({ used: 15, limit: 100 })
      expect(state.credits).not.toHaveProperty("packCredits")
    }
  })

  test("a database error is returned and not cached, and the next call queries again", async () => {
    const { secret } = await someKey(sql, await someWorkspace(sql))
    let isDown = true
    const flaky = new Proxy(sql, {
      apply: (target, self, args) =>
        isDown && String(args[0]?.raw?.join("")).includes(`as "boughtPack"`)
          ? Promise.reject(Object.assign(new Error("gone"), { code: "CONNECTION_CLOSED" }))
          : Reflect.apply(target, self, args),
    })
    const { identify } = freshIdentify(flaky)
    expect(await errorOf(identify(bearing(secret), HERE))).toHaveProperty("message", "gone")
    isDown = false
    expect(await outcomeOf(identify(bearing(secret), HERE))).toBe("ok")
  })
})

test("after 30 unknown keys in a minute an address is rate-limited, but its valid keys are accepted", async () => {
  const workspace = await someWorkspace(sql)
  const { secret } = await someKey(sql, workspace)
  const counted = countingLookUps(sql)
  const clock = { ms: 0 }
  const frozen = new Date("2024-02-28T12:00:15Z")
  const { identify } = freshIdentify(counted.sql, { now: () => frozen, elapsedMs: () => clock.ms })
  await identify(bearing(secret), HERE)
  const outcomes = []
  for (let tried = 0; tried < 100; tried++) {
    outcomes.push(await outcomeOf(identify(bearing(makeKey("live", randomBytes)), HERE)))
  }
  expect(outcomes).toEqual([...Array(30).fill("invalid_api_key"), ...Array(70).fill("rate_limited")])
  expect(counted.count()).toBe(31)
  // A key with a wrong checksum is refused as such and does not count as an attempt.
  expect(await outcomeOf(identify(bearing("nonsense"), HERE))).toBe("invalid_api_key")
  const fault = await faultOf(identify(bearing(makeKey("live", randomBytes)), HERE))
  expect([fault.code, fault.status, fault.retryAfter]).toEqual(["rate_limited", 429, 45])
  // The cached record of the valid key is stale, so the key is queried again and is accepted.
  clock.ms = 60_000
  expect(await outcomeOf(identify(bearing(secret), HERE))).toBe("ok")
  expect(await outcomeOf(identify(bearing(makeKey("live", randomBytes)), "203.0.113.10"))).toBe("invalid_api_key")
  expect(await outcomeOf(identify({ authorization: null, apiKey: null }, HERE))).toBe("missing_api_key")
})

slow("a revoked key is refused within a second in every process, while 200 calls a second use it", async () => {
  const { key, secret } = await someKey(sql, await someWorkspace(sql))
  const processes = [freshIdentify(sql), freshIdentify(sql)]
  const calls: { startedMs: number; endedMs: number; outcome: string }[] = []
  const pending: Promise<void>[] = []
  let revokedMs = Number.POSITIVE_INFINITY
  const begin = performance.now()
  const call = async (identify: (typeof processes)[number]["identify"]) => {
    const startedMs = performance.now()
    const outcome = await outcomeOf(identify(bearing(secret), HERE))
    calls.push({ startedMs, endedMs: performance.now(), outcome })
  }
  const load = setInterval(() => pending.push(...processes.map(({ identify }) => call(identify))), 10)
  await Bun.sleep(300)
  await revokeKey(sql, key.id)
  revokedMs = performance.now()
  await Bun.sleep(1_500)
  clearInterval(load)
  await Promise.all(pending)
  const accepted = calls.filter(({ outcome }) => outcome === "ok")
  const lastMs = Math.max(...accepted.map(({ endedMs }) => endedMs)) - revokedMs
  const perSecond = (calls.length / (performance.now() - begin)) * 1_000
  console.info(`revoked: ${calls.length} calls (${perSecond.toFixed(0)}/s), last success ${lastMs.toFixed(0)} ms after`)
  expect(accepted.length).toBeGreaterThan(20)
  expect(calls.filter(({ outcome }) => outcome === "key_revoked").length).toBeGreaterThan(20)
  expect(lastMs).toBeLessThan(1_000)
})

test("the error for a refused key contains no key, address or workspace name", async () => {
  const workspace = await someWorkspace(sql)
  const { key, secret } = await someKey(sql, workspace, { ipAllowList: ["198.51.100.7"] })
  const faults = [await faultOf(freshIdentify(sql).identify(bearing(secret), HERE))]
  await revokeKey(sql, key.id)
  faults.push(await faultOf(freshIdentify(sql).identify(bearing(secret), HERE)))
  for (const fault of faults) {
    expect(fault).toBeInstanceOf(Fault)
    const text = JSON.stringify(fault.body("https://example.com"))
    for (const secretText of [secret, key.hint, HERE, "198.51.100.7", workspace.name])
      expect(text).not.toContain(secretText)
  }
})
