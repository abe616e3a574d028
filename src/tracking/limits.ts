import type { Caller } from "../access/caller.ts"
import type { Entitlements } from "../access/plans.ts"
import type { Tx } from "../database/types.ts"
import { Fault } from "../lib/faults.ts"
import { lockIdentities } from "../measuring/record/identities.ts"
import { type LimitUsage, lockWorkspace, overLimit } from "./apps.ts"
import { TrackingProblem } from "./checks.ts"

/** Holds off who else would track something in the workspace, in the order of everybody who does. Throws account_deleted. */
export async function lockTracking(tx: Tx, { workspaceId }: Caller): Promise<void> {
  await lockIdentities(tx)
  try {
    await lockWorkspace(tx, workspaceId)
  } catch (error) {
    // it was there when its key was last looked up, up to 750 ms ago
    if (error instanceof TrackingProblem) throw new Fault("account_deleted")
    throw error
  }
}

/** Keeps the workspace until the transaction ends. Throws account_deleted. */
export async function holdAccount(tx: Tx, { workspaceId }: Caller): Promise<void> {
  const [row] = await tx`
    select id
    from workspace
    where id = ${workspaceId} and deleted_at is null
    for share`
  // as in lockTracking
  if (!row) throw new Fault("account_deleted")
}

/** Until the transaction ends it can be changed, but not taken away. Throws account_deleted; a missing app is left. */
export async function keepApp(tx: Tx, { workspaceId }: Caller, appId: string): Promise<void> {
  // before its app: who deletes a workspace locks them in that order
  const [row] = await tx`
    select id
    from workspace
    where id = ${workspaceId} and deleted_at is null
    for key share`
  if (!row) throw new Fault("account_deleted")
  await tx`
    select id
    from tracked_app
    where id = ${appId} and workspace_id = ${workspaceId}
    for key share`
}

/** Rows of one write, which holds the embedded database's one backend: 9,975 took 0.4 s, 175,000 more than 99 s. */
const MOST_AT_ONCE = 9_000

/** Throws write_limit_reached when a write would touch more keywords, each counted in each storefront, than one may. */
export function refuseTooMany(keywords: number): void {
  if (keywords <= MOST_AT_ONCE) return
  const reason = `One write may touch ${MOST_AT_ONCE} keywords, each counted in each storefront; this would touch ${keywords}.`
  throw new Fault("write_limit_reached", { reason })
}

/** Throws write_limit_reached, saying why, when one write or the workspace's limits do not allow this much more. */
export function refuseOverLimit(limits: Entitlements, held: LimitUsage, more: Partial<LimitUsage>): void {
  refuseTooMany(more.trackedKeywords ?? 0)
  const over = overLimit(limits, held, more)
  if (!over) return
  const [one, many] = NAMES[over.limit]
  throw new Fault("write_limit_reached", {
    reason: `The workspace may track ${over.allowed} ${over.allowed === 1 ? one : many}; this would make it ${over.asked}.`,
  })
}

/** "1 keyword", "2 keywords". */
export const counted = (count: number) => `${count} ${count === 1 ? "keyword" : "keywords"}`

const NAMES: Record<keyof LimitUsage, [one: string, many: string]> = {
  apps: ["app", "apps"],
  trackedKeywords: ["keyword, counted in each storefront", "keywords, each counted in each storefront"],
}
