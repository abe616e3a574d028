import type { Fragment } from "postgres"
import { AccessProblem } from "../../access/problem.ts"
import type { Platform } from "../../core/observation/provenance.ts"
import type { Sql } from "../../database/types.ts"
import { isLinkToken, linkDigest, makeLinkToken } from "../token.ts"
import { DATASETS, datasetOf, type FeedDataset, type FeedFormat } from "./datasets.ts"

interface FeedHead {
  workspaceId: number
  appId: string
  dataset: FeedDataset
  format: FeedFormat
  /** Null for alerts. */
  platform: Platform | null
  storefront: string | null
  /** Null for Atom. */
  columns: string[] | null
}

/** At most 50 per workspace. */
const MAX_FEEDS = 50

/**
 * Creates a feed and returns its token. Only the hash of the token is stored. `keyId` is the grant whose rights the
 * feed needs. Null if the feed is created by a command on the machine. Throws AccessProblem.
 */
export async function createFeed(sql: Sql, feed: FeedHead & { keyId: number | null }): Promise<string> {
  const { workspaceId, appId, keyId, dataset, format, platform, storefront, columns } = feed
  const token = makeLinkToken()
  const rows = await sql`
    insert into feed_link (sha256, workspace_id, app_id, key_id, dataset, format, platform, storefront, columns)
    select ${linkDigest(token)}, ${workspaceId}, a.id, ${keyId}::int, ${dataset}, ${format}, ${platform}::text,
      ${storefront}::text, ${columns}::text[]
    from tracked_app a
    where a.id = ${appId} and a.workspace_id = ${workspaceId}
      and (select count(*) from feed_link where workspace_id = ${workspaceId}) < ${MAX_FEEDS}::int
    returning 1`
  if (rows.length === 0)
    throw new AccessProblem(`a workspace has ${MAX_FEEDS} feeds at most; withdraw one that nobody reads`)
  return token
}

export interface StoredFeed extends FeedHead {
  createdAt: Date
}

/**
 * Returns the feed of a token. Null if the feed does not exist or was withdrawn, its app was removed, its creator left
 * or lacks the right, or its workspace is suspended or deleted. Reads the database each time, so that each of these
 * events takes effect at once in every process.
 */
export async function findFeed(sql: Sql, token: string): Promise<StoredFeed | null> {
  if (!isLinkToken(token)) return null
  const [feed] = await sql<StoredFeed[]>`
    select l.workspace_id as "workspaceId", l.app_id as "appId", l.dataset, l.format, l.platform, l.storefront,
      l.columns, l.created_at as "createdAt"
    from feed_link l
    join workspace w on w.id = l.workspace_id
    where l.sha256 = ${linkDigest(token)} and w.deleted_at is null and w.suspended_at is null and ${isOpenFeed(sql)}`
  return feed ?? null
}

/** The SQL condition for a feed `l` whose creator still has the right to read its data. */
export function isOpenFeed(sql: Sql): Fragment {
  const scopes = DATASETS.map((dataset) => datasetOf(dataset).scope)
  return sql`(l.key_id is null or exists (
    select
    from api_key k
    join unnest(${DATASETS}::text[], ${scopes}::text[]) d (dataset, scope) on d.dataset = l.dataset
    where k.id = l.key_id and k.revoked_at is null and k.leaked_at is null and k.paused_at is null
      and (k.expires_at is null or k.expires_at > now())
      and (k.app_list is null or l.app_id = any(k.app_list)) and d.scope = any(k.scopes)
  ))`
}

/** Withdraws the feed. Returns false if it no longer exists. */
export async function withdrawFeed(sql: Sql, sha256: string): Promise<boolean> {
  const rows = await sql`
    delete from feed_link
    where sha256 = decode(${sha256}, 'hex')
    returning 1`
  return rows.length > 0
}
