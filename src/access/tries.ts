import type { Buffer } from "node:buffer"
import { hash } from "node:crypto"
import type { Db, Sql } from "../database/types.ts"
import { siteOf } from "./addresses.ts"

/** Maximum number of tries per minute from one address (IPv6: /48) within one scope. */
const MAX_TRIES_A_MINUTE = 5

/**
 * Number of tries of one secret, over all addresses, after which the pause before the next try grows. An hour without a
 * try resets the count.
 */
export const CALM_TRIES = 20

/** The pause doubles every ten tries, up to 60 s: 1,440 guesses a day. */
const DOUBLED_BY = 10
const MAX_PAUSE_S = 60

/**
 * `free_at` of a count that refuses no try. Not the time of the last try: a concurrent try whose transaction began
 * earlier would be refused.
 */
const FREE = new Date(0)

/** An attempt with a passphrase, a code or the password of a share link. */
export interface SecretTry {
  /** Tries per address are counted separately for each scope: "sign-in", or one share link. */
  scope: string
  address: string | null
  /** The secret that is guessed. Null for a sign-in code: it is one of 19^8 and belongs to no known workspace. */
  secret: string | null
}

/**
 * Counts a try before its secret is checked. The count is exact over all processes and uses the database's clock.
 * Returns null if the try may go ahead, otherwise the seconds to wait.
 */
export async function takeTry(sql: Sql, tried: SecretTry): Promise<number | null> {
  const wait = await takeAddressTry(sql, addressDigest(tried))
  if (wait !== null || tried.secret === null) return wait
  const secretWait = await takeSecretTry(sql, secretDigest(tried.secret))
  if (secretWait !== null) await giveBack(sql, addressDigest(tried))
  return secretWait
}

/** Removes a successful try from the count, because it was not a guess. */
export async function giveTryBack(sql: Sql, tried: SecretTry): Promise<void> {
  await giveBack(sql, addressDigest(tried))
  if (tried.secret !== null) await giveBack(sql, secretDigest(tried.secret))
}

/**
 * Returns the number of failed tries of a secret from all addresses. The count restarts after an hour without a try.
 */
export async function countTries(sql: Db, secret: string): Promise<number> {
  const [row] = await sql<{ tries: number }[]>`
    select tries
    from secret_try
    where sha256 = ${secretDigest(secret)} and counts_until > now()`
  return row?.tries ?? 0
}

/**
 * Counts a try from an address. Also deletes expired counts, so that a flood from ever new addresses does not grow the
 * table.
 */
async function takeAddressTry(sql: Sql, digest: Buffer): Promise<number | null> {
  // An array, because a subquery that locks rows may run again for each row and would then lock every row.
  const [taken] = await sql`
    with swept as (
      delete from secret_try
      where sha256 = any(array(
        select sha256
        from secret_try
        where counts_until < now() and sha256 <> ${digest}
        order by counts_until, sha256
        limit 20
        for update skip locked
      ))
    )
    insert into secret_try as t (sha256, tries, counts_until, free_at)
    values (${digest}, 1, now() + interval '60 s', ${FREE})
    on conflict (sha256) do update
    set tries = case when t.counts_until > now() then t.tries + 1 else 1 end,
      counts_until = case when t.counts_until > now() then t.counts_until else excluded.counts_until end,
      free_at = case
        when t.counts_until > now() and t.tries + 1 >= ${MAX_TRIES_A_MINUTE} then t.counts_until
        else ${FREE}
      end
    where t.free_at <= now()
    returning tries`
  return taken ? null : await readWait(sql, digest)
}

async function takeSecretTry(sql: Sql, digest: Buffer): Promise<number | null> {
  const [taken] = await sql`
    insert into secret_try as t (sha256, tries, counts_until, free_at)
    values (${digest}, 1, now() + interval '1 hour', ${FREE})
    on conflict (sha256) do update
    set tries = case when t.counts_until > now() then t.tries + 1 else 1 end,
      counts_until = excluded.counts_until,
      free_at = case
        when t.counts_until <= now() or t.tries + 1 < ${CALM_TRIES} then ${FREE}
        else now() + interval '1 s'
          * least(${MAX_PAUSE_S}::int, 2 ^ (least(t.tries + 1 - ${CALM_TRIES}::int, 100) / ${DOUBLED_BY}::float8))
      end
    where t.free_at <= now()
    returning tries`
  return taken ? null : await readWait(sql, digest)
}

async function readWait(sql: Sql, digest: Buffer): Promise<number> {
  const [row] = await sql<{ seconds: number }[]>`
    select ceil(extract(epoch from free_at - now()))::int as seconds
    from secret_try
    where sha256 = ${digest}`
  return Math.max(1, row?.seconds ?? 1)
}

async function giveBack(sql: Sql, digest: Buffer): Promise<void> {
  await sql`
    update secret_try
    set tries = tries - 1, free_at = ${FREE}
    where sha256 = ${digest} and tries > 0`
}

function addressDigest({ scope, address }: SecretTry): Buffer {
  return hash("sha256", `${scope} from ${siteOf(address)}`, "buffer")
}

function secretDigest(secret: string): Buffer {
  return hash("sha256", secret, "buffer")
}
