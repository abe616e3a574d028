import { type AlertType, alertEntry } from "./alert-type.ts"
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

/**
 * Name and declaration of each alert type, and the options of its rules, in the order of the specification. The
 * compiler checks each line.
 */
const ALERT_TYPES = [
  alertEntry("dropped_out", droppedOut, "keywordScope"),
  alertEntry("rank_drop", rankDrop, "dropBy", "keywordScope"),
  alertEntry("rank_rise", rankRise, "keywordScope"),
  alertEntry("entered", entered, "keywordScope"),
  alertEntry("rival_passed", rivalPassed, "keywordScope", "rivalScope"),
  alertEntry("rival_beaten", rivalBeaten, "keywordScope", "rivalScope"),
  alertEntry("rival_event", rivalEvent, "rivalScope"),
  alertEntry("asa_rule", asaRule),
  alertEntry("chart_drop", chartDrop),
  alertEntry("chart_enter", chartEnter),
  alertEntry("featured", featured),
  alertEntry("review_wave", reviewWave),
  alertEntry("ai_mention_lost", aiMentionLost, "keywordScope"),
  alertEntry("off_topic", offTopic, "keywordScope"),
  alertEntry("weekly", weekly),
] as const

export type FeedType = (typeof ALERT_TYPES)[number]
export type RuleType = FeedType["name"]

export const RULE_TYPES = ALERT_TYPES.map(({ name }) => name) as RuleType[]

export const FEED_TYPES: readonly AlertType<FeedType["name"]>[] = ALERT_TYPES

const BY_NAME = new Map<string, AlertType>(FEED_TYPES.map((type) => [type.name, type]))

export function feedType(name: FeedType["name"]): AlertType {
  return BY_NAME.get(name) as AlertType
}
