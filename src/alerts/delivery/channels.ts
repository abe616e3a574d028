import { Buffer } from "node:buffer"
import { randomBytes as secureBytes } from "node:crypto"
import { readMailAddress } from "../../access/people/mail-addresses.ts"
import { findMember } from "../../access/people/people.ts"
import { AccessProblem } from "../../access/problem.ts"
import type { Sealer } from "../../access/sealed.ts"
import type { Sql } from "../../database/types.ts"
import type { RandomBytes } from "../../lib/text.ts"
import { CHANNEL_KINDS, type Channel } from "./channel-kinds.ts"
import type { ChannelSecret } from "./message.ts"
import { openChannel, type SealedChannel, sealInside } from "./sealed-channel.ts"
import { makeSecret } from "./webhook.ts"

export interface ChannelRow {
  id: string
  kind: Channel
  /**
   * The part of the address that may be shown: the host and, if the rest is long, its last characters. For Telegram the
   * chat.
   */
  address: string
  state: "on" | "paused" | "disabled"
  /** The reason why it is disabled. Null if it is on. */
  disabled: string | null
  createdAt: Date
  lastOk: Date | null
  lastFailure: Date | null
  failure: string | null
  /** Number of consecutive failures. */
  failures: number
  /** The earlier address of a chat that got a new one, and when that was noticed. Null if it never moved. */
  movedFrom: string | null
  movedAt: Date | null
  /** The time until which messages are also signed with the webhook's earlier secret. Null if there is none. */
  earlierSecretUntil: Date | null
  waiting: number
  undelivered: number
}

export interface Register {
  sql: Sql
  sealer: Sealer
  randomBytes?: RandomBytes
}

/** At most 50 per workspace, since each alert may go to all of them. */
const MAX_CHANNELS = 50

/**
 * Adds a channel of a kind with what a person entered. `secret` signs the messages of a webhook and is shown once;
 * other kinds have none. Throws AccessProblem.
 */
export async function addChannel(
  { sql, sealer, randomBytes = secureBytes }: Register,
  workspaceId: number,
  kind: Channel,
  entered: ChannelSecret,
): Promise<NewChannel> {
  const { isPersonal, check } = CHANNEL_KINDS[kind]
  const checked = check(entered, randomBytes)
  const reader = isPersonal ? await findReader(sql, workspaceId, checked.shown) : null
  const { signingSecret } = checked
  const readable = (reader?.address ?? checked.shown).slice(0, 500)
  const inside = reader ? { ...checked.secret, personId: String(reader.personId) } : checked.secret
  const id = `ch_${Buffer.from(randomBytes(9)).toString("hex")}`
  const sealed = await sealInside(sealer, id, inside)
  const rows = await sql`
    insert into channel (id, workspace_id, kind, shown, person_id, sealed)
    select ${id}, ${workspaceId}, ${kind}, ${readable}, ${reader?.personId ?? null}, ${sealed}
    where (select count(*) from channel where workspace_id = ${workspaceId}) < ${MAX_CHANNELS}::int
    returning id`
  if (rows.length === 0) throw new AccessProblem(`a workspace can have at most ${MAX_CHANNELS} channels`)
  const channel = await findChannel(sql, workspaceId, id)
  return { channel, ...(signingSecret !== undefined && { secret: signingSecret }) }
}

/** Returns the member who gets a personal channel's messages. Throws AccessProblem. */
async function findReader(sql: Sql, workspaceId: number, name: string): Promise<{ personId: number; address: string }> {
  const { personId, appList } = await findMember(sql, workspaceId, name)
  const { address } = await readMailAddress(sql, personId)
  if (address === null)
    throw new AccessProblem(
      `${name} has not confirmed an address yet; each person does that under Settings, Mail`,
      "person",
    )
  if (appList !== null)
    throw new AccessProblem(
      `${name} sees only some of the apps, but these alerts cover all; a summary by mail covers only what they see`,
      "person",
    )
  return { personId, address }
}

export interface NewChannel {
  channel: ChannelRow
  secret?: string
}

export async function listChannels(sql: Sql, workspaceId: number): Promise<ChannelRow[]> {
  return await readChannels(sql, workspaceId, null)
}

/** Throws AccessProblem if the workspace has no channel with this id. */
export async function findChannel(sql: Sql, workspaceId: number, id: string): Promise<ChannelRow> {
  const [channel] = await readChannels(sql, workspaceId, id)
  if (!channel) throw noChannel(id)
  return channel
}

/** Deletes a channel and its deliveries. Throws AccessProblem. */
export async function removeChannel(sql: Sql, workspaceId: number, id: string): Promise<ChannelRow> {
  const channel = await findChannel(sql, workspaceId, id)
  await sql`
    delete from channel
    where id = ${id} and workspace_id = ${workspaceId}`
  return channel
}

