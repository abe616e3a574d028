import { fisher, type Proportion } from "../../lib/proportions.ts"

/** One answer of an assistant to a keyword. */
interface CheckedAnswer {
  at: Date
  model: string
  /** Version and variant, such as "1a". */
  phrasing: string
  /** Null if uncertain. */
  named: boolean | null
}

export interface LostMention {
  /** Time of the last answer. */
  at: Date
  model: string
  now: Proportion
  before: Proportion
  /** Time of the last of the earlier answers with which the check was compared. */
  beforeAt: Date
}

/**
 * Minimum gap between two checks. The answers of one check arrive within minutes, and no question is repeated within 24
 * hours.
 */
const APART_MS = 12 * 3_600_000
/** Number of consecutive checks that are compared as one sample. */
const TOGETHER = 2
const MIN_CHANCE = 0.02

/**
 * Returns each time that two consecutive checks never name the app although the two previous checks named it so often
 * that chance does not explain the drop (Fisher's exact test). A drop from 6 of 6 to 0 of 6 counts, a drop from 3 of 3
 * to 0 of 3 does not. Compares only answers of one model to one version of the question. `answers` must be in order of
 * time.
 */
export function lostMentions(answers: readonly CheckedAnswer[]): LostMention[] {
  const checks = checksOf(answers)
  return checks.flatMap((_, last) => {
    if (last < 2 * TOGETHER - 1) return []
    const before = checks.slice(last - 2 * TOGETHER + 1, last - TOGETHER + 1).flat()
    const now = checks.slice(last - TOGETHER + 1, last + 1).flat()
    const lost = lossBetween(before, now)
    return lost ? [lost] : []
  })
}

function checksOf(answers: readonly CheckedAnswer[]): CheckedAnswer[][] {
  const checks: CheckedAnswer[][] = []
  for (const answer of answers) {
    const before = checks.at(-1)?.at(-1)
    if (before && answer.at.getTime() - before.at.getTime() < APART_MS) checks.at(-1)!.push(answer)
    else checks.push([answer])
  }
  return checks
}

function lossBetween(before: readonly CheckedAnswer[], now: readonly CheckedAnswer[]): LostMention | null {
  const all = [...before, ...now]
  const isOneQuestion =
    new Set(all.map(({ model, phrasing }) => `${model} ${Number.parseInt(phrasing, 10)}`)).size === 1
  const [was, is] = [countOf(before), countOf(now)]
  if (!isOneQuestion || is.named > 0 || is.of === 0 || fisher(was, is) > MIN_CHANCE) return null
  const { at, model } = now.at(-1)!
  return { at, model, now: is, before: was, beforeAt: before.at(-1)!.at }
}

function countOf(answers: readonly CheckedAnswer[]): Proportion {
  const sure = answers.filter(({ named }) => named !== null)
  return { named: sure.filter(({ named }) => named).length, of: sure.length }
}
