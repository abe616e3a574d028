import { isRecord } from "../../lib/objects.ts"
/** The parts of a message that forwarding needs. */
export interface LineMessage {
  /** Undefined for a message that needs no answer: a notification, or an answer to the server. */
  id: string | number | undefined
  /** Undefined for an answer to the server. */
  method: string | undefined
  params: Record<string, unknown>
}

type Json = Record<string, unknown>

/** Never throws: the server reports invalid messages. */
export function lineMessage(value: unknown): LineMessage {
  const { id, method, params } = (isRecord(value) ? value : {}) as Json
  const asks = typeof method === "string"
  const named = asks && (typeof id === "string" || typeof id === "number")
  return { id: named ? id : undefined, method: asks ? method : undefined, params: isRecord(params) ? params : {} }
}

/** Returns a server's answer to `id` on one line. Undefined if the text is not a message. */
export function answerLine(text: string, id: LineMessage["id"]): { line: string; message: Json } | undefined {
  const message = parsed(text)
  if (!isRecord(message) || message.jsonrpc !== "2.0") return undefined
  // the server does not know the id of a message that it could not read completely
  const lost = id !== undefined && message.id === null && "error" in message
  if (lost) message.id = id
  return { line: lost || /[\r\n]/.test(text) ? JSON.stringify(message) : text, message }
}

export function errorLine(id: string | number | null, code: number, message: string): string {
  return JSON.stringify({ jsonrpc: "2.0", id, error: { code, message } })
}

/** Returns the value. Undefined if the text is not JSON. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const VERSION = "io.modelcontextprotocol/protocolVersion"

/** Returns the protocol revision in the message's envelope. Undefined for a message of a session. */
export function envelopeVersion({ params: { _meta } }: LineMessage): string | undefined {
  const version = isRecord(_meta) ? _meta[VERSION] : undefined
  return typeof version === "string" ? version : undefined
}

/** The parameter that the header Mcp-Name repeats. */
const NAMED_BY = new Map([
  ["tools/call", "name"],
  ["prompts/get", "name"],
  ["resources/read", "uri"],
])

/** Returns the headers that repeat parts of a message with an envelope, for proxies. */
export function repeatedHeaders(message: LineMessage): Record<string, string> {
  const { method, params } = message
  const version = envelopeVersion(message)
  if (version === undefined || method === undefined) return {}
  const name = params[NAMED_BY.get(method) ?? ""]
  return {
    "mcp-protocol-version": headerText(version),
    "mcp-method": headerText(method),
    ...(typeof name === "string" && { "mcp-name": headerText(name) }),
  }
}

/** Returns the text unchanged if it is valid in a header, otherwise =?base64?…?= of its UTF-8. */
function headerText(text: string): string {
  const plain = /^[!-~]([\t -~]*[!-~])?$/.test(text) && !/^=\?base64\?.*\?=$/.test(text)
  return plain ? text : `=?base64?${Buffer.from(text.toWellFormed()).toString("base64")}?=`
}
