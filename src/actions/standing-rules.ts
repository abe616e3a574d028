import type { AlertRule } from "../alerts/rules.ts"
import type { Sql } from "../database/types.ts"

export { RULE_TYPES } from "../alerts/types.ts"

/** What a workspace wants delivered, by type. */
export async function listRules(sql: Sql, workspaceId: number): Promise<AlertRule[]> {
  return await sql<AlertRule[]>`
    select type, channels, drop_by as "dropBy", keyword_scope as "keywordScope", rival_scope as "rivalScope"
    from alert_rule
    where workspace_id = ${workspaceId}
    order by type
    limit 100`
}
