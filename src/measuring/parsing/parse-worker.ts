// The thread that parses large bodies: 8 MB take up to half a second, which would block all requests.
import { Buffer } from "node:buffer"
import type { Outcome } from "../../core/observation/attempt.ts"
import type { Observation } from "../../kinds.ts"
import { type AppAdsFile, parseAppAds } from "../../listings/sources/app-ads.ts"
import { SOURCES, sourcesIn } from "../../sources.ts"
import { checkObservation, ObservationProblem } from "../record/check.ts"
import { parseBody, ReadFailure, type Source } from "../source.ts"

/** A body to parse (pool.ts). */
export type Request = { id: number; bytes: Uint8Array } & (
  | { of: "app-ads" }
  | { of: "source"; source: string; asked: unknown; seenAt: Date; sha256: Uint8Array; egress: string | undefined }
)

/** The parsed body, or the failure. Without `id`: the thread has started. */
export type Reply =
  | { id?: undefined }
  | { id: number; seen: Observation }
  | { id: number; file: AppAdsFile }
  | { id: number; failure: { outcome: Outcome; message: string; retryAfterMs?: number; country?: string } }

declare const self: {
  onmessage: (event: { data: Request }) => void
  postMessage(reply: Reply): void
}

const KNOWN = new Map<string, Source<unknown>>(sourcesIn(SOURCES).map((source) => [source.name, source]))

self.onmessage = ({ data }) => self.postMessage(answerTo(data))
self.postMessage({})

function answerTo(request: Request): Reply {
  const { id, bytes } = request
  try {
    if (request.of === "app-ads") return { id, file: parseAppAds(new TextDecoder().decode(bytes)) }
    return { id, seen: seenIn(request) }
  } catch (error) {
    const failure = error instanceof ReadFailure ? error : new ReadFailure("changed", whyOf(error))
    const { outcome, message, retryAfterMs, country } = failure
    const more = { ...(retryAfterMs !== undefined && { retryAfterMs }), ...(country !== undefined && { country }) }
    return { id, failure: { outcome, message, ...more } }
  }
}

/** Also checks the observation here, so that an invalid one is neither transferred nor checked in the main thread. */
function seenIn({ source, asked, bytes, seenAt, sha256, egress }: Extract<Request, { of: "source" }>): Observation {
  const text = new TextDecoder().decode(bytes)
  const seen = parseBody(
    KNOWN.get(source)!,
    asked,
    { bytes, text, sha256: Buffer.from(sha256), url: "", seenAt },
    egress,
  )
  checkObservation(seen, new Date())
  return seen
}

/** Returns the message of a rule, which quotes nothing of the body; other errors might. */
function whyOf(error: unknown): string {
  return error instanceof ObservationProblem ? error.message : "it reads no more"
}
