import { describe, expect, test } from "bun:test"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { parseAppAds } from "../../../src/listings/sources/app-ads.ts"
import { checkObservation } from "../../../src/measuring/record/check.ts"
import { cases, LONG } from "../../long.ts"
import { FLOODS, type HostileForm, intrusions, LINES, longTexts } from "./hostile.ts"
import { fixture, PARSED } from "./parsed.ts"

// Some 20 s on a busy machine: what is linear at 64 KB may not be at 8 MB. test/bench/hostile.ts has every form at every place.

const MB = 1_048_576
const SIZES: readonly number[] = LONG ? [2, 8] : []
/** In short a quarter: what takes longer than a linear reader by its square takes minutes there too. */
const LEAST = LONG ? 1 : 1 / 4
const about = { seenAt: new Date(), sha256: new Uint8Array(32) }

/** Milliseconds of this process that the runtime's own linear reader takes for a MB, on this machine as busy as it is. */
const unitNow = () => fastest(5, () => JSON.parse(JSON_OF_A_MB))
const JSON_OF_A_MB = `[${'"ab",'.repeat(MB / 5)}0]`
let unit = unitNow()

// JSON.parse is native: what reads by patterns and by hand is slower, and still linear.
const limitMs = (mb: number) => 40 * unit * mb

/** The machine may have become busier since the unit was taken: it is taken anew before anything is called slow. */
function isSlow(ms: number, mb: number): boolean {
  if (ms > limitMs(mb)) unit = Math.max(unit, unitNow())
  return ms > limitMs(mb)
}

const BODIES = [...Map.groupBy(PARSED, ({ source }) => source).values()].map(([first]) => first!)

describe("reading a body takes time linear in its size, whatever it holds:", () => {
  for (const [at, { source, asked, fixture: file, as }] of BODIES.entries()) {
    const read = (body: string) => checkObservation(source.parse(body, asked, about), about.seenAt)
    const body = fixture(file)
    test(`${source.name} as ${file.split(".").at(-1)}`, () => {
      // each body meets some of the floods, others than its neighbours: every eighth in short, every second at length
      const floods = FLOODS.filter((_, i) => (i + at) % cases(8, 2) === 0)
      expect(slowIn(floods, read, LEAST)).toEqual([])
      expect(slowIn(intrusions(body, [Math.floor(body.length / 2)]), read, 1 / 8)).toEqual([])
      expect(slowIn(longTexts(body, as, ["digits", "marks", "white space"]), read, 1 / 16)).toEqual([])
    }, 120_000)
  }

  test("app-ads.txt", () => {
    // of which 0.5 MB are read at most: a MB may have 80,000 records, each of them looked at by itself
    const half = (body: string) => parseAppAds(body.slice(0, body.length / 2))
    expect(slowIn([...FLOODS, ...LINES], half, LEAST, LONG ? [1, 4] : [])).toEqual([])
  }, 120_000)
})

test.skipIf(!LONG || !existsSync("/proc/self/status"))(
  "reading 4 MB of anything takes at most 120 MB of memory",
  () => {
    const child = Bun.spawnSync([process.execPath, join(import.meta.dirname, "hostile-memory.ts")])
    const [idle = 0, peak = 0] = JSON.parse(child.stdout.toString())
    expect(peak - idle).toBeLessThan(120)
  },
  120_000,
)

/**
 * The forms that take longer than a linear reader may. Of those that could with the square of their size, every size is
 * made; the rest are made of `least` MB alone.
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
    if (isSlow(ms, Math.max(least, 1))) return [`${name}: ${Math.round(ms)} ms for ${least} MB`]
    if (least < 1 || ms * 64 <= limitMs(8)) return []
    return sizes.flatMap((mb) => {
      const grown = timeOf(body(mb * MB), read, limitMs(mb))
      return isSlow(grown, mb) ? [`${name}: ${Math.round(grown)} ms for ${mb} MB`] : []
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
    // a busy machine takes time from this process, and gives it none of its own
    const began = process.cpuUsage()
    try {
      work()
    } catch {
      // most of them are no answers, which is to be found out soon too
    }
    const { user, system } = process.cpuUsage(began)
    least = Math.min(least, (user + system) / 1_000)
  }
  return least
}
