import * as v from "valibot"
import type { Allowance } from "../../access/allowances.ts"
import type { Context } from "../../core/operation.ts"
import { Fault, type FaultCode } from "../../lib/faults.ts"
import { described, named } from "../../lib/schema.ts"
import type { WritingState, WritingTask, WrittenText } from "../../lib/writing/written-text.ts"
import { Count, Time } from "../../tracking/shapes.ts"
import { RULES } from "../checks/check.ts"
import { type Omission, OTHER_RULES, WRITTEN_PARTS } from "../checks/checker.ts"
import { WRITING_LANGUAGES } from "../languages.ts"

export const Language = v.optional(
  v.pipe(v.picklist(WRITING_LANGUAGES), v.description("Language of labels and sentences.")),
  "en",
)

const OmissionShape = named(
  "LeftOutText",
  v.strictObject({
    what: described(v.picklist(WRITTEN_PARTS), "The removed part."),
    rule: described(v.picklist([...RULES, ...OTHER_RULES]), "The rule that rejected it."),
    count: described(Count, "Number of removals."),
  }),
)

/** The author and the inputs of an answer's texts, and what the checks left out. */
export const Written = named(
  "Written",
  v.strictObject({
    by: described(
      v.picklist(["rules", "model", "ocr"]),
      "rules: fixed rules selected and counted; no text is generated. model: a language model wrote the sentences; " +
        "they are checked, and counts and quotes are computed. ocr: text was read from images; none is generated.",
    ),
    model: described(v.nullable(v.string()), "The model or OCR engine. Null if none was used."),
    at: described(Time, "Time of creation."),
    version: described(Count, "Version of the rules or the prompt."),
    inputDigest: described(v.string(), "SHA-256 of the input. The same input gives the same text."),
    dropped: described(v.array(OmissionShape), "Parts removed by the checks. Empty if none."),
  }),
)

/** Describes a text made by rules. */
export function writtenByRules(
  { version, digest, dropped }: { version: number; digest: string; dropped: readonly Omission[] },
  now: Date,
): v.InferInput<typeof Written> {
  return { by: "rules", model: null, at: now.toISOString(), version, inputDigest: digest, dropped: [...dropped] }
}

/** Describes a text written by a model. */
export function writtenBy(
  { model, version, at, dropped }: WrittenText<unknown>,
  inputDigest: string,
): v.InferInput<typeof Written> {
  return { by: "model", model, at: at.toISOString(), version, inputDigest, dropped: dropped as Omission[] }
}

/** The maximum time that a call waits for a text. If the text takes longer, a later call finds it stored. */
export const WRITE_MS = 21_000

/** Throws ai_not_configured if there is neither a writer nor a stored text. */
export async function assertWriter({ write }: Context, task: WritingTask<unknown>): Promise<void> {
  if (write.isOn) return
  const stored = await write.find(task)
  if (stored?.state !== "done") throw noWriter()
}

/** Returns the text. Otherwise throws the fault, which gives back the call's unit. */
export async function writtenOr<Value>({ write }: Context, task: WritingTask<Value>): Promise<WrittenText<Value>> {
  const state = await write(task, WRITE_MS)
  if (state.state === "done") return state
  throw faultOf(state)
}

export function faultOf(state: Exclude<WritingState<unknown>, { state: "done" }>): Fault {
  if (state.state === "pending") return new Fault("ai_timeout")
  const { why, retryAfter = 60 } = state
  if (why === "off") return noWriter()
  if (why === "unusable") return new Fault("ai_failed")
  const detail =
    why === "spent" ? "The instance's token budget for today is used up." : "The language model is rate limited."
  return new Fault("unavailable", { detail }, { retryAfter })
}

function noWriter(): Fault {
  return new Fault("ai_not_configured", { detail: NO_MODEL }, { retryAfter: 3_600 })
}

const NO_MODEL =
  "No usable language model is configured on this server. The operator can set AI_URL, AI_MODEL and, if needed, " +
  "AI_KEY (appmeter doctor checks them). Retrying does not help until then."

/**
 * Takes a unit for a new text. The same text takes at most one unit a day. Throws `code` if the month's units are used
 * up.
 */
export async function takeUnit(ctx: Context, allowance: Allowance, digest: string, code: FaultCode): Promise<void> {
  const { granted, resetsAt } = await ctx.take(allowance, { about: digest, days: 1 })
  if (granted) return
  const retryAfter = Math.max(1, Math.ceil((Date.parse(resetsAt) - ctx.now().getTime()) / 1_000))
  throw new Fault(code, { resetsAt }, { retryAfter })
}
