import * as v from "valibot"
import { Fault } from "./faults.ts"
import type { Operation } from "./operation.ts"
import { normalise } from "./vocabulary/fields.ts"
import { codeOf, type ObjectSchema, type Schema, unwrap } from "./vocabulary/schema.ts"
import { isStorable } from "./vocabulary/text.ts"
import { wrongValue } from "./vocabulary/wrong-value.ts"

/** Raw input as the operation's typed, normalised input; throws the first bad parameter's own code, naming it. */
export function checkInput(
  { input: schema, refine }: Pick<Operation, "input" | "refine">,
  raw: Record<string, unknown>,
): Record<string, unknown> {
  refuseUnseen(raw)
  refuseLists(schema, raw)
  const parsed = v.safeParse(schema, raw, { abortEarly: true, abortPipeEarly: true })
  if (!parsed.success) throw badInput(schema, raw, parsed.issues[0])
  const input = parsed.output as Record<string, unknown>
  for (const name in input) {
    input[name] = normalise(schema.entries[name] as Schema, input[name])
    if (input[name] === undefined) delete input[name]
  }
  const refined = refine?.(input) ?? input
  for (const name in refined)
    if (!storable(refined[name])) throw new Fault(codeOf(schema.entries[name] as Schema), { field: name })
  return refined
}

const UNSEEN = ["__proto__", "constructor", "prototype"]

/** valibot passes over these names without a word, where any other that is unknown is refused. */
function refuseUnseen(value: unknown): void {
  if (typeof value !== "object" || value === null) return
  for (const [name, held] of Object.entries(value)) {
    if (UNSEEN.includes(name)) throw new Fault("invalid_arguments", { field: name })
    refuseUnseen(held)
  }
}

/** To valibot a list is an object too, and an empty one fits any that needs nothing. */
function refuseLists({ entries }: ObjectSchema, raw: Record<string, unknown>): void {
  for (const [name, entry] of Object.entries(entries)) {
    const { type } = unwrap(entry as Schema)
    if (Array.isArray(raw[name]) && (type === "record" || type.endsWith("object")))
      throw new Fault(codeOf(entry as Schema), { field: name, detail: `${name} must be an object, not a list.` })
  }
}

/** PostgreSQL holds no U+0000 and no half of a surrogate pair; neither stands in a name, id or keyword of a store. */
function storable(value: unknown): boolean {
  if (typeof value === "string") return isStorable(value)
  if (typeof value !== "object" || value === null) return true
  return Object.entries(value).every(([name, held]) => storable(name) && storable(held))
}

function badInput(schema: ObjectSchema, raw: Record<string, unknown>, issue: v.BaseIssue<unknown>): Fault {
  const field = String(issue.path?.[0]?.key ?? "input")
  const entry = Object.hasOwn(schema.entries, field) ? schema.entries[field] : undefined
  const detail = wrongValue(schema, field, raw[field])
  // the name of an unknown parameter is the caller's text: cut, so that an error body stays small
  return new Fault(codeOf(entry as Schema | undefined), { field: field.slice(0, 64), ...(detail && { detail }) })
}
