import { type MailRecipient, readMailRecipients } from "../../access/people/mail-addresses.ts"
import type { Db, Sql } from "../../database/types.ts"
import { later } from "../../jobs/timers.ts"
import type { MailResult } from "../../outbound/mail/smtp.ts"
import type { Period, Schedule } from "./period.ts"
import type { Subscription } from "./unsubscribe.ts"

/** A person's digest and where it goes. */
export interface Subscriber extends MailRecipient, Schedule {
  /** Periods that were due before this time are not sent. */
  since: Date
}

const MAX_AT_ONCE = 200

/** Returns the next subscribers who can get mail, and where to continue. */
export async function readSubscribers(
  sql: Sql,
  after: Subscription,
): Promise<{ subscribers: Subscriber[]; next: Subscription | null }> {
  const rows = await sql<(Subscription & Pick<Subscriber, "since"> & Schedule)[]>`
    select person_id as "personId", workspace_id as "workspaceId", every, hour, zone, since
    from digest
    where (person_id, workspace_id) > (${after.personId}::int, ${after.workspaceId}::int)
    order by person_id, workspace_id
    limit ${MAX_AT_ONCE}`
  if (rows.length === 0) return { subscribers: [], next: null }
  const recipients = await readMailRecipients(sql, rows)
  const subscribers = rows.flatMap((row) => {
    const found = recipients.find((one) => one.personId === row.personId && one.workspaceId === row.workspaceId)
    return found ? [{ ...row, ...found }] : []
  })
  return { subscribers, next: rows.length < MAX_AT_ONCE ? null : rows.at(-1)! }
}

/** A digest that this process has leased. Statements for it return null or change nothing if the lease is lost. */
export interface Claim {
  id: string
  lease: string
  attempts: number
}

const LEASE_MS = 120_000
const MAX_ATTEMPTS = 6
const RETRY_MS = [60_000, 300_000, 1_800_000, 3_600_000, 7_200_000]

/** Leases the digest of a period. Null if it was sent, or another process has it, or it waits for a retry. */
export async function claimDigest(
  sql: Sql,
  { personId, workspaceId, every }: Subscriber,
  { to }: Period,
): Promise<Claim | null> {
  const [row] = await sql<Claim[]>`
    insert into digest_mail as d (id, person_id, workspace_id, every, day, state, lease, lease_until)
    values (
      'digest_' || replace(gen_random_uuid()::text, '-', ''), ${personId}, ${workspaceId}, ${every}, ${to}::date,
      'writing', gen_random_uuid(), ${later(sql, LEASE_MS)}
    )
    on conflict (person_id, workspace_id, every, day) do update
    set lease = excluded.lease, lease_until = excluded.lease_until
    where d.state = 'writing' and d.next_at <= now() and (d.lease_until is null or d.lease_until < now())
    returning id, lease, attempts`
  return row ?? null
}

/**
 * Marks that the mail server gets the digest now. False if the lease is lost, or the person left, changed the address
 * or ended the digest meanwhile: then nothing may be sent.
 */
export async function markSending(sql: Sql, { id, lease }: Claim, { address }: Subscriber): Promise<boolean> {
  const { count } = await sql`
    update digest_mail d
    set state = 'sending'
    from digest s
    join mail_address a using (person_id)
    where d.id = ${id} and d.lease = ${lease} and d.state = 'writing'
      and (s.person_id, s.workspace_id) = (d.person_id, d.workspace_id)
      and a.address = ${address} and a.refused is null`
  return count === 1
}

export async function endSkipped(sql: Sql, { id, lease }: Claim, why: string): Promise<void> {
  await end(sql, { id, lease }, "skipped", why)
}

/** Stores the result of an attempt. A failure is retried for some hours; an unknown outcome is never retried. */
export async function settleDigest(sql: Sql, claim: Claim, sent: MailResult): Promise<void> {
  if (sent.result === "delivered") return await end(sql, claim, "sent", null)
  if (sent.result === "unknown") return await end(sql, claim, "unknown", `${sent.failure}; it may have arrived`)
  if (sent.result === "refused") return await end(sql, claim, "failed", sent.failure)
  const gap = RETRY_MS[claim.attempts]
  if (gap === undefined || claim.attempts + 1 >= MAX_ATTEMPTS) return await end(sql, claim, "failed", sent.failure)
  await sql`
    update digest_mail
    set state = 'writing', attempts = attempts + 1, failure = ${sent.failure}, next_at = ${later(sql, gap)},
      lease = null, lease_until = null
    where id = ${claim.id} and lease = ${claim.lease}`
}

/** Ends digests whose process disappeared while the mail server had them. They are not sent again. */
export async function endInterrupted(sql: Sql): Promise<number> {
  const { count } = await sql`
    update digest_mail
    set state = 'unknown', failure = 'the process ended while the mail was sent; it may have arrived',
      ended_at = now(), lease = null, lease_until = null
    where state = 'sending' and lease_until < now()`
  return count
}

async function end(
  sql: Db,
  { id, lease }: Pick<Claim, "id" | "lease">,
  state: "sent" | "skipped" | "failed" | "unknown",
  failure: string | null,
): Promise<void> {
  await sql`
    update digest_mail
    set state = ${state}, failure = ${failure}, attempts = attempts + ${state === "skipped" ? 0 : 1}::int,
      ended_at = now(), lease = null, lease_until = null
    where id = ${id} and lease = ${lease}`
}
