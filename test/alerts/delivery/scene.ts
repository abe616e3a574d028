import { randomBytes } from "node:crypto"
import { parseAddressList } from "../../../src/access/addresses.ts"
import { createSealer, SecretKeys } from "../../../src/access/sealed.ts"
import { addChannel, type Register } from "../../../src/alerts/delivery/channels.ts"
import { createDelivery, type DeliveryOptions } from "../../../src/alerts/delivery/worker.ts"
import type { Sql } from "../../../src/database/types.ts"
import { silentLog } from "../../../src/lib/log.ts"
import { safeFetch } from "../../../src/outbound/safe-fetch.ts"
import { openService } from "../../service.ts"
import { trackOwn } from "../../world/tracked.ts"

/** The same in all processes of a test. */
export const SECRET_KEY = "q1w2e3r4t5y6u7i8o9p0a1s2d3f4g5h6j7k8l9z0x1c="
export const sealer = await createSealer(new SecretKeys([SECRET_KEY]))

const loopback = parseAddressList(["127.0.0.1"])
export const outbound: typeof safeFetch = (url, options) => safeFetch(url, { ...options, allowPrivate: loopback })

export interface Scene {
  sql: Sql
  register: Register
  workspaceId: number
  keyId: number
  appId: string
}

/** Creates a workspace with an app. */
export async function createScene(sql: Sql, name = "Tea Timer"): Promise<Scene> {
  const service = openService({ sql })
  const workspaceId = await service.workspace()
  await service.key(workspaceId)
  const [key] = await sql<{ id: number }[]>`select id from api_key where workspace_id = ${workspaceId}`
  const appId = await trackOwn(sql, { workspaceId, name, iosId: "10001", keywords: ["tea"] })
  return { sql, register: { sql, sealer, randomBytes }, workspaceId, keyId: key!.id, appId }
}

interface Rule {
  channels?: string[]
  dropBy?: number
  keywordScope?: string
}

export async function rule({ sql, workspaceId, keyId }: Scene, type: string, options: Rule = {}): Promise<void> {
  const { channels = ["webhook"], keywordScope = null } = options
  const dropBy = type === "rank_drop" ? (options.dropBy ?? 3) : null
  await sql`
    insert into alert_rule (workspace_id, type, channels, drop_by, keyword_scope, created_by)
    values (${workspaceId}, ${type}, ${channels}, ${dropBy}, ${keywordScope}, ${keyId})`
}

export const facts = (term: string, was: number, rank: number) => ({
  term,
  rank,
  was,
  source: "import",
  against: "2025-11-19",
  depth: 100,
  wasDepth: 100,
})

/** Adds alerts about `count` keywords that fell from 5 to 12. Returns their ids. */
export async function addAlerts({ sql, workspaceId, appId }: Scene, count = 1, options: Found = {}): Promise<number[]> {
  const { type = "rank_drop", was = 5, rank = 12, term = "tea" } = options
  const rows = Array.from({ length: count }, (_, at) => ({
    // the number is padded, so that sorting by subject inserts the alerts in this order
    subject: `${term} ${String(++terms).padStart(6, "0")}`,
    // alerts of one keyword are one event
    facts: facts(at === 0 ? term : `${term} ${at + 1}`, was, rank),
  }))
  const alertRows = await sql<{ id: number }[]>`
    insert into alert (workspace_id, app_id, type, platform, storefront, subject, day, at, facts)
    select ${workspaceId}::int, ${appId}, ${type}, 'ios', 'us', r.subject, '2025-11-20', '2025-11-20T06:12:41Z', r.facts
    from jsonb_to_recordset(${sql.json(rows)}) r (subject text, facts jsonb)
    order by r.subject
    returning id`
  return alertRows.map(({ id }) => id)
}

/** Adds alerts about rivals that passed the app when "tea" fell from 5 to 12. */
export async function foundPassings({ sql, workspaceId, appId }: Scene, names: readonly string[]): Promise<void> {
  const rows = names.map((name, at) => ({ name, rival: String(9_990_000_104 + at) }))
  await sql`
    insert into alert (workspace_id, app_id, type, platform, storefront, subject, day, at, facts)
    select ${workspaceId}::int, ${appId}, 'rival_passed', 'ios', 'us', r.rival || ' tea', '2025-11-20',
      '2025-11-20T06:12:41Z', jsonb_build_object('term', 'tea', 'rival', r.rival, 'name', r.name, 'manual', true,
        'ours', 12, 'theirs', 6, 'oursWas', 5, 'theirsWas', 7, 'depth', 100, 'wasDepth', 100, 'source', 'import',
        'against', '2025-11-19')
    from jsonb_to_recordset(${sql.json(rows)}) r (name text, rival text)
    order by r.rival`
}

interface Found {
  type?: string
  was?: number
  rank?: number
  term?: string
}

let terms = 0

/** Creates a delivery worker for this test, with quick retries by default. */
export function deliveryOf(sql: Sql, options: Partial<DeliveryOptions> = {}) {
  return createDelivery({
    sql,
    sealer,
    log: silentLog,
    outbound,
    pollMs: 20,
    random: () => 0.5,
    retriesMs: Array(9).fill(30),
    ...options,
  })
}

export interface DeliveryRow {
  id: string
  channelId: string
  alertId: number
  state: string
  attempts: number
  failure: string | null
}

export async function deliveries({ sql, workspaceId }: Scene): Promise<DeliveryRow[]> {
  const rows = await sql<DeliveryRow[]>`
    select d.id, d.channel_id as "channelId", d.alert_id as "alertId", d.state, d.attempts, d.failure
    from delivery d
    join channel c on c.id = d.channel_id
    where c.workspace_id = ${workspaceId}
    order by d.alert_id, d.channel_id`
  return [...rows]
}

export const hook = async ({ register, workspaceId }: Scene, url: string) => {
  const { channel, secret } = await addChannel(register, workspaceId, "webhook", { url })
  return { id: channel.id, secret: secret as string }
}

/** Makes all waiting deliveries due. */
export async function hurry(sql: Sql): Promise<void> {
  await sql`update delivery set next_at = now() where state = 'waiting'`
  await sql`
    update channel c set paused_until = null, next_at = now()
    where exists (select from delivery d where d.channel_id = c.id and d.state = 'waiting')`
}
