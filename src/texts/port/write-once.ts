import type { WritingFailure, WritingTask, WrittenText } from "../../lib/writing/written-text.ts"
import { askWriter, type WriterReply, type WriterSettings } from "../../outbound/providers/ask.ts"
import type { WriterQuestion, WriterUsage } from "../../outbound/providers/provider.ts"
import { type Prompt, promptOf, readAnswer, tokensOf } from "../prompt.ts"

interface WritingRun {
  settings: WriterSettings
  fetch: (url: string, init: RequestInit) => Promise<Response>
  now: () => Date
  /** Returns six unpredictable letters. */
  nonce: () => string
  signal: AbortSignal
  patienceMs?: number
  /** Returns whether the day's limit has tokens left. */
  hasTokens(): Promise<boolean>
  used(usage: { input: number; output: number }): Promise<void>
  /** Stores a judged answer and returns its SHA-256. */
  keep?(bytes: Uint8Array): Promise<Uint8Array>
  /**
   * Logs why an answer was unusable. The log has our own words or terms of the wire format, never the provider's words.
   */
  failed(why: { status?: number; code?: string }): void
}

export type WritingResult =
  | ({ done: true; answer?: Uint8Array } & Omit<WrittenText<unknown>, "at">)
  | { done: false; why: WritingFailure; retryAfter?: number }

/**
 * Asks the model and judges its answer. If the answer is refused, asks once more and lists the problems. Rejects only
 * if the signal aborts or the database fails.
 */
export async function writeOnce(task: WritingTask<unknown>, run: WritingRun): Promise<WritingResult> {
  let fixes: string[] = []
  for (const isLast of [false, true]) {
    const prompt = promptOf(task, run.nonce, fixes)
    const question = fitted(prompt.question, run.settings.contextTokens)
    if (!question) return failure(run, "unusable", { code: "too_large" })
    if (!(await run.hasTokens())) return failure(run, "spent", { code: "tokens_a_day" })
    const reply = await askWriter(run.settings, question, run)
    await run.used(usageOf(reply, prompt))
    if ("failed" in reply && reply.failed !== "unreadable") return refusalOf(run, reply)
    const read = "failed" in reply ? reply : readAnswer(task, prompt, reply)
    if ("failed" in read) {
      run.failed({ code: read.failed })
      fixes = ["It was not one whole JSON object of the schema with the receipt copied."]
      continue
    }
    const judged = task.judge(read.answer, isLast)
    if ("value" in judged) {
      const answer = run.keep && "bytes" in reply && reply.bytes ? await run.keep(reply.bytes) : undefined
      return { done: true, ...judged, model: run.settings.model, version: task.version, ...(answer && { answer }) }
    }
    run.failed({ code: "checks" })
    fixes = judged.fixes
  }
  return failure(run, "unusable", { code: "no_use_twice" })
}

/** Reduces the answer's maximum tokens to fit the context. Null if less than half of the maximum would remain. */
function fitted(question: WriterQuestion, contextTokens: number): WriterQuestion | null {
  const tokensLeft = contextTokens - tokensOf(question) + question.mostTokens
  return tokensLeft < question.mostTokens / 2
    ? null
    : { ...question, mostTokens: Math.min(question.mostTokens, tokensLeft) }
}

/**
 * Estimates missing usage at its upper bound, so that the daily limit also covers providers that do not report usage.
 */
function usageOf(reply: WriterReply, { question }: Prompt): { input: number; output: number } {
  const usage: WriterUsage = "usage" in reply && reply.usage ? reply.usage : { input: null, output: null }
  if ("failed" in reply && reply.usage === undefined) return { input: 0, output: 0 }
  const reckoned = tokensOf(question) - question.mostTokens
  return { input: usage.input ?? reckoned, output: usage.output ?? question.mostTokens }
}

const LONGEST_RETRY = 3_600

function refusalOf(run: WritingRun, { failed, status, code, retryAfterMs }: Extract<WriterReply, { failed: string }>) {
  const reason = { code: code ?? failed, ...(status !== undefined && { status }) }
  if (failed === "denied") return failure(run, "off", reason)
  if (failed !== "busy") return failure(run, "unusable", reason)
  const seconds = Math.min(LONGEST_RETRY, Math.max(1, Math.ceil((retryAfterMs ?? 0) / 1_000)))
  return failure(run, "busy", reason, seconds)
}

function failure(
  run: WritingRun,
  why: WritingFailure,
  reason: { status?: number; code?: string },
  retryAfter?: number,
): WritingResult {
  run.failed(reason)
  return { done: false, why, ...(retryAfter !== undefined && { retryAfter }) }
}
