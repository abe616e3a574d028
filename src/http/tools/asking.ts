import { randomBytes } from "node:crypto"
import type { Question } from "../../core/operation.ts"
import { isRecord } from "../../lib/objects.ts"
import { capabilitiesIn } from "./eras.ts"
import type { Message } from "./message.ts"
import type { Result } from "./results.ts"

// Some calls ask the person before the assistant acts for them. The client shows the question if it announced that it
// can show questions. From revision 2026-07-28 on, the question is the result of the call, and the client repeats the
// call with the answer. In earlier revisions the question is a request on the stream of the call's response, and the
// answer is a separate message, which any process may receive.

/** Stores the answer to a question until the call that asked it reads the answer. Any process may receive an answer. */
export interface Answers {
  open(id: string, keyId: number): Promise<void>
  put(id: string, keyId: number, action: string): Promise<void>
  read(id: string): Promise<string | null>
}

export type Verdict = "accept" | "decline" | "none"

/** Marks the session id of a client that announced elicitation. The server stores nothing else about it. */
const ASKABLE = "asks-"

/** Returns the session id for a client that can ask its person. Null for others. */
export function sessionOf({ method, params }: Message): string | null {
  if (method !== "initialize" || !offersForms(params.capabilities)) return null
  return `${ASKABLE}${randomBytes(16).toString("base64url")}`
}

/** Returns whether the client of a call can show a question to its person. */
export function canAsk(message: Message, headers: Headers, modern: boolean): boolean {
  if (modern) return offersForms(capabilitiesIn(message))
  return headers.get("mcp-session-id")?.startsWith(ASKABLE) === true && takesStream(headers)
}

/** Returns whether the client accepts a stream of messages. */
export function takesStream(headers: Headers): boolean {
  return headers.get("accept")?.includes("text/event-stream") === true
}

/** An empty object means that the client supports forms, the only kind in the first version. */
function offersForms(capabilities: unknown): boolean {
  const elicitation = isRecord(capabilities) ? capabilities.elicitation : undefined
  return isRecord(elicitation) && (isRecord(elicitation.form) || Object.keys(elicitation).length === 0)
}

/** The request that a client shows to the person as a sentence and two buttons. */
function elicitation(message: string): object {
  return { method: "elicitation/create", params: { message, requestedSchema: { type: "object", properties: {} } } }
}

export function requestText(id: string, message: string): string {
  return JSON.stringify({ jsonrpc: "2.0", id, ...elicitation(message) })
}

/** Returns the question as the call's result. The client sends `state` back with the answer. */
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

/** Returns the answer in a repeated call. Null if it does not answer this question. */
export function verdictIn({ params }: Message, { name }: Question, state: string): Verdict | null {
  const responses = isRecord(params.inputResponses) ? params.inputResponses : {}
  const response = responses[name]
  if (!isRecord(response) || params.requestState !== state) return null
  return verdictOf(typeof response.action === "string" ? response.action : null)
}

/** Everything except "accept" counts as a refusal. */
export function verdictOf(action: string | null): Verdict {
  return action === "accept" ? "accept" : "decline"
}
