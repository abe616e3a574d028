import { hash, randomBytes } from "node:crypto"
import * as v from "valibot"
import { siteOf } from "../../access/addresses.ts"
import { ClientName, NAMELESS } from "../../access/oauth/client-name.ts"
import { OAuthProblem } from "../../access/oauth/problem.ts"
import { isUsableRedirect } from "../../access/oauth/redirects.ts"
import type { OAuthParts } from "../../access/oauth/server.ts"
import type { Sql } from "../../database/types.ts"
import { readUpTo } from "../../lib/request-body.ts"
import { isStorable } from "../../lib/text.ts"
import type { PageAnswer } from "../../ui/answer.ts"
import type { PageVisit } from "../../ui/routes.ts"
import { jsonAnswer } from "./answers.ts"

/** Maximum registrations from one address (IPv6: /48) per hour. A person connects a few clients. */
export const REGISTRATIONS_AN_HOUR = 20

/**
 * Maximum number of registrations without any consent. The oldest ones are evicted, except those of the last hour,
 * because the person may still be signing in. If all of them are that new, further clients must wait.
 */
const MAX_UNUSED = 2_000

/** Registers a client without a secret (RFC 7591). The person decides on the consent page whether to trust it. */
export async function openRegistration(parts: OAuthParts, { request, address }: PageVisit): Promise<PageAnswer> {
  const metadata = readMetadata(await readUpTo(request, MAX_BYTES))
  const id = `client_${randomBytes(16).toString("base64url")}`
  const client = {
    id,
    name: metadata.client_name || NAMELESS,
    redirectUris: [...new Set(metadata.redirect_uris)],
  }
  const created = await parts.visitorGate(address).run(() => createClient(parts.sql, client, address))
  if (!created)
    throw new OAuthProblem("temporarily_unavailable", "Too many clients registered. Try again in an hour.", 429)
  return jsonAnswer(201, {
    client_id: id,
    client_id_issued_at: Math.floor(created.getTime() / 1_000),
    ...(metadata.client_name && { client_name: metadata.client_name }),
    redirect_uris: client.redirectUris,
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    token_endpoint_auth_method: "none",
  })
}

const MAX_BYTES = 16_384

const Text = v.pipe(v.string(), v.check(isStorable))

const Metadata = v.object({
  redirect_uris: v.pipe(v.array(Text), v.minLength(1), v.maxLength(20)),
  client_name: v.nullish(ClientName),
})

function readMetadata(bytes: Uint8Array | null): v.InferOutput<typeof Metadata> {
  const found = v.safeParse(Metadata, parsedJson(bytes))
  if (!found.success)
    throw new OAuthProblem(
      "invalid_client_metadata",
      "Send JSON with redirect_uris and, optionally, client_name as visible text.",
    )
  const bad = found.output.redirect_uris.find((uri) => !isUsableRedirect(uri))
  if (bad !== undefined)
    throw new OAuthProblem(
      "invalid_redirect_uri",
      "A redirect address is https, http on localhost, 127.0.0.1 or [::1], or an app's private scheme with a dot " +
        "(com.example.app:/callback). It has no fragment and no user.",
    )
  return found.output
}

function parsedJson(bytes: Uint8Array | null): unknown {
  try {
    return bytes && JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes))
  } catch {
    return null
  }
}

/** Returns the creation time. Null if the address has registered too many clients. */
async function createClient(
  sql: Sql,
  { id, name, redirectUris }: { id: string; name: string; redirectUris: string[] },
  address: string | null,
): Promise<Date | null> {
  const from = hash("sha256", `registration ${siteOf(address)}`, "buffer")
  const [row] = await sql<{ createdAt: Date }[]>`
    with evicted as (
      delete from oauth_client
      where id = any(array(
        select id
        from oauth_client
        where agreed_at is null and fresh_until is null
        order by created_at desc, id
        offset ${MAX_UNUSED - 1}
        limit 100
      )) and created_at <= now() - interval '1 hour'
    )
    insert into oauth_client (id, name, redirect_uris, from_sha256)
    select ${id}, ${name}, ${redirectUris}, ${from}
    where (
      select count(*)
      from oauth_client
      where from_sha256 = ${from} and created_at > now() - interval '1 hour'
    ) < ${REGISTRATIONS_AN_HOUR} and (
      select count(*)
      from oauth_client
      where agreed_at is null and fresh_until is null and created_at > now() - interval '1 hour'
    ) < ${MAX_UNUSED}
    returning created_at as "createdAt"`
  return row?.createdAt ?? null
}
