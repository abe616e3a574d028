import { Buffer } from "node:buffer"
import { randomBytes } from "node:crypto"
import { DEMO } from "../core/observation/provenance.ts"
import type { Db, Sql, Tx } from "../database/types.ts"
import { removeReviews } from "../reviews/store/remove-reviews.ts"
import { REPORT_ZONE } from "./pacific.ts"

/** The invented accounts of a workspace. */
export interface DemoAccounts {
  console: string
  ads: string
}

/** What every answer says beside their figures. */
const WHY =
  "these figures are invented, to show what an owner sees; they go once you connect your own: appmeter account add app-store-connect"

/**
 * Makes a workspace's invented console and ad account, which no key opens; those that are there stay. Null where the workspace
 * connected an account of its own: beside figures that are real nothing is invented.
 */
export async function makeDemoAccounts(
  sql: Sql,
  workspaceId: number,
  assert: (tx: Tx) => Promise<void>,
): Promise<DemoAccounts | null> {
  return await sql.begin(async (tx) => {
    await assert(tx)
    await lockAccounts(tx, workspaceId)
    const own = await tx`
      select
      from connected_account
      where workspace_id = ${workspaceId} and state <> 'demo'
      limit 1`
    if (own.length > 0) return null
    await tx`
      insert into connected_account (id, workspace_id, kind, shown, part, state, why, next_at, zone, currency)
      values
        (${freshId()}, ${workspaceId}, 'app-store-connect', 'invented', 'demo', 'demo', ${WHY}, null, null, null),
        (${freshId()}, ${workspaceId}, 'apple-ads', 'invented', 'demo', 'demo', ${WHY}, null, ${REPORT_ZONE}, 'USD')
      on conflict (workspace_id, kind) where state = 'demo' do nothing`
    const made = await tx<{ id: string; kind: string }[]>`
      select id, kind
      from connected_account
      where workspace_id = ${workspaceId} and state = 'demo'
      order by id`
    const idOf = (name: string) => made.find(({ kind }) => kind === name)!.id
    return { console: idOf("app-store-connect"), ads: idOf("apple-ads") }
  })
}

/** Whether a tracked app has the demo's seller: then its workspace is shown the reviews that are invented of it. */
export async function hasDemoSeller(sql: Db, appId: string): Promise<boolean> {
  const rows = await sql`
    select
    from account_app a
    join connected_account c on c.id = a.account_id
    where a.app_id = ${appId} and c.state = 'demo' and c.kind = 'app-store-connect'
    limit 1`
  return rows.length > 0
}

/** With all that they say; with the last of them the invented reviews. Of all workspaces when none is named. Returns how many went. */
export async function deleteDemoAccounts(tx: Tx, workspaceId: number | null = null): Promise<number> {
  if (workspaceId !== null) await lockAccounts(tx, workspaceId)
  const { count } = await tx`
    delete from connected_account
    where state = 'demo' and (${workspaceId}::int is null or workspace_id = ${workspaceId})`
  if (count > 0) await removeUnshownReviews(tx)
  return count
}

async function removeUnshownReviews(tx: Tx): Promise<void> {
  const left = await tx`
    select
    from connected_account
    where state = 'demo' and kind = 'app-store-connect'
    limit 1`
  if (left.length === 0) await removeReviews(tx, DEMO)
}

/** Why nothing can be done with one. */
export function demoProblem(id: string): string {
  return `${id} is the demo's: its figures are invented and no key opens it; it goes with your first own account, or with appmeter demo remove`
}

/** Who connects an account and who loads the demo wait for each other. */
async function lockAccounts(tx: Db, workspaceId: number): Promise<void> {
  await tx`
    select
    from workspace
    where id = ${workspaceId}
    for no key update`
}

function freshId(): string {
  return `ac_${Buffer.from(randomBytes(9)).toString("hex")}`
}
