import type { Sql, Tx } from "../../database/types.ts"
import { OAuthProblem } from "./answers.ts"
import { fetchDocument, isDocumentAddress } from "./client-documents.ts"
import { type ClientDocument, PINNED } from "./pinned.ts"
import type { OAuthParts } from "./server.ts"

export interface OAuthClient extends ClientDocument {
  id: string
  /** The host that vouches for the name; null of a client that registered itself, as anybody can under any name. */
  host: string | null
}

/** A client by its id. Asks other servers, so only an owner who is signed in makes it do that. Throws OAuthProblem. */
export async function findClient(parts: OAuthParts, id: string): Promise<OAuthClient> {
  const { sql, gate } = parts
  const stored = await gate.run(() => readClient(sql, id))
  const known = isDocumentAddress(id) ? await currentDocument(parts, id, stored) : stored
  if (!known)
    throw new OAuthProblem(
      "invalid_client",
      "This client is not known here any more. Remove it there, and connect it again.",
    )
  return {
    id,
    name: known.name,
    redirectUris: known.redirectUris,
    host: isDocumentAddress(id) ? new URL(id).hostname : null,
  }
}

/** Notes that an owner agreed: the client is kept from then on. */
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

/** The last good copy serves where the client's server does not, and before any other the copy that came with this program. */
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
    parts.log("warn", "client_document", { url: id, reason: error.message })
    // whoever waited for a server that does not answer does not wait again for a while
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
