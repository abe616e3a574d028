import * as v from "valibot"
import { described, named, type Schema } from "../../lib/schema.ts"
import { ASSISTANTS, type Assistant } from "../../lib/upstreams.ts"
import { Count, Time } from "../../tracking/shapes.ts"
import { AssistantName, mentionFields, Share, StoreIds } from "./visibility-shapes.ts"

/** Returns the schema of an object with one field per assistant. */
export function ofAssistants<Field extends Schema>(fieldOf: (assistant: Assistant) => Field) {
  const fields = ASSISTANTS.map((assistant) => [assistant, fieldOf(assistant)] as const)
  return v.strictObject(Object.fromEntries(fields) as Record<Assistant, Field>)
}

/** Maximum number of characters of an excerpt. */
export const MAX_TEXT = 280

export const SAID_OF: Record<Assistant, string> = {
  openai: "GPT with web search.",
  anthropic: "Claude with web search.",
  google: "Gemini with Google Search.",
  perplexity: "Perplexity's agent.",
}

const NamedApp = named(
  "AppInAnswers",
  v.strictObject({
    name: described(v.string(), "As the store has it, up to what it adds behind a colon or dash."),
    storeIds: StoreIds,
    rival: described(v.boolean(), "One of the app's rivals."),
    ...mentionFields,
  }),
)

/** One answer in the response. */
export const Answer = named(
  "AssistantAnswer",
  v.strictObject({
    engine: AssistantName,
    term: described(v.string(), "The keyword that was asked for."),
    phrasing: described(v.string(), "Version and variant of the question's words."),
    askedAt: described(Time, "When it answered."),
    searched: described(v.boolean(), "It searched the web for it."),
    named: described(v.nullable(v.boolean()), "Whether it names the app; null = uncertain."),
    excerpt: described(v.string(), `The line that names the app, or the beginning; at most ${MAX_TEXT} characters.`),
  }),
)

const Naming = described(Count, "Answers that do.")

/** The figures of one assistant. */
export const Engine = named(
  "AssistantVisibility",
  v.strictObject({
    model: described(v.string(), "As it was asked for."),
    language: described(v.string(), "Of the questions."),
    measuredFrom: described(Time, "The first of these answers."),
    measuredTo: described(Time, "The last."),
    answers: described(Count, "Answers in this sample, whoever had them asked for."),
    ...mentionFields,
    pooledLow: described(
      v.nullable(Share),
      "The share of all keywords together, at least: wider, since answers to one keyword are alike. 95 %, by a bootstrap over keywords; null = fewer than two.",
    ),
    pooledHigh: described(v.nullable(Share), "At most."),
    searched: described(Count, "Answers for which the web was searched."),
    keywords: described(
      v.array(v.strictObject({ term: described(v.string(), "The keyword."), ...mentionFields })),
      "Each keyword by itself, in the order of the alphabet.",
    ),
    rivals: described(v.array(NamedApp), "The app's rivals in the same answers, also those added since; at most 50."),
    apps: described(v.array(NamedApp), "Apps that are named most, the app itself aside; at most 10."),
    others: described(
      v.array(v.strictObject({ name: described(v.string(), "As written."), answers: Naming })),
      "Names at the heads of lists that are of no app known here; at most 10.",
    ),
    domains: described(
      v.array(v.strictObject({ domain: described(v.string(), "The host, without www."), answers: Naming })),
      "Hosts that are cited, by answers that do; at most 10.",
    ),
  }),
)
