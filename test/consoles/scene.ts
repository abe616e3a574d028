import { parseAddressList } from "../../src/access/addresses.ts"
import type { AccountReach } from "../../src/consoles/account-kind.ts"
import { type AccountRow, addAccount, type Register } from "../../src/consoles/register.ts"
import { makeConsoleTasks } from "../../src/consoles/seller/console-tasks.ts"
import type { Sql } from "../../src/database/types.ts"
import { REPORTS } from "../../src/lib/upstreams.ts"
import { safeFetch } from "../../src/outbound/safe-fetch.ts"
import { sealer } from "../alerts/delivery/scene.ts"
import { openService, type Service } from "../service.ts"
import { trackOwn } from "../world/tracked.ts"
import { type MadeKey, type StandIn, type StandInApp, startStandIn } from "./stand-in.ts"

const loopback = parseAddressList(["127.0.0.1"])

export const TEA: StandInApp = { id: "310633997", name: "Tea Timer", bundleId: "com.example.tea", sku: "TEA01" }

export interface AccountScene {
  sql: Sql
  service: Service
  standIn: StandIn
  register: Register
  workspaceId: number
  appId: string
  /** Our own clock. */
  clock: { now: Date }
  add(key?: MadeKey): Promise<AccountRow>
}

/** A workspace that tracks Tea Timer, and a console that has the app. */
export async function accountScene(sql: Sql, now = new Date()): Promise<AccountScene> {
  const standIn = startStandIn()
  standIn.apps.push(TEA)
  const clock = { now }
  const service = openService({ sql, now: () => clock.now })
  const workspaceId = await service.workspace()
  const tracked = { name: TEA.name, iosId: TEA.id, countries: ["us"], keywords: ["tea"], origin: "own" as const }
  const appId = await trackOwn(sql, { workspaceId, ...tracked })
  const reach = reachOf(standIn.url)
  const register: Register = { sql, sealer, reach }
  const add = (key = standIn.key()) =>
    addAccount(register, workspaceId, {
      kind: "app-store-connect",
      key: { issuer: standIn.issuer, keyId: key.keyId, privateKey: key.pem },
      part: standIn.vendor,
    })
  return { sql, service, standIn, register, workspaceId, appId, clock, add }
}

/** SQL: true if the task is a daily report. */
export function isReport(sql: Sql) {
  return sql`task = any(${[...REPORTS]}::text[])`
}

/** Postpones daily reports, because a read would start with the forty newest. */
export async function putOffReports({ sql, clock }: AccountScene): Promise<void> {
  for (const { id } of await sql<{ id: string }[]>`select id from connected_account`)
    await makeConsoleTasks(sql, id, clock.now)
  await sql`update account_task set next_at = null where ${isReport(sql)}`
}

/** Maps every host to one address. Tokens are dated by this machine's clock. */
export function reachOf(address: string): AccountReach {
  const outbound: typeof safeFetch = (url, options) => safeFetch(url, { ...options, allowPrivate: loopback })
  const now = () => new Date()
  return { now, to: () => ({ address, outbound, now }) }
}
