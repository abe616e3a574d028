import type { Outcome } from "../core/observation/attempt.ts"
import type { Sql } from "../database/types.ts"
import type { SourceName, Upstream } from "../lib/upstreams.ts"

interface Silence {
  /** For callers: what is wrong and since when. Omits the source's own message, which may name private addresses. */
  sentence: string
  /** True if several requests in a row failed, so that a pending reading will most likely fail too. */
  isLasting: boolean
}

const MIN_FAILURES = 3
const MIN_SILENCE_MS = 60_000

/** Returns null if the upstream answered the latest request, or if no request was made. */
export async function readSilence(
  sql: Sql,
  { upstream, names, now }: { upstream: Upstream; names: readonly SourceName[]; now: Date },
): Promise<Silence | null> {
  const [row] = await sql<[SourceRow]>`
    select max(answered_at) as "answeredAt", max(failed_at) as "failedAt", coalesce(sum(failures), 0)::int as failures,
      (array_agg(failure order by failed_at desc nulls last, source))[1] as failure
    from source_state
    where source = any(${[...names]}::text[])`
  const { answeredAt, failedAt, failures, failure } = row
  if (failedAt === null || failure === null || (answeredAt !== null && answeredAt >= failedAt)) return null
  const since = answeredAt ? `since ${minuteOf(answeredAt)}` : "so far"
  const silentMs = answeredAt ? now.getTime() - answeredAt.getTime() : Number.POSITIVE_INFINITY
  return {
    sentence: `${upstream} ${WORDS[failure]} ${since}. It is retried; appmeter sources shows the reason.`,
    isLasting: failures >= MIN_FAILURES && silentMs >= MIN_SILENCE_MS,
  }
}

interface SourceRow {
  answeredAt: Date | null
  failedAt: Date | null
  failures: number
  failure: Outcome | null
}

const WORDS: Record<Outcome, string> = {
  blocked: "has refused the requests of this server",
  rate_limited: "has limited the rate of this server's requests",
  not_found: "has returned no usable response",
  changed: "has responded in a format that this version cannot read",
  mismatched: "has responded for another country or subject",
  failed: "has been unreachable",
}

function minuteOf(at: Date): string {
  return `${at.toISOString().slice(0, 16).replace("T", " ")} UTC`
}
