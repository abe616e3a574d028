import type { Caller } from "../access/caller.ts"
import type { Entitlements } from "../access/plans.ts"
import type { Tx } from "../database/types.ts"
import { Fault } from "../lib/faults.ts"
import { lockIdentities } from "../measuring/record/identities.ts"
import { type LimitUsage, lockWorkspace, overLimit } from "./apps.ts"
import { TrackingProblem } from "./checks.ts"

/** Locks the workspace against concurrent tracking, in the lock order of all such calls. Throws account_deleted. */
export async function lockTracking(tx: Tx, { workspaceId }: Caller): Promise<void> {
  await lockIdentities(tx)
  try {
    await lockWorkspace(tx, workspaceId)
  } catch (error) {
    // a key look-up is reused for up to 750 ms, so the workspace may have been deleted since
    if (error instanceof TrackingProblem) throw new Fault("account_deleted")
    throw error
  }
}

/** Keeps the workspace from being changed or deleted until the transaction ends. Throws account_deleted. */
export async function holdAccount(tx: Tx, { workspaceId }: Caller): Promise<void> {
  const [row] = await tx`
    select id
    from workspace
    where id = ${workspaceId} and deleted_at is null
    for share`
  // for the same reason as in lockTracking
  if (!row) throw new Fault("account_deleted")
}

/**
 * Keeps an app from being deleted, but not from being changed, until the transaction ends. Throws account_deleted;
 * ignores a missing app.
 */
export async function keepApp(tx: Tx, { workspaceId }: Caller, appId: string): Promise<void> {
  // the workspace before its app, in the same order as deleting a workspace locks them
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

/**
 * Rows of one write, which occupies the only backend of the embedded database: 9,975 take 0.4 s, 175,000 more than 99
 * s.
 */
const MAX_KEYWORDS = 9_000

/** Throws write_limit_reached if a write touches more keywords than allowed. A keyword counts once per storefront. */
export function refuseTooMany(keywords: number): void {
  if (keywords <= MAX_KEYWORDS) return
  const reason =
    `One write may change at most ${MAX_KEYWORDS} keywords, each counted in each storefront; this one would ` +
    `change ${keywords}.`
  throw new Fault("write_limit_reached", { reason })
}

/** Throws write_limit_reached with the reason if a single write or the workspace's limits do not allow the addition. */
export function refuseOverLimit(limits: Entitlements, usage: LimitUsage, more: Partial<LimitUsage>): void {
  refuseTooMany(more.trackedKeywords ?? 0)
  const over = overLimit(limits, usage, more)
  if (!over) return
  const [one, many] = NAMES[over.limit]
  throw new Fault("write_limit_reached", {
    reason:
      `The workspace may track ${over.allowed} ${over.allowed === 1 ? one : many}; ` +
      `this would make it ${over.total}.`,
  })
}

/** Returns "1 keyword" or "2 keywords", for example. */
export const counted = (count: number) => `${count} ${count === 1 ? "keyword" : "keywords"}`

const NAMES: Record<keyof LimitUsage, [one: string, many: string]> = {
  apps: ["app", "apps"],
  trackedKeywords: ["keyword, counted in each storefront", "keywords, each counted in each storefront"],
}
