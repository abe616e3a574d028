import * as v from "valibot"
import type { WritingTask } from "../../lib/writing/written-text.ts"
import type { Background } from "../../listings/checks/background.ts"
import { createOmissions, problemsOf } from "../checks/checker.ts"
import { findQuote } from "../checks/quotes.ts"
import { exclusionOf } from "./exclusions.ts"

interface NewKeywordInputs {
  digest: string
  /** A key of the word lists: the language of the storefront's listings. */
  language: string
  background: Background
  /** The app's own texts in that language. */
  ownTexts: Readonly<Record<"name" | "subtitle" | "description", string | null>>
  tracked: readonly string[]
  /**
   * Keywords that are tracked, buried or already have evidence from measurements. The model must not suggest them
   * again.
   */
  taken: readonly string[]
  /** Keywords with evidence from measurements, each with the reason. */
  candidates: readonly { term: string; reason: string }[]
}

/** A keyword suggested by the model, without measurements. */
export interface NewKeyword {
  term: string
  /** Words of the app's own texts that support it, copied exactly. */
  from: string
}

export interface KeywordChoice {
  /** The candidates that the model picked because they fit the app's texts. */
  picked: string[]
  added: NewKeyword[]
}

const NEW_KEYWORDS_VERSION = 2
const MAX_NEW = 10
/** Maximum length of a supporting passage. A longer passage supports no particular keyword. */
const LONGEST_FROM = 120

/** Asks the model which candidates fit the app, and for new keywords. The model cannot change measured values. */
export function newKeywordsTask(inputs: NewKeywordInputs): WritingTask<KeywordChoice> {
  const { digest, language, ownTexts, tracked, candidates } = inputs
  return {
    kind: "keyword_ideas",
    digest,
    version: NEW_KEYWORDS_VERSION,
    orders: ORDERS,
    records: [
      { r: "page", ...ownTexts },
      { r: "form", language },
      ...tracked.map((term) => ({ r: "followed", term })),
      ...candidates.map(({ term, reason }, at) => ({ r: `c${at + 1}`, term, reason })),
    ],
    answer: v.strictObject({
      picks: v.array(v.string()),
      ideas: v.array(v.strictObject({ from: v.string(), term: v.string() })),
    }),
    mostTokens: 1_500,
    judge: (answer: ChoiceAnswer) => judge(answer, inputs),
  }
}

const ORDERS =
  `You choose keywords for the store listing of a mobile app. The record "page" has its texts, ` +
  `"form" the language of the searches, each "followed" a keyword that the developer already tracks, ` +
  "each record c1, c2 and so on a candidate with its measured figures.\n" +
  "In picks, put the handles of the candidates that people who want this app would type. " +
  `In ideas, put up to ${MAX_NEW} other search terms of one to three words, in the language of the form: ` +
  "none that a record has, and no name of an app, a developer, a platform or a store. " +
  "In from of each idea, put the words of the page that it follows from, copied character by character."

interface ChoiceAnswer {
  picks: string[]
  ideas: { from: string; term: string }[]
}

/** Leaves out the keywords that are refused. The model is not asked again, since it would not return better ones. */
function judge({ picks, ideas }: ChoiceAnswer, inputs: NewKeywordInputs) {
  const { candidates, ownTexts, language, background, taken } = inputs
  const omissions = createOmissions()
  const handles = new Map(candidates.map(({ term }, at) => [`c${at + 1}`, term]))
  const picked = [...new Set(picks)].flatMap((handle) => {
    const term = handles.get(handle)
    if (term === undefined) omissions.add("keyword", "unknown_handle")
    return term ?? []
  })
  const excluded = exclusionOf({ language, background, taken })
  const texts = Object.values(ownTexts).flatMap((text) => text ?? [])
  const added = new Map<string, NewKeyword>()
  for (const { from, term: written } of ideas) {
    const term = written.trim().toLowerCase().replace(/\s+/gu, " ")
    const found = texts.flatMap((text) => findQuote(from, text) ?? [])[0]
    const [problem] = problemsOf("sentence", term, { sources: texts, language, orders: ORDERS })
    const isLong = found !== undefined && [...found].length > LONGEST_FROM
    if (problem) omissions.add("keyword", problem.rule)
    else if (found === undefined || isLong) omissions.add("keyword", "not_in_its_text")
    else if (excluded(term) || problemsOf("quote", found, { sources: texts, language }).length > 0)
      omissions.add("keyword", "excluded")
    else if (added.size < MAX_NEW) added.set(term, { term, from: found })
  }
  return { value: { picked, added: [...added.values()] }, dropped: omissions.list() }
}
