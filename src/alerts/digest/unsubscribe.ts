import type { Buffer } from "node:buffer"
import { hash, randomBytes } from "node:crypto"
import type { Db, Sql } from "../../database/types.ts"

/** The person and workspace of a subscription. */
export interface Subscription {
  personId: number
  workspaceId: number
}

/** A kind of mail that a link ends: the alerts of a channel, or the summaries. */
interface Mailing {
  workspace: string
  kind: "alerts" | "summaries"
}

/** How long a link works: longer than a person keeps an annoying mail. RFC 8058 sets no limit; laws require 30 days. */
const KEPT_DAYS = 400

export const UNSUBSCRIBE = "/unsubscribe/"

/** Returns a link that ends the mails to a person. Only the hash of its token is stored. */
export async function makeUnsubscribeUrl(
  sql: Db,
  publicUrl: string,
  { personId, workspaceId, channelId = null }: Subscription & { channelId?: string | null },
): Promise<string> {
  const token = randomBytes(32).toString("base64url")
  await sql`
    with swept as (
      delete from mail_unsubscribe
      where token_sha256 = any(array(
        select token_sha256
        from mail_unsubscribe
        where created_at < now() - ${KEPT_DAYS}::int * interval '1 day'
        order by created_at, token_sha256
        limit 20
        for update skip locked
      ))
    )
    insert into mail_unsubscribe (token_sha256, person_id, workspace_id, channel_id)
    values (${digestOf(token)}, ${personId}, ${workspaceId}, ${channelId})`
  return `${publicUrl}${UNSUBSCRIBE}${token}`
}

/**
 * Returns the mails that a link ends. Null if the link is unknown, its channel was removed, or the person is no longer
 * a member.
 */
export async function readUnsubscribe(sql: Sql, token: string): Promise<Mailing | null> {
  const [row] = await sql<Mailing[]>`
    select w.name as workspace, case when u.channel_id is null then 'summaries' else 'alerts' end as kind
    from mail_unsubscribe u
    join workspace w on w.id = u.workspace_id
    where u.token_sha256 = ${digestOf(token)}`
  return row ?? null
}

/**
 * Ends the summaries of a link's person, or removes the channel. Returns null whenever readUnsubscribe does, so also if
 * it is repeated for a channel.
 */
export async function unsubscribe(sql: Sql, token: string): Promise<Mailing | null> {
  const found = await readUnsubscribe(sql, token)
  await sql`
    delete from channel c
    using mail_unsubscribe u
    where u.token_sha256 = ${digestOf(token)} and c.id = u.channel_id`
  if (found?.kind === "alerts") return found
  await sql`
    delete from digest d
    using mail_unsubscribe u
    where u.token_sha256 = ${digestOf(token)} and (d.person_id, d.workspace_id) = (u.person_id, u.workspace_id)`
  return found
}

function digestOf(token: string): Buffer {
  return hash("sha256", `unsubscribe ${token}`, "buffer")
}
