/** Returns a copy without the undefined properties. */
export function withoutUndefined<T extends object>(values: { [Name in keyof T]: T[Name] | undefined }): T {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as T
}

/** Returns a copy without the null properties. */
export function withoutNull<T extends object>(values: { [Name in keyof T]: T[Name] | null }): T {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null)) as T
}

/** Returns whether a value is an object but not an array. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}

/** Returns the names of an object whose type lists them all. */
export function keysOf<T extends object>(values: T): (keyof T & string)[] {
  return Object.keys(values) as (keyof T & string)[]
}

/** Returns the value of a required key. Throws if it is missing. */
export function valueAt<Key, Value>(map: ReadonlyMap<Key, Value>, key: Key): Value {
  const value = map.get(key)
  if (value === undefined) throw new Error(`there is no entry for ${String(key)}`)
  return value
}

/** Returns the value of a record's own property, never of an inherited one. Undefined if there is none. */
export function ownValue<Value>(record: Readonly<Record<string, Value>>, name: string): Value | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined
}
