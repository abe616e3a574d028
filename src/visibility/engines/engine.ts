import { withoutNull } from "../../lib/objects.ts"
import type { WriterFailure } from "../../outbound/providers/provider.ts"
import type { Citation } from "../kinds/assistant-answer.ts"

/** One question, asked as a person would: no orders stand before it, and no sampling parameter is sent. */
export interface EngineQuestion {
  question: string
  /** Two small letters; where the assistant is to search from. */
  country: string
  model: string
}

export interface EngineAnswer {
  text: string
  cited: Citation[]
  /** The assistant may search, and need not: whether it did. */
  searched: boolean
  answeredBy?: string
  inputTokens?: number
  outputTokens?: number
  searches?: number
}

/** `more`: the same request with this body goes on with an answer that paused. */
export type EngineReading = EngineAnswer | { failed: WriterFailure } | { more: object }

/** How one maker's assistant is asked with its search switched on, and how its answer of status 200 is read. */
export interface EngineFormat {
  /** Its own address, for whom none is named. */
  address: string
  path(model: string): string
  headers(key: string | undefined): Record<string, string>
  body(question: EngineQuestion): object
  read(answer: unknown, sent: object): EngineReading
  /** Raised whenever `read` reads something otherwise. */
  parser: number
}

/** Tokens that an answer may have, thoughts among them. */
export const MOST_TOKENS = 4_000

/** What is cited, each address once; what is no address is left out. */
export function citations(found: readonly { url: string | undefined; title: string | undefined }[]): Citation[] {
  const byUrl = new Map<string, Citation>()
  for (const { url, title } of found) {
    if (url === undefined || url.length > 2_000 || !/^https?:\/\/[^\s\0]+$/i.test(url) || !URL.canParse(url)) continue
    const said = title === undefined || !/\S/.test(title) ? {} : { title: title.slice(0, 1_000).toWellFormed() }
    if (!byUrl.has(url)) byUrl.set(url, { url, ...said })
  }
  return [...byUrl.values()].slice(0, MOST_CITED)
}

const MOST_CITED = 500

/** Text as it may be stored; undefined where it says nothing. */
export function storable(parts: readonly string[]): string | undefined {
  const text = parts.join("").toWellFormed().replaceAll("\0", "").slice(0, LONGEST).toWellFormed()
  return /\S/.test(text) ? text : undefined
}

const LONGEST = 100_000

/** Counts that were said. */
export function counted(counts: Record<"inputTokens" | "outputTokens" | "searches", number | null>) {
  return withoutNull<Partial<Record<keyof typeof counts, number>>>(counts)
}
