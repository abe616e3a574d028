/** The same object without the properties that are undefined. */
export function withoutUndefined<T extends object>(values: { [Name in keyof T]: T[Name] | undefined }): T {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as T
}

/** The same object without the properties that are null. */
export function withoutNull<T extends object>(values: { [Name in keyof T]: T[Name] | null }): T {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null)) as T
}

/** An object that is no list. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}

/** Names of an object whose type lists them all. */
export function keysOf<T extends object>(values: T): (keyof T & string)[] {
  return Object.keys(values) as (keyof T & string)[]
}
