import type { Sql, Tx } from "../../database/types.ts"
import { fetchDocument, isDocumentAddress } from "./client-documents.ts"
import { type ClientDocument, PINNED } from "./pinned.ts"
import { OAuthProblem } from "./problem.ts"
import type { OAuthParts } from "./server.ts"

export interface OAuthClient extends ClientDocument {
  id: string
  /**
   * The host that vouches for the name. Null for a client that registered itself, because anyone can choose any name.
   */
  host: string | null
}

/**
 * Finds a client by its id. May fetch from other servers, so call it only for an owner who is signed in. Throws
 * OAuthProblem.
 */
export async function findClient(parts: OAuthParts, id: string): Promise<OAuthClient> {
  const { sql, gate } = parts
  const stored = await gate.run(() => readClient(sql, id))
  const client = isDocumentAddress(id) ? await currentDocument(parts, id, stored) : stored
  if (!client)
    throw new OAuthProblem(
      "invalid_client",
      "This client is not registered here any more. Remove the connector in the client, and connect it again.",
    )
  return {
    id,
    name: client.name,
    redirectUris: client.redirectUris,
    host: isDocumentAddress(id) ? new URL(id).hostname : null,
  }
}

/** Records that an owner approved the client, so that it is not deleted. */
export async function keepClient(tx: Tx, id: string): Promise<void> {
  await tx`
    update oauth_client
    set agreed_at = now()
    where id = ${id}`
}

interface StoredClient extends ClientDocument {
  isFresh: boolean
}

async function readClient(sql: Sql, id: string): Promise<StoredClient | null> {
  const [row] = await sql<StoredClient[]>`
    select name, redirect_uris as "redirectUris", coalesce(fresh_until > now(), true) as "isFresh"
    from oauth_client
    where id = ${id}`
  return row ?? null
}

/**
 * Fetches the client's document. If its server fails, the last good copy is used, or else the copy that is part of this
 * program.
 */
async function currentDocument(parts: OAuthParts, id: string, stored: StoredClient | null): Promise<ClientDocument> {
  if (stored?.isFresh) return stored
  try {
    const { freshSeconds, ...document } = await fetchDocument(parts, id)
    await parts.gate.run(() => storeDocument(parts.sql, id, document, freshSeconds))
    return document
  } catch (error) {
    if (!(error instanceof OAuthProblem)) throw error
    const copy = stored ?? PINNED.get(id)
    if (!copy) throw error
    parts.log("warn", "client_document_failed", { url: id, reason: error.message })
    // Sets the next retry in the future, so that the next owner does not wait for the failing server again.
    await parts.gate.run(() => storeDocument(parts.sql, id, copy, RETRY_S))
    return copy
  }
}

const RETRY_S = 300

async function storeDocument(
  sql: Sql,
  id: string,
  { name, redirectUris }: ClientDocument,
  freshSeconds: number,
): Promise<void> {
  await sql`
    insert into oauth_client (id, name, redirect_uris, fresh_until)
    values (${id}, ${name}, ${redirectUris}, now() + ${freshSeconds} * interval '1 s')
    on conflict (id) do update
    set name = excluded.name, redirect_uris = excluded.redirect_uris, fresh_until = excluded.fresh_until`
}
