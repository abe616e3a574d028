import * as v from "valibot"
import type { WritingTask } from "../lib/writing/written-text.ts"
import type { Background } from "../listings/checks/background.ts"
import { checkListing, listingOf, type Place } from "../listings/checks/report.ts"
import { createOmissions, problemsOf } from "./checks/checker.ts"
import { fixesOf } from "./fixes.ts"
import { exclusionOf } from "./keywords/exclusions.ts"
import { DRAFT_FIELDS, type DraftedField, type DraftField } from "./listing-draft.ts"

interface TranslationInputs {
  digest: string
  /** The listing to translate. Null if the page does not have the field. */
  source: Readonly<Record<DraftField, string | null>>
  limits: Readonly<Record<DraftField, number>>
  /** Keys of the word lists: the language of the listing, and the target language. */
  from: string
  to: string
  /** Names that must not be translated. */
  names: readonly string[]
  /** Tracked keywords of the target storefront. */
  keywords: readonly { term: string; popularity: number | null }[]
  /** Captions of the screenshots, in order. */
  captions: readonly string[]
  place: Place
  background: Background
}

export interface Translation {
  fields: DraftedField[]
  /** Keywords for the keyword field, without the names of other apps and developers. */
  keywords: string[]
  /** Null if no translation may be shown. */
  captions: (string | null)[]
}

const TRANSLATION_VERSION = 2
const MAX_KEYWORD_CHARACTERS = 100
const LONGEST_CAPTION = 300

/** Asks the model for a translation of a listing. */
export function translationTask(inputs: TranslationInputs): WritingTask<Translation> {
  const { digest, source, limits, to, keywords, captions, names } = inputs
  const fields = fieldsOf(inputs)
  // asks for 95% of the limit, since models count characters inaccurately
  const most = Object.fromEntries(fields.map((field) => [field, Math.floor(limits[field] * 0.95)]))
  return {
    kind: "listing_translation",
    digest,
    version: TRANSLATION_VERSION,
    orders: ORDERS,
    records: [
      { r: "page", ...Object.fromEntries(fields.map((field) => [field, source[field]])) },
      { r: "form", language: to, most_characters: most, keep_names: names },
      ...keywords.map(({ term, popularity }) => ({ r: "keyword", term, popularity })),
      ...captions.map((text, at) => ({ r: `caption${at + 1}`, text })),
    ],
    answer: v.strictObject({
      ...Object.fromEntries(fields.map((field) => [field, v.string()])),
      keywords: v.array(v.string()),
      captions: v.array(v.string()),
    }),
    mostTokens: 6_000,
    longest: 4_000,
    judge: (answer: TranslationAnswer, isLast) => judge(answer, inputs, isLast),
  }
}

type TranslationAnswer = Record<DraftField, string> & { keywords: string[]; captions: string[] }

const ORDERS =
  `You translate the store listing of a mobile app. The record "page" has its texts, "form" the target language, the ` +
  `maximum characters of each field and names that stay unchanged, each "keyword" a search term that people there ` +
  `use, each "caption" words on a screenshot.\n` +
  "Translate each field completely: the same lines in the same order, every address, number and placeholder " +
  "unchanged, nothing added and nothing left out. " +
  "In name and subtitle, use the words of the most popular keywords where they mean the same. " +
  "In keywords, put up to twenty single search terms in that language for the keyword field, " +
  "none of which is in name or subtitle, and no names of apps, developers or platforms. " +
  "In captions, put the translation of each caption, in the same order. Do not use names of other stores or HTML."

function fieldsOf({ source }: TranslationInputs): DraftField[] {
  return DRAFT_FIELDS.filter((field) => source[field] !== null)
}

/** Returns the fields without problems. On the last try, fields with problems keep the original text. */
function judge(answer: TranslationAnswer, inputs: TranslationInputs, isLast: boolean) {
  const omissions = createOmissions()
  const fixes: string[] = []
  const fields = fieldsOf(inputs).map((field): DraftedField => {
    const text = answer[field].trim()
    const wrong = wrongWith(field, text, inputs)
    const [first] = wrong
    if (!first) return { field, text, kept: null }
    omissions.add("field", first.rule)
    fixes.push(...wrong.slice(0, 3).map(({ sentence }) => `${field}: ${sentence}`))
    return { field, text: inputs.source[field], kept: first.sentence }
  })
  const captions = inputs.captions.map((original, at): string | null => {
    const text = answer.captions[at]?.trim() ?? ""
    if (original === "") return ""
    const [problem] = problemsOf("translation", text, groundOf(original, LONGEST_CAPTION, { ...inputs, names: [] }))
    if (!problem) return text
    omissions.add("caption", problem.rule)
    fixes.push(`caption${at + 1}: ${fixesOf([problem])[0]}`)
    return null
  })
  if (fixes.length > 0 && !(isLast && fields.some(({ kept: keptReason }) => keptReason === null))) return { fixes }
  const { keywords, left } = keywordsOf(answer.keywords, inputs)
  if (left > 0) omissions.add("keyword", "excluded", left)
  return { value: { fields, keywords, captions }, dropped: omissions.list() }
}

function groundOf(original: string, most: number, { from, to, names }: TranslationInputs) {
  const sameLanguage = from.split("-")[0] === to.split("-")[0]
  return { sources: [original], language: to, most, orders: ORDERS, translated: original, names, sameLanguage }
}

/**
 * Returns the problems of a text: the translation rules that it breaks, and the errors that the listing checks would
 * report in a person's draft.
 */
function wrongWith(field: DraftField, text: string, inputs: TranslationInputs) {
  const { limits, to, background, place } = inputs
  const original = inputs.source[field] as string
  const problems = problemsOf("translation", text, groundOf(original, limits[field], inputs))
  const refusals = fixesOf(problems).map((sentence, at) => ({ rule: problems[at]!.rule, sentence }))
  const { findings } = checkListing(listingOf({ [field]: text }, to, background), place)
  const errors = findings.filter(({ severity, code }) => severity === "error" && code !== "too_long")
  return [...refusals, ...errors.map(({ message }) => ({ rule: "listing_check" as const, sentence: message }))]
}

/** Returns the keywords that fit into the keyword field, in order. Leaves out names, fillers and repeated words. */
function keywordsOf(terms: readonly string[], { to, background }: TranslationInputs) {
  const excluded = exclusionOf({ language: to, background, taken: [] })
  const chosen: string[] = []
  let charactersLeft = MAX_KEYWORD_CHARACTERS
  for (const term of new Set(terms.slice(0, 40).map((item) => item.trim().toLowerCase()))) {
    const characters = [...term].length + (chosen.length > 0 ? 1 : 0)
    if (term === "" || term.includes(",") || excluded(term) || characters > charactersLeft) continue
    chosen.push(term)
    charactersLeft -= characters
  }
  return { keywords: chosen, left: terms.length - chosen.length }
}
