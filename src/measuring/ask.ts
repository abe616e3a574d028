import type { Sql } from "../database/types.ts"
import type { Log } from "../log.ts"
import { type Attempt, LOOKUP_SOURCES, type Outcome } from "../observations/types.ts"
import type { AppsAsked, HintsAsked, ReviewsAsked, SearchAsked } from "../sources/asked.ts"
import { type RawBody, type Reach, ReadFailure, readOnce, type Source } from "../sources/source.ts"
import type { SourceName } from "../upstreams.ts"
import { noteHealth } from "./alerts.ts"
import type { Claim } from "./due.ts"
import type { ReadPort } from "./kind.ts"
import { answered, type Lane, refused, takeTurn } from "./pace.ts"
import { noteRead } from "./source-reads.ts"

/** What asking needs of the process. */
export interface AskParts {
  sql: Sql
  log: Log
  reach: Omit<Reach, "signal">
  /** Names the address that reads: what has a pace of its own at each upstream. */
  egress: string
  sourcesOff: readonly string[]
  now: () => Date
  /** 0 to 1, as Math.random gives it. */
  random: () => number
  /** Starts to count milliseconds. */
  stopwatch: () => () => number
  /** Keeps a body as it came; also one that was not understood. */
  keep: ((body: RawBody) => Promise<void>) | undefined
}

export interface Asking {
  claim: Claim
  signal: AbortSignal
  /** Of the reading. */
  leftMs: () => number
  /** Since the turn that the claim took. */
  sinceClaim: () => number
}

/** A port for one reading; `failed` is given each read that gave nothing, also when the reading then went on without it. */
export function openPort(parts: AskParts, asking: Asking, failed: (attempt: Attempt) => void): ReadPort {
  const { sql, now, sourcesOff } = parts
  const { claim, signal } = asking
  const isOn = (source: string) => !sourcesOff.includes(source)
  let claimedTurn = true

  return {
    sql,
    signal,
    now,
    isOn,
    async ask(source, asked) {
      if (!isOn(source.name)) throw new ReadFailure("failed", "the source is switched off")
      signal.throwIfAborted()
      const lane: Lane = { upstream: source.upstream, egress: parts.egress }
      const isClaimed = claimedTurn && source.upstream === claim.kind.upstream
      if (isClaimed) claimedTurn = false
      else await takeTurn(sql, lane, { withinMs: asking.leftMs(), live: claim.live, signal })
      const sinceTurn = isClaimed ? asking.sinceClaim : parts.stopwatch()
      try {
        const { seen, body } = await readOnce(source, asked, { ...parts.reach, signal })
        await note(parts, source.name, null)
        if (await answered(sql, lane, sinceTurn())) tell(parts, "info", "source_answers", source.name)
        if (!source.namesPeople) await parts.keep?.(body)
        return seen
      } catch (error) {
        // a read that was broken off says nothing of the source
        if (!(error instanceof ReadFailure) || signal.aborted) throw error
        await noteFailure(parts, source, lane, error, sinceTurn())
        const attempt = attemptOf(source, asked, error, { claim, at: now() })
        if (attempt) failed(attempt)
        throw error
      }
    },
  }
}

async function noteFailure<Asked>(
  parts: AskParts,
  { name, namesPeople }: Source<Asked>,
  lane: Lane,
  failure: ReadFailure,
  sinceTurnMs: number,
): Promise<void> {
  const { sql, random } = parts
  const { outcome, retryAfterMs, body } = failure
  if (outcome === "blocked" || outcome === "rate_limited") {
    const isFirst = await refused(sql, lane, { sinceTurnMs, retryAfterMs, random: random() })
    if (isFirst) tell(parts, "warn", "source_refused", name, failure)
  }
  await note(parts, name, isAnswer(name, outcome) ? null : outcome, failure.message)
  const isEvidence = outcome === "changed" || outcome === "blocked"
  if (body && isEvidence && !namesPeople) await parts.keep?.(body)
}

/** That an app is not to be had is what a look-up was asked for. */
function isAnswer(source: SourceName, outcome: Outcome): boolean {
  return outcome === "not_found" && (LOOKUP_SOURCES as readonly string[]).includes(source)
}

async function note({ sql, log, now }: AskParts, source: SourceName, outcome: Outcome | null, detail = "") {
  const mayAlert = await noteRead(sql, source, outcome, detail || null, now())
  if (mayAlert) await noteHealth(sql, source, log)
}

function tell({ log }: AskParts, level: "info" | "warn", event: string, operation: string, why?: ReadFailure): void {
  log(level, event, { operation, ...(why && { code: why.outcome, reason: why.message }) })
}

/** Null for a question of another shape than the sources' own: then there is nothing to log it by. */
function attemptOf<Asked>(
  { name: source }: Source<Asked>,
  asked: Asked,
  { outcome, message, body }: ReadFailure,
  { claim, at }: { claim: Claim; at: Date },
): Attempt | null {
  const [{ platform, storefront: claimed }] = claim.subjects as [(typeof claim.subjects)[number]]
  const {
    storefront = claimed,
    term,
    prefix,
    ids,
    storeId,
  } = asked as Partial<SearchAsked & HintsAsked & AppsAsked & ReviewsAsked>
  const about = { at, platform, storefront, source, outcome, detail: message.slice(0, 500) }
  const read = { ...about, ...(body && { sha256: body.sha256 }) }
  if (term !== undefined) return { kind: "search", subject: term, ...read }
  if (prefix !== undefined) return { kind: "hints", subject: prefix, ...read }
  if (storeId !== undefined) return { kind: "reviews", subject: storeId, ...read }
  return ids === undefined ? null : { kind: "apps", subject: ids.join(), ...read }
}
