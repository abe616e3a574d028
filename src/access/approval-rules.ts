import type { Sql } from "../database/types.ts"
import { AccessProblem } from "./problem.ts"

/** Which writes a person must approve outside the assistant before their confirm. */
export interface ApprovalRule {
  /** Names of actions, or "all"; of the workspace for each of its keys, and of this key besides. */
  actions: string[]
  ofKey: string[]
  /** Whether a yes that the client says its person gave counts as well. */
  askingCounts: boolean
}

/** What stands for every action, also for those of later versions. */
export const ALL_ACTIONS = "all"

/** The rule as it stands now, of a workspace or of one of its keys; undefined = there is no such key. */
export async function readApprovalRule(
  sql: Sql,
  workspaceId: number,
  keyId: number | null,
): Promise<ApprovalRule | undefined> {
  const [rule] = await sql<ApprovalRule[]>`
    select w.approve_outside as actions, coalesce(k.approve_outside, '{}') as "ofKey", w.asking_approves as "askingCounts"
    from workspace w
    left join api_key k on k.workspace_id = w.id and k.id = ${keyId}
    where w.id = ${workspaceId} and (${keyId}::int is null or k.id is not null)`
  return rule
}

interface ApprovalRuleChange {
  /** Left out = as they are. */
  actions?: readonly string[] | undefined
  askingCounts?: boolean | undefined
}

/** In force from the next preview on, and for confirms of earlier ones. Throws AccessProblem. */
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
