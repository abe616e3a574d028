import { ReadFailure } from "../source.ts"

/** Returns undefined if a fact is not shown. Throws ReadFailure (`changed`) if it is shown and cannot be read. */
export function fact<T>(value: unknown, read: (value: unknown) => T | undefined): T | undefined {
  const isShown = value !== undefined && value !== null && !(typeof value === "string" && value.trim() === "")
  return isShown ? required(value, read) : undefined
}

/** Throws ReadFailure (`changed`) if the fact is missing or cannot be read. */
export function required<T>(value: unknown, read: (value: unknown) => T | undefined): T {
  const fact = read(value)
  if (fact === undefined) throw new ReadFailure("changed", "a fact is missing or of another type")
  return fact
}
