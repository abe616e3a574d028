import type { JsonSchema } from "../schema-subset.ts"

/** A request for one text. Has no sampling parameters, because some models refuse even their default values. */
export interface WriterQuestion {
  system: string
  data: string
  /** At most 64 characters of [A-Za-z0-9_-]. */
  name: string
  schema: JsonSchema
  mostTokens: number
}

/** Tokens. Null if the provider does not report them. */
export interface WriterUsage {
  input: number | null
  output: number | null
}

/**
 * refused: the model declined. cut: the answer or the prompt was truncated. unreadable: the answer does not match the
 * schema. busy: retry later. denied: wrong key, unknown model or no money left. rejected: the request was not
 * understood.
 */
export type WriterFailure = "refused" | "cut" | "unreadable" | "busy" | "denied" | "rejected"

export type WriterReading = { text: string; usage: WriterUsage } | { failed: WriterFailure; usage?: WriterUsage }

/** A wire format: how to send a question, and how to read an answer of status 200. */
export interface WireFormat {
  /** Path below the base URL, which ends in /v1. */
  path: string
  headers(key: string | undefined): Record<string, string>
  /** Returns the body of a request. `host` matters because some vendors need field names that others refuse. */
  body(question: WriterQuestion, target: { model: string; host: string }): object
  /** Returns the body for servers that refuse a schema. Left out if every server accepts one. */
  simpler?(question: WriterQuestion, target: { model: string; host: string }): object
  read(answer: unknown): WriterReading
}

export function bearer(key: string | undefined): Record<string, string> {
  return key === undefined ? {} : { authorization: `Bearer ${key}` }
}

/** Returns a nested value of an answer of unknown shape. Undefined if it does not exist. */
export function at(value: unknown, ...path: (string | number)[]): unknown {
  let current = value
  for (const step of path) {
    if (typeof current !== "object" || current === null) return undefined
    current = (current as Record<string | number, unknown>)[step]
  }
  return current
}

export function textAt(value: unknown, ...path: (string | number)[]): string | undefined {
  const found = at(value, ...path)
  return typeof found === "string" ? found : undefined
}

export function listAt(value: unknown, ...path: (string | number)[]): unknown[] {
  const found = at(value, ...path)
  return Array.isArray(found) ? found : []
}

/** Returns a token count. Null if there is none. */
export function tokensAt(value: unknown, ...path: (string | number)[]): number | null {
  const found = at(value, ...path)
  return typeof found === "number" && Number.isSafeInteger(found) && found >= 0 ? found : null
}
