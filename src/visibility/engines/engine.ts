import { withoutNull } from "../../lib/objects.ts"
import type { WriterFailure } from "../../outbound/providers/provider.ts"
import type { Citation } from "../kinds/assistant-answer.ts"

/** One question, as a person would ask it: no system prompt and no sampling parameters are sent. */
export interface EngineQuestion {
  question: string
  /** Country that the assistant searches from, as two lower-case letters. */
  country: string
  model: string
}

export interface EngineAnswer {
  text: string
  cited: Citation[]
  /** Whether the assistant searched the web. It may answer without searching. */
  searched: boolean
  answeredBy?: string
  inputTokens?: number
  outputTokens?: number
  searches?: number
}

/** `more` is the body of the next request, which continues a paused answer. */
export type EngineReading = EngineAnswer | { failed: WriterFailure } | { more: object }

/** How to ask one provider's assistant with its web search enabled, and how to parse its response of status 200. */
export interface EngineFormat {
  /** Base URL used if the operator sets none. */
  address: string
  path(model: string): string
  headers(key: string | undefined): Record<string, string>
  body(question: EngineQuestion): object
  read(answer: unknown, sent: object): EngineReading
  /** Increment it whenever `read` changes its result for the same response. */
  parser: number
}

/** Maximum number of tokens of an answer, including thinking tokens. */
export const MAX_TOKENS = 4_000

/** Returns the cited pages, each URL once. Invalid URLs are dropped. */
export function citations(found: readonly { url: string | undefined; title: string | undefined }[]): Citation[] {
  const byUrl = new Map<string, Citation>()
  for (const { url, title } of found) {
    if (url === undefined || url.length > 2_000 || !/^https?:\/\/[^\s\0]+$/i.test(url) || !URL.canParse(url)) continue
    const titled = title === undefined || !/\S/.test(title) ? {} : { title: title.slice(0, 1_000).toWellFormed() }
    if (!byUrl.has(url)) byUrl.set(url, { url, ...titled })
  }
  return [...byUrl.values()].slice(0, MAX_CITATIONS)
}

const MAX_CITATIONS = 500

/** Joins the parts to text that can be stored. Undefined if the text is blank. */
export function storable(parts: readonly string[]): string | undefined {
  const text = parts.join("").toWellFormed().replaceAll("\0", "").slice(0, LONGEST).toWellFormed()
  return /\S/.test(text) ? text : undefined
}

const LONGEST = 100_000

/** Returns the counts that the response contains. */
export function counted(counts: Record<"inputTokens" | "outputTokens" | "searches", number | null>) {
  return withoutNull<Partial<Record<keyof typeof counts, number>>>(counts)
}
