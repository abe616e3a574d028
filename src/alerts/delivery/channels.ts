import { Buffer } from "node:buffer"
import { randomBytes as secureBytes } from "node:crypto"
import { AccessProblem } from "../../access/problem.ts"
import type { Sealer } from "../../access/sealed.ts"
import type { Sql } from "../../database/types.ts"
import type { RandomBytes } from "../../lib/text.ts"
import type { Channel } from "../rules.ts"
import { type ChannelSecret, openChannel, type SealedChannel, sealInside } from "./sealed-channel.ts"
import { makeSecret } from "./webhook.ts"

export interface ChannelRow {
  id: string
  kind: Channel
  /** As much as may be shown: the host and, of a long address, its last characters; of Telegram the chat. */
  address: string
  state: "on" | "disabled"
  /** Why nothing is sent any more; null = it is on. */
  disabled: string | null
  createdAt: Date
  lastOk: Date | null
  lastFailure: Date | null
  failure: string | null
  /** In a row. */
  failures: number
  /** Until then a webhook's earlier secret signs too; null = there is none. */
  earlierSecretUntil: Date | null
  waiting: number
  undelivered: number
}

export interface Register {
  sql: Sql
  sealer: Sealer
  randomBytes?: RandomBytes
}

/** Each alert may go to all of them. */
const MOST_CHANNELS = 50

/** Adds a webhook; `secret` signs what it gets and is shown once. Throws AccessProblem. */
export async function addWebhook(
  register: Register,
  workspaceId: number,
  url: string,
): Promise<NewChannel & { secret: string }> {
  const address = addressOf(url)
  const secret = makeSecret(register.randomBytes ?? secureBytes)
  const inside = { url: address.href, secret }
  return { ...(await add(register, { workspaceId, kind: "webhook", shown: hintOf(address), inside })), secret }
}

export async function addTelegram(register: Register, workspaceId: number, { token, chat }: Bot): Promise<NewChannel> {
  if (!/^\d{3,20}:[\w-]{20,100}$/.test(token)) throw new AccessProblem("a bot's token looks like 123456789:AAE…")
  if (!/^(-?\d{1,20}|@\w{4,64})$/.test(chat))
    throw new AccessProblem("a chat is its number, or @ and the channel's name")
  return await add(register, { workspaceId, kind: "telegram", shown: chat, inside: { token, chat } })
}

/** Adds an incoming webhook of Slack; its whole address is a secret. Throws AccessProblem. */
export async function addSlack(register: Register, workspaceId: number, url: string): Promise<NewChannel> {
  const address = addressOf(url)
  return await add(register, { workspaceId, kind: "slack", shown: hintOf(address), inside: { url: address.href } })
}

export interface NewChannel {
  channel: ChannelRow
}

interface Bot {
  token: string
  /** Its number, or "@name" of a public channel. */
  chat: string
}

interface ChannelDraft {
  workspaceId: number
  kind: Channel
  shown: string
  inside: ChannelSecret
}

async function add(
  { sql, sealer, randomBytes = secureBytes }: Register,
  { workspaceId, kind, shown, inside }: ChannelDraft,
) {
  const id = `ch_${Buffer.from(randomBytes(9)).toString("hex")}`
  const sealed = await sealInside(sealer, id, inside)
  const rows = await sql`
    insert into channel (id, workspace_id, kind, shown, sealed)
    select ${id}, ${workspaceId}, ${kind}, ${shown.slice(0, 500)}, ${sealed}
    where (select count(*) from channel where workspace_id = ${workspaceId}) < ${MOST_CHANNELS}::int
    returning id`
  if (rows.length === 0) throw new AccessProblem(`a workspace has ${MOST_CHANNELS} channels at most`)
  return { channel: await findChannel(sql, workspaceId, id) }
}

/** http too: on a network of one's own there may be nothing else, and what is sent is signed. */
function addressOf(text: string): URL {
  const url = text.length > LONGEST_ADDRESS ? null : URL.parse(text.trim())
  if (!url || !/^https?:$/.test(url.protocol))
    throw new AccessProblem("the address must begin with https:// or http://")
  if (url.username || url.password) throw new AccessProblem("the address must hold no user and no password")
  url.hash = ""
  return url
}

const LONGEST_ADDRESS = 2_000

/** Many services put their secret into the path: of it only the last four of 24 characters or more are stored. */
function hintOf({ origin, pathname, search }: URL): string {
  const secret = pathname + search
  return `${origin}/…${secret.length >= HINTED_FROM ? secret.slice(-HINT) : ""}`
}

const HINTED_FROM = 24
const HINT = 4

export async function listChannels(sql: Sql, workspaceId: number): Promise<ChannelRow[]> {
  return await readChannels(sql, workspaceId, null)
}

/** Throws AccessProblem when the workspace has none of that id. */
export async function findChannel(sql: Sql, workspaceId: number, id: string): Promise<ChannelRow> {
  const [channel] = await readChannels(sql, workspaceId, id)
  if (!channel) throw noChannel(id)
  return channel
}

/** With all that was to be told on it. Throws AccessProblem. */
export async function removeChannel(sql: Sql, workspaceId: number, id: string): Promise<ChannelRow> {
  const channel = await findChannel(sql, workspaceId, id)
  await sql`
    delete from channel
    where id = ${id} and workspace_id = ${workspaceId}`
  return channel
}

/** How long an earlier secret signs beside the newer. */
const BOTH_HOURS = 24

/** What is sent is signed with both secrets for 24 h by the database's clock; a third, older one ends at once. */
export async function rotateSecret(
  register: Register,
  workspaceId: number,
  id: string,
): Promise<NewChannel & { secret: string }> {
  const { sql, sealer, randomBytes = secureBytes } = register
  const { kind, sealed } = await readSealedChannel(sql, workspaceId, id)
  const opened = await openChannel(sealer, { id, kind, sealed, sealedEarlier: null })
  if (opened.kind !== "webhook") throw new AccessProblem(`only a webhook has a secret; ${id} is of ${kind}`)
  const secret = makeSecret(randomBytes)
  const earlier = await sealInside(sealer, id, opened.secrets[0]!)
  const rows = await sql`
    update channel
    set sealed = ${await sealInside(sealer, id, { url: opened.url, secret })}, sealed_earlier = ${earlier},
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

/** What a test of a channel showed: one that takes it is on again. */
export async function noteTest(sql: Sql, id: string, failure: string | null): Promise<void> {
  await sql`
    update channel
    set last_ok = case when ${failure === null} then now() else last_ok end,
      last_failure = case when ${failure === null} then last_failure else now() end,
      failure = coalesce(${failure}, failure),
      disabled = case when ${failure === null} then null else disabled end,
      disabled_at = case when ${failure === null} then null else disabled_at end
    where id = ${id}`
}

async function readChannels(sql: Sql, workspaceId: number, id: string | null): Promise<ChannelRow[]> {
  return await sql<ChannelRow[]>`
    select c.id, c.kind, c.shown as address, case when c.disabled is null then 'on' else 'disabled' end as state,
      c.disabled, c.created_at as "createdAt", c.last_ok as "lastOk", c.last_failure as "lastFailure", c.failure,
      c.failures, case when c.earlier_until > now() then c.earlier_until end as "earlierSecretUntil",
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
