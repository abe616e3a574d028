import { isRecord } from "../../lib/objects.ts"
import { RpcError, refused } from "./errors.ts"
import type { Message } from "./message.ts"

// Supports two kinds of revisions. Up to 2025-11-25 a client begins with `initialize`, and a header names the revision
// of later requests (2025-03-26 if absent). From 2026-07-28 on each request is independent: `params._meta` has the
// revision and the client's capabilities, and headers repeat revision, method and tool name for proxies that do not
// read bodies.

/** Newest first. */
export const LEGACY = ["2025-11-25", "2025-06-18", "2025-03-26"]
export const MODERN = ["2026-07-28"]

/** Returns the client's capabilities, which each request of the modern revision repeats. */
export function capabilitiesIn({ params }: Message): Record<string, unknown> {
  const meta = isRecord(params._meta) ? params._meta : {}
  const capabilities = meta[CAPABILITIES]
  return isRecord(capabilities) ? capabilities : {}
}

const VERSION = "io.modelcontextprotocol/protocolVersion"
const CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"

/**
 * Returns whether a request uses a modern revision. Throws RpcError if its headers or envelope name an unsupported
 * revision.
 */
export function isModern({ method, params }: Message, headers: Headers): boolean {
  const meta = isRecord(params._meta) ? params._meta : {}
  const header = headers.get("mcp-protocol-version")
  // the handshake itself negotiates the revision, so its header is ignored
  if (!Object.hasOwn(meta, VERSION) && (method === "initialize" || !namesModern(header))) {
    if (header !== null && method !== "initialize" && !LEGACY.includes(header)) throw unknownLegacy()
    return false
  }
  const version = checkedEnvelope(meta)
  if (header !== null && header !== version) throw mismatch("MCP-Protocol-Version", "the revision in _meta")
  if (!MODERN.includes(version)) throw unknownModern(version)
  if (header === null) throw mismatch("MCP-Protocol-Version", "the revision in _meta")
  if (headers.get("mcp-method") !== method) throw mismatch("Mcp-Method", "the method")
  const named = NAMED[method]
  const name = named && params[named]
  if (typeof name === "string" && plain(headers.get("mcp-name")) !== name) throw mismatch("Mcp-Name", `params.${named}`)
  return true
}

/** For each method, the parameter whose value a header repeats. */
const NAMED: Record<string, string> = { "tools/call": "name", "prompts/get": "name", "resources/read": "uri" }

function namesModern(header: string | null): boolean {
  return header !== null && /^\d{4}-\d\d-\d\d$/.test(header) && header >= (MODERN.at(-1) as string)
}

/** Returns the revision in an envelope. */
function checkedEnvelope(meta: Record<string, unknown>): string {
  const version = meta[VERSION]
  if (typeof version !== "string") throw badEnvelope(VERSION, "a string")
  if (!isRecord(meta[CAPABILITIES])) throw badEnvelope(CAPABILITIES, "an object")
  return version
}

/** Decodes a header. Clients send text outside ASCII as =?base64?…?=. Undefined if that is not valid UTF-8. */
function plain(header: string | null): string | undefined {
  const encoded = /^=\?base64\?([A-Za-z0-9+/]*={0,2})\?=$/.exec(header ?? "")?.[1]
  if (encoded === undefined) return header ?? undefined
  try {
    const bytes = Uint8Array.from(atob(encoded), (character) => character.charCodeAt(0))
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}

const unknownLegacy = () => refused(400, `Unsupported MCP-Protocol-Version; supported are ${LEGACY.join(", ")}.`)

// The specification requires the requested revision in the error. It is cut to keep the error small.
const unknownModern = (version: string) =>
  new RpcError(-32022, 400, "Unsupported protocol version.", { supported: MODERN, requested: version.slice(0, 32) })

const badEnvelope = (name: string, type: string) =>
  new RpcError(-32602, 400, `Invalid params: _meta["${name}"] must be ${type}.`)

const mismatch = (header: string, repeated: string) =>
  new RpcError(-32020, 400, `Header mismatch: ${header} must be there and repeat ${repeated}.`)
