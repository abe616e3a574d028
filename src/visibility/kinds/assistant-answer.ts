import * as v from "valibot"
import { kind, type ObservationOf, type StoredRange } from "../../core/kind.ts"
import { addressProblem, checkTerm, isText } from "../../core/observation/invariants.ts"
import { Fact, Flag, list, Text, Whole } from "../../core/observation/line-parts.ts"
import { most, rule, ruleBy } from "../../core/observation/shape.ts"
import type { Sql } from "../../database/types.ts"
import { dayOf } from "../../lib/days.ts"
import { withoutNull } from "../../lib/objects.ts"
import { normaliseTerm } from "../../lib/term.ts"
import { ASSISTANTS, type Assistant } from "../../lib/upstreams.ts"
import { type BestOptions, pagesOf, provenanceOf, storeBest } from "../../measuring/record/best-rows.ts"

const LONGEST_TEXT = 100_000
/** Maximum number of runs per keyword in one check. */
const MAX_RUNS = 20

const Name = v.pipe(
  Text,
  rule("bad_text", "a model must have 1 to 200 characters", (name) => isText(name, 200)),
)
const Tokens = v.optional(
  v.pipe(
    Whole,
    rule("bad_figure", "a count must be a whole number from 0", (count) => Number.isSafeInteger(count) && count >= 0),
  ),
)

const Citation = v.pipe(
  v.strictObject({ url: Text, title: Fact }),
  rule("bad_text", "a citation needs a web address, and its title must be text", ({ url, title }) => {
    return addressProblem(url) === null && (title === undefined || isText(title, 1_000))
  }),
)
export type Citation = v.InferOutput<typeof Citation>

const shape = v.strictObject({
  term: v.pipe(
    Text,
    v.transform(normaliseTerm),
    ruleBy((term) => checkTerm(term)),
  ),
  /** Language of the question (BCP 47). Chinese codes include the script. */
  language: v.pipe(
    Text,
    rule("bad_language", "the language must be a code such as de or zh-Hans", (code) =>
      /^[a-z]{2,3}(-[A-Za-z]{2,4})?$/.test(code),
    ),
  ),
  /** The model that was requested. */
  model: Name,
  /** Version and variant of the question's words, such as "1a". */
  phrasing: v.pipe(
    Text,
    rule("bad_text", "the phrasing must be a version and a letter, such as 1a", (name) =>
      /^[1-9]\d{0,2}[a-z]$/.test(name),
    ),
  ),
  /** Index of the run within its check, counted from 0. */
  run: v.pipe(
    Whole,
    rule("bad_figure", `the run must be a whole number from 0 to ${MAX_RUNS - 1}`, (run) => {
      return Number.isInteger(run) && run >= 0 && run < MAX_RUNS
    }),
  ),
  /** The answer, unchanged. */
  text: v.pipe(
    Text,
    rule("bad_text", "the answer must be text that can be stored", (text) => isText(text, LONGEST_TEXT)),
  ),
  /** Whether the assistant searched the web. */
  searched: Flag,
  cited: v.pipe(list(Citation), most(500, "citations")),
  /** The model named in the response. */
  answeredBy: v.optional(Name),
  inputTokens: Tokens,
  outputTokens: Tokens,
  /** Number of searches, as counted by the provider. */
  searches: Tokens,
})

export type AssistantAnswerObservation = Omit<ObservationOf<"assistant_answer", Assistant, typeof shape>, "platform">

/**
 * One answer of an assistant to a question about a keyword. The question names no app, so the answer serves every app
 * and workspace.
 */
export const assistantAnswer = kind<AssistantAnswerObservation>({
  name: "assistant_answer",
  sources: ASSISTANTS,
  private: false,
  storeless: true,
  demo: "invented",
  shape,
  async store(tx, answers) {
    return {
      placed: await storeBest(
        tx,
        TABLE,
        answers.map((from) => ({ from, row: rowOf(from) })),
      ),
    }
  },
  stored: readAnswers,
  keep: { table: "assistant_answer", day: "day", keep: 400 },
  example: {
    source: "openai",
    storefront: "us",
    term: "photo editor",
    language: "en",
    model: "gpt-6-luna",
    phrasing: "1a",
    run: 0,
    seenAt: "2025-10-25T03:25:01Z",
    text: "1. **Canva**: templates for everything.\n2. **Snapseed**: free, by Google.",
    searched: true,
    cited: [{ url: "https://apps.apple.com/us/app/canva/id897446215", title: "Canva" }],
    inputTokens: 8_211,
    outputTokens: 402,
  },
})

const TABLE: BestOptions = {
  table: "assistant_answer",
  key: ["storefront", "term", "source", "model", "phrasing", "run", "seen_at"],
}

function rowOf(from: AssistantAnswerObservation) {
  const { storefront, term, language, model, phrasing, run, text, searched, cited, seenAt } = from
  const { answeredBy, inputTokens, outputTokens, searches } = from
  return {
    storefront,
    term,
    language,
    model,
    phrasing,
    run,
    text,
    searched,
    cited,
    day: dayOf(seenAt),
    answered_by: answeredBy ?? null,
    input_tokens: inputTokens ?? null,
    output_tokens: outputTokens ?? null,
    searches: searches ?? null,
    ...provenanceOf(from),
  }
}

const PAGE = 100

type StoredAnswerRow = AssistantAnswerObservation & {
  [Name in "answeredBy" | "inputTokens" | "outputTokens" | "searches"]: unknown
}

async function* readAnswers(sql: Sql, { since, sources }: StoredRange): AsyncGenerator<AssistantAnswerObservation[]> {
  const pages = pagesOf(
    (after: StoredAnswerRow | null) => sql<StoredAnswerRow[]>`
      select 'assistant_answer' as kind, source, storefront, term, language, model, phrasing, run, seen_at as "seenAt",
        text, searched, cited, answered_by as "answeredBy", input_tokens as "inputTokens",
        output_tokens as "outputTokens", searches, parser, origin, sha256
      from assistant_answer
      where day >= ${since ?? "0001-01-01"} and source = any(${sources as string[]}::text[])
        and (storefront, term, source, model, phrasing, run, seen_at) > (
          ${after?.storefront ?? ""}, ${after?.term ?? ""}, ${after?.source ?? ""}, ${after?.model ?? ""},
          ${after?.phrasing ?? ""}, ${after?.run ?? -1}::smallint, ${after?.seenAt ?? new Date(0)}::timestamptz
        )
      order by storefront, term, source, model, phrasing, run, seen_at
      limit ${PAGE}`,
  )
  for await (const rows of pages) yield rows.map((row) => withoutNull<AssistantAnswerObservation>(row))
}
