import { randomBytes } from "node:crypto"
import type { Question } from "../../core/operation.ts"
import { isRecord } from "../../lib/objects.ts"
import { capabilitiesIn } from "./eras.ts"
import type { Message } from "./message.ts"
import type { Result } from "./results.ts"

// A person is asked before what their assistant does for them: by their own client, where it said that it can. From
// 2026-07-28 on the question is the result of the call, which the client then sends again with the answer. Before, it is a
// request on the stream that answers the call, and the answer comes as a message of its own, to whichever process.

/** Where the answers to questions wait for who asked; any process may take one. */
export interface Answers {
  open(id: string, keyId: number): Promise<void>
  put(id: string, keyId: number, action: string): Promise<void>
  read(id: string): Promise<string | null>
}

export type Verdict = "accept" | "decline" | "none"

/** Marks the session of a client that said at its start that its person can be asked: nothing else is kept of one. */
const ASKABLE = "asks-"

/** The session header for whoever can be asked. */
export function sessionOf({ method, params }: Message): string | null {
  if (method !== "initialize" || !offersForms(params.capabilities)) return null
  return `${ASKABLE}${randomBytes(16).toString("base64url")}`
}

/** Whether a call comes from a client that can show its person a question. */
export function canAsk(message: Message, headers: Headers, modern: boolean): boolean {
  if (modern) return offersForms(capabilitiesIn(message))
  return headers.get("mcp-session-id")?.startsWith(ASKABLE) === true && takesStream(headers)
}

/** Whether an answer may be a stream of messages. */
export function takesStream(headers: Headers): boolean {
  return headers.get("accept")?.includes("text/event-stream") === true
}

/** An empty object stands for forms, which were all there was at first. */
function offersForms(capabilities: unknown): boolean {
  const elicitation = isRecord(capabilities) ? capabilities.elicitation : undefined
  return isRecord(elicitation) && (isRecord(elicitation.form) || Object.keys(elicitation).length === 0)
}

/** What a client shows: the sentence, and two buttons. */
function elicitation(message: string): object {
  return { method: "elicitation/create", params: { message, requestedSchema: { type: "object", properties: {} } } }
}

export function requestText(id: string, message: string): string {
  return JSON.stringify({ jsonrpc: "2.0", id, ...elicitation(message) })
}

/** The question as the call's result; `state` comes back with the answer. */
export function questionResult({ name }: Question, message: string, state: string): Result {
  const request = { [name]: { ...elicitation(message) } }
  return {
    fields: {
      resultType: '"input_required"',
      inputRequests: JSON.stringify(request),
      requestState: JSON.stringify(state),
    },
  }
}

/** What a call that was sent again says of the question; null where it says nothing of this one. */
export function verdictIn({ params }: Message, { name }: Question, state: string): Verdict | null {
  const responses = isRecord(params.inputResponses) ? params.inputResponses : {}
  const response = responses[name]
  if (!isRecord(response) || params.requestState !== state) return null
  return verdictOf(typeof response.action === "string" ? response.action : null)
}

/** Whatever is no yes is a no. */
export function verdictOf(action: string | null): Verdict {
  return action === "accept" ? "accept" : "decline"
}
