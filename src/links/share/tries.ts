import type { Buffer } from "node:buffer"
import { hash } from "node:crypto"
import { siteOf } from "../../access/addresses.ts"
import type { Sql } from "../../database/types.ts"
import { linkDigest } from "../token.ts"

/** Passwords that may fail in a minute, for each link and address (IPv6: /48). */
const TRIES_A_MINUTE = 5

/** Tries of all addresses at one link until they are slowed down: each is then looked at alone, after a growing pause. */
export const CALM_TRIES = 20

/** Tries until the pause has doubled, and the longest pause: 1,440 guesses a day. */
const DOUBLED_BY = 10
const LONGEST_PAUSE_S = 60

/** Exact over all processes, by the database's clock. Null = it may go ahead, else the seconds to wait. */
export async function takeTry(sql: Sql, token: string, address: string | null): Promise<number | null> {
  const wait = await takeAddressTry(sql, token, address)
  if (wait !== null) return wait
  const linkWait = await takeLinkTry(sql, token)
  if (linkWait !== null) await giveAddressTryBack(sql, token, address)
  return linkWait
}

/** Takes back the try that found the right password: it was no guess. */
export async function giveTryBack(sql: Sql, token: string, address: string | null): Promise<void> {
  await giveAddressTryBack(sql, token, address)
  await sql`
    update share_link
    set tries = tries - 1, free_at = least(free_at, now())
    where sha256 = ${linkDigest(token)} and tries > 0`
}

async function takeLinkTry(sql: Sql, token: string): Promise<number | null> {
  const digest = linkDigest(token)
  const [taken] = await sql`
    update share_link l
    set tries = n.tries, tried_at = now(),
      free_at = case when n.tries < ${CALM_TRIES} then now() else now() + n.pause * interval '1 s' end
    from (
      select o.sha256, o.tries, least(${LONGEST_PAUSE_S}::int, 2 ^ (least(o.tries - ${CALM_TRIES}::int, 100) / ${DOUBLED_BY}::float8)) as pause
      from (
        select sha256, 1 + case when tried_at > now() - interval '1 hour' then tries else 0 end as tries
        from share_link
        where sha256 = ${digest} and free_at <= now()
        for update
      ) o
    ) n
    where l.sha256 = n.sha256
    returning l.tries`
  if (taken) return null
  const [row] = await sql<{ seconds: number }[]>`
    select ceil(extract(epoch from free_at - now()))::int as seconds
    from share_link
    where sha256 = ${digest} and free_at > now()`
  return Math.max(1, row?.seconds ?? 1)
}

/** The same for one address, so that of many at once no more than five are looked at. */
async function takeAddressTry(sql: Sql, token: string, address: string | null): Promise<number | null> {
  const digest = tryDigest(token, address)
  // an array: a subquery that locks may be run again for each row, and would then take them all
  const [taken] = await sql`
    with swept as (
      delete from share_try
      where sha256 = any(array(
        select sha256
        from share_try
        where started_at < now() - interval '5 minutes' and sha256 <> ${digest}
        order by started_at
        limit 20
        for update skip locked
      ))
    )
    insert into share_try as t (sha256, tries)
    values (${digest}, 1)
    on conflict (sha256) do update
    set tries = case when t.started_at > now() - interval '60 s' then t.tries + 1 else 1 end,
      started_at = case when t.started_at > now() - interval '60 s' then t.started_at else now() end
    where t.tries < ${TRIES_A_MINUTE} or t.started_at <= now() - interval '60 s'
    returning tries`
  if (taken) return null
  const [row] = await sql<{ seconds: number }[]>`
    select ceil(extract(epoch from started_at + interval '60 s' - now()))::int as seconds
    from share_try
    where sha256 = ${digest}`
  return Math.max(1, row?.seconds ?? 1)
}

async function giveAddressTryBack(sql: Sql, token: string, address: string | null): Promise<void> {
  await sql`
    update share_try
    set tries = tries - 1
    where sha256 = ${tryDigest(token, address)} and tries > 0`
}

function tryDigest(token: string, address: string | null): Buffer {
  return hash("sha256", `${token} ${siteOf(address)}`, "buffer")
}
