import type { Sql } from "../../database/types.ts"
import { within } from "../../jobs/timers.ts"
import { dayOf, nextMidnight } from "../../lib/days.ts"
import type { Log } from "../../lib/log.ts"
import type { Write, WritingTask } from "../../lib/writing/written-text.ts"
import { readAgain, type WriterSettings } from "../../outbound/providers/ask.ts"
import { readStoredAnswer } from "../prompt.ts"
import { createOnce } from "./once.ts"
import { addTokens, countTokens, findEarlierAnswer, readText, storeJudged } from "./stored-texts.ts"
import { type WritingResult, writeOnce } from "./write-once.ts"
import { noteWriter } from "./writer-alert.ts"

export interface WritingParts {
  sql: Sql
  log: Log
  /** Null if there is no writer. Stored texts are still returned. */
  settings: WriterSettings | null
  now: () => Date
  randomBytes: (size: number) => Uint8Array
  fetch: (url: string, init: RequestInit) => Promise<Response>
  /** Stores answers by SHA-256, for as long as response bodies are stored. Omit to store no answers. */
  answers?: StoredAnswers | undefined
  /** Interval between checks of the database while another process writes the text. */
  pollMs?: number
  /** Maximum time for one text, independent of its callers. */
  mostMs?: number
  patienceMs?: number
}

/** Never rejects. A text whose answer is not stored is not judged a second time. */
export interface StoredAnswers {
  keep(bytes: Uint8Array): Promise<Uint8Array>
  read(sha256: Uint8Array): Promise<Uint8Array | null>
}

export interface TextWriter {
  write: Write
  /** Aborts running texts, so that another process may write those texts. */
  stop(): Promise<void>
}

/** Writes each text once for all callers in all processes, and stores it even if no caller waits any more. */
export function createWriting(parts: WritingParts): TextWriter {
  const { sql, settings, now } = parts
  const make = async (task: WritingTask<unknown>, signal: AbortSignal): Promise<WritingResult> => {
    const result = await writeOnce(task, runOf(parts, task, signal))
    await noteWriter(parts, settings!, result).catch(() => {}) // a failure to store the alert must not lose the text
    const isSpent = !result.done && result.why === "spent"
    return isSpent ? { ...result, retryAfter: secondsTo(nextMidnight(now()), now()) } : result
  }
  const once = createOnce(parts, settings?.atOnce ?? 1, make)
  const writeText = async (task: WritingTask<unknown>, waitMs: number) => {
    await judgeAgain(parts, task)
    if (settings) return await once.get(task, waitMs)
    const stored = await readText(sql, task)
    return stored?.state === "done" ? stored : { state: "failed", why: "off" }
  }
  const write: Write = Object.assign(writeText, {
    isOn: settings !== null,
    contextTokens: settings?.contextTokens ?? 0,
    find: once.find,
    inSteps: async (steps: (write: Write) => Promise<unknown>, waitMs: number) =>
      (await within(waitMs, steps(write))) ?? { state: "pending" },
  }) as Write
  return { write, stop: once.stop }
}

/** Judges the stored answer of a text again, if the answer was judged by an earlier version of the checks only. */
async function judgeAgain({ sql, settings, answers, log }: WritingParts, task: WritingTask<unknown>): Promise<void> {
  if (!answers || !settings) return
  const sha256 = await findEarlierAnswer(sql, task)
  const bytes = sha256 && (await answers.read(sha256))
  if (!bytes) return
  const reading = readAgain(settings.api, bytes)
  const read = "text" in reading ? readStoredAnswer(task, reading.text) : null
  const judged = read && task.judge(read.answer, true)
  const isFit = judged !== null && "value" in judged
  await storeJudged(sql, task, isFit ? judged : null)
  if (!isFit) log("info", "writing_rejected", { operation: task.kind, reason: "refused" })
}

function secondsTo(moment: string, now: Date): number {
  return Math.max(1, Math.ceil((Date.parse(moment) - now.getTime()) / 1_000))
}

function runOf(
  { sql, log, settings, now, randomBytes, fetch, patienceMs, answers }: WritingParts,
  { kind }: WritingTask<unknown>,
  signal: AbortSignal,
) {
  const today = () => dayOf(now())
  return {
    settings: settings as WriterSettings,
    fetch,
    now,
    signal,
    ...(patienceMs !== undefined && { patienceMs }),
    ...(answers && { keep: answers.keep }),
    nonce: () => [...randomBytes(6)].map((byte) => String.fromCharCode(97 + (byte % 26))).join(""),
    async hasTokens() {
      const { input, output } = await countTokens(sql, today())
      return input + output < (settings as WriterSettings).tokensADay
    },
    used: (usage: { input: number; output: number }) => addTokens(sql, today(), usage),
    failed: (why: { status?: number; code?: string }) => log("warn", "writing_failed", { operation: kind, ...why }),
  }
}
