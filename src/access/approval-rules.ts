import type { Sql } from "../database/types.ts"
import { AccessProblem } from "./problem.ts"

/** The writes that a person must approve outside the assistant before they can be confirmed. */
export interface ApprovalRule {
  /**
   * Names of actions, or "all". `actions` applies to every key of the workspace; `ofKey` lists further actions for this
   * key.
   */
  actions: string[]
  ofKey: string[]
  /** Whether an approval that the client reports from its user also counts. */
  askingCounts: boolean
}

/** Covers every action, including those of later versions. */
export const ALL_ACTIONS = "all"

/** Returns the current rule of a workspace, or of one of its keys. Undefined if there is no such key. */
export async function readApprovalRule(
  sql: Sql,
  workspaceId: number,
  keyId: number | null,
): Promise<ApprovalRule | undefined> {
  const [rule] = await sql<ApprovalRule[]>`
    select w.approve_outside as actions, coalesce(k.approve_outside, '{}') as "ofKey",
      w.asking_approves as "askingCounts"
    from workspace w
    left join api_key k on k.workspace_id = w.id and k.id = ${keyId}
    where w.id = ${workspaceId} and (${keyId}::int is null or k.id is not null)`
  return rule
}

/** Returns the ids of a workspace's keys that have their own approval rule. */
export async function listKeysWithApproval(sql: Sql, workspaceId: number): Promise<Set<number>> {
  const rows = await sql<{ id: number }[]>`
    select id
    from api_key
    where workspace_id = ${workspaceId} and approve_outside <> '{}'
    order by id
    limit 10000`
  return new Set(rows.map(({ id }) => id))
}

interface ApprovalRuleChange {
  /** Omit a field to leave it unchanged. */
  actions?: readonly string[] | undefined
  askingCounts?: boolean | undefined
}

/** Takes effect at once, also for confirms of earlier previews. Throws AccessProblem if there is no such key. */
export async function setApprovalRule(
  sql: Sql,
  workspaceId: number,
  keyId: number | null,
  { actions, askingCounts }: ApprovalRuleChange,
): Promise<ApprovalRule> {
  const names = actions ? [...new Set(actions)].toSorted() : null
  if (keyId === null)
    await sql`
      update workspace
      set approve_outside = coalesce(${names}::text[], approve_outside),
        asking_approves = coalesce(${askingCounts ?? null}::boolean, asking_approves)
      where id = ${workspaceId}`
  else
    await sql`
      update api_key
      set approve_outside = coalesce(${names}::text[], approve_outside)
      where id = ${keyId} and workspace_id = ${workspaceId}`
  const rule = await readApprovalRule(sql, workspaceId, keyId)
  if (!rule) throw new AccessProblem(`the workspace has no key with id ${keyId}`)
  return rule
}
