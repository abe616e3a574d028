import { Buffer } from "node:buffer"
import { randomBytes } from "node:crypto"
import { DEMO } from "../core/observation/provenance.ts"
import type { Db, Sql, Tx } from "../database/types.ts"
import { removeReviews } from "../reviews/store/remove-reviews.ts"
import { REPORT_ZONE } from "./pacific.ts"

/** The demo accounts of a workspace. */
export interface DemoAccounts {
  console: string
  ads: string
}

/** The text in every answer that has demo figures. */
const WHY =
  "these figures are invented sample data; they are deleted once you connect your own account: appmeter account " +
  "add app-store-connect"

/**
 * Creates the demo console and ad account of a workspace, which have no key. Existing ones stay as they are. Null if
 * the workspace has connected an account, because demo figures must not appear next to real ones.
 */
export async function makeDemoAccounts(
  sql: Sql,
  workspaceId: number,
  assert: (tx: Tx) => Promise<void>,
): Promise<DemoAccounts | null> {
  return await sql.begin(async (tx) => {
    await assert(tx)
    await lockAccounts(tx, workspaceId)
    const connected = await tx`
      select
      from connected_account
      where workspace_id = ${workspaceId} and state <> 'demo'
      limit 1`
    if (connected.length > 0) return null
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

/**
 * Deletes the demo accounts with all their data, and the invented reviews together with the last demo account. Covers
 * every workspace if none is given. Returns the number of deleted accounts.
 */
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

/** Returns the explanation why no command can change a demo account. */
export function demoProblem(id: string): string {
  return (
    `${id} is a demo account: its figures are invented and it has no key; it is deleted with your first own ` +
    "account, or by appmeter demo remove"
  )
}

/** Takes a lock, so that connecting an account and loading the demo never run at the same time. */
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
