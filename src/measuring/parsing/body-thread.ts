import { Buffer } from "node:buffer"
import type { AnyKind } from "../../core/kind.ts"
import type { Outcome } from "../../core/observation/attempt.ts"
import { ObservationProblem } from "../../core/observation/invariants.ts"
import type { Observation } from "../../kinds.ts"
import { checkObservation } from "../record/check.ts"
import { parseBody, ReadFailure, type Source, type TextParser } from "../source.ts"

/** A body to parse (pool.ts). */
export type Request = { id: number; bytes: Uint8Array } & (
  | { of: "text"; parser: string }
  | { of: "source"; source: string; question: unknown; seenAt: Date; sha256: Uint8Array; egress: string | undefined }
)

/** The parsed body, or the failure. A message without `id` means that the thread has started. */
export type Reply =
  | { id?: undefined }
  | { id: number; seen: Observation }
  | { id: number; text: unknown }
  | { id: number; failure: { outcome: Outcome; message: string; retryAfterMs?: number; country?: string } }

/** The thread's side of the connection to the pool. */
export interface ThreadPort {
  onmessage: (event: { data: Request }) => void
  postMessage(reply: Reply): void
}

/** The parsers of a thread. */
export interface ParserLists {
  sources: readonly Source<unknown>[]
  texts: readonly TextParser[]
}

/** Parses the bodies that the pool sends to this thread. */
export function answerBodies(port: ThreadPort, lists: ParserLists & { kinds: readonly AnyKind[] }): void {
  const { kinds } = lists
  const sources = new Map(lists.sources.map((source) => [source.name as string, source]))
  const texts = new Map(lists.texts.map((parser) => [parser.name, parser]))

  /**
   * Parses a body and checks the observation, so that an invalid one is neither transferred nor checked in the main
   * thread.
   */
  const seenIn = ({ source, question, bytes, seenAt, sha256, egress }: Extract<Request, { of: "source" }>) => {
    const text = new TextDecoder().decode(bytes)
    const body = { bytes, text, sha256: Buffer.from(sha256), url: "", seenAt }
    const seen = parseBody(sources.get(source)!, question, body, egress)
    checkObservation(seen, new Date(), kinds)
    return seen
  }
  const answerTo = (request: Request): Reply => {
    const { id, bytes } = request
    try {
      if (request.of === "source") return { id, seen: seenIn(request) }
      return { id, text: texts.get(request.parser)!.parse(new TextDecoder().decode(bytes)) }
    } catch (error) {
      const failure = error instanceof ReadFailure ? error : new ReadFailure("changed", whyOf(error))
      const { outcome, message, retryAfterMs, country } = failure
      const more = { ...(retryAfterMs !== undefined && { retryAfterMs }), ...(country !== undefined && { country }) }
      return { id, failure: { outcome, message, ...more } }
    }
  }
  port.onmessage = ({ data }) => port.postMessage(answerTo(data))
  port.postMessage({})
}

/** Returns the message of a broken rule, which quotes nothing of the body. Messages of other errors might. */
function whyOf(error: unknown): string {
  return error instanceof ObservationProblem ? error.message : "it can no longer be parsed"
}
