import type { Buffer } from "node:buffer"
import { hash } from "node:crypto"
import { siteOf } from "../access/addresses.ts"
import type { Sql } from "../database/types.ts"

/** Of passphrases and codes, from one address (IPv6: /48) in a minute. */
const TRIES_A_MINUTE = 5

/** Of all addresses at one workspace's passphrase, until each next one must wait longer. Codes let the owner in meanwhile. */
const CALM_TRIES = 20

/** Tries until the pause has doubled, and the longest pause: 1,440 guesses a day. */
const DOUBLED_BY = 10
const LONGEST_PAUSE_S = 60

/** Who tries, and at which workspace's passphrase; null where it is a code, of which 19^8 might be the one. */
export interface SignInTry {
  address: string | null
  workspaceId: number | null
}

/** Exact over all processes, by the database's clock. Null = it may go ahead, else the seconds to wait. */
export async function takeTry(sql: Sql, { address, workspaceId }: SignInTry): Promise<number | null> {
  const wait = await takeAddressTry(sql, address)
  if (wait !== null || workspaceId === null) return wait
  const workspaceWait = await takeWorkspaceTry(sql, workspaceId)
  if (workspaceWait !== null) await giveBack(sql, addressDigest(address))
  return workspaceWait
}

/** Takes back the try that was right: it was no guess. */
export async function giveTryBack(sql: Sql, { address, workspaceId }: SignInTry): Promise<void> {
  await giveBack(sql, addressDigest(address))
  if (workspaceId !== null) await giveBack(sql, workspaceDigest(workspaceId))
}

async function takeAddressTry(sql: Sql, address: string | null): Promise<number | null> {
  const digest = addressDigest(address)
  const [taken] = await sql`
    insert into sign_in_try as t (sha256, tries)
    values (${digest}, 1)
    on conflict (sha256) do update
    set tries = case when t.started_at > now() - interval '60 s' then t.tries + 1 else 1 end,
      started_at = case when t.started_at > now() - interval '60 s' then t.started_at else now() end
    where t.tries < ${TRIES_A_MINUTE} or t.started_at <= now() - interval '60 s'
    returning tries`
  if (taken) return null
  const [row] = await sql<{ seconds: number }[]>`
    select ceil(extract(epoch from started_at + interval '60 s' - now()))::int as seconds
    from sign_in_try
    where sha256 = ${digest}`
  return Math.max(1, row?.seconds ?? 1)
}

async function takeWorkspaceTry(sql: Sql, workspaceId: number): Promise<number | null> {
  const digest = workspaceDigest(workspaceId)
  const [taken] = await sql`
    insert into sign_in_try as t (sha256, tries)
    values (${digest}, 1)
    on conflict (sha256) do update
    set tries = case when t.started_at > now() - interval '1 hour' then t.tries + 1 else 1 end,
      started_at = now(),
      free_at = now() + interval '1 s' * case
        when t.started_at <= now() - interval '1 hour' or t.tries < ${CALM_TRIES} then 0
        else least(${LONGEST_PAUSE_S}::int, 2 ^ (least(t.tries - ${CALM_TRIES}::int, 100) / ${DOUBLED_BY}::float8))
      end
    where t.free_at <= now()
    returning tries`
  if (taken) return null
  const [row] = await sql<{ seconds: number }[]>`
    select ceil(extract(epoch from free_at - now()))::int as seconds
    from sign_in_try
    where sha256 = ${digest}`
  return Math.max(1, row?.seconds ?? 1)
}

async function giveBack(sql: Sql, digest: Buffer): Promise<void> {
  await sql`
    update sign_in_try
    set tries = tries - 1, free_at = least(free_at, now())
    where sha256 = ${digest} and tries > 0`
}

function addressDigest(address: string | null): Buffer {
  return hash("sha256", `address ${siteOf(address)}`, "buffer")
}

function workspaceDigest(workspaceId: number): Buffer {
  return hash("sha256", `workspace ${workspaceId}`, "buffer")
}
