import { expect, test } from "bun:test"
import { createFailedAttempts } from "../../src/access/failed-attempts.ts"
import { errorOf } from "../error-of.ts"
import { faultOf, outcomeOf } from "./registered.ts"

const MINUTE = Date.parse("2024-02-28T12:00:00Z")

function openCounter(options: { perMinute?: number; maxAddresses?: number } = {}) {
  const clock = { at: MINUTE }
  let lookUps = 0
  const attempts = createFailedAttempts({ now: () => new Date(clock.at), ...options })
  const attempt = (address: string | null, found: object | null = null) =>
    attempts.watch(address, async () => {
      lookUps++
      await Bun.sleep(1)
      return found
    })
  return { clock, attempt, lookUps: () => lookUps }
}

test("30 of 100 concurrent unknown keys from one address are checked, and 70 are rate-limited", async () => {
  const { attempt, lookUps, clock } = openCounter()
  clock.at += 12_300
  const outcomes = await Promise.all(Array.from({ length: 100 }, () => outcomeOf(attempt("203.0.113.9"))))
  expect(outcomes.filter((outcome) => outcome === "ok")).toHaveLength(30)
  expect(outcomes.filter((outcome) => outcome === "rate_limited")).toHaveLength(70)
  expect(lookUps()).toBe(30)
  expect((await faultOf(attempt("203.0.113.9"))).retryAfter).toBe(48)
  expect(await outcomeOf(attempt("203.0.113.10"))).toBe("ok")
  expect(await outcomeOf(attempt(null))).toBe("ok")
})

test("a burst of requests with valid keys from one address is never refused", async () => {
  const { attempt, lookUps } = openCounter()
  const outcomes = await Promise.all(Array.from({ length: 200 }, () => outcomeOf(attempt("203.0.113.9", {}))))
  expect(outcomes.filter((outcome) => outcome === "ok")).toHaveLength(200)
  expect(lookUps()).toBe(200)
})

test("the count of failed attempts starts at zero each minute", async () => {
  const { attempt, clock } = openCounter({ perMinute: 2 })
  const outcomes = []
  for (const seconds of [0, 58, 59, 60, 61, 62]) {
    clock.at = MINUTE + seconds * 1_000
    outcomes.push(await outcomeOf(attempt("203.0.113.9")))
  }
  expect(outcomes).toEqual(["ok", "ok", "rate_limited", "ok", "ok", "rate_limited"])
})

test("failed attempts of an IPv6 address are counted for its whole /64 network", async () => {
  const { attempt } = openCounter({ perMinute: 2 })
  expect(await outcomeOf(attempt("2001:db8::1"))).toBe("ok")
  expect(await outcomeOf(attempt("2001:db8::2"))).toBe("ok")
  expect(await outcomeOf(attempt("2001:db8:0:0:1::"))).toBe("rate_limited")
  expect(await outcomeOf(attempt("2001:db8:0:1::1"))).toBe("ok")
})

test("a key query that throws an error does not count as a failed attempt", async () => {
  const attempts = createFailedAttempts({ now: () => new Date(MINUTE), perMinute: 1 })
  const broken = () => attempts.watch("203.0.113.9", () => Promise.reject(new Error("the database is away")))
  for (let round = 0; round < 3; round++) expect(String(await errorOf(broken()))).toMatch("away")
  expect(await outcomeOf(attempts.watch("203.0.113.9", async () => null))).toBe("ok")
  expect(await outcomeOf(attempts.watch("203.0.113.9", async () => null))).toBe("rate_limited")
})

test("at most maxAddresses addresses are remembered, and the oldest is evicted", async () => {
  const { attempt } = openCounter({ perMinute: 1, maxAddresses: 2 })
  for (const last of [1, 2]) await attempt(`203.0.113.${last}`)
  expect(await outcomeOf(attempt("203.0.113.2"))).toBe("rate_limited")
  await attempt("203.0.113.3")
  expect(await outcomeOf(attempt("203.0.113.2"))).toBe("rate_limited")
  expect(await outcomeOf(attempt("203.0.113.1"))).toBe("ok")
})
