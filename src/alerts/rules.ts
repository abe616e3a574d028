import { ownValue } from "../lib/objects.ts"
import type { Alert } from "./alert.ts"
import type { RuleOption } from "./alert-type.ts"
import { feedType, type RuleType } from "./types.ts"

export const CHANNELS = ["telegram", "slack", "webhook"] as const
export type Channel = (typeof CHANNELS)[number]

export const KEYWORD_SCOPES = ["all", "tagged"] as const
export const RIVAL_SCOPES = ["all", "manual"] as const

/** Places of a fall that dropBy may ask for; the feed tells of no smaller ones. */
export const DROP_BY = { least: 3, most: 50 } as const

/** What a workspace wants delivered of one type, over all its apps. An option is null where its type has no use for it. */
export interface AlertRule {
  type: RuleType
  channels: Channel[]
  dropBy: number | null
  /** tagged = only of keywords that have a tag. */
  keywordScope: (typeof KEYWORD_SCOPES)[number] | null
  /** manual = only of rivals that were named by hand. */
  rivalScope: (typeof RIVAL_SCOPES)[number] | null
}

export function takes(type: RuleType, option: RuleOption): boolean {
  return feedType(type).options.includes(option)
}

/** `keywordTags` as they are now, null = none. A rival is named by hand if it was so on the alert's day. */
export function wants(rule: AlertRule, alert: Alert, keywordTags: Record<string, string[]> | null): boolean {
  return (
    alert.type === rule.type &&
    fellBy(alert) >= (rule.dropBy ?? 0) &&
    (rule.keywordScope !== "tagged" || isTagged(alert, keywordTags ?? {})) &&
    (rule.rivalScope !== "manual" || isOfManual(alert))
  )
}

/** How many places the app fell; Infinity for other types, which no dropBy narrows. */
function fellBy({ type, facts }: Alert): number {
  if (type !== "rank_drop" || facts.rank === null || facts.was === null) return Number.POSITIVE_INFINITY
  return facts.rank - facts.was
}

/** A keyword may be spelt as what every object has. */
function isTagged({ facts }: Alert, tags: Record<string, string[]>): boolean {
  return "term" in facts && (ownValue(tags, facts.term) ?? []).length > 0
}

function isOfManual({ facts }: Alert): boolean {
  return "manual" in facts && facts.manual
}
