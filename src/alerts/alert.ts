import type * as v from "valibot"
import { addDays } from "../vocabulary/days.ts"
import { type AlertFields, NO_FIELDS } from "./alert-fields.ts"
import type { FindingOf } from "./alert-type.ts"
import type { AlertPlace } from "./place.ts"
import { type FeedType, feedType } from "./types.ts"
import type { Week } from "./week.ts"

/** What readings show: every type of the feed but the week's summary. */
export type FindingType = Exclude<FeedType["name"], "weekly">

export type FactsOf = { [Type in FeedType as Exclude<Type["name"], "weekly">]: v.InferOutput<Type["facts"]> }

type Finding = { [Type in FindingType]: FindingOf<Type, FactsOf[Type]> }[FindingType]

/** The summary of a week; its day is the week's Sunday, UTC. */
export type WeeklySummary = FindingOf<"weekly", Week>

export type Alert = { id: number; appId: string; read: boolean; history: boolean } & (
  | (Finding & AlertPlace & { platform: NonNullable<AlertPlace["platform"]> })
  | (WeeklySummary & { platform: null; storefront: null })
)

/** An alert as callers and receivers get it; the fields are described where the feed is (operations/account/alerts.ts). */
type AlertRow = Pick<Alert, "id" | "type" | "appId" | "platform" | "day" | "read" | "history"> & {
  appName: string
  country: string | null
  at: string
  sentence: string
} & AlertFields

/** The alert in flat fields, all of them whatever its type; its sentence as it is read on `today`. */
export function alertRow(alert: Alert, appName: string, today: string): AlertRow {
  const { id, type, appId, platform, storefront: country, day, at, read, history } = alert
  const head = { id, type, appId, appName, platform, country, day, at: at.toISOString(), read, history }
  return {
    ...head,
    sentence: sentenceOf(alert, today),
    ...NO_FIELDS,
    ...(feedType(type).fields(alert.facts) as AlertFields),
  }
}

/**
 * As read on `today` (UTC); the app itself is "the app". Any days but yesterday and today are named, so that a gap of
 * five does not read like a fall of one.
 */
export function sentenceOf(alert: Alert, today: string): string {
  const sentence = `${daysOf(alert, today)}${feedType(alert.type).sentence(alert.facts, alert)}`
  return `${sentence.charAt(0).toUpperCase()}${sentence.slice(1)}.`
}

/** An alert as a message says it: in a sentence, or longer where its type has more to say. */
export function textOf(alert: Alert, today: string): string {
  return feedType(alert.type).text?.(alert.facts) ?? sentenceOf(alert, today)
}

function daysOf({ type, day, facts }: Alert, today: string): string {
  const { days } = feedType(type)
  if (days === "own") return ""
  const { beforeSeenAt, against = null } = facts as { beforeSeenAt?: string; against?: string | null }
  const earlier = beforeSeenAt?.slice(0, 10) ?? against
  if (day === today && (earlier === null || earlier === day || earlier === addDays(day, -1))) return ""
  if (earlier === null || earlier === day) return `on ${day} `
  return days === "on" ? `on ${day}, and not on ${earlier}, ` : `between ${earlier} and ${day} `
}
