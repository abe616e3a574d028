import type * as v from "valibot"
import { addDays } from "../lib/days.ts"
import { type AlertFields, NO_FIELDS } from "./alert-fields.ts"
import type { FindingOf } from "./alert-type.ts"
import type { AlertPlace } from "./place.ts"
import { type FeedType, feedType } from "./types.ts"
import type { Week } from "./week.ts"

/** The types that come from readings: all of the feed except the weekly summary. */
export type FindingType = Exclude<FeedType["name"], "weekly">

export type FactsOf = { [Type in FeedType as Exclude<Type["name"], "weekly">]: v.InferOutput<Type["facts"]> }

type Finding = { [Type in FindingType]: FindingOf<Type, FactsOf[Type]> }[FindingType]

/** The summary of a week. Its day is the Sunday of the week, UTC. */
export type WeeklySummary = FindingOf<"weekly", Week>

export type Alert = { id: number; appId: string; read: boolean; history: boolean } & (
  | (Finding & AlertPlace & { platform: NonNullable<AlertPlace["platform"]> })
  | (WeeklySummary & { platform: null; storefront: null })
)

/** An alert in answers and messages; the fields are described in alerts/operations/alerts.ts. */
type AlertRow = Pick<Alert, "id" | "type" | "appId" | "platform" | "day" | "read" | "history"> & {
  appName: string
  country: string | null
  at: string
  sentence: string
} & AlertFields

/** Converts an alert to flat fields, the same for every type. */
export function alertRow(alert: Alert, appName: string): AlertRow {
  const { id, type, appId, platform, storefront: country, day, at, read, history } = alert
  const head = { id, type, appId, appName, platform, country, day, at: at.toISOString(), read, history }
  return {
    ...head,
    sentence: sentenceOf(alert),
    ...NO_FIELDS,
    ...(feedType(type).fields(alert.facts) as AlertFields),
  }
}

/** Returns one English sentence to the app's owner. It names the day of comparison unless that is the day before. */
export function sentenceOf(alert: Alert): string {
  const { type, platform, storefront, day, facts } = alert
  return feedType(type).sentence(facts, { platform, storefront, day, earlier: earlierOf(alert) })
}

/** Returns the text of a message sent on `today` (UTC): the sentence with its day, or the longer text of its type. */
export function textOf(alert: Alert, today: string): string {
  const text = feedType(alert.type).text?.(alert.facts)
  return text ?? `${alert.day === today ? "" : `${alert.day}: `}${sentenceOf(alert)}`
}

function earlierOf({ day, facts }: Alert): string | null {
  const { beforeSeenAt, against = null } = facts as { beforeSeenAt?: string; against?: string | null }
  const earlier = beforeSeenAt?.slice(0, 10) ?? against
  return earlier === day || earlier === addDays(day, -1) ? null : earlier
}
