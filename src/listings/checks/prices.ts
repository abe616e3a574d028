import { wordsOf } from "./field-text.ts"
import type { Code, Severity } from "./finding.ts"
import { quoted } from "./finding.ts"
import { type Check, type FieldText, given, type Listing, type Mark, markOf, textOf, wasteMark } from "./listing.ts"
import { type FoundPhrase, findPhrases } from "./phrases.ts"

/**
 * Reports prices. App Review Guidelines 2.3.7: names and subtitles "should not include prices". In longer texts an
 * amount is only a hint, because it is wrong in every other storefront.
 */
export const prices: Check = (listing) => [
  ...given(listing, "name", "subtitle", "keywords").flatMap((field) => [
    ...freeWords(field, listing),
    ...dealWords(field, listing),
  ]),
  ...given(listing, "name", "subtitle", "keywords", "promotionalText", "description").flatMap(amounts),
]

/**
 * Reports words for "free". A word of the app's current store name ("Flow Free") is only a hint, because the store has
 * accepted it.
 */
function freeWords(field: FieldText, { vocabulary, background: { app }, language }: Listing): Mark[] {
  const mark = { code: "price_word" } as const
  const nameTerms = new Set(wordsOf(app.name ?? "", language).map(({ term }) => term))
  const found = findPhrases(field, vocabulary.free).filter((phrase) => !isIdiom(field, phrase))
  return found.map((phrase) => {
    const word = quoted(textOf(field, phrase))
    if (field.field !== "keywords" && nameTerms.has(phrase.phrase))
      return wasteMark(field, phrase, {
        ...mark,
        severity: "hint",
        message: `${word} is a price word, but part of the app's name.`,
      })
    const message = `${word} is a price word, and guideline 2.3.7 excludes prices from the ${field.label}.`
    return wasteMark(field, phrase, { ...mark, severity: severityIn(field, "error"), message })
  })
}

function dealWords(field: FieldText, { vocabulary }: Listing): Mark[] {
  return findPhrases(field, vocabulary.deal).map((phrase) => {
    const message = `${quoted(textOf(field, phrase))} suggests a discount, which a reviewer may treat as a price.`
    return wasteMark(field, phrase, { code: "deal_word", severity: severityIn(field, "warning"), message })
  })
}

function severityIn({ field }: FieldText, severity: Severity): Severity {
  return field === "keywords" ? (severity === "error" ? "warning" : "hint") : severity
}

/** Returns whether "free" means "without" or is part of a fixed phrase: ad-free, gluten free, free throw. */
export function isIdiom({ text, words }: FieldText, { at, end, phrase }: FoundPhrase): boolean {
  if (phrase === "ฟรี") return text.startsWith("แลน", end) || text.startsWith("สไตล", end)
  if (phrase !== "free") return false
  if (/[\p{L}\p{N}][-‑–]$/u.test(text.slice(Math.max(0, at - 3), at))) return true
  if (/^[-‑]\p{L}/u.test(text.slice(end, end + 3)) && !/^[-‑]to/i.test(text.slice(end, end + 3))) return true
  const place = placeOf(words, at)
  const [before, after] = [words[place - 1], words[place + 1]]
  const entry = words[place]?.entry
  return (
    (before?.entry === entry && FREE_AFTER.has(before?.term ?? "")) ||
    (after?.entry === entry && FREE_BEFORE.has(after?.term ?? ""))
  )
}

/** Returns the index of the word at a position. Binary search, because texts are long and their words are in order. */
function placeOf(words: FieldText["words"], at: number): number {
  let [least, most] = [0, words.length - 1]
  while (least < most) {
    const middle = (least + most) >> 1
    if ((words[middle]?.at ?? 0) < at) least = middle + 1
    else most = middle
  }
  return least
}

const FREE_AFTER = new Set(
  (
    "ad ads hands gluten sugar dairy lactose stress royalty drug smoke alcohol toll cruelty duty tax pain debt " +
    "error risk hassle worry nut meat grain fat caffeine clutter distraction screen phone porn vape nicotine " +
    "interest commission fee car copyright anxiety lag allergy animal carbon chemical child plastic waste wheat egg " +
    "soy break set be live feel get run stay born wild"
  ).split(" "),
)
const FREE_BEFORE = new Set(
  (
    "fire fall throw throws kick kicks ride rider riders solo style will time agent agents speech spirit spirits " +
    "diving dive range weights weight body climbing cell from of trade form software hand press roam roaming"
  ).split(" "),
)

function amounts(field: FieldText): Mark[] {
  return [...field.text.matchAll(AMOUNT)].map(({ 0: found, index }) => {
    const stretch = { at: index, end: index + found.length }
    const mark: { code: Code; severity: Severity } = { code: "price_amount", severity: AMOUNT_SEVERITY[field.field] }
    const isLongText = field.field === "promotionalText" || field.field === "description"
    const why = isLongText ? "differs by storefront" : "is a price, which guideline 2.3.7 excludes from this field"
    const message = `The amount ${quoted(found)} ${why}.`
    if (isLongText) return markOf(field, stretch, { ...mark, message })
    const entry = field.entries.find(({ from, to }) => from <= index && index < to) ?? null
    return wasteMark(field, { ...stretch, entry }, { ...mark, message })
  })
}

const AMOUNT_SEVERITY = {
  name: "error",
  subtitle: "error",
  keywords: "warning",
  promotionalText: "hint",
  description: "hint",
} as const satisfies Record<FieldText["field"], Severity>

// Every quantifier is bounded, and a match starts only at the beginning of a number, so that a long run of digits is
// scanned once.
const AMOUNT = new RegExp(
  [
    String.raw`\p{Sc} ?\d[\d.,]{0,11}|(?<![\p{L}\d.,])\d[\d.,]{0,11} ?(?:\p{Sc}|(?:円|元|块|塊|원|บาท)`,
    String.raw`(?!\p{Script=Han})|(?:руб(?:лей|ля|\.)?|грн|zł|kč|kr|ft|lei|tl|usd|eur|gbp|jpy|cny|krw|try|cents?)`,
    String.raw`(?![\p{L}\d]))`,
  ].join(""),
  "giu",
)
