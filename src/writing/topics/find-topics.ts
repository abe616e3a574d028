import { foldReviewText } from "../../formulas/review-text.ts"
import { patternOf } from "../checks/phrase-list.ts"
import type { WritingLanguage } from "../languages.ts"
import { ADS_ELSEWHERE, ADS_SHOWN, TOPIC_WORDS } from "./topic-words.ts"
import { TOPICS, type Topic } from "./topics.ts"

/** The topics that a text is about, in the order of TOPICS, by the words of these languages. */
export function topicsOf(text: string, languages: readonly WritingLanguage[]): Topic[] {
  const folded = foldReviewText(text)
  const other = languages.reduce(
    (left, language) => without(without(left, TOPIC_WORDS[language].misleading), ADS_ELSEWHERE[language] ?? ""),
    folded,
  )
  const found = TOPICS.filter((topic) =>
    languages.some((language) => holds(topic === "ads" ? other : folded, TOPIC_WORDS[language][topic])),
  )
  if (!found.includes("misleading") || languages.some((language) => holds(other, ADS_SHOWN[language]))) return found
  return found.filter((topic) => topic !== "ads")
}

/** "Not like the ads" is about what was promised: the advertisements that the app shows are another matter. */
function without(folded: string, words: string): string {
  const pattern = patternOf(words)
  return pattern === null ? folded : folded.replace(pattern, " ")
}

function holds(folded: string, words: string): boolean {
  const pattern = patternOf(words)
  if (pattern === null) return false
  // it is shared, and remembers where it stopped
  pattern.lastIndex = 0
  return pattern.test(folded)
}
