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

/** The value that a map must have. Throws if it has none. */
export function valueAt<Key, Value>(map: ReadonlyMap<Key, Value>, key: Key): Value {
  const value = map.get(key)
  if (value === undefined) throw new Error(`nothing is known of ${String(key)}`)
  return value
}

/** The value of a record's own property, never of what every object has. Undefined if there is none. */
export function ownValue<Value>(record: Readonly<Record<string, Value>>, name: string): Value | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined
}
