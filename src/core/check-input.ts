import * as v from "valibot"
import { Fault, type FaultCode } from "../lib/faults.ts"
import { isStorefrontCode, normalise } from "../lib/fields.ts"
import { codeOf, type ObjectSchema, type Schema, unwrap } from "../lib/schema.ts"
import { type Platform, storeOf } from "../lib/store-pages.ts"
import { otherStoreProblem } from "../lib/storefronts.ts"
import { isStorable } from "../lib/text.ts"
import { wrongValue } from "../lib/wrong-value.ts"
import type { Operation } from "./operation.ts"

/**
 * Returns the same as checkArguments. Also checks that a storefront exists in the requested store, unless the call is
 * about a tracked app.
 */
export function checkInput(operation: Operation, raw: Record<string, unknown>): Record<string, unknown> {
  const input = checkArguments(operation, raw)
  if (!operation.subject) checkStorefronts(operation, input, [requestedStore(operation, input)])
  return input
}

/** Returns the arguments in the form handlers get. Throws the code of the first bad argument and lists all problems. */
export function checkArguments(
  { input: schema, refine, instead }: Pick<Operation, "input"> & Partial<Pick<Operation, "refine" | "instead">>,
  raw: Record<string, unknown>,
): Record<string, unknown> {
  const unheard = unheardName(raw)
  if (unheard !== undefined) throw refusal(schema, raw, unheard, `There is no argument ${unheard}.`)
  const list = listForObject(schema, raw)
  if (list !== undefined) throw refusal(schema, raw, list)
  const parsed = v.safeParse(schema, raw, { abortEarly: true, abortPipeEarly: true })
  if (!parsed.success) throw refusal(schema, raw, String(parsed.issues[0].path?.[0]?.key ?? "input"))
  const input = parsed.output as Record<string, unknown>
  for (const name in input) {
    input[name] = normalise(schema.entries[name] as Schema, input[name])
    if (input[name] === undefined) delete input[name]
  }
  const conflict = Object.entries(instead ?? {}).find(([name, conflicting]) => isCombined(input, name, conflicting))
  if (conflict) throw refusal(schema, raw, conflict[0], conflictText(conflict))
  const refined = refine?.(input) ?? input
  for (const name in refined)
    if (!storable(refined[name]))
      throw refusal(schema, raw, name, `${name} contains a character that is not allowed, such as NUL.`)
  return refined
}

/** Throws bad_country for a storefront that exists in none of these stores. */
export function checkStorefronts(
  { input: { entries } }: Pick<Operation, "input">,
  input: Record<string, unknown>,
  stores: readonly Platform[],
): void {
  for (const field of Object.keys(entries).filter((name) => isStorefrontCode(entries[name] as Schema)))
    for (const code of [input[field] ?? []].flat()) {
      const detail = otherStoreProblem(String(code), stores)
      if (detail !== null) throw new Fault("bad_country", { field, detail })
    }
}

/** Returns the store of a market call: from `platform`, else from the app it names, else the App Store. */
function requestedStore({ appInput }: Operation, input: Record<string, unknown>): Platform {
  const named = appInput === undefined ? undefined : input[appInput]
  return (input.platform as Platform | undefined) ?? (typeof named === "string" ? storeOf(named) : null) ?? "ios"
}

function isCombined(input: Record<string, unknown>, name: string, conflicting: readonly string[]): boolean {
  return name in input && conflicting.some((other) => other in input)
}

function conflictText([name, conflicting]: [string, readonly string[]]): string {
  return `${name} replaces ${conflicting.join(" and ")}: send one or the other.`
}

const UNHEARD = ["__proto__", "constructor", "prototype"]

/** Returns an unknown name in the input that valibot ignores silently. Valibot refuses every other unknown name. */
function unheardName(value: unknown): string | undefined {
  if (typeof value !== "object" || value === null) return undefined
  for (const [name, item] of Object.entries(value)) {
    const unheard = UNHEARD.includes(name) ? name : unheardName(item)
    if (unheard !== undefined) return unheard
  }
  return undefined
}

/**
 * Returns the name of an input that is a list although its schema is an object. valibot accepts such a list, even an
 * empty one if no field is required.
 */
function listForObject({ entries }: ObjectSchema, raw: Record<string, unknown>): string | undefined {
  return Object.keys(entries).find((name) => {
    const { type } = unwrap(entries[name] as Schema)
    return Array.isArray(raw[name]) && (type === "record" || type.endsWith("object"))
  })
}

/**
 * Returns whether the database can store a value. PostgreSQL stores neither U+0000 nor lone surrogates. No name, id or
 * keyword of a store contains them.
 */
function storable(value: unknown): boolean {
  if (typeof value === "string") return isStorable(value)
  if (typeof value !== "object" || value === null) return true
  return Object.entries(value).every(([name, item]) => storable(name) && storable(item))
}

interface Problem {
  field: string
  code: FaultCode
  detail: string
}

/** Limits the number of problems, to keep the error body small. */
const MAX_PROBLEMS = 20

/** Lists the field that decides the code first, then other refused fields, then unknown names. */
function refusal(schema: ObjectSchema, raw: Record<string, unknown>, field: string, why?: string): Fault {
  const names = new Set([field, ...Object.keys(schema.entries), ...Object.keys(raw)])
  const problems: Problem[] = []
  for (const name of names) {
    if (problems.length === MAX_PROBLEMS) break
    const entry = Object.hasOwn(schema.entries, name) ? (schema.entries[name] as Schema) : undefined
    const value = Object.hasOwn(raw, name) ? raw[name] : undefined
    if (name !== field && entry && v.is(entry, value)) continue
    const detail = (name === field && why) || wrongValue(schema, name, value)
    // cut an unknown name, which is the caller's text, so that the error body stays small
    problems.push({ field: name.slice(0, 64), code: codeOf(entry), detail })
  }
  const [{ code, ...first }] = problems as [Problem]
  return new Fault(code, { ...first, problems })
}
