import { join } from "node:path"
import type { WritingLanguage } from "../../src/texts/languages.ts"
import { topicsOf } from "../../src/texts/topics/find-topics.ts"
import { TOPICS, type Topic } from "../../src/texts/topics/topics.ts"
import { COUNTRIES, type Row, rowsOf } from "../measuring/record/review-rows.ts"
import heldOut from "./held-out-reviews.json"
import labelled from "./labelled-reviews.json"

export const FEED_LANGUAGES: Record<string, WritingLanguage[]> = {
  ca: ["en", "fr"],
  de: ["de", "en"],
  jp: ["ja", "en"],
  tr: ["tr", "en"],
  us: ["en", "es"],
}

export const languagesIn = (country: string): WritingLanguage[] => FEED_LANGUAGES[COUNTRIES[country]!] ?? ["en"]

interface LabelledReview {
  row: Row
  topics: readonly Topic[]
}

function labelledIn(file: string, topics: object): LabelledReview[] {
  const rows = rowsOf(join(import.meta.dirname, "../../fixtures/upstream", file))
  return rows.map((row) => ({ row, topics: (topics as Record<string, Topic[]>)[row.review_id]! }))
}

/** 970 real reviews with their topics. The rules were tuned on these reviews. */
export const LABELLED = labelledIn("apple-reviews-3games-6countries-labelled.csv", labelled.topics)

/**
 * 186 other reviews, which were not used to tune the rules. Before you tune the rules on these, draw and label new
 * ones.
 */
export const HELD_OUT = labelledIn("reviews-held-out.csv", heldOut.topics)

export interface Agreement {
  /**
   * Number of reviews about a topic according to both the rules and the labels, to the rules only, and to the labels
   * only.
   */
  both: number
  rules: number
  labels: number
}

/** Compares the rules with the labels, for each topic and in total. */
export function agreementOf(reviews = LABELLED): Record<Topic | "all", Agreement> {
  const compared = reviews.map(({ row, topics }) => ({
    topics,
    found: topicsOf(`${row.title}\n${row.review}`, languagesIn(row.country)),
  }))
  const all: Agreement = { both: 0, rules: 0, labels: 0 }
  const each = TOPICS.map((topic) => {
    const counts = { both: 0, rules: 0, labels: 0 }
    for (const { topics, found } of compared) {
      const [isLabelled, rule] = [topics.includes(topic), found.includes(topic)]
      if (isLabelled || rule) counts[isLabelled && rule ? "both" : isLabelled ? "labels" : "rules"]++
    }
    for (const key of ["both", "rules", "labels"] as const) all[key] += counts[key]
    return [topic, counts]
  })
  return Object.fromEntries([...each, ["all", all]])
}

export const precisionOf = ({ both, rules }: Agreement): number => both / (both + rules)
export const recallOf = ({ both, labels }: Agreement): number => both / (both + labels)
