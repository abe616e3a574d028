import * as v from "valibot"
import type { WritingTask } from "../lib/writing/written-text.ts"
import type { Background } from "../listings/checks/background.ts"
import { checkListing, type Finding, listingOf, type Place, type Texts } from "../listings/checks/report.ts"
import type { TextProblem } from "./checks/check.ts"
import { createOmissions, problemsOf } from "./checks/checker.ts"
import { findQuote } from "./checks/quotes.ts"
import { fixesOf } from "./fixes.ts"

export const DRAFT_FIELDS = ["name", "subtitle", "promotionalText", "description"] as const
export type DraftField = (typeof DRAFT_FIELDS)[number]

export interface DraftInputs {
  digest: string
  platform: "ios" | "android"
  /** The texts of the page. Null if the page has none. */
  live: Readonly<Record<DraftField, string | null>>
  /** Maximum code points by field. Fields that the store does not have are left out. */
  limits: Readonly<Partial<Record<DraftField, number>>>
  /** `popularity` orders the keywords: the published value, or the middle of the estimated band. */
  keywords: readonly { term: string; popularity: number | null }[]
  /** Sentences in which users praise the app. */
  praise: readonly { reviewId: string; text: string }[]
  /** A key of the word lists. */
  language: string
  place: Place
  background: Background
}

/** A passage that supports a draft, copied exactly from the page or from the review that it names. */
interface DraftFact {
  reviewId: string | null
  quote: string
}

/** `text` is null if the page has none and no draft may be shown. */
export interface DraftedField {
  field: DraftField
  text: string | null
  /** The reason why no draft may be shown, if `text` is from the page. Null if `text` is a draft. */
  kept: string | null
}

export interface FieldDraft extends DraftedField {
  /** Empty if `text` is from the page. */
  facts: DraftFact[]
}

const DRAFT_VERSION = 3
const VARIANTS = 3
const FACTS = 5
const LONGEST_FACT = 200

/** Asks the model for a new listing, based on the page, its keywords and its reviews. */
export function draftTask(inputs: DraftInputs): WritingTask<FieldDraft[]> {
  const { digest, live, limits, keywords, praise, language } = inputs
  const fields = fieldsOf(inputs)
  // asks for 90% of the limit, since models count characters inaccurately
  const most = Object.fromEntries(fields.map((field) => [field, Math.floor((limits[field] as number) * 0.9)]))
  return {
    kind: "listing_draft",
    digest,
    version: DRAFT_VERSION,
    orders: ORDERS,
    records: [
      { r: "page", ...live },
      { r: "form", language, most_characters: most },
      ...keywords.map(({ term, popularity }) => ({ r: "keyword", term, popularity })),
      ...praise.map(({ text }) => ({ r: "praise", text })),
    ],
    answer: v.strictObject(
      Object.fromEntries(
        fields.map((field) => [field, v.array(v.strictObject({ facts: v.array(v.string()), text: v.string() }))]),
      ),
    ),
    mostTokens: 6_000,
    longest: 4_000,
    judge: (answer: DraftAnswer, isLast) => judge(answer, inputs, isLast),
  }
}

const ORDERS =
  `You write a new store listing for a mobile app. The record "page" has its current texts, "form" the language and ` +
  `the maximum characters of each field, each "keyword" a tracked search term with its search popularity, ` +
  `each "praise" a sentence from a user's review.\n` +
  `Write ${VARIANTS} variants of each field, the best one first. In facts, put up to ${FACTS} short passages of page ` +
  "and praise that the variant is based on, copied character by character. In text, put the variant. " +
  "Use only what page and praise say: add no feature, number, prize, price or comparison. " +
  "Use the words of the most popular keywords where they are true of the app, above all in name and subtitle. " +
  "Do not use names of other apps, developers, platforms or stores, emoji, or HTML."

type DraftAnswer = Record<DraftField, { facts: string[]; text: string }[]>

