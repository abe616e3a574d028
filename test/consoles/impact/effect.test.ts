import { describe, expect, test } from "bun:test"
import {
  type ChangedDay,
  type Comparison,
  type Effect,
  effectOf,
  studentWidening,
} from "../../../src/consoles/impact/effect.ts"
import type { DailyFigures } from "../../../src/consoles/impact/series.ts"
import { holdsAgainstPlacebos, holmAdjusted, verdictOf } from "../../../src/consoles/impact/verdict.ts"
import { controlWeights, onSimplex } from "../../../src/consoles/impact/weights.ts"
import { LONG, slow } from "../../long.ts"
import { shuffled } from "../../measuring/record/listed.ts"
import { randomOf } from "../../stores/parsing/mutations.ts"
import { downloadsIn, HISTORY, tallyOf } from "./worlds.ts"

const DAYS = HISTORY[7]
const day: ChangedDay = { at: DAYS, leftOut: 1, window: 7, ownChanges: [] }
const world = (effect = 0.2, seed = 1, days: number = DAYS): Comparison => {
  return { scale: "counts", ...downloadsIn({ seed, days, window: 7, effect }) }
}
const effectIn = (comparison: Comparison, at: ChangedDay = day): Effect => {
  const effect = effectOf(comparison, at)
  if ("none" in effect) throw new Error(effect.none)
  return effect
}

describe("simulated worlds (bench/change-impact.ts runs 1,000)", () => {
  // The bounds allow three standard errors for this number of worlds: coverage is from 86 to 94 %, detection at least
  // 70 % with 7 days and 80 % with 14.
  const [WORLDS, MIN_COVERED, MAX_COVERED] = LONG ? [250, 0.8, 0.98] : [60, 0.74, 1]
  slow.each([
    [7, LONG ? 0.61 : 0.52],
    [14, LONG ? 0.72 : 0.64],
  ] as const)(
    "with a window of %i days the interval covers the true effect, and an effect of 20 %% is detected",
    (window, min) => {
      const { worlds, covered, found } = tallyOf(WORLDS, { days: HISTORY[window], window, effect: 0.2 })
      expect(covered / worlds).toBeWithin(MIN_COVERED, MAX_COVERED + 1e-9)
      expect(found / worlds).toBeGreaterThan(min)
    },
  )
})

slow("the interval still covers the true effect after a fall by 70 or 80 %", () => {
  for (const effect of [-0.7, -0.8]) {
    const { worlds, covered } = tallyOf(100, { days: HISTORY[7], window: 7, effect })
    expect([effect, covered / worlds > 0.84]).toEqual([effect, true])
  }
})

test("an effect is the change that the control series do not share, and its interval comes from earlier days", () => {
  const effect = effectIn(world())
  expect(effect.method).toBe("difference_in_differences")
  expect(effect.effect).toBeCloseTo(effect.moved - (effect.controlsMoved as number), 12)
  expect(effect.controls.reduce((sum, { weight }) => sum + weight, 0)).toBeCloseTo(1, 9)
  expect(effect.low).toBeLessThan(effect.effect)
  expect(effect.leastDetectable).toBeGreaterThan((effect.high - effect.low) / 2)
  expect(effect.days).toBe(185)
  // A change that all storefronts share is not an effect.
  const withSharedChange = (series: DailyFigures) => {
    return { ...series, values: series.values.map((value, at) => (at > DAYS ? 3 * (value as number) : value)) }
  }
  const { treated, controls } = world()
  const swung = effectIn({
    scale: "counts",
    treated: treated.map(withSharedChange),
    controls: controls.map(withSharedChange),
  })
  expect(swung.effect).toBeCloseTo(effect.effect, 2)
  expect(swung.moved).toBeGreaterThan(effect.moved + 1)
})

test("the same days give identical results, whatever the order of the controls", () => {
  const { treated, controls } = world()
  const effectFor = (order: DailyFigures[]) =>
    JSON.stringify(effectOf({ scale: "counts", treated, controls: order }, day))
  const random = randomOf(7)
  for (let times = 0; times < 5; times++) expect(effectFor(shuffled(controls, random))).toBe(effectFor([...controls]))
})

test("the day of the change and later days do not affect the width of the interval", () => {
  const { treated, controls } = world()
  const wild = (series: DailyFigures) => ({
    ...series,
    values: series.values.map((value, at) => (at >= DAYS ? 1e6 : value)),
  })
  const [calm, storm] = [
    effectIn({ scale: "counts", treated, controls }),
    effectIn({ scale: "counts", treated: treated.map(wild), controls }),
  ]
  expect(storm.high - storm.low).toBeCloseTo(calm.high - calm.low, 12)
  expect(storm.controls).toEqual(calm.controls)
})

