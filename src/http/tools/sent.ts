import type { ToolRequest } from "./asked.ts"
import { challengeOf } from "./challenge.ts"
import { errorOf, RpcError } from "./errors.ts"
import type { ExchangeEnd } from "./exchange.ts"
import { errorText, type Result, resultText } from "./results.ts"

export interface ToolReply {
  status: number
  text: string | null
  error?: RpcError
  /** Of the header www-authenticate. */
  challenge?: string | undefined
}

interface SentParts {
  publicUrl: string
  /** Address of the metadata by which clients sign in. */
  resourceMetadata: string
}

/** Who calls comes before what is wrong with the message; a call's own fault is its result, save for a missing key. */
export async function sentFor(asked: ToolRequest, ended: ExchangeEnd, parts: SentParts): Promise<ToolReply> {
  const { id, modern } = asked
  const made = await madeOf(asked, ended, parts.publicUrl)
  const challenge = challengeOf(ended.reply, parts.resourceMetadata)
  if (made instanceof RpcError) return { status: made.status, text: errorText(id, made), error: made, challenge }
  if (!made) return { status: 202, text: null }
  if (challenge === undefined) return { status: 200, text: resultText(id, made, modern) }
  // what the status says is in the result as well, for clients that hand it to a model or look there
  const told = { ...made, meta: { ...made.meta, "mcp/www_authenticate": [challenge] } }
  return { status: 403, text: resultText(id, told, modern), challenge }
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
