import type { AlertType } from "./alert-type.ts"
import { aiMentionLost } from "./types/ai-mention.ts"
import { asaRule } from "./types/asa-rule.ts"
import { chartDrop, chartEnter } from "./types/chart-moves.ts"
import { featured } from "./types/featured.ts"
import { droppedOut, entered, rankDrop, rankRise } from "./types/keyword-moves.ts"
import { offTopic } from "./types/off-topic.ts"
import { reviewWave } from "./types/review-wave.ts"
import { rivalEvent } from "./types/rival-event.ts"
import { rivalBeaten, rivalPassed } from "./types/rival-passings.ts"
import { weekly } from "./types/weekly.ts"

/** Ordered as in the specification. */
const ALERT_TYPES = [
  droppedOut,
  rankDrop,
  rankRise,
  entered,
  rivalPassed,
  rivalBeaten,
  rivalEvent,
  asaRule,
  chartDrop,
  chartEnter,
  featured,
  reviewWave,
  aiMentionLost,
  offTopic,
  weekly,
] as const

export type FeedType = (typeof ALERT_TYPES)[number]
export type RuleType = FeedType["name"]

export const RULE_TYPES = ALERT_TYPES.map(({ name }) => name) as RuleType[]

export const FEED_TYPES: readonly AlertType<FeedType["name"]>[] = ALERT_TYPES

const BY_NAME = new Map<string, AlertType>(FEED_TYPES.map((type) => [type.name, type]))

export function feedType(name: FeedType["name"]): AlertType {
  return BY_NAME.get(name) as AlertType
}
