import { addDays } from "../formulas/days.ts"
import type {
  Alert,
  ChartFacts,
  FeaturedFacts,
  PassingFacts,
  RankFacts,
  RivalEventFacts,
  TopicFacts,
  WaveFacts,
} from "./alert.ts"
import { weekLine } from "./weekly-words.ts"

/**
 * An alert in one plain English sentence, as it is read on `today` (UTC). The app itself is "the app": whose alert it is
 * stands beside it. Between yesterday and today needs no word; any other two days are named, so that a gap of five days
 * does not read like a fall of one.
 */
export function sentenceOf(alert: Alert, today: string): string {
  const sentence = `${daysOf(alert, today)}${said(alert)}`
  return `${sentence.charAt(0).toUpperCase()}${sentence.slice(1)}.`
}

function said(alert: Alert): string {
  const where = whereOf(alert)
  switch (alert.type) {
    case "dropped_out":
    case "rank_drop":
    case "rank_rise":
    case "entered":
      return ofRank(alert.facts, where)
    case "rival_passed":
    case "rival_beaten":
      return ofPassing(alert.type, alert.facts, where)
    case "rival_event":
      return `${nameOf(alert.facts)} ${ofEvent(alert.facts)} ${where}`
    case "chart_drop":
    case "chart_enter":
      return ofChart(alert.facts, `in ${alert.storefront}`)
    case "featured":
      return ofCard(alert.facts, alert)
    case "review_wave":
      return ofWave(alert.facts, alert)
    case "weekly":
      return weekLine(alert.facts)
    case "off_topic":
      return ofTopic(alert.facts, where)
  }
}

/** The days that it compares, to begin the sentence with. A wave and a week name theirs. */
function daysOf(alert: Alert, today: string): string {
  if (alert.type === "review_wave" || alert.type === "weekly") return ""
  const { day, type } = alert
  const against = earlierDay(alert)
  if (day === today && (against === null || against === day || against === addDays(day, -1))) return ""
  if (against === null || against === day) return `on ${day} `
  // what stands on a day did not stand on the other; all else moved between them
  return type === "featured" || type === "off_topic"
    ? `on ${day}, and not on ${against}, `
    : `between ${against} and ${day} `
}

function earlierDay({ facts }: Exclude<Alert, { type: "review_wave" | "weekly" }>): string | null {
  return "beforeSeenAt" in facts ? facts.beforeSeenAt.slice(0, 10) : facts.against
}

function whereOf({ platform, storefront }: Pick<Alert, "platform" | "storefront">): string {
  const store = platform === "ios" ? "on iOS" : "on Android"
  return storefront === null ? store : `in ${storefront} ${store}`
}

function ofRank({ term, rank, was, depth, wasDepth }: RankFacts, where: string): string {
  if (rank === null) return `'${term}' dropped out ${where}: it stood at ${was}, and is ${absent(depth)}`
  if (was === null) return `'${term}' entered at ${rank} ${where}: it was ${absent(wasDepth)}`
  return `'${term}' ${rank > was ? "fell" : "rose"} from ${was} to ${rank} ${where}`
}

function absent(depth: number): string {
  return `not among the first ${depth}`
}

function ofPassing(type: "rival_passed" | "rival_beaten", facts: PassingFacts, where: string): string {
  const { term, ours, theirs, depth } = facts
  const name = nameOf(facts)
  const stands = (rank: number | null) => (rank === null ? `is ${absent(depth)}` : `stands at ${rank}`)
  if (type === "rival_passed")
    return `${name} passed the app on '${term}' ${where}: it ${stands(theirs)}, the app ${stands(ours)}`
  return `the app passed ${name} on '${term}' ${where}: it ${stands(ours)}, ${name} ${stands(theirs)}`
}

function nameOf({ name, rival }: { name: string | null; rival: string }): string {
  return name ?? rival
}

function ofEvent({ change, before, after }: RivalEventFacts): string {
  switch (change) {
    case "version":
      return `went from version ${before} to ${after}`
    case "price":
      return `changed its price from ${priceOf(before)} to ${priceOf(after)}`
    case "name":
      return `changed its name from '${before}' to '${after}'`
    case "icon":
      return "changed its icon"
    case "screenshots":
      return "changed its screenshots"
    case "rating_jump":
      return `went from ${before} to ${after} stars`
  }
}

function priceOf(said: unknown): string {
  const { price, currency } = said as { price: number; currency?: string }
  if (price === 0) return "free"
  return currency === undefined ? String(price) : `${price} ${currency}`
}

function ofChart({ device, chart, genre, genreName, rank, was, depth, wasDepth }: ChartFacts, where: string): string {
  const name = `the ${chart} ${device === "ipad" ? "iPad" : "iPhone"} chart of ${genreName ?? `genre ${genre}`} ${where}`
  if (rank === null) return `the app left ${name}: it stood at ${was}, and is ${absent(depth)}`
  if (was === null) return `the app entered ${name} at ${rank}: it was ${absent(wasDepth)}`
  return `the app ${rank > was ? "fell" : "rose"} from ${was} to ${rank} on ${name}`
}

function ofCard({ card, title }: FeaturedFacts, alert: Pick<Alert, "platform" | "storefront">): string {
  const store = alert.platform === "ios" ? "the App Store" : "Google Play"
  return `${store} features the app in ${alert.storefront}: a ${card}${title === null ? "" : `, '${title}'`}`
}

function ofWave(
  { feed, count, mean, days }: WaveFacts,
  { platform, storefront, day }: Pick<Alert, "platform" | "storefront" | "day">,
): string {
  const where = storefront === null ? `in the language ${feed} ${whereOf({ platform, storefront })}` : ""
  const place = where || whereOf({ platform, storefront })
  return `${count} reviews of one star on ${day} ${place}: ${mean} a day on the ${days} days before`
}

function ofTopic({ term, genre, genreName }: TopicFacts, where: string): string {
  const own = genreName ?? `genre ${genre}`
  return `none of the first ten results for '${term}' ${where} shares a category with the app, whose main one is ${own}`
}
