import { SCOPES, type Scope } from "../../access/scopes.ts"
import type { Reply } from "../../core/invoke.ts"
import { errorOf, RpcError } from "./errors.ts"
import type { ExchangeEnd } from "./exchange.ts"
import { errorText, type Result, resultText } from "./results.ts"
import type { ToolRequest } from "./tool-request.ts"

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
export async function sentFor(request: ToolRequest, ended: ExchangeEnd, parts: SentParts): Promise<ToolReply> {
  const { id, modern } = request
  const made = await madeOf(request, ended, parts.publicUrl)
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

/** The minimum scope for a sign-in. A refused call names the further scopes that the client needs. */
const MIN_SCOPE: Scope = "apps:read"

/**
 * Returns the challenge that makes an OAuth client sign in or request more scopes (RFC 6750, RFC 9728): the address of
 * the metadata and the scopes. Undefined if signing in does not help, because a key's rights do not change.
 */
function challengeOf({ fault, caller }: Reply, resourceMetadata: string): string | undefined {
  if (fault?.status === 401) {
    const error = fault.code === "missing_api_key" ? [] : [`error="invalid_token"`]
    return challenge([...error, `resource_metadata="${resourceMetadata}"`, `scope="${MIN_SCOPE}"`])
  }
  if (fault?.code !== "scope_required" || caller?.kind !== "grant") return undefined
  // includes the current scopes, because a client may request only the scopes listed here
  const scopes = SCOPES.filter((scope) => scope === fault.extra.scope || caller.scopes.includes(scope))
  const description = `error_description="This call needs the scope ${fault.extra.scope}."`
  return challenge([
    `error="insufficient_scope"`,
    description,
    `resource_metadata="${resourceMetadata}"`,
    `scope="${scopes.join(" ")}"`,
  ])
}

function challenge(parts: readonly string[]): string {
  return `Bearer ${[`realm="appmeter"`, ...parts].join(", ")}`
}
