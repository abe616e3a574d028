import { json } from "../../database/json.ts"
import type { Sql } from "../../database/types.ts"
import type { WritingFailure, WritingState, WrittenText } from "../../lib/writing/written-text.ts"

/** Version of the checks. Raise it when the checks change, so that stored answers are judged again. */
const CHECKS_VERSION = 3

export interface TextKey {
  kind: string
  digest: string
}

/** Another process takes over after this time without a heartbeat. */
export const LEASE_MS = 60_000

/** Leases a text and returns the lease. Null if the text is stored or another process is writing that text. */
export async function claimText(sql: Sql, { kind, digest }: TextKey): Promise<string | null> {
  const [row] = await sql<{ lease: string }[]>`
    insert into writer_text as w (kind, digest, lease, lease_until)
    values (${kind}, ${digest}, gen_random_uuid(), now() + ${LEASE_MS} * interval '1 ms')
    on conflict (kind, digest) do update
    set lease = excluded.lease, lease_until = excluded.lease_until, failure = null, retry_after = null
    where w.value is null and (w.lease_until is null or w.lease_until <= now())
    returning lease`
  return row?.lease ?? null
}

/** Extends a lease. Returns false if it is lost. */
export async function extendLease(sql: Sql, lease: string): Promise<boolean> {
  const rows = await sql`
    update writer_text
    set lease_until = now() + ${LEASE_MS} * interval '1 ms'
    where lease = ${lease}::uuid
    returning kind`
  return rows.length > 0
}

/** Stores a text, unless another process has taken over the lease. */
export async function storeText(
  sql: Sql,
  lease: string,
  text: Omit<WrittenText<unknown>, "at"> & { answer?: Uint8Array },
): Promise<void> {
  const { value, dropped, model, version, answer } = text
  await sql`
    update writer_text
    set value = ${json(sql, { value, dropped })}, model = ${model}, version = ${version}, made_at = now(),
      answer = ${answer ?? null}, checks = ${CHECKS_VERSION}, lease = null, lease_until = null
    where lease = ${lease}::uuid`
}

/**
 * Returns the hash of a text's stored answer if the answer was judged by an earlier version of the checks only. Null
 * otherwise.
 */
export async function findEarlierAnswer(sql: Sql, { kind, digest }: TextKey): Promise<Uint8Array | null> {
  const [row] = await sql<{ answer: Uint8Array }[]>`
    select answer
    from writer_text
    where (kind, digest) = (${kind}, ${digest}) and answer is not null and checks < ${CHECKS_VERSION}`
  return row?.answer ?? null
}

/**
 * Stores how a newer version of the checks judged the answer. The time and model of the text stay unchanged. If
 * `judged` is null, deletes the text, because no part of it may be shown.
 */
export async function storeJudged(
  sql: Sql,
  { kind, digest }: TextKey,
  judged: { value: unknown; dropped: readonly object[] } | null,
): Promise<void> {
  if (judged)
    await sql`
      update writer_text
      set value = ${json(sql, judged)}, checks = ${CHECKS_VERSION}
      where (kind, digest) = (${kind}, ${digest}) and value is not null and checks < ${CHECKS_VERSION}`
  else
    await sql`
      delete from writer_text
      where (kind, digest) = (${kind}, ${digest}) and value is not null and checks < ${CHECKS_VERSION}`
}

/** Stores a failure and ends the lease, so that the next caller may retry. */
export async function storeFailure(
  sql: Sql,
  lease: string,
  { why, retryAfter }: { why: WritingFailure | null; retryAfter?: number },
): Promise<void> {
  await sql`
    update writer_text
    set failure = ${why}, retry_after = ${retryAfter ?? null}, lease = null, lease_until = null
    where lease = ${lease}::uuid`
}

/** Returns the state of a text. Null if no caller has requested the text, or its process abandoned it. */
export async function readText(sql: Sql, { kind, digest }: TextKey): Promise<WritingState<unknown> | null> {
  const [row] = await sql<StoredText[]>`
    select value, model, version, made_at as "madeAt", failure, retry_after as "retryAfter",
      coalesce(lease_until > now(), false) as "isUnderWay"
    from writer_text
    where (kind, digest) = (${kind}, ${digest})`
  if (!row) return null
  const { value, model, version, madeAt, failure, retryAfter, isUnderWay } = row
  if (value !== null) return { state: "done", ...value, model, version, at: madeAt }
  if (isUnderWay) return { state: "pending" }
  return failure === null ? null : { state: "failed", why: failure, ...(retryAfter !== null && { retryAfter }) }
}

interface StoredText {
  value: { value: unknown; dropped: object[] } | null
  model: string
  version: number
  madeAt: Date
  failure: WritingFailure | null
  retryAfter: number | null
  isUnderWay: boolean
}

/** Deletes a failure, so that only one caller gets it. */
export async function forgetFailure(sql: Sql, { kind, digest }: TextKey): Promise<void> {
  await sql`
    update writer_text
    set failure = null, retry_after = null
    where (kind, digest) = (${kind}, ${digest}) and failure is not null`
}

/** Returns the tokens used on a UTC day by all processes. */
export async function countTokens(sql: Sql, day: string): Promise<{ input: number; output: number }> {
  const [row] = await sql<{ input: number; output: number }[]>`
    select input, output
    from writer_day
    where day = ${day}::date`
  return row ?? { input: 0, output: 0 }
}

export async function addTokens(
  sql: Sql,
  day: string,
  { input, output }: { input: number; output: number },
): Promise<void> {
  await sql`
    insert into writer_day as d (day, input, output)
    values (${day}::date, ${input}, ${output})
    on conflict (day) do update
    set input = d.input + excluded.input, output = d.output + excluded.output`
}
