import { AccessProblem } from "../../access/problem.ts"
import { json } from "../../database/json.ts"
import type { Db, Sql } from "../../database/types.ts"
import { countWritesToday } from "../../jobs/enqueue.ts"
import { NO_CONSOLE, type PlatformName } from "../../lib/accounts/platform.ts"
import { Fault } from "../../lib/faults.ts"
import { accountKind } from "../account-kinds.ts"
import { openKey, sealKey } from "../credentials.ts"
import { demoProblem } from "../demo-accounts.ts"
import { type AccountRow, findAccount, type Register } from "../register.ts"
import { limitsOf, type WriteLimits } from "./limits.ts"

/** The account to which an app's writes are sent. */
export interface Writer {
  id: string
  /** The platform's id of the app. */
  outsideId: string
  currency: string | null
  limits: WriteLimits
  /** Number of writes on the current UTC day. Failed writes do not count. */
  usedToday: number
}

interface WriterRow extends Omit<Writer, "limits" | "usedToday"> {
  state: string
  writes: boolean
  limits: Partial<WriteLimits>
  /** Why the role of the key cannot write. Null if it can, or if that is unknown. */
  denied: string | null
}

interface WorkspaceApp {
  workspaceId: number
  appId: string
}

/**
 * Like findWritableAccount, but also throws write_limit_reached when the day's writes are used up. Takes a lock, which
 * keeps the count exact.
 */
export async function findWriter(
  sql: Db,
  platform: PlatformName,
  app: WorkspaceApp,
  { lock }: { lock: boolean },
): Promise<Writer> {
  const account = await findWritableAccount(sql, platform, app, { lock })
  const usedToday = await countWritesToday(sql, account.id)
  const { writesADay } = account.limits
  if (usedToday < writesADay) return { ...account, usedToday }
  throw refused(`The account has made ${usedToday} writes today (UTC), and its limit is ${writesADay} a day.`)
}

/**
 * Returns the account to which writes are sent. If several accounts have the app, returns one that accepts writes. With
 * `lock`, no other confirm can count or add writes of this account until the transaction ends. Throws asc_required,
 * ios_only or not_connected if there is no such account, and write_limit_reached when its writes are off.
 */
export async function findWritableAccount(
  sql: Db,
  platform: PlatformName,
  { workspaceId, appId }: WorkspaceApp,
  { lock }: { lock: boolean },
): Promise<Omit<Writer, "usedToday">> {
  const [row] = await sql<WriterRow[]>`
    select c.id, a.outside_id as "outsideId", c.currency, c.state, c.writes, c.write_limits as limits, (
      select r.why
      from account_right r
      where r.account_id = c.id and r.name = 'writes' and r.state = 'denied'
    ) as denied
    from connected_account c
    join account_app a on a.account_id = c.id
    join tracked_app t on t.id = ${appId} and t.workspace_id = c.workspace_id
    left join store_app s on s.id = ${platform === "google-play-console" ? sql`t.android_app` : sql`t.ios_app`}
    where c.workspace_id = ${workspaceId} and c.kind = ${platform} and c.sealed is not null and (
      a.app_id = t.id or (a.app_id is null and not a.by_hand and a.outside_id = s.store_id)
    )
    order by c.writes desc, c.created_at, c.id
    limit 1
    ${lock ? sql`for no key update of c` : sql``}`
  if (!row) throw noAccount(platform)
  const { state, writes, denied, limits: accountLimits, ...writer } = row
  if (state === "paused")
    throw refused(`The account is paused. Its owner can resume it with: appmeter account pause ${row.id} --off.`)
  if (!writes)
    throw refused(
      `Writes to this account are off. Its owner can enable them with: appmeter account writes ${row.id} on.`,
    )
  if (denied !== null) throw notConnected(`The account ${row.id} cannot write: it ${denied}.`)
  return { ...writer, limits: limitsOf(accountLimits) }
}

function noAccount(platform: PlatformName): Fault {
  if (platform === "apple-ads") return notConnected(NO_ADS)
  return platform === "google-play-console" ? new Fault("ios_only") : new Fault("asc_required", { detail: NO_CONSOLE })
}

const NO_ADS =
  "No Apple Ads account of the workspace advertises this app. Connect one with: appmeter account add apple-ads."

function notConnected(detail: string): Fault {
  return new Fault("not_connected", { detail })
}

function refused(reason: string): Fault {
  return new Fault("write_limit_reached", { reason })
}

interface WritesChange {
  on: boolean
  /**
   * The fields of a separate write key that differ from the account's key. The write key is tested at the platform
   * first.
   */
  key?: Record<string, string> | undefined
  /** Limits that replace the defaults, by name. They are merged into the account's limits. */
  limits?: Partial<WriteLimits> | undefined
}

/**
 * Switches an account's writes on or off. Switching off destroys its write key. Throws AccessProblem or ConsoleProblem.
 */
export async function setWrites(
  { sql, sealer, reach }: Register,
  workspaceId: number,
  id: string,
  { on, key: fresh, limits = {} }: WritesChange,
): Promise<AccountRow> {
  const { kind: name, part, state } = await findAccount(sql, workspaceId, id)
  if (state === "demo") throw new AccessProblem(demoProblem(id))
  if (state === "removed") throw new AccessProblem(`${id} was removed, and its key destroyed; add it again`)
  const kind = accountKind(name)
  const reading = fresh && (await findWriteKey(sql, id))
  const key = fresh && { ...(await openKey(sealer, id, reading!.sealed)), ...fresh }
  if (key) {
    kind.check(key, part)
    const look = await kind.look(await kind.open(key, part, reach), part, reach.now())
    if (look.apps.length === 0)
      throw new AccessProblem("this key has access to no app; give it access to your apps in the console")
  }
  const sealed = key ? await sealKey(sealer, id, key) : null
  await sql`
    update connected_account
    set writes = ${on},
      sealed_write = case when ${on} then coalesce(${sealed}, sealed_write) end,
      shown_write = case when ${on} then coalesce(${key ? kind.shown(key) : null}, shown_write) end,
      write_limits = write_limits || ${json(sql, limits)}
    where id = ${id}`
  return await findAccount(sql, workspaceId, id)
}

/**
 * Returns the encrypted write key, and the part of the platform for which it is used. Null if the account was removed
 * meanwhile.
 */
export async function findWriteKey(sql: Sql | Db, id: string): Promise<{ sealed: string; part: string } | null> {
  const [row] = await sql<{ sealed: string; part: string }[]>`
    select coalesce(sealed_write, sealed) as sealed, part
    from connected_account
    where id = ${id} and sealed is not null`
  return row ?? null
}
