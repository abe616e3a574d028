import * as v from "valibot"
import { Fault, type FaultCode } from "../lib/faults.ts"
import { isStorefrontCode, normalise } from "../lib/fields.ts"
import { codeOf, type ObjectSchema, type Schema, unwrap } from "../lib/schema.ts"
import { type Platform, storeOf } from "../lib/store-pages.ts"
import { otherStoreProblem } from "../lib/storefronts.ts"
import { isStorable } from "../lib/text.ts"
import { wrongValue } from "../lib/wrong-value.ts"
import type { Operation } from "./operation.ts"

/** As checkArguments; a storefront must also be one of the store asked for, where that is not the store of a tracked app. */
export function checkInput(operation: Operation, raw: Record<string, unknown>): Record<string, unknown> {
  const input = checkArguments(operation, raw)
  if (!operation.subject) checkStorefronts(operation, input, [storeAskedFor(operation, input)])
  return input
}

/** Returns the arguments as handlers get them. Throws the first bad argument's own code, and lists all that is wrong. */
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
  const beside = Object.entries(instead ?? {}).find(([name, others]) => isBeside(input, name, others))
  if (beside) throw refusal(schema, raw, beside[0], besideText(beside))
  const refined = refine?.(input) ?? input
  for (const name in refined)
    if (!storable(refined[name])) throw refusal(schema, raw, name, `${name} holds a character that no text may hold.`)
  return refined
}

/** Throws bad_country for a storefront that none of these stores has. */
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

/** The store that a call about the market asks for: by its `platform`, else by the app it names, else the App Store. */
function storeAskedFor({ appInput }: Operation, input: Record<string, unknown>): Platform {
  const named = appInput === undefined ? undefined : input[appInput]
  return (input.platform as Platform | undefined) ?? (typeof named === "string" ? storeOf(named) : null) ?? "ios"
}

function isBeside(input: Record<string, unknown>, name: string, others: readonly string[]): boolean {
  return name in input && others.some((other) => other in input)
}

function besideText([name, others]: [string, readonly string[]]): string {
  return `${name} stands in place of ${others.join(" and ")}: leave out the one or the other.`
}

const UNHEARD = ["__proto__", "constructor", "prototype"]

/** valibot passes over these names without a word, where any other that is unknown is refused. */
function unheardName(value: unknown): string | undefined {
  if (typeof value !== "object" || value === null) return undefined
  for (const [name, held] of Object.entries(value)) {
    const unheard = UNHEARD.includes(name) ? name : unheardName(held)
    if (unheard !== undefined) return unheard
  }
  return undefined
}

/** To valibot a list is an object too, and an empty one fits any that needs nothing. */
function listForObject({ entries }: ObjectSchema, raw: Record<string, unknown>): string | undefined {
  return Object.keys(entries).find((name) => {
    const { type } = unwrap(entries[name] as Schema)
    return Array.isArray(raw[name]) && (type === "record" || type.endsWith("object"))
  })
}

/** PostgreSQL holds no U+0000 and no half of a surrogate pair; neither stands in a name, id or keyword of a store. */
function storable(value: unknown): boolean {
  if (typeof value === "string") return isStorable(value)
  if (typeof value !== "object" || value === null) return true
  return Object.entries(value).every(([name, held]) => storable(name) && storable(held))
}

interface Problem {
  field: string
  code: FaultCode
  detail: string
}

/** Many unknown names are no more to learn from than some. */
const MOST_PROBLEMS = 20

/** The field that decides stands first, then whatever else the schema refuses, then names that it does not know. */
function refusal(schema: ObjectSchema, raw: Record<string, unknown>, field: string, why?: string): Fault {
  const names = new Set([field, ...Object.keys(schema.entries), ...Object.keys(raw)])
  const problems: Problem[] = []
  for (const name of names) {
    if (problems.length === MOST_PROBLEMS) break
    const entry = Object.hasOwn(schema.entries, name) ? (schema.entries[name] as Schema) : undefined
    const value = Object.hasOwn(raw, name) ? raw[name] : undefined
    if (name !== field && entry && v.is(entry, value)) continue
    const detail = (name === field && why) || wrongValue(schema, name, value)
    // the name of an unknown parameter is the caller's text: cut, so that an error body stays small
    problems.push({ field: name.slice(0, 64), code: codeOf(entry), detail })
  }
  const [{ code, ...first }] = problems as [Problem]
  return new Fault(code, { ...first, problems })
}
