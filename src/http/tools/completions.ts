import type { Toolset } from "../../core/operation.ts"
import { isRecord } from "../../lib/objects.ts"
import { answerOf, type OperationCall } from "./calling.ts"
import { invalidParams } from "./errors.ts"
import type { Candidate, Offers } from "./offers.ts"
import { offeredPrompts } from "./prompts.ts"
import type { Result } from "./results.ts"

/** The protocol's maximum number of values in an answer. */
const MAX_VALUES = 100

/** Returns completions for a prompt or resource argument. Throws RpcError for an unknown argument. */
export function complete(
  offers: Offers,
  { ref, argument, context = {} }: Record<string, unknown>,
  open: ReadonlySet<Toolset> | null,
): Result | OperationCall {
  const { name, value } = isRecord(argument) ? argument : {}
  if (typeof name !== "string" || typeof value !== "string")
    throw invalidParams("argument must be an object with the strings name and value.")
  if (!namesIn(ref, offers, open).includes(name))
    throw invalidParams("ref must be an existing prompt or resource template, and argument.name one of its arguments.")
  const given = textsIn(context)
  const completion = offers.completions[name]
  const input = completion?.input(given)
  if (!completion || !input) return completed([])
  return {
    operation: completion.operation,
    input,
    answered: (reply) => completed(matching(completion.of(answerOf(reply), given), value)),
    // while somebody types, inaccessible values are omitted; the call itself explains the refusal
    failed: ({ fault }) => (fault.status === 403 || fault.status === 404 ? completed([]) : undefined),
  }
}

/** Returns the argument names of a referenced prompt or resource. */
function namesIn(ref: unknown, { prompts, record }: Offers, open: ReadonlySet<Toolset> | null): string[] {
  if (!isRecord(ref)) return []
  if (ref.type === "ref/resource") return ref.uri === `${record.prefix}{${record.variable}}` ? [record.variable] : []
  const prompt = ref.type === "ref/prompt" && offeredPrompts(prompts, open).find(({ name }) => name === ref.name)
  return prompt ? prompt.arguments.map(({ name }) => name) : []
}

function textsIn(context: unknown): Record<string, string> {
  const given = isRecord(context) && isRecord(context.arguments) ? context.arguments : {}
  return Object.fromEntries(
    Object.entries(given).filter((entry): entry is [string, string] => typeof entry[1] === "string"),
  )
}

/**
 * Returns values that begin with the typed text, then values with a word or synonym that does. Keeps the given order.
 */
function matching(candidates: readonly Candidate[], typed: string): string[] {
  const start = typed.trim().toLowerCase()
  const begins = (text = "") => text.toLowerCase().startsWith(start)
  const hasWord = (text = "") => text.split(/\s+/).some(begins)
  const first = candidates.filter(({ value }) => begins(value))
  const second = candidates.filter(
    ({ value, also }) => !begins(value) && (hasWord(value) || begins(also) || hasWord(also)),
  )
  return [...new Set([...first, ...second].map(({ value }) => value))]
}

function completed(all: readonly string[]): Result {
  const completion = { values: all.slice(0, MAX_VALUES), total: all.length, hasMore: all.length > MAX_VALUES }
  return { fields: { completion: JSON.stringify(completion) } }
}
