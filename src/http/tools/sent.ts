import type { ToolRequest } from "./asked.ts"
import { challengeOf } from "./challenge.ts"
import { errorOf, RpcError } from "./errors.ts"
import type { ExchangeEnd } from "./exchange.ts"
import { errorText, type Result, resultText } from "./results.ts"

export interface ToolReply {
  status: number
  text: string | null
  error?: RpcError
  /** Value of the header www-authenticate. */
  challenge?: string | undefined
}

interface SentParts {
  publicUrl: string
  /** Address of the metadata that clients need to sign in. */
  resourceMetadata: string
}

/**
 * Returns the response to send. An unknown caller is reported before an invalid message. A fault of a call is its
 * result, unless the key is missing.
 */
export async function sentFor(asked: ToolRequest, ended: ExchangeEnd, parts: SentParts): Promise<ToolReply> {
  const { id, modern } = asked
  const made = await madeOf(asked, ended, parts.publicUrl)
  const challenge = challengeOf(ended.reply, parts.resourceMetadata)
  if (made instanceof RpcError) return { status: made.status, text: errorText(id, made), error: made, challenge }
  if (!made) return { status: 202, text: null }
  if (challenge === undefined) return { status: 200, text: resultText(id, made, modern) }
  // the result repeats the challenge for clients that pass it to a model or read it there
  const withChallenge = { ...made, meta: { ...made.meta, "mcp/www_authenticate": [challenge] } }
  return { status: 403, text: resultText(id, withChallenge, modern), challenge }
}

function madeOf(
  { outcome }: ToolRequest,
  { reply, question }: ExchangeEnd,
  publicUrl: string,
): Result | RpcError | null | Promise<Result> {
  const { fault } = reply
  const calling = outcome && "calling" in outcome ? outcome.calling : null
  if (fault) return (fault.status !== 401 && calling?.failed?.({ ...reply, fault })) || errorOf(fault, publicUrl)
  if (outcome === null || "answerTo" in outcome) return null
  return "calling" in outcome ? (question ?? outcome.calling.answered(reply)) : outcome
}
