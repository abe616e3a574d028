import type { Sql } from "../database/types.ts"
import { ownValue } from "../lib/objects.ts"
import type { Alert } from "./alert.ts"
import type { RuleOption } from "./alert-type.ts"
import type { Channel } from "./delivery/channel-kinds.ts"
import { feedType, type RuleType } from "./types.ts"

export const KEYWORD_SCOPES = ["all", "tagged"] as const
export const RIVAL_SCOPES = ["all", "manual"] as const

/** The range of `dropBy`, in ranks. The feed has no smaller drops. */
export const DROP_BY = { least: 3, most: 50 } as const

/** The delivery of one alert type, for all apps of a workspace. An option is null if the type does not have it. */
export interface AlertRule {
  type: RuleType
  channels: Channel[]
  dropBy: number | null
  /** "tagged" limits the rule to keywords that have a tag. */
  keywordScope: (typeof KEYWORD_SCOPES)[number] | null
  /** "manual" limits the rule to rivals named by hand. */
  rivalScope: (typeof RIVAL_SCOPES)[number] | null
}

export function takes(type: RuleType, option: RuleOption): boolean {
  return feedType(type).options.includes(option)
}

/**
 * Returns true if the rule delivers the alert. `keywordTags` are the current tags, null if there are none; whether a
 * rival was named by hand is taken from the alert's day.
 */
export function wants(rule: AlertRule, alert: Alert, keywordTags: Record<string, string[]> | null): boolean {
  return (
    alert.type === rule.type &&
    fellBy(alert) >= (rule.dropBy ?? 0) &&
    (rule.keywordScope !== "tagged" || isTagged(alert, keywordTags ?? {})) &&
    (rule.rivalScope !== "manual" || isOfManual(alert))
  )
}

/** Returns the size of a rank drop. Infinity for other types, since `dropBy` does not limit them. */
function fellBy({ type, facts }: Alert): number {
  if (type !== "rank_drop" || facts.rank === null || facts.was === null) return Number.POSITIVE_INFINITY
  return facts.rank - facts.was
}

/** Uses own properties only, since a keyword may be "constructor" or the like. */
function isTagged({ facts }: Alert, tags: Record<string, string[]>): boolean {
  return "term" in facts && (ownValue(tags, facts.term) ?? []).length > 0
}

function isOfManual({ facts }: Alert): boolean {
  return "manual" in facts && facts.manual
}

/** Returns the alert rules of a workspace, by type. */
export async function listRules(sql: Sql, workspaceId: number): Promise<AlertRule[]> {
  return await sql<AlertRule[]>`
    select type, channels, drop_by as "dropBy", keyword_scope as "keywordScope", rival_scope as "rivalScope"
    from alert_rule
    where workspace_id = ${workspaceId}
    order by type
    limit 100`
}
