import { hash, randomBytes } from "node:crypto"
import { setTimeout as sleep } from "node:timers/promises"
import type { Reply, Target } from "../../core/invoke.ts"
import type { Question } from "../../core/operation.ts"
import { type Answers, questionResult, requestText, type Verdict, verdictIn, verdictOf } from "./asking.ts"
import type { OperationCall } from "./calling.ts"
import type { Message } from "./message.ts"
import type { Result } from "./results.ts"

export interface ClientCall {
  message: Message
  calling: OperationCall
  modern: boolean
  canAsk: boolean
  /** Identifies the call in progress messages. Null if the client does not want them. */
  progressToken: string | number | null
}

export interface Pace {
  /** Interval of progress messages during a waiting call. */
  progressEveryMs: number
  /** Maximum time for a person's answer, well below the lifetime of a preview. */
  patienceMs: number
}

interface ExchangeParts extends Pace {
  invoke(target: Target): Promise<Reply>
  answers: Answers
  docsBase: string
}

export interface ExchangeEnd {
  reply: Reply
  /** A question to the client's person, sent instead of the reply. */
  question?: Result
  askedMs: number
}

export type Exchange = AsyncGenerator<string, ExchangeEnd, void>

/** Runs a call. Asks a person first if required, and yields progress messages meanwhile. */
export async function* exchange(exchanged: ClientCall, parts: ExchangeParts): Exchange {
  const { calling, canAsk } = exchanged
  const { asks } = calling.operation
  const questionEnd = asks && canAsk ? yield* ask(asks, exchanged, parts) : GO
  if (questionEnd.reply) return { ...questionEnd, reply: questionEnd.reply }
  const reply = yield* withProgress(
    parts.invoke({ ...calling, agreed: asks !== undefined && canAsk }),
    exchanged.progressToken,
    parts.progressEveryMs,
  )
  return { reply, askedMs: questionEnd.askedMs }
}

/** How a question ended. If there is no reply, the call continues. */
type QuestionEnd = Pick<ExchangeEnd, "question" | "askedMs"> & { reply?: Reply }

const GO: QuestionEnd = { askedMs: 0 }

/**
 * Ends the call unless the person agrees. Fetches the preview first, so that a caller without the right is refused
 * without a question.
 */
async function* ask(
  question: Question,
  exchanged: ClientCall,
  parts: ExchangeParts,
): AsyncGenerator<string, QuestionEnd, void> {
  const { message, calling, modern } = exchanged
  const reply = await parts.invoke({ operation: question.operation, input: calling.input })
  if (reply.fault) return { reply, askedMs: 0 }
  const text = (reply.answer as { message: string }).message
  const started = performance.now()
  // binds the answer to this question, so that it is not valid for another call of the same name
  const state = hash("sha256", JSON.stringify([calling.input, text]), "base64url")
  const verdict = modern ? verdictIn(message, question, state) : yield* askOnStream(text, reply, parts)
  const askedMs = performance.now() - started
  if (verdict === null) return { reply, question: questionResult(question, text, state), askedMs }
  if (verdict === "accept") return { askedMs }
  const fault = question.refusal(verdict === "none" ? "unanswered" : "declined")
  const body = fault.body(parts.docsBase)
  return { reply: { ...reply, operation: calling.operation, status: fault.status, answer: body, fault }, askedMs }
}

/** Interval of checks for the answer, which another process may have stored. */
const LOOK_EVERY_MS = 300

async function* askOnStream(
  text: string,
  { caller }: Reply,
  { answers, patienceMs }: ExchangeParts,
): AsyncGenerator<string, Verdict, void> {
  const id = `ask_${randomBytes(16).toString("base64url")}`
  await answers.open(id, caller!.keyId)
  yield requestText(id, text)
  const until = performance.now() + patienceMs
  while (performance.now() < until) {
    // a failed read is retried at the next interval
    const action = await answers.read(id).catch(() => null)
    if (action !== null) return verdictOf(action)
    await sleep(LOOK_EVERY_MS)
    // an empty line keeps the connection open and detects a disconnected client
    yield ""
  }
  return "none"
}

/** Waits for a reply and yields progress messages until it arrives. */
async function* withProgress(
  replying: Promise<Reply>,
  progressToken: string | number | null,
  everyMs: number,
): AsyncGenerator<string, Reply, void> {
  if (progressToken === null) return await replying
  const started = performance.now()
  for (;;) {
    const reply = await Promise.race([replying, sleep(everyMs, null)])
    if (reply !== null) return reply
    const progress = Math.round((performance.now() - started) / 100) / 10
    const params = { progressToken, progress, message: `Waited ${Math.round(progress)} s for a live read.` }
    yield JSON.stringify({ jsonrpc: "2.0", method: "notifications/progress", params })
  }
}
