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
  perplexity: "Perplexity's agent API.",
}

const NamedApp = named(
  "AppInAnswers",
  v.strictObject({
    name: described(v.string(), "Name in the store, without the part after a colon or dash."),
    storeIds: StoreIds,
    rival: described(v.boolean(), "True if it is a rival of the app."),
    ...mentionFields,
  }),
)

/** One answer in the response. */
export const Answer = named(
  "AssistantAnswer",
  v.strictObject({
    engine: AssistantName,
    term: described(v.string(), "The keyword of the question."),
    phrasing: described(v.string(), "Version and variant of the question's wording."),
    askedAt: described(Time, "Time of the answer."),
    searched: described(v.boolean(), "True if the assistant searched the web."),
    named: described(v.nullable(v.boolean()), "True if the answer names the app. Null if uncertain."),
    excerpt: described(
      v.string(),
      `The line that names the app, or the beginning of the answer; at most ${MAX_TEXT} characters.`,
    ),
  }),
)

const Naming = described(Count, "Answers with that name.")

/** The figures of one assistant. */
export const Engine = named(
  "AssistantVisibility",
  v.strictObject({
    model: described(v.string(), "Requested model."),
    language: described(v.string(), "Language of the questions."),
    measuredFrom: described(Time, "Time of the first answer."),
    measuredTo: described(Time, "Time of the last answer."),
    answers: described(Count, "Answers in this sample, whichever workspace requested them."),
    ...mentionFields,
    pooledLow: described(
      v.nullable(Share),
      "Lower end of the 95 % interval over all keywords (bootstrap over keywords). Wider, because answers to one " +
        "keyword resemble each other. Null with fewer than two keywords.",
    ),
    pooledHigh: described(v.nullable(Share), "Upper end of that interval."),
    searched: described(Count, "Answers with a web search."),
    keywords: described(
      v.array(v.strictObject({ term: described(v.string(), "The keyword."), ...mentionFields })),
      "Figures of each keyword, in alphabetical order.",
    ),
    rivals: described(
      v.array(NamedApp),
      "Rivals of the app in the same answers, including rivals added later; at most 50.",
    ),
    apps: described(v.array(NamedApp), "The apps named most often, without the app itself; at most 10."),
    others: described(
      v.array(v.strictObject({ name: described(v.string(), "The name as written."), answers: Naming })),
      "Names at the start of list items that match no known app; at most 10.",
    ),
    domains: described(
      v.array(v.strictObject({ domain: described(v.string(), "Host name without www."), answers: Naming })),
      "Hosts cited in the answers, by number of answers; at most 10.",
    ),
  }),
)
