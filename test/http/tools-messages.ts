import { checkedHeaders, PUBLIC_URL, type Service } from "../service.ts"

export interface Posted {
  status: number
  // biome-ignore lint/suspicious/noExplicitAny: tests read messages of every kind
  body: any
  text: string
  headers: Headers
  credits: { used: number; limit: number; remaining: number; reset: string }
}

export interface PostOptions {
  key?: string
  headers?: Record<string, string>
  /** The query with its "?". */
  query?: string
  method?: string
  /** The public URL to use instead of the default. */
  base?: string
}

/** Sends a body to the tool endpoint, as JSON unless it is text. Checks the headers of every response. */
export async function post(service: Service, message: unknown, options: PostOptions = {}): Promise<Posted> {
  const { key, query = "", method = "POST", base = PUBLIC_URL } = options
  const headers = new Headers({ "content-type": "application/json", ...options.headers })
  if (key) headers.set("authorization", `Bearer ${key}`)
  const body = typeof message === "string" || message instanceof Uint8Array ? message : JSON.stringify(message)
  const init: RequestInit = { method, headers, ...(message !== undefined && { body: body as string }) }
  const response = await service.app.fetch(new Request(`${base}/mcp${query}`, init), "127.0.0.1")
  const text = await response.text()
  if (response.headers.get("cache-control") !== "private, no-store") throw new Error("an answer that caches may keep")
  const credits = checkedHeaders(response)
  return {
    status: response.status,
    body: text === "" ? undefined : JSON.parse(text),
    text,
    headers: response.headers,
    credits,
  }
}

export const request = (method: string, params?: unknown, id: unknown = 7) => ({ jsonrpc: "2.0", id, method, params })

export const VERSION = "io.modelcontextprotocol/protocolVersion"
export const CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
export const MODERN = "2026-07-28"
export const ENVELOPE = { [VERSION]: MODERN, [CAPABILITIES]: {} }

/**
 * Returns a request of the modern revision with the headers that repeat it. `headers` replaces some; null removes one.
 */
export function modern(
  method: string,
  params: Record<string, unknown> = {},
  changed: Record<string, string | null> = {},
): { message: object; headers: Record<string, string> } {
  const headers: Record<string, string | null> = {
    "mcp-protocol-version": MODERN,
    "mcp-method": method,
    ...(typeof params.name === "string" && { "mcp-name": params.name }),
    ...changed,
  }
  const sent = Object.entries(headers).filter((entry): entry is [string, string] => entry[1] !== null)
  return { message: request(method, { _meta: ENVELOPE, ...params }), headers: Object.fromEntries(sent) }
}
