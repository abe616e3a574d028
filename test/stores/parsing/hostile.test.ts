import { describe, expect, test } from "bun:test"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { parseAppAds } from "../../../src/listings/sources/app-ads.ts"
import { cases, LONG, slow } from "../../long.ts"
import { checkObservation } from "../../record.ts"
import { FLOODS, type HostileForm, intrusions, LINES, longTexts } from "./hostile.ts"
import { fixture, PARSED } from "./parsed.ts"

// Takes about 20 s on a busy machine: a reader that is linear at 64 KB may not be at 8 MB. test/bench/hostile.ts covers
// every form at every position.

const MB = 1_048_576
const SIZES: readonly number[] = LONG ? [2, 8] : []
/** A quarter in short runs, where a quadratic reader still takes minutes. */
const MIN_SIZE = LONG ? 1 : 1 / 4
const about = { seenAt: new Date(), sha256: new Uint8Array(32) }

/** Milliseconds of this process for 1 MB with the runtime's own linear parser, under the machine's current load. */
const unitNow = () => fastest(5, () => JSON.parse(JSON_OF_A_MB))
const JSON_OF_A_MB = `[${'"ab",'.repeat(MB / 5)}0]`
let unit = unitNow()

// JSON.parse is native; parsers with patterns and loops are slower, and still linear.
const limitMs = (mb: number) => 40 * unit * mb

/** Measures the unit again before calling anything slow, because the machine may have become busier. */
function isSlow(ms: number, mb: number): boolean {
  if (ms > limitMs(mb)) unit = Math.max(unit, unitNow())
  return ms > limitMs(mb)
}

const BODIES = [...Map.groupBy(PARSED, ({ source }) => source).values()].map(([first]) => first!)

describe("time to read a body", () => {
  for (const [at, { source, subject, fixture: file, as }] of BODIES.entries()) {
    const read = (body: string) => checkObservation(source.parse(body, subject, about), about.seenAt)
    const body = fixture(file)
    slow(
      `${source.name} parses ${file.split(".").at(-1)} in time linear in its size`,
      () => {
        // Each body gets some of the floods, different from its neighbours: every eighth in short runs, every second in
        // long ones.
        const floods = FLOODS.filter((_, i) => (i + at) % cases(8, 2) === 0)
        expect(slowIn(floods, read, MIN_SIZE)).toEqual([])
        expect(slowIn(intrusions(body, [Math.floor(body.length / 2)]), read, 1 / 8)).toEqual([])
        expect(slowIn(longTexts(body, as, ["digits", "marks", "white space"]), read, 1 / 16)).toEqual([])
      },
      120_000,
    )
  }

  slow(
    "app-ads.txt is parsed in time linear in its size",
    () => {
      // At most 0.5 MB are read: 1 MB may have 80,000 records, which are checked one by one.
      const half = (body: string) => parseAppAds(body.slice(0, body.length / 2))
      expect(slowIn([...FLOODS, ...LINES], half, MIN_SIZE, LONG ? [1, 4] : [])).toEqual([])
    },
    120_000,
  )
})

test.skipIf(!LONG || !existsSync("/proc/self/status"))(
  "parsing a body of 4 MB takes at most 120 MB of memory",
  () => {
    const child = Bun.spawnSync([process.execPath, join(import.meta.dirname, "hostile-memory.ts")])
    const [idle = 0, peak = 0] = JSON.parse(child.stdout.toString())
    expect(peak - idle).toBeLessThan(120)
  },
  120_000,
)

/**
 * Returns the forms that take longer than a linear reader is allowed. Forms that could be quadratic are built in every
 * size, the rest only with `least` MB.
 */
function slowIn(
  forms: readonly HostileForm[],
  read: (body: string) => unknown,
  least: number,
  sizes = SIZES,
): string[] {
  return forms.flatMap(({ name, body }) => {
    const whole = body(least * MB)
    const ms = timeOf(whole, read)
    if (isSlow(ms, Math.max(least, 1))) {
      // a busy machine can slow a linear reader down, but only a quadratic one takes four times as long for twice as
      // much
      const doubledMs = timeOf(body(2 * least * MB), read, 3 * ms)
      const isLinear = doubledMs <= 3 * ms && ms <= 10 * limitMs(Math.max(least, 1))
      return isLinear
        ? []
        : [`${name}: ${Math.round(ms)} ms for ${least} MB, ${Math.round(doubledMs)} ms for twice as much`]
    }
    if (least < 1 || ms * 64 <= limitMs(8)) return []
    return sizes.flatMap((mb) => {
      const grown = timeOf(body(mb * MB), read, limitMs(mb))
      const isLinear = grown <= (2 * ms * mb) / least
      return isSlow(grown, mb) && !isLinear ? [`${name}: ${Math.round(grown)} ms for ${mb} MB`] : []
    })
  })
}

function timeOf(body: string, read: (body: string) => unknown, enough = limitMs(1)): number {
  let ms = Number.POSITIVE_INFINITY
  for (let tries = 0; tries < 4 && ms > enough; tries++)
    ms = Math.min(
      ms,
      fastest(1, () => read(body)),
    )
  return ms
}

function fastest(times: number, work: () => unknown): number {
  let least = Number.POSITIVE_INFINITY
  for (let time = 0; time < times; time++) {
    // CPU time instead of elapsed time: a busy machine takes time from this process.
    const began = process.cpuUsage()
    try {
      work()
    } catch {
      // Most bodies are no valid answers, which must be detected quickly too.
    }
    const { user, system } = process.cpuUsage(began)
    least = Math.min(least, (user + system) / 1_000)
  }
  return least
}
