import type { Attempt, Outcome } from "../core/observation/attempt.ts"
import type { Sql } from "../database/types.ts"
import type { Log } from "../lib/log.ts"
import type { LogEvent } from "../lib/log-events.ts"
import type { SourceName, Upstream } from "../lib/upstreams.ts"
import { OutboundProblem } from "../outbound/problem.ts"
import type { SafeFetch } from "../outbound/safe-fetch.ts"
import { noteCountry, readLatestCountry } from "./countries.ts"
import type { Claim } from "./due.ts"
import type { ReadPort } from "./due-kind.ts"
import { type Lane, noteAnswer, noteRefusal, takeTurn } from "./pace.ts"
import type { BodyLimit } from "./parsing/body-limit.ts"
import { type ParseText, type RawBody, ReadFailure, readOnce, type Source, type SourceAccess } from "./source.ts"
import { noteHealth } from "./source-alarms.ts"
import { noteRead } from "./source-reads.ts"

export interface AskParts {
  sql: Sql
  log: Log
  reach: Omit<SourceAccess, "signal" | "largeBodies">
  /** Limits how many large bodies are in memory before they are stored. No limit if left out. */
  bodyLimit?: BodyLimit
  /** Name of the egress address. Each egress address has its own pace at each upstream. */
  egress: string
  sourcesOff: readonly string[]
  now: () => Date
  random: () => number
  stopwatch: () => () => number
  /** Stores a raw body, including one that could not be parsed. */
  keep: ((body: RawBody) => Promise<void>) | undefined
  outbound: SafeFetch
  /** Default: in this thread. */
  parseText?: ParseText
}

interface ReadingTurn {
  claim: Claim
  signal: AbortSignal
  leftMs: () => number
  /** Milliseconds since the turn that was taken together with the claim. */
  sinceClaim: () => number
}

/**
 * Opens the port for one reading. `failed` is called for each failed read, even if the reading continues without it.
 */
export function openPort(parts: AskParts, asking: ReadingTurn, failed: (attempt: Attempt) => void): ReadPort {
  const { sql, now, sourcesOff } = parts
  const { claim, signal } = asking
  const isOn = (source: string) => !sourcesOff.includes(source)
  const turns = turnsOf(parts, asking)

  return {
    sql,
    signal,
    now,
    isOn,
    async ask(source, question) {
      if (!isOn(source.name)) throw new ReadFailure("failed", OFF)
      const { lane, sinceTurn } = await turns.take(source.upstream)
      const largeBodies = parts.bodyLimit?.guest()
      try {
        const { seen, body } = await readOnce(source, question, {
          ...parts.reach,
          signal,
          ...(largeBodies && { largeBodies }),
        })
        await note(parts, source.name, null)
        await learnCountry(parts, source, question, lane)
        if (await noteAnswer(sql, lane, sinceTurn())) tell(parts, "info", "source_answers", source.name)
        if (!source.namesPeople) await parts.keep?.(body)
        return seen
      } catch (error) {
        // an aborted read is not the source's failure
        if (!(error instanceof ReadFailure) || signal.aborted) throw error
        await noteFailure(parts, source, lane, error, sinceTurn())
        await learnCountry(parts, source, question, lane, error)
        const attempt = attemptOf(source, question, error, { claim, at: now() })
        if (attempt) failed(attempt)
        throw error
      } finally {
        largeBodies?.leave()
      }
    },
    readNamedCountry: (upstream, storefront) => readLatestCountry(sql, { upstream, egress: parts.egress }, storefront),
    async askSite(url, options = {}) {
      if (!isOn(SITES)) throw new ReadFailure("failed", OFF)
      await turns.take("developer-sites")
      try {
        const answer = await parts.outbound(url, { ...options, signal: ending(signal, options.signal) })
        await note(parts, SITES, null)
        return answer
      } catch (error) {
        if (!(error instanceof OutboundProblem) || signal.aborted) throw error
        const isAnswered = error.code === "no_such_host"
        await note(parts, SITES, isAnswered ? null : "failed", error.message)
        if (!isAnswered) failed(siteAttempt(error, { claim, at: now() }))
        throw error
      }
    },
    async parseText(parser, bytes) {
      try {
        return await (parts.parseText ?? parseInPlace)(parser, bytes)
      } catch (error) {
        if (error instanceof ReadFailure && !signal.aborted) failed(siteAttempt(error, { claim, at: now() }))
        throw error
      }
    },
  }
}

