import { readFileSync } from "node:fs"
import { join } from "node:path"
import { demandOf } from "../../../src/keywords/formulas/demand.ts"
import { estimatePopularity } from "../../../src/keywords/formulas/popularity.ts"

/**
 * A keyword with Apple's popularity of September 2025 from its monthly report, and the rating counts of the first 20
 * apps that the store showed for it in October, in the United States.
 */
export interface Calibrated {
  term: string
  /** Apple's popularity, 1 to 100. */
  popularity: number
  ratings: number[]
}

const RATED = join(import.meta.dirname, "../../../fixtures/upstream/search-ratings-us-2025-10-25.jsonl")

/** Sorted alphabetically. */
export function calibratedTerms(): Calibrated[] {
  return readFileSync(RATED, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Calibrated)
}

/** A keyword with its first ten apps. */
export interface Listed {
  term: string
  apps: { title: string; ratings: number; updatedAt: Date }[]
}

const SHIPPED = join(import.meta.dirname, "../../../fixtures/upstream/keyword-popularity-us-2025-09.jsonl")

/** Returns the terms whose apps have names. */
export function listedTerms(): Listed[] {
  const lines = readFileSync(SHIPPED, "utf8").trim().split("\n")
  return lines.map((line) => {
    const { term, apps } = JSON.parse(line) as Line
    return {
      term,
      apps: apps.map(([, title, ratings, updated]) => ({ title, ratings, updatedAt: new Date(updated) })),
    }
  })
}

interface Line {
  term: string
  apps: [id: string, title: string, ratings: number, updated: string][]
}

export function massOf({ ratings }: Calibrated): number | null {
  return demandOf(ratings)?.parts.ratingMass ?? null
}

/** Returns the blend of an estimate by ratings alone, because no suggestions of that day are available. */
export function blendOf(term: Calibrated): number {
  return estimatePopularity({ ratingMass: massOf(term), hints: null })?.parts.blend ?? Number.NaN
}

export function spearman(a: readonly number[], b: readonly number[]): number {
  const [ra, rb] = [ranksOf(a), ranksOf(b)]
  const middle = (a.length + 1) / 2
  const products = (x: readonly number[], y: readonly number[]) =>
    x.reduce((sum, value, i) => sum + (value - middle) * ((y[i] as number) - middle), 0)
  return products(ra, rb) / Math.sqrt(products(ra, ra) * products(rb, rb))
}

/** Returns ranks from 1. Equal values share the mean of their ranks. */
function ranksOf(values: readonly number[]): number[] {
  return values.map((value) => {
    const below = values.filter((other) => other < value).length
    const equal = values.filter((other) => other === value).length
    return below + (equal + 1) / 2
  })
}

/** Returns the middle 95 % of a figure over resamples with replacement from a fixed seed (bootstrap). */
export function interval<T>(items: readonly T[], figure: (sample: T[]) => number, rounds = 2_000): [number, number] {
  const random = randomFrom(20_250_901)
  const drawn = Array.from({ length: rounds }, () => figure(resample(items, random))).sort((a, b) => a - b)
  return [drawn[Math.floor(rounds * 0.025)] as number, drawn[Math.ceil(rounds * 0.975) - 1] as number]
}

function resample<T>(items: readonly T[], random: () => number): T[] {
  return items.map(() => items[Math.floor(random() * items.length)] as T)
}

/** Returns numbers in [0, 1), the same ones for the same seed. */
export function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 4_294_967_296
  }
}
