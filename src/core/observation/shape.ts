import * as v from "valibot"
import { hold, type ProblemCode } from "./invariants.ts"
import type { StoreObservation } from "./provenance.ts"

/**
 * Adds a rule to a schema. Parsing an import line ignores the rule: `record` checks it, for lines and parsed pages
 * alike.
 */
export function rule<T>(code: ProblemCode, says: string, holds: (value: T, seen: StoreObservation) => boolean) {
  return ruleBy<T>((value, seen) => hold(holds(value, seen), code, says))
}

export function ruleBy<T>(check: (value: T, seen: StoreObservation) => void) {
  return v.metadata<T, { check: typeof check }>({ check })
}

/** Adds the rule that a list has at most `count` items. `what` names them in the message. */
export function most<T>(count: number, what: string) {
  return rule<T[]>("too_many_results", `there are more than ${count} ${what}`, ({ length }) => length <= count)
}

/** A check of a value that its schema has accepted. */
type Check = (value: unknown, seen: StoreObservation) => void

/**
 * Returns the rules of a schema as one check. Null if it has none. A list's own rules run before those of its items,
 * which may be too many; an object's own rules run after those of its fields.
 */
export function rulesOf(shape: v.GenericSchema): Check | null {
  const { pipe = [], entries, item, wrapped } = shape as SchemaParts
  const ownRules = pipe.flatMap((part) =>
    part.kind === "metadata" && part.metadata?.check ? [part.metadata.check] : [],
  )
  if (wrapped) return together([unlessLeftOut(rulesOf(wrapped)), ...ownRules])
  if (item) return together([...ownRules, ofEach(rulesOf(item))])
  if (entries) return together([ofFields(entries), ...ownRules])
  return together(ownRules)
}

interface SchemaParts {
  pipe?: readonly { kind: string; metadata?: { check?: Check } }[]
  entries?: Record<string, v.GenericSchema>
  item?: v.GenericSchema
  wrapped?: v.GenericSchema
}

function together(checks: readonly (Check | null)[]): Check | null {
  const present = checks.filter((check) => check !== null)
  if (present.length <= 1) return present[0] ?? null
  return (value, seen) => {
    for (const check of present) check(value, seen)
  }
}

function unlessLeftOut(check: Check | null): Check | null {
  return check && ((value, seen) => value !== undefined && value !== null && check(value, seen))
}

function ofEach(check: Check | null): Check | null {
  return (
    check &&
    ((list, seen) => {
      for (const item of list as readonly unknown[]) check(item, seen)
    })
  )
}

function ofFields(entries: Record<string, v.GenericSchema>): Check | null {
  const checks = Object.entries(entries).flatMap(([name, field]): [string, Check][] => {
    const check = rulesOf(field)
    return check ? [[name, check]] : []
  })
  if (checks.length === 0) return null
  return (value, seen) => {
    for (const [name, check] of checks) check((value as Record<string, unknown>)[name], seen)
  }
}
