import { Buffer } from "node:buffer"
import * as v from "valibot"
import { OutboundProblem } from "../../outbound/problem.ts"
import { ClientName } from "./client-name.ts"
import type { ClientDocument } from "./pinned.ts"
import { OAuthProblem } from "./problem.ts"
import { isUsableRedirect } from "./redirects.ts"
import type { OAuthParts } from "./server.ts"

/** A fetched document, and how long it stays fresh. */
interface FetchedDocument extends ClientDocument {
  freshSeconds: number
}

/** Whether an id is the URL of a client document: https, with a path, in the normal form of a browser. */
export function isDocumentAddress(clientId: string): boolean {
  const url = URL.parse(clientId)
  if (url?.protocol !== "https:" || clientId.length > 500 || clientId.includes("#")) return false
  return url.href === clientId && url.pathname !== "/" && !url.username && !url.password && url.port === ""
}

/** Fetches the document at a client's URL, which is its id. Throws OAuthProblem with a sentence for the owner. */
export async function fetchDocument({ fetch }: Pick<OAuthParts, "fetch">, address: string): Promise<FetchedDocument> {
  try {
    const { status, headers, bytes } = await fetch(address, { headers: { accept: "application/json" }, ...LIMITS })
    if (status !== 200) throw unread("its server did not return a document")
    const found = parsedDocument(Buffer.from(bytes).toString("utf8"))
    if (found.client_id !== address) throw unread("the document belongs to another client")
    return {
      name: found.client_name,
      redirectUris: found.redirect_uris,
      freshSeconds: freshSecondsOf(headers.get("cache-control")),
    }
  } catch (error) {
    if (error instanceof OutboundProblem) throw unread(error.message)
    throw error
  }
}

/** Without `mayFollow`, redirects are refused: the document must be at the client's URL itself. */
const LIMITS = { totalMs: 5_000, firstByteMs: 3_000, mostBytes: 16_384 }

const Document = v.object({
  client_id: v.string(),
  client_name: v.pipe(ClientName, v.minLength(1)),
  redirect_uris: v.pipe(v.array(v.pipe(v.string(), v.check(isUsableRedirect))), v.minLength(1), v.maxLength(20)),
  token_endpoint_auth_method: v.optional(v.picklist(["none", "private_key_jwt"])),
  // A secret in a public document is not secret.
  client_secret: v.optional(v.never()),
})

function parsedDocument(text: string) {
  try {
    return v.parse(Document, JSON.parse(text))
  } catch {
    throw unread("its content is not valid client metadata")
  }
}

const SHORTEST_S = 300
const LONGEST_S = 86_400

function freshSecondsOf(cacheControl: string | null): number {
  const text = cacheControl ?? ""
  if (/\bno-(store|cache)\b/i.test(text)) return SHORTEST_S
  const maxAge = Number(/\bmax-age="?(\d+)/i.exec(text)?.[1] ?? LONGEST_S)
  return Math.min(LONGEST_S, Math.max(SHORTEST_S, maxAge))
}

function unread(why: string): OAuthProblem {
  return new OAuthProblem("invalid_client", `The client's document could not be read: ${why}.`)
}
