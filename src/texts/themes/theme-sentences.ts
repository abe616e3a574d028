import * as v from "valibot"
import type { WritingTask } from "../../lib/writing/written-text.ts"
import { createOmissions, problemsOf } from "../checks/checker.ts"
import { fixesOf } from "../fixes.ts"
import { type WritingLanguage, wordListOf } from "../languages.ts"
import type { Theme } from "../review-summary.ts"

/** Sentences by themeKey. A theme whose sentence was refused has none. */
export type ThemeSentences = Record<string, string>

export function themeKey({ topic, denied }: Pick<Theme, "topic" | "denied">): string {
  return denied ? `no ${topic}` : topic
}

const SENTENCES_VERSION = 2
const LONGEST = 200

/** Asks for a sentence about each theme, based only on the theme's quotes. The model gets no counts. */
export function sentencesTask(
  themes: readonly Theme[],
  { digest, language }: { digest: string; language: WritingLanguage },
): WritingTask<ThemeSentences> {
  return {
    kind: "summary",
    digest,
    version: SENTENCES_VERSION,
    orders: ORDERS,
    records: [
      { r: "form", language, most_characters: Math.floor(LONGEST * 0.9) },
      ...themes.map(({ label, quotes }, at) => ({
        r: `t${at + 1}`,
        theme: label,
        quotes: quotes.map(({ quote }) => quote),
      })),
    ],
    answer: v.strictObject({ themes: v.array(v.strictObject({ r: v.string(), sentence: v.string() })) }),
    mostTokens: 2_000,
    judge: (answer: SentencesAnswer, isLast) => judge(answer, themes, language, isLast),
  }
}

const ORDERS =
  "You summarize what reviews of a mobile app say about some themes. " +
  `Each record after "form" is a theme with quotes from reviews by strangers.\n` +
  "For each theme, write one sentence in the language of the form that says what the quotes say " +
  "and nothing else. Do not use numbers, words of quantity, names of people or addresses: " +
  "how many people say so is counted elsewhere."

interface SentencesAnswer {
  themes: { r: string; sentence: string }[]
}

function judge(answer: SentencesAnswer, themes: readonly Theme[], language: WritingLanguage, isLast: boolean) {
  const omissions = createOmissions()
  const fixes: string[] = []
  const sentences: ThemeSentences = {}
  for (const { r, sentence } of answer.themes) {
    const theme = themes[Number(/^t([1-9]\d?)$/.exec(r)?.[1] ?? 0) - 1]
    if (!theme) {
      omissions.add("sentence", "unknown_handle")
      continue
    }
    const sources = theme.quotes.map(({ quote }) => quote)
    const problems = problemsOf("sentence", sentence, {
      sources,
      language: wordListOf(language),
      most: LONGEST,
      orders: ORDERS,
    })
    const [problem] = problems
    if (!problem) sentences[themeKey(theme)] ??= sentence.trim()
    else {
      omissions.add("sentence", problem.rule)
      fixes.push(...fixesOf(problems).map((fix) => `${r}: ${fix}`))
    }
  }
  // if all sentences were refused, the answer is unusable
  const isUseless = fixes.length > 0 && Object.keys(sentences).length === 0
  return fixes.length > 0 && (isUseless || !isLast) ? { fixes } : { value: sentences, dropped: omissions.list() }
}
