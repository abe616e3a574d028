import { isRecord } from "../../lib/objects.ts"
/** What a line says, as far as whoever passes it on must know. */
export interface LineMessage {
  /** Undefined for what is not answered: a notification, or an answer to the server. */
  id: string | number | undefined
  /** Undefined for an answer to the server. */
  method: string | undefined
  params: Record<string, unknown>
}

type Json = Record<string, unknown>

/** Never throws: what is wrong with a message is the server's to say. */
export function lineMessage(value: unknown): LineMessage {
  const { id, method, params } = (isRecord(value) ? value : {}) as Json
  const asks = typeof method === "string"
  const named = asks && (typeof id === "string" || typeof id === "number")
  return { id: named ? id : undefined, method: asks ? method : undefined, params: isRecord(params) ? params : {} }
}

/** An answer of a server to `id`, on one line. Undefined when it is no message. */
export function answerLine(text: string, id: LineMessage["id"]): { line: string; message: Json } | undefined {
  const message = parsed(text)
  if (!isRecord(message) || message.jsonrpc !== "2.0") return undefined
  // of a message that was not read to its end the server does not know whose it is
  const lost = id !== undefined && message.id === null && "error" in message
  if (lost) message.id = id
  return { line: lost || /[\r\n]/.test(text) ? JSON.stringify(message) : text, message }
}

export function errorLine(id: string | number | null, code: number, message: string): string {
  return JSON.stringify({ jsonrpc: "2.0", id, error: { code, message } })
}

/** The value, or undefined where the text is no JSON. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const VERSION = "io.modelcontextprotocol/protocolVersion"

/** The revision that a message of its own names in its envelope; undefined for one that belongs to a session. */
export function envelopeVersion({ params: { _meta } }: LineMessage): string | undefined {
  const version = isRecord(_meta) ? _meta[VERSION] : undefined
  return typeof version === "string" ? version : undefined
}

/** Which parameter the header Mcp-Name repeats. */
const NAMED_BY = new Map([
  ["tools/call", "name"],
  ["prompts/get", "name"],
  ["resources/read", "uri"],
])

/** The headers in which a message with an envelope says again, for proxies, what it is. */
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

/** As it is where a header may hold it, and comes out as it went in; else =?base64?…?= of its UTF-8. */
function headerText(text: string): string {
  const plain = /^[!-~]([\t -~]*[!-~])?$/.test(text) && !/^=\?base64\?.*\?=$/.test(text)
  return plain ? text : `=?base64?${Buffer.from(text.toWellFormed()).toString("base64")}?=`
}
