import { fisher, type Proportion } from "../../lib/proportions.ts"

/** One answer to a keyword, of one assistant. */
interface AskedAnswer {
  at: Date
  model: string
  /** Version and variant: "1a". */
  phrasing: string
  /** Null = uncertain. */
  named: boolean | null
}

export interface LostMention {
  /** When the last answer came. */
  at: Date
  model: string
  now: Proportion
  before: Proportion
  /** When the earlier answers ended. */
  beforeAt: Date
}

/** Answers of one check follow each other: within 24 hours nothing is asked again, and a check takes minutes. */
const APART_MS = 12 * 3_600_000
/** Checks that are taken together. */
const TOGETHER = 2
const LEAST_CHANCE = 0.02

/**
 * Each time that two checks together no longer name the app once, where the two before did so often enough that chance is no
 * explanation (Fisher's exact test): 6 of 6 and then 0 of 6 is told, 3 of 3 and then 0 of 3 says nothing. Only answers of one
 * model to one version of the question are compared. `answers` come in the order of time.
 */
export function lostMentions(answers: readonly AskedAnswer[]): LostMention[] {
  const checks = checksOf(answers)
  return checks.flatMap((_, last) => {
    if (last < 2 * TOGETHER - 1) return []
    const before = checks.slice(last - 2 * TOGETHER + 1, last - TOGETHER + 1).flat()
    const now = checks.slice(last - TOGETHER + 1, last + 1).flat()
    const lost = lossBetween(before, now)
    return lost ? [lost] : []
  })
}

function checksOf(answers: readonly AskedAnswer[]): AskedAnswer[][] {
  const checks: AskedAnswer[][] = []
  for (const answer of answers) {
    const before = checks.at(-1)?.at(-1)
    if (before && answer.at.getTime() - before.at.getTime() < APART_MS) checks.at(-1)!.push(answer)
    else checks.push([answer])
  }
  return checks
}

function lossBetween(before: readonly AskedAnswer[], now: readonly AskedAnswer[]): LostMention | null {
  const all = [...before, ...now]
  const isOneQuestion =
    new Set(all.map(({ model, phrasing }) => `${model} ${Number.parseInt(phrasing, 10)}`)).size === 1
  const [was, is] = [countOf(before), countOf(now)]
  if (!isOneQuestion || is.named > 0 || is.of === 0 || fisher(was, is) > LEAST_CHANCE) return null
  const { at, model } = now.at(-1)!
  return { at, model, now: is, before: was, beforeAt: before.at(-1)!.at }
}

function countOf(answers: readonly AskedAnswer[]): Proportion {
  const sure = answers.filter(({ named }) => named !== null)
  return { named: sure.filter(({ named }) => named).length, of: sure.length }
}