const parseInPlace: ParseText = async ({ parse }, bytes) => parse(new TextDecoder().decode(bytes))

const OFF = "the source is switched off"
const SITES = "app-ads-txt" satisfies SourceName

function ending(signal: AbortSignal, other: AbortSignal | undefined): AbortSignal {
  return other ? AbortSignal.any([signal, other]) : signal
}

/** Takes the turns of one reading. The claim has already taken the first turn at the kind's own upstream. */
function turnsOf(parts: AskParts, { claim, signal, leftMs, sinceClaim }: ReadingTurn) {
  let hasClaimed = true
  return {
    async take(upstream: Upstream): Promise<{ lane: Lane; sinceTurn: () => number }> {
      signal.throwIfAborted()
      const lane = { upstream, egress: parts.egress }
      if (hasClaimed && upstream === claim.kind.upstream) {
        hasClaimed = false
        return { lane, sinceTurn: sinceClaim }
      }
      const yields = claim.kind.isLong ?? false
      await takeTurn(parts.sql, lane, { withinMs: leftMs(), live: claim.live, yields, signal })
      return { lane, sinceTurn: parts.stopwatch() }
    },
  }
}

async function noteFailure<Asked>(
  parts: AskParts,
  { name, namesPeople, mayFindNothing }: Source<Asked>,
  lane: Lane,
  failure: ReadFailure,
  sinceTurnMs: number,
): Promise<void> {
  const { sql, random } = parts
  const { outcome, retryAfterMs, body } = failure
  if (outcome === "blocked" || outcome === "rate_limited") {
    const isFirst = await noteRefusal(sql, lane, { sinceTurnMs, retryAfterMs, random: random() })
    if (isFirst) tell(parts, "warn", "source_refused", name, failure)
  }
  const isAnswer = outcome === "not_found" && mayFindNothing
  const isFirstFailure = await note(parts, name, isAnswer ? null : outcome, failure.message)
  // log the first failure at once instead of waiting an hour for the alert; a refusal is already logged
  if (isFirstFailure && outcome !== "blocked" && outcome !== "rate_limited")
    tell(parts, "warn", "source_failed", name, failure)
  const isEvidence = outcome === "changed" || outcome === "mismatched" || outcome === "blocked"
  if (body && isEvidence && !namesPeople) await parts.keep?.(body)
}

/** Records which country was requested and which one the answer named. */
async function learnCountry<Asked>(
  { sql, now }: AskParts,
  { namesCountry }: Source<Asked>,
  question: Asked,
  lane: Lane,
  failure?: ReadFailure,
): Promise<void> {
  const { storefront } = question as { storefront?: string }
  // the parser has checked that the response is of the requested country
  const answered = failure ? failure.country : storefront
  if (!namesCountry || storefront === undefined || answered === undefined) return
  await noteCountry(sql, lane, { asked: storefront, answered }, now())
}

/** Counts a read. Returns true for the first failure since the source last answered. */
async function note({ sql, log, now }: AskParts, source: SourceName, outcome: Outcome | null, detail = "") {
  const { mayAlert, isFirstFailure } = await noteRead(sql, source, outcome, detail || null, now())
  if (mayAlert) await noteHealth(sql, source, log)
  return isFirstFailure
}

function tell({ log }: AskParts, level: "info" | "warn", event: LogEvent, operation: string, why?: ReadFailure): void {
  log(level, event, { operation, ...(why && { code: why.outcome, reason: why.message }) })
}

function siteAttempt({ message }: Error, { claim, at }: { claim: Claim; at: Date }): Attempt {
  const [{ platform, storefront, subject }] = claim.subjects as [(typeof claim.subjects)[number]]
  return { kind: "app_ads", at, platform, storefront, subject, source: SITES, outcome: "failed", detail: message }
}

/** Returns the attempt to log. Null if a failed read of this question cannot be logged. */
function attemptOf<Question>(
  { name: source, kind }: Source<Question>,
  question: Question,
  { outcome, message, body }: ReadFailure,
  { claim, at }: { claim: Claim; at: Date },
): Attempt | null {
  const [{ platform, storefront: claimed }] = claim.subjects as [(typeof claim.subjects)[number]]
  const { storefront = claimed } = question as { storefront?: string }
  const subject = kind.question?.about(question) ?? null
  if (subject === null) return null
  const about = { at, platform, storefront, source, outcome, detail: message.slice(0, 500) }
  return { kind: kind.name, subject, ...about, ...(body && { sha256: body.sha256 }) }
}
