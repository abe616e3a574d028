import type * as v from "valibot"
import { addDays } from "../lib/days.ts"
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

/** An alert as callers and receivers get it; the fields are described where the feed is (alerts/operations/alerts.ts). */
type AlertRow = Pick<Alert, "id" | "type" | "appId" | "platform" | "day" | "read" | "history"> & {
  appName: string
  country: string | null
  at: string
  sentence: string
} & AlertFields

/** The alert in flat fields, all of them whatever its type. */
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

/** One English sentence to the app's owner. It names the earlier day of a comparison unless that is the day before. */
export function sentenceOf(alert: Alert): string {
  const { type, platform, storefront, day, facts } = alert
  return feedType(type).sentence(facts, { platform, storefront, day, earlier: earlierOf(alert) })
}

/** An alert as a message says it on `today` (UTC): in a sentence with its day, or longer where its type has more to say. */
export function textOf(alert: Alert, today: string): string {
  const text = feedType(alert.type).text?.(alert.facts)
  return text ?? `${alert.day === today ? "" : `${alert.day}: `}${sentenceOf(alert)}`
}

function earlierOf({ day, facts }: Alert): string | null {
  const { beforeSeenAt, against = null } = facts as { beforeSeenAt?: string; against?: string | null }
  const earlier = beforeSeenAt?.slice(0, 10) ?? against
  return earlier === day || earlier === addDays(day, -1) ? null : earlier
}