describe("series without an effect", () => {
  test("no effect is computed from fewer than 20 windows; the result states the days needed", () => {
    const short = 28 + 7 + 139
    expect(effectOf(world(0.2, 1, short), { ...day, at: short })).toEqual({
      none: "too_few_days",
      days: 139,
      needed: 140,
    })
    expect(effectIn(world(0.2, 1, short + 1), { ...day, at: short + 1 }).days).toBe(140)
  })

  test("no effect is computed if most earlier days are close to other changes of the app", () => {
    const ownChanges = Array.from({ length: 12 }, (_, n) => 20 * n)
    expect(effectOf(world(), { ...day, ownChanges })).toMatchObject({ none: "too_few_days" })
  })

  test("no effect is computed for under 3 counts a day, unknown days or an uncertain day of change", () => {
    const few = (series: DailyFigures) => ({ ...series, values: series.values.map((_, at) => at % 3) })
    const { treated, controls } = world()
    expect(effectOf({ scale: "counts", treated: treated.map(few), controls }, day)).toEqual({ none: "too_few_counts" })
    const effectWithout = (from: number, to: number) => {
      const values = treated[0]?.values.map((value, at) => (at >= from && at <= to ? null : value)) ?? []
      return effectOf({ scale: "counts", treated: [{ name: "t", weight: 1, values }], controls }, day)
    }
    expect(effectWithout(DAYS + 1, DAYS + 3)).toEqual({ none: "unknown_days" })
    expect(effectWithout(DAYS + 1, DAYS + 2)).toHaveProperty("effect")
    expect(effectOf(world(), { ...day, leftOut: 8 })).toEqual({ none: "unknown_change_day" })
  })
})

test("ranks are compared by ratio, and only two controls are too few to be used", () => {
  const places = (name: string, before: number, after: number): DailyFigures => {
    return {
      name,
      weight: 1,
      values: Array.from({ length: DAYS + 8 }, (_, at) => (at > DAYS ? after : before + (at % 2))),
    }
  }
  const three = [places("a", 10, 10), places("b", 50, 50), places("c", 5, 5)]
  const all = effectIn({ scale: "places", treated: [places("t", 20, 10)], controls: three })
  expect(Math.exp(all.effect)).toBeCloseTo(0.52, 1)
  expect(all.method).toBe("difference_in_differences")
  const two = effectIn({ scale: "places", treated: [places("t", 20, 10)], controls: three.slice(1) })
  expect([two.method, two.controls, two.controlsMoved, two.space]).toEqual(["before_after", [], null, null])
})

test("a figure per download is the ratio of the summed figure to the summed downloads", () => {
  const { treated, controls } = world(0)
  const paidSeries = (factor: (at: number) => number) => (series: DailyFigures) => {
    return { ...series, values: series.values.map((value, at) => (value as number) * factor(at)), per: series.values }
  }
  const dearer = {
    treated: treated.map(paidSeries((at) => (at > DAYS ? 3 : 2))),
    controls: controls.map(paidSeries(() => 5)),
  }
  expect(Math.exp(effectIn({ scale: "counts", ...dearer }).effect)).toBeCloseTo(1.5, 2)
})

test("control weights recover a known mixture, are at least 0 and sum to 1", () => {
  const random = randomOf(3)
  const series = () => Float64Array.from({ length: 200 }, () => random() - 0.5)
  const controls = Array.from({ length: 6 }, series)
  const truth = [0.5, 0, 0.3, 0, 0.2, 0]
  const mixed = Float64Array.from({ length: 200 }, (_, at) =>
    truth.reduce((sum, weight, index) => sum + weight * (controls[index]?.[at] as number), 0),
  )
  const weights = controlWeights(mixed, controls)
  for (const [at, weight] of weights.entries()) expect(weight).toBeCloseTo(truth[at] as number, 3)
  expect(controlWeights(new Float64Array(200), [new Float64Array(200), new Float64Array(200)])).toEqual([0.5, 0.5])
  expect(onSimplex([2, 0, -1])).toEqual([1, 0, 0])
  expect(onSimplex([0.5, 0.5, 0.5]).every((weight) => Math.abs(weight - 1 / 3) < 1e-12)).toBe(true)
})

test("an interval from 20 windows is widened by the ratio of Student's t to the normal distribution", () => {
  // Values from printed tables: 1.729 with 19 degrees of freedom, 1.697 with 30.
  expect(studentWidening(20) * 1.6449).toBeCloseTo(1.729, 3)
  expect(studentWidening(31) * 1.6449).toBeCloseTo(1.697, 3)
})

test("a verdict of improved or worse is given only if no reason for a weaker verdict applies", () => {
  const circumstances = { isComplete: true, isConfounded: false, better: "higher" as const, chance: 0.01 }
  const up = { ...effectIn(world()), low: 0.1, high: 0.3, effect: 0.2 }
  expect(verdictOf(up, circumstances)).toBe("improved")
  expect(verdictOf(up, { ...circumstances, better: "lower" })).toBe("worse")
  expect(verdictOf({ ...up, low: -0.1 }, circumstances)).toBe("no_clear_change")
  expect(verdictOf(up, { ...circumstances, chance: 0.2 })).toBe("no_clear_change")
  expect(verdictOf({ ...up, method: "before_after" }, circumstances)).toBe("cannot_tell")
  expect(verdictOf({ ...up, method: "before_after" }, { ...circumstances, isConfounded: true })).toBe("confounded")
  const unknownDays = { none: "unknown_days" as const }
  expect(verdictOf(unknownDays, { ...circumstances, isConfounded: true })).toBe("not_enough_data")
  expect(verdictOf(unknownDays, { ...circumstances, isComplete: false })).toBe("too_early")
  expect(holdsAgainstPlacebos({ ...up, asLarge: 0.01, space: { controls: 5, asLarge: 0 } })).toBe(true)
  expect(holdsAgainstPlacebos({ ...up, asLarge: 0.01, space: { controls: 5, asLarge: 1 } })).toBe(false)
  // Corrected shares: 4 times 0.005, 3 times 0.01, 2 times 0.03, and 0.04, which must not be below the one before.
  expect(holmAdjusted([0.01, 0.04, 0.03, 0.005]).map((share) => share.toFixed(2))).toEqual([
    "0.03",
    "0.06",
    "0.06",
    "0.02",
  ])
})