function fieldsOf({ limits }: DraftInputs): DraftField[] {
  return DRAFT_FIELDS.filter((field) => limits[field] !== undefined)
}

/**
 * Returns for each field the first variant without problems. On the last try, a field whose variants all have problems
 * keeps the page's text.
 */
function judge(answer: DraftAnswer, inputs: DraftInputs, isLast: boolean) {
  const omissions = createOmissions()
  const chosen: Texts = {}
  const fixes: string[] = []
  const drafted = fieldsOf(inputs).map((field): FieldDraft => {
    const refused: string[] = []
    for (const variant of answer[field].slice(0, VARIANTS)) {
      const text = variant.text.trim()
      const facts = provenOf(variant.facts, inputs)
      const wrong = [...wrongWith(field, text, chosen, inputs), ...(facts.length === 0 ? [NO_FACT] : [])]
      const [first] = wrong
      if (!first) {
        chosen[field] = text
        const unproven = variant.facts.length - facts.length
        if (unproven > 0) omissions.add("quote", "not_in_its_text", unproven)
        return { field, text, kept: null, facts }
      }
      omissions.add("field", first.rule)
      refused.push(...wrong.map(({ sentence }) => sentence))
    }
    fixes.push(`${field}: ${refused.slice(0, 3).join(" ") || "There was no variant."}`)
    return { field, text: inputs.live[field], kept: refused[0] ?? "There was no variant.", facts: [] }
  })
  if (fixes.length === 0 || (isLast && drafted.some(({ kept: keptReason }) => keptReason === null)))
    return { value: drafted, dropped: omissions.list() }
  return { fixes }
}

interface Refusal {
  rule: TextProblem["rule"] | "listing_check" | "not_in_its_text"
  sentence: string
}

const NO_FACT: Refusal = {
  rule: "not_in_its_text",
  sentence: "None of its facts is in the page or in the praise, character by character.",
}

/** Returns the facts that may be shown and whose passage occurs in the page or in the named review. */
function provenOf(facts: readonly string[], { live, praise, language }: DraftInputs): DraftFact[] {
  const proven = facts.slice(0, FACTS).flatMap((fact): DraftFact[] => {
    const ofPage = Object.values(live).flatMap((text) => findQuote(fact, text ?? "") ?? [])[0]
    const ofReview = praise.flatMap(({ reviewId, text }) => {
      const quote = findQuote(fact, text)
      return quote === null || problemsOf("quote", quote, { sources: [], language }).length > 0
        ? []
        : { reviewId, quote }
    })[0]
    const found = ofPage === undefined ? ofReview : { reviewId: null, quote: ofPage }
    return found && [...found.quote].length <= LONGEST_FACT ? [found] : []
  })
  return [...new Map(proven.map((fact) => [fact.quote, fact])).values()]
}

/**
 * Returns the problems of a text: the text rules that it breaks, and the errors that the listing checks would report in
 * a person's draft.
 */
function wrongWith(field: DraftField, text: string, chosen: Texts, inputs: DraftInputs): Refusal[] {
  const { live, praise, language, limits, platform, place, background, keywords } = inputs
  const sources = [...Object.values(live).flatMap((item) => item ?? []), ...praise.map((item) => item.text)]
  const terms = keywords.map(({ term }) => term)
  const most = limits[field] as number
  const problems = problemsOf("listing", text, { sources, terms, language, most, orders: ORDERS })
  const refusals: Refusal[] = fixesOf(problems).map((sentence, at) => ({ rule: problems[at]!.rule, sentence }))
  // the listing checks cover the App Store's limits and guidelines only
  if (platform === "android") return refusals
  const { findings } = checkListing(listingOf({ ...chosen, [field]: text }, language, background), place)
  const isGrave = ({ severity, code }: Finding) => (severity === "error" && code !== "too_long") || code === "markup"
  const errors = findings.filter((finding) => finding.field === field && isGrave(finding))
  return [...refusals, ...errors.map(({ message }) => ({ rule: "listing_check" as const, sentence: message }))]
}
