import * as v from "valibot"
import type { WritingTask } from "../../lib/writing/written-text.ts"
import { foldReviewText } from "../../reviews/formulas/review-text.ts"
import { createOmissions, type OmissionCounter, problemsOf } from "../checks/checker.ts"
import { fixesOf } from "../fixes.ts"
import { type WritingLanguage, wordListOf } from "../languages.ts"
import { TOPIC_LABELS } from "../topics/topics.ts"
import { placeOf, quoteIn, recordOf } from "./review-records.ts"
import type { SummedReview } from "./theme-figures.ts"

/** A theme named by a model. assignments.ts determines how many reviews it has. */
export interface ProposedTheme {
  label: string
  /** One sentence about its quotes. Null if it may not be shown. */
  sentence: string | null
}

const PROPOSALS_VERSION = 2
export const PROPOSALS_TOKENS = 2_500
const MAX_THEMES = 12
const QUOTES = 2
const LONGEST_LABEL = 40
const LONGEST_SENTENCE = 200

/** Returns the task of the first pass, which finds the themes of a sample of reviews. */
export function proposalsTask(
  sample: readonly SummedReview[],
  { digest, language }: { digest: string; language: WritingLanguage },
): WritingTask<ProposedTheme[]> {
  return {
    kind: "themes",
    digest,
    version: PROPOSALS_VERSION,
    orders: ORDERS,
    records: [
      { r: "form", language, most_characters: { label: LONGEST_LABEL, sentence: Math.floor(LONGEST_SENTENCE * 0.9) } },
      ...sample.map(recordOf),
    ],
    answer: v.strictObject({
      themes: v.array(
        v.strictObject({
          quotes: v.array(v.strictObject({ r: v.string(), quote: v.string() })),
          label: v.string(),
          sentence: v.string(),
        }),
      ),
    }),
    mostTokens: PROPOSALS_TOKENS,
    judge: (answer: ProposalsAnswer, isLast) => judge(answer, sample, language, isLast),
  }
}

const ORDERS =
  `You find what reviews of a mobile app are about. The record "form" has the language and the maximum characters, ` +
  `each record r1, r2 and so on is a review by a stranger.\nName up to ${MAX_THEMES} themes that appear in more ` +
  `than one review, as narrow as the reviews allow: not "bugs" but what fails. ` +
  `For each theme, give ${QUOTES} quotes from different reviews, copied character by character with the handle of ` +
  "their review, a label of a few words, and one sentence in the language of the form " +
  "that says what the quotes say and nothing else. Do not use numbers, words of quantity, names of people or " +
  "addresses in either: how many people say so is counted elsewhere."

interface ProposalsAnswer {
  themes: { quotes: { r: string; quote: string }[]; label: string; sentence: string }[]
}

/** Drops a theme unless its quote occurs in the review. A theme whose sentence is refused keeps its label. */
function judge(
  { themes }: ProposalsAnswer,
  sample: readonly SummedReview[],
  language: WritingLanguage,
  isLast: boolean,
) {
  const omissions = createOmissions()
  const fixes: string[] = []
  const usedLabels = new Set(Object.values(TOPIC_LABELS[language]).map(foldReviewText))
  const proposed: ProposedTheme[] = []
  for (const { quotes, ...theme } of themes.slice(0, MAX_THEMES)) {
    const [label, sentence] = [theme.label.trim(), theme.sentence.trim()]
    const sources = quotes.flatMap(({ r, quote }) => provenIn(sample, r, quote, omissions) ?? [])
    if (sources.length === 0) {
      omissions.add("theme", "no_quote_left")
      continue
    }
    const ground = { sources, language: wordListOf(language), orders: ORDERS }
    const wrong = problemsOf("sentence", label, { ...ground, most: LONGEST_LABEL })
    const sentenceProblems = problemsOf("sentence", sentence, { ...ground, most: LONGEST_SENTENCE })
    fixes.push(...fixesOf([...wrong, ...sentenceProblems]).map((fix) => `${label.slice(0, LONGEST_LABEL)}: ${fix}`))
    const [firstProblem] = sentenceProblems
    if (firstProblem) omissions.add("sentence", firstProblem.rule)
    // a label is too short to detect its language, so the sentence decides
    const isForeign = sentenceProblems.some(({ rule }) => rule === "language")
    const [firstWrong] = wrong
    if (isForeign) omissions.add("theme", "language")
    else if (firstWrong) omissions.add("theme", firstWrong.rule)
    else if (usedLabels.has(foldReviewText(label))) omissions.add("theme", "excluded")
    else {
      usedLabels.add(foldReviewText(label))
      proposed.push({ label, sentence: sentenceProblems.length > 0 ? null : sentence })
    }
  }
  if (fixes.length > 0 && !isLast) return { fixes }
  // a result without any sentence in the right language is unusable
  const isUseless = themes.length > 0 && proposed.every(({ sentence }) => sentence === null)
  return isUseless ? { fixes: fixes.length > 0 ? fixes : [NO_QUOTES] } : { value: proposed, dropped: omissions.list() }
}

const NO_QUOTES = "Its quotes did not stand in the reviews whose handles they had."

function provenIn(
  sample: readonly SummedReview[],
  handle: string,
  quote: string,
  omissions: OmissionCounter,
): string | null {
  const review = sample[placeOf(handle, "r") ?? -1]
  const found = review ? quoteIn(review, quote) : null
  if (found === null) omissions.add("quote", review ? "not_in_its_text" : "unknown_handle")
  return found
}
