import type { PopularitySource } from "../../lib/upstreams.ts"
import type { AppBackground } from "../../listings/checks/app-background.ts"
import { backgroundIn } from "../../listings/checks/background.ts"
import { namePhrases } from "../../listings/formulas/name-phrases.ts"
import { createOmissions, type Omission, problemsOf } from "../checks/checker.ts"
import { exclusionOf } from "./exclusions.ts"
import type { IdeaEvidence } from "./reasons.ts"

/** A keyword with its measured search results and the rivals among them. */
export interface MeasuredKeyword {
  term: string
  day: string
  /** The app's rank. Null if the app is absent from the stored results. */
  rank: number | null
  popularity: number | null
  /** The band of an estimate. */
  popularityLow: number | null
  popularityHigh: number | null
  popularitySource: PopularitySource | null
  /** Sort key: the higher the number, the more popular the keyword. */
  popularityOrder: number | null
  difficulty: number | null
  rivals: readonly { name: string; rank: number }[]
}

export interface IdeaInputs {
  /** A key of the word lists: the language of the storefront's listings. */
  language: string
  appBackground: AppBackground
  buried: readonly string[]
  measured: readonly MeasuredKeyword[]
  suggested: readonly { term: string; prefix: string; day: string }[]
}

export interface KeywordIdea {
  term: string
  /** Null if the search results of the keyword were never measured. */
  measured: MeasuredKeyword | null
  /** The strongest evidence first. */
  evidence: [IdeaEvidence, ...IdeaEvidence[]]
}

export interface KeywordIdeas {
  ideas: KeywordIdea[]
  /** All terms with evidence, including excluded ones. */
  terms: string[]
  /** Number of candidates, including excluded ones. */
  candidates: number
  dropped: Omission[]
}

export const MAX_IDEAS = 20
/** Maximum rank that counts as evidence, since users do not scroll further. */
const LAST_RANK = 50
const BEST_OF_RIVALS = 10

/** Returns keywords with evidence from measurements, those with the most kinds of evidence first. */
export function keywordIdeas(inputs: IdeaInputs): KeywordIdeas {
  const { language, appBackground, buried, measured } = inputs
  const background = backgroundIn(appBackground, language)
  const excluded = exclusionOf({ language, background, taken: [...appBackground.tracked, ...buried] })
  const found = evidenceOf(inputs)
  const judged = [...found].map(([term, evidence]) => ({ term, evidence, isOut: excluded(term) }))
  const omissions = createOmissions()
  const left = judged.filter(({ isOut }) => isOut).length
  if (left > 0) omissions.add("keyword", "excluded", left)
  const readings = new Map(measured.map((keyword) => [keyword.term, keyword]))
  const ideas = judged
    .filter(({ isOut }) => !isOut)
    .map(({ term, evidence }) => ({ term, measured: readings.get(term) ?? null, evidence }))
    .toSorted(byWeight)
  return {
    ideas: ideas.slice(0, MAX_IDEAS),
    terms: [...found.keys()],
    candidates: found.size,
    dropped: omissions.list(),
  }
}

function evidenceOf({ language, appBackground, measured, suggested }: IdeaInputs) {
  const found = new Map<string, KeywordIdea["evidence"]>()
  const isNameable = nameable()
  const add = (term: string, evidence: IdeaEvidence) => {
    const existing = found.get(term)
    if (!existing) found.set(term, [evidence])
    else if (!existing.some(({ kind }) => kind === evidence.kind)) existing.push(evidence)
  }
  for (const { term, day, rank } of measured)
    if (rank !== null && rank <= LAST_RANK) add(term, { kind: "ranked", rank, day })
  for (const { term, day, rivals } of measured) {
    const best = rivals.toSorted((a, b) => a.rank - b.rank).find(isNameable)
    if (best && best.rank <= BEST_OF_RIVALS) add(term, { kind: "rival", rank: best.rank, day, rival: best.name })
  }
  for (const { term, prefix, day } of suggested) if (term !== prefix) add(term, { kind: "suggested", prefix, day })
  const names = appBackground.rivals.map(({ name }) => name)
  for (const [term, apps] of namePhrases(names, language)) add(term, { kind: "names", apps })
  return found
}

/**
 * Returns a function that is true if a rival's name may be shown: names are untrusted text and may contain instructions
 * or addresses. The function caches its results, since the same few names occur often.
 */
function nameable(): (rival: { name: string }) => boolean {
  const cache = new Map<string, boolean>()
  return ({ name }) => {
    const is = cache.get(name) ?? problemsOf("quote", name, { sources: [], language: "en" }).length === 0
    cache.set(name, is)
    return is
  }
}

function byWeight(a: KeywordIdea, b: KeywordIdea): number {
  return (
    b.evidence.length - a.evidence.length ||
    (b.measured?.popularityOrder ?? -1) - (a.measured?.popularityOrder ?? -1) ||
    strength(b) - strength(a) ||
    (a.term < b.term ? -1 : 1)
  )
}

/** Scores the strongest evidence of an idea. The app's own rank counts more than a rival's; better ranks count more. */
function strength({ evidence: [first] }: KeywordIdea): number {
  if (first?.kind === "ranked") return 300 - first.rank
  if (first?.kind === "rival") return 200 - first.rank
  return first?.kind === "names" ? Math.min(first.apps, 50) : 100
}
