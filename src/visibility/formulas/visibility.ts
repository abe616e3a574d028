import { type Interval, type Proportion, pooledInterval, wilson } from "../../lib/proportions.ts"
import type { AnswerMentions } from "./mentions.ts"

export interface MatchedAnswer extends AnswerMentions {
  term: string
  searched: boolean
  cited: readonly { url: string }[]
}

/** Answers that name an app, of those in which it is named or not; what is uncertain is in neither. */
export interface MentionFigures extends Proportion {
  /** 95 %, 0 to 1; null = no answers. */
  interval: Interval | null
  /** So few that the interval says next to nothing. */
  tooThin: boolean
  uncertain: number
  /** Answers in which it comes before every other app that is known. */
  first: number
}

interface AppVisibility extends MentionFigures {
  answers: number
  /** 95 % of all together, where answers to one keyword hang together; null = fewer than two keywords. */
  pooled: Interval | null
  keywords: (MentionFigures & { term: string })[]
  searched: number
  /** Hosts that were cited, by the answers that do; the most first. */
  domains: { domain: string; answers: number }[]
}

const THIN = 10
const MOST_LISTED = 10

/** Of one app, by its place among the known, in the answers of one assistant. */
export function visibilityOf(app: number, answers: readonly MatchedAnswer[]): AppVisibility {
  const keywords = [...Map.groupBy(answers, ({ term }) => term)].map(([term, own]) => ({
    term,
    ...mentionFigures(app, own),
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
  const uncertain = answers.filter((one) => one.uncertain.includes(app)).length
  const figures = { named: answers.filter((one) => one.named.includes(app)).length, of: answers.length - uncertain }
  const first = answers.filter(({ named: [one] }) => one === app).length
  return { ...figures, interval: wilson(figures), tooThin: figures.of < THIN, uncertain, first }
}

/** Apps that are named most, by their places among the known, but for one. */
export function mostNamed(app: number, answers: readonly MatchedAnswer[]): { app: number; answers: number }[] {
  return mostOf(answers.map(({ named }) => named.filter((other) => other !== app))).map(([other, count]) => ({
    app: other,
    answers: count,
  }))
}

/** Names at the heads of lists that are no known app's, in two answers at least. */
export function othersNamed(answers: readonly MatchedAnswer[]): { name: string; answers: number }[] {
  const found = mostOf(answers.map(({ others }) => others))
  return found.filter(([, count]) => count > 1).map(([name, count]) => ({ name, answers: count }))
}

function domainsIn(answers: readonly MatchedAnswer[]): { domain: string; answers: number }[] {
  const hosts = answers.map(({ cited }) => [
    ...new Set(cited.flatMap(({ url }) => URL.parse(url)?.hostname.replace(/^www\./, "") ?? [])),
  ])
  return mostOf(hosts).map(([domain, count]) => ({ domain, answers: count }))
}

/** Each is once in a list; those in the most lists first, then as they came. */
function mostOf<Of>(lists: readonly (readonly Of[])[]): [Of, number][] {
  const counts = new Map<Of, number>()
  for (const one of lists.flat()) counts.set(one, (counts.get(one) ?? 0) + 1)
  return [...counts].toSorted(([, a], [, b]) => b - a).slice(0, MOST_LISTED)
}
