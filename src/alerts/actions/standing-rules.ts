import type { Sql } from "../../database/types.ts"
import type { AlertRule } from "../rules.ts"

export { RULE_TYPES } from "../types.ts"

/** Returns the alert rules of a workspace, by type. */
export async function listRules(sql: Sql, workspaceId: number): Promise<AlertRule[]> {
  return await sql<AlertRule[]>`
    select type, channels, drop_by as "dropBy", keyword_scope as "keywordScope", rival_scope as "rivalScope"
    from alert_rule
    where workspace_id = ${workspaceId}
    order by type
    limit 100`
}
