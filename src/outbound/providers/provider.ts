import type { JsonSchema } from "../schema-subset.ts"

/** One text asked of a model. No sampling parameter is sent to anybody: some refuse even their defaults. */
export interface WriterQuestion {
  system: string
  data: string
  /** Of [A-Za-z0-9_-], at most 64 characters. */
  name: string
  schema: JsonSchema
  mostTokens: number
}

/** Tokens; null = not said. */
export interface WriterUsage {
  input: number | null
  output: number | null
}

/**
 * refused: the model would not. cut: the answer or the prompt was. unreadable: no answer of the shape. busy: asks to come
 * again. denied: the key, the model or the money is missing. rejected: the request was not understood.
 */
export type WriterFailure = "refused" | "cut" | "unreadable" | "busy" | "denied" | "rejected"

export type WriterReading = { text: string; usage: WriterUsage } | { failed: WriterFailure; usage?: WriterUsage }

/** One wire format: how a question is sent, and how an answer of status 200 is read. */
export interface WireFormat {
  /** Below the address, which ends in /v1. */
  path: string
  headers(key: string | undefined): Record<string, string>
  /** Of a vendor's own host some ask for words that others refuse. */
  body(question: WriterQuestion, asked: { model: string; host: string }): object
  /** The same question for a server that refuses a schema; left out where every server takes one. */
  simpler?(question: WriterQuestion, asked: { model: string; host: string }): object
  read(answer: unknown): WriterReading
}

export function bearer(key: string | undefined): Record<string, string> {
  return key === undefined ? {} : { authorization: `Bearer ${key}` }
}

/** A value within an answer that may be of any shape; undefined where it is not there. */
export function at(value: unknown, ...path: (string | number)[]): unknown {
  let held = value
  for (const step of path) {
    if (typeof held !== "object" || held === null) return undefined
    held = (held as Record<string | number, unknown>)[step]
  }
  return held
}

export function textAt(value: unknown, ...path: (string | number)[]): string | undefined {
  const held = at(value, ...path)
  return typeof held === "string" ? held : undefined
}

export function listAt(value: unknown, ...path: (string | number)[]): unknown[] {
  const held = at(value, ...path)
  return Array.isArray(held) ? held : []
}

/** A count of tokens; null where there is none. */
export function tokensAt(value: unknown, ...path: (string | number)[]): number | null {
  const held = at(value, ...path)
  return typeof held === "number" && Number.isSafeInteger(held) && held >= 0 ? held : null
}