/** Hours during which the earlier secret is used too. */
const BOTH_HOURS = 24

/**
 * Replaces a webhook's secret. Messages are signed with both for 24 h by the database's clock; a secret older than both
 * ends at once.
 */
export async function rotateSecret(register: Register, workspaceId: number, id: string): Promise<Required<NewChannel>> {
  const { sql, sealer, randomBytes = secureBytes } = register
  const { kind, sealed } = await readSealedChannel(sql, workspaceId, id)
  const { secret: inside } = await openChannel(sealer, { id, kind, sealed, sealedEarlier: null })
  if (inside.secret === undefined)
    throw new AccessProblem(`only a webhook has a secret; ${id} is a channel of kind ${kind}`)
  const secret = makeSecret(randomBytes)
  const earlier = await sealInside(sealer, id, inside.secret)
  const rows = await sql`
    update channel
    set sealed = ${await sealInside(sealer, id, { ...inside, secret })}, sealed_earlier = ${earlier},
      earlier_until = now() + ${BOTH_HOURS}::int * interval '1 hour'
    where id = ${id} and workspace_id = ${workspaceId} and sealed = ${sealed}
    returning id`
  if (rows.length === 0) throw new AccessProblem("the channel was changed meanwhile; try again")
  return { channel: await findChannel(sql, workspaceId, id), secret }
}

export async function readSealedChannel(sql: Sql, workspaceId: number, id: string): Promise<SealedChannel> {
  const [row] = await sql<SealedChannel[]>`
    select id, kind, sealed, case when earlier_until > now() then sealed_earlier end as "sealedEarlier"
    from channel
    where id = ${id} and workspace_id = ${workspaceId}`
  if (!row) throw noChannel(id)
  return row
}

/** The stored reason why a channel is disabled if its owner paused it. */
const PAUSED = "paused"

/**
 * Pauses a channel: sends nothing until it is resumed. Alerts found in the meantime are not delivered later. Throws
 * AccessProblem.
 */
export async function pauseChannel(sql: Sql, workspaceId: number, id: string): Promise<ChannelRow> {
  await findChannel(sql, workspaceId, id)
  await sql`
    update channel
    set disabled = ${PAUSED}, disabled_at = now()
    where id = ${id} and workspace_id = ${workspaceId} and disabled is null`
  return await findChannel(sql, workspaceId, id)
}

/**
 * Ends a pause. A channel that its receiver disabled is enabled by a successful test only. Throws AccessProblem.
 */
export async function resumeChannel(sql: Sql, workspaceId: number, id: string): Promise<ChannelRow> {
  await findChannel(sql, workspaceId, id)
  await sql`
    update channel
    set disabled = null, disabled_at = null
    where id = ${id} and workspace_id = ${workspaceId} and disabled = ${PAUSED}`
  return await findChannel(sql, workspaceId, id)
}

/** Stores the result of a test. A successful test enables a channel that its receiver disabled. */
export async function noteTest(sql: Sql, id: string, failure: string | null): Promise<void> {
  await sql`
    update channel
    set last_ok = case when ${failure === null} then now() else last_ok end,
      last_failure = case when ${failure === null} then last_failure else now() end,
      failure = coalesce(${failure}, failure),
      disabled = case when ${failure === null} and disabled is distinct from ${PAUSED} then null else disabled end,
      disabled_at = case when ${failure === null} and disabled is distinct from ${PAUSED} then null else disabled_at end
    where id = ${id}`
}

async function readChannels(sql: Sql, workspaceId: number, id: string | null): Promise<ChannelRow[]> {
  return await sql<ChannelRow[]>`
    select c.id, c.kind, c.shown as address, case
        when c.disabled is null then 'on'
        when c.disabled = ${PAUSED} then 'paused'
        else 'disabled'
      end as state, c.disabled, c.created_at as "createdAt", c.last_ok as "lastOk", c.last_failure as "lastFailure",
      c.failure, c.failures, c.moved_from as "movedFrom", c.moved_at as "movedAt",
      case when c.earlier_until > now() then c.earlier_until end as "earlierSecretUntil",
      (select count(*)::int from delivery where channel_id = c.id and state = 'waiting') as waiting,
      (select count(*)::int from delivery where channel_id = c.id and state = 'undelivered') as undelivered
    from channel c
    where c.workspace_id = ${workspaceId} and (${id}::text is null or c.id = ${id})
    order by c.created_at, c.id
    limit 1000`
}

function noChannel(id: string): AccessProblem {
  return new AccessProblem(
    `the workspace has no channel ${JSON.stringify(id.slice(0, 60))}; see: appmeter channel list`,
  )
}
