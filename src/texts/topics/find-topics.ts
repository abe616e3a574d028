import { normalForm } from "../../lib/normal-form.ts"
import { foldReviewText } from "../../reviews/formulas/review-text.ts"
import { patternOf } from "../checks/phrase-list.ts"
import type { WritingLanguage } from "../languages.ts"
import { TOPIC_PAIRS } from "./topic-pairs.ts"
import { ADS_ELSEWHERE, ADS_SHOWN, MEANT_OTHERWISE, TOPIC_WORDS } from "./topic-words.ts"
import { TOPICS, type Topic } from "./topics.ts"

/**
 * Returns the topics of a text in the order of TOPICS. Uses the words of the given languages and of languages detected
 * by script.
 */
export function topicsOf(text: string, languages: readonly WritingLanguage[]): Topic[] {
  // keeps line breaks, so that words of different lines are not adjacent
  const folded = text.split("\n").map(foldReviewText).join("\n").replace(STRETCHED, "$1")
  const looked = [...languages, ...writtenIn(folded).filter((language) => !languages.includes(language))]
  const bare = unmarked(folded)
  const read = looked.map((language) => {
    const patterns = patternsOf(language)
    const whole = patterns.unmarked ? bare : folded
    // ads for the app elsewhere, and the promises they make, do not count as ads within the app
    const isOfAds = holds(whole, patterns.topics.ads)
    const other = isOfAds ? patterns.elsewhere.reduce((left, pattern) => left.replace(pattern, " "), whole) : whole
    return { patterns, whole, other }
  })
  const found = TOPICS.filter((topic) =>
    read.some(({ patterns, whole, other }) => {
      const [left, otherwise] = [topic === "ads" ? other : whole, patterns.otherwise[topic]]
      return holds(otherwise ? left.replace(otherwise, " … ") : left, patterns.topics[topic])
    }),
  )
  if (!found.includes("misleading") || read.some(({ patterns, other }) => holds(other, [patterns.shown]))) return found
  return found.filter((topic) => topic !== "ads")
}

interface Patterns {
  topics: Readonly<Record<Topic, readonly RegExp[]>>
  otherwise: Readonly<Partial<Record<Topic, RegExp>>>
  elsewhere: readonly RegExp[]
  shown: RegExp
  unmarked: boolean
}

const made = new Map<WritingLanguage, Patterns>()

function patternsOf(language: WritingLanguage): Patterns {
  const cached = made.get(language)
  if (cached) return cached
  const isUnmarked = UNMARKED.has(language)
  const spelled = (words: string) => (isUnmarked ? unmarked(words) : words)
  const topics = Object.fromEntries(
    TOPICS.map((topic) => [
      topic,
      [
        patternOf(spelled(TOPIC_WORDS[language][topic]))!,
        ...(TOPIC_PAIRS[language][topic] ?? []).map(([word, other, apart]) =>
          nearbyPattern(spelled(word), spelled(other), apart ?? (UNSPACED.has(language) ? 15 : 40)),
        ),
      ],
    ]),
  ) as Record<Topic, RegExp[]>
  const otherwise = Object.entries(MEANT_OTHERWISE[language] ?? {}).map(([topic, words]) => [
    topic,
    patternOf(spelled(words)),
  ])
  const patterns: Patterns = {
    topics,
    otherwise: Object.fromEntries(otherwise),
    elsewhere: [...topics.misleading, patternOf(spelled(ADS_ELSEWHERE[language] ?? ""))].filter(
      (item) => item !== null,
    ),
    shown: patternOf(spelled(ADS_SHOWN[language]))!,
    unmarked: isUnmarked,
  }
  made.set(language, patterns)
  return patterns
}

/** Matches both words in either order, within one sentence and at most `apart` characters apart. */
function nearbyPattern(word: string, other: string, apart: number): RegExp {
  const [a, b] = [patternOf(word)!.source, patternOf(other)!.source]
  const between = `[^.!?…。！？\\n]{0,${apart}}?`
  return new RegExp(`(?:${a})${between}(?:${b})|(?:${b})${between}(?:${a})`, "gu")
}

function holds(text: string, patterns: readonly RegExp[]): boolean {
  return patterns.some((pattern) => {
    // a shared global pattern keeps its position between calls
    pattern.lastIndex = 0
    return pattern.test(text)
  })
}

/**
 * Letters that are repeated for emphasis, as in "addsss": none of these languages writes a letter three times in a row.
 */
const STRETCHED = /(\p{Script=Latin}|\p{Script=Cyrillic})\1{2,}/gu

/** Languages that people often type without diacritics. Diacritics are removed from both the text and the words. */
const UNMARKED: ReadonlySet<WritingLanguage> = new Set<WritingLanguage>(["tr", "es", "fr", "pt"])

function unmarked(text: string): string {
  return normalForm(text, "NFD").replace(/[\u0300-\u0327]/g, "")
}

const UNSPACED: ReadonlySet<WritingLanguage> = new Set<WritingLanguage>(["ja", "ko", "zh"])

const SCRIPTS: readonly (readonly [WritingLanguage, RegExp])[] = [
  ["ru", /\p{Script=Cyrillic}{3}/u],
  ["ja", /[\p{Script=Hiragana}\p{Script=Katakana}]{2}/u],
  ["ko", /\p{Script=Hangul}{2}/u],
  ["zh", /\p{Script=Han}{2}/u],
  ["tr", /[şğ]/u],
]

/**
 * Returns languages that are detected by their script, because a storefront's reviews may be in languages of other
 * countries.
 */
function writtenIn(text: string): WritingLanguage[] {
  const found = SCRIPTS.filter(([, script]) => script.test(text)).map(([language]) => language)
  return found.includes("ja") ? found.filter((language) => language !== "zh") : found
}
