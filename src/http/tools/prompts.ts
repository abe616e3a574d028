import type { Toolset } from "../../core/operation.ts"
import { isRecord } from "../../lib/objects.ts"
import { invalidParams } from "./errors.ts"
import type { Offers, Prompt } from "./offers.ts"
import type { Result } from "./results.ts"

/** Returns the prompts whose toolsets are open. */
export function offeredPrompts(prompts: readonly Prompt[], open: ReadonlySet<Toolset> | null): readonly Prompt[] {
  return prompts.filter(({ toolsets }) => open === null || toolsets.every((toolset) => open.has(toolset)))
}

export function listPrompts({ prompts }: Offers, open: ReadonlySet<Toolset> | null): Result {
  const listed = offeredPrompts(prompts, open).map(({ name, title, description, arguments: taken }) => ({
    name,
    title,
    description,
    ...(taken.length > 0 && { arguments: taken }),
  }))
  return { fields: { prompts: JSON.stringify(listed) } }
}

/** Returns a prompt with its arguments filled in, as a message of the person. Throws RpcError. */
export function getPrompt(
  { prompts }: Offers,
  params: Record<string, unknown>,
  open: ReadonlySet<Toolset> | null,
): Result {
  const offered = offeredPrompts(prompts, open)
  const prompt = offered.find(({ name }) => name === params.name)
  if (!prompt) throw invalidParams(`There is no such prompt; there are ${namesOf(offered)}.`)
  const messages = [{ role: "user", content: { type: "text", text: prompt.text(argumentsOf(prompt, params)) } }]
  const { description } = prompt
  return { fields: { description: JSON.stringify(description), messages: JSON.stringify(messages) } }
}

/** Maximum length of a prompt argument: an id, a term or a few words. */
const MAX_CHARACTERS = 500

function argumentsOf({ arguments: taken }: Prompt, { arguments: given = {} }: Record<string, unknown>) {
  if (!isRecord(given)) throw invalidParams("arguments must be an object.")
  const names = taken.map(({ name }) => name)
  const stray = Object.keys(given).find((name) => !names.includes(name))
  if (stray !== undefined) throw invalidParams(`Unknown argument; this prompt takes ${names.join(", ") || "none"}.`)
  const missing = taken.find(({ name, required }) => required && !given[name])
  if (missing) throw invalidParams(`The argument ${missing.name} is missing: ${missing.description}`)
  for (const name of names)
    if (given[name] !== undefined && !isShortText(given[name]))
      throw invalidParams(`The argument ${name} must be a string of at most ${MAX_CHARACTERS} characters.`)
  return given as Record<string, string>
}

function isShortText(value: unknown): boolean {
  return typeof value === "string" && value.length <= MAX_CHARACTERS
}

const namesOf = (prompts: readonly Prompt[]) => prompts.map(({ name }) => name).join(", ") || "none here"
