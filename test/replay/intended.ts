import type { Difference } from "./compare.ts"

/** Either the value itself, or a test of it. */
type Expected = string | number | boolean | null | RegExp | ((value: unknown) => boolean)

/** A difference from the old build that we want. README.md shows how to add one. */
export interface Intended {
  /** Short and unique: "head-is-405". */
  id: string
  /** One sentence: what callers see now, and why. */
  why: string
  /** The issue and finding that ask for it: "38, contract 12". */
  issue: string
  /** All that are given must match. */
  where: {
    surface?: Difference["surface"]
    /** Operation id, or several, or a pattern. All operations if left out. */
    operation?: string | readonly string[] | RegExp
    /** Text is the whole path, as the report prints it. */
    path?: string | RegExp
    state?: string | RegExp
    old?: Expected
    new?: Expected
    call?: RegExp
  }
}

export const INTENDED: readonly Intended[] = []

export function isIntended({ where }: Intended, difference: Difference): boolean {
  const { operation } = where
  const operations = typeof operation === "string" ? [operation] : operation
  if (
    operations instanceof RegExp
      ? !operations.test(difference.operation)
      : operations?.includes(difference.operation) === false
  )
    return false
  if (where.surface !== undefined && where.surface !== difference.surface) return false
  if (where.call !== undefined && !where.call.test(difference.call)) return false
  return (["path", "state", "old", "new"] as const).every((name) => {
    const expected: Expected | undefined = where[name]
    return !(name in where) || isExpected(expected, difference[name])
  })
}

function isExpected(expected: Expected | undefined, value: unknown): boolean {
  if (expected instanceof RegExp)
    return expected.test(typeof value === "string" ? value : (JSON.stringify(value) ?? ""))
  return typeof expected === "function" ? expected(value) : expected === value
}
