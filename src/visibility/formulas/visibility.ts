import { type Interval, type Proportion, pooledInterval, wilson } from "../../lib/proportions.ts"
import type { AnswerMentions } from "./mentions.ts"

export interface MatchedAnswer extends AnswerMentions {
  term: string
  searched: boolean
  cited: readonly { url: string }[]
}

/** Number of answers that name an app, out of the answers in which the mention is not uncertain. */
export interface MentionFigures extends Proportion {
  /** 95 % interval, 0 to 1. Null if there are no answers. */
  interval: Interval | null
  /** True if there are too few answers for a useful interval. */
  tooThin: boolean
  uncertain: number
  /** Number of answers that name this app before every other app on the list. */
  first: number
}

interface AppVisibility extends MentionFigures {
  answers: number
  /**
   * 95 % interval over all keywords. It allows for the likeness of answers to the same keyword. Null with fewer than
   * two keywords.
   */
  pooled: Interval | null
  keywords: (MentionFigures & { term: string })[]
  searched: number
  /** Cited hosts with the number of answers that cite each host, most cited first. */
  domains: { domain: string; answers: number }[]
}

const THIN = 10
const MAX_LISTED = 10

/** Computes the figures of one app, given by its index, from the answers of one assistant. */
export function visibilityOf(app: number, answers: readonly MatchedAnswer[]): AppVisibility {
  const keywords = [...Map.groupBy(answers, ({ term }) => term)].map(([term, termAnswers]) => ({
    term,
    ...mentionFigures(app, termAnswers),
  }))
  return {
    ...mentionFigures(app, answers),
    answers: answers.length,
    pooled: pooledInterval(keywords),
    keywords,
    searched: answers.filter(({ searched }) => searched).length,
    domains: domainsIn(answers),
  }
}

export function mentionFigures(app: number, answers: readonly MatchedAnswer[]): MentionFigures {
  const uncertain = answers.filter((answer) => answer.uncertain.includes(app)).length
  const figures = {
    named: answers.filter((answer) => answer.named.includes(app)).length,
    of: answers.length - uncertain,
  }
  const first = answers.filter(({ named: [one] }) => one === app).length
  return { ...figures, interval: wilson(figures), tooThin: figures.of < THIN, uncertain, first }
}

/** Returns the other apps that are named most, as indexes. */
export function mostNamed(app: number, answers: readonly MatchedAnswer[]): { app: number; answers: number }[] {
  return mostOf(answers.map(({ named }) => named.filter((other) => other !== app))).map(([other, count]) => ({
    app: other,
    answers: count,
  }))
}

/** Returns the names in list heads that match no known app, if at least two answers contain them. */
export function othersNamed(answers: readonly MatchedAnswer[]): { name: string; answers: number }[] {
  const found = mostOf(answers.map(({ unknownNames }) => unknownNames))
  return found.filter(([, count]) => count > 1).map(([name, count]) => ({ name, answers: count }))
}

function domainsIn(answers: readonly MatchedAnswer[]): { domain: string; answers: number }[] {
  const hosts = answers.map(({ cited }) => [
    ...new Set(cited.flatMap(({ url }) => URL.parse(url)?.hostname.replace(/^www\./, "") ?? [])),
  ])
  return mostOf(hosts).map(([domain, count]) => ({ domain, answers: count }))
}

/**
 * Counts in how many lists each item occurs, most first, then in order of appearance. An item occurs at most once per
 * list.
 */
function mostOf<Of>(lists: readonly (readonly Of[])[]): [Of, number][] {
  const counts = new Map<Of, number>()
  for (const item of lists.flat()) counts.set(item, (counts.get(item) ?? 0) + 1)
  return [...counts].toSorted(([, a], [, b]) => b - a).slice(0, MAX_LISTED)
}
