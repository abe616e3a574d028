import * as v from "valibot"
import type { Caller } from "../../access/caller.ts"
import { planFrom, unread } from "../../access/plan-days.ts"
import { Fault } from "../../lib/faults.ts"
import { bounded, coded, described, named } from "../../lib/schema.ts"
import { isRealDay } from "../../lib/time.ts"
import { isTimeZone, zonedBounds, zonedDay } from "../../lib/zoned-days.ts"
import { Day, Time } from "../../tracking/shapes.ts"

export const TimeZone = v.optional(
  coded(
    v.pipe(
      bounded(v.string(), { pattern: "^[A-Za-z][A-Za-z0-9_+/-]*$" }),
      v.maxLength(64),
      v.check(isTimeZone),
      v.description("IANA time zone of the day, such as Europe/Berlin."),
    ),
    "invalid_arguments",
  ),
  "UTC",
)

export const PastDay = v.optional(
  coded(
    v.pipe(
      v.string(),
      v.isoDate(),
      v.check(isRealDay),
      v.description("YYYY-MM-DD, at most yesterday in that time zone. Default: today."),
    ),
    "bad_day",
  ),
)

/** The fields with which every answer about a day begins. */
export const dayFields = {
  tz: described(v.string(), "The requested time zone."),
  today: described(
    Day,
    "The day shown, in that time zone. Stores are read once per UTC day; the figures are those of the UTC day " +
      "with this date.",
  ),
  past: described(v.boolean(), "False if the day shown is not over."),
  realToday: described(Day, "The current day in that time zone."),
  from: described(Time, "Start of the day shown."),
  to: described(Time, "End of the day shown."),
  at: described(Time, "Time of this answer."),
}

export const DayShown = named("DayShown", v.strictObject(dayFields))

export interface RequestedDay {
  day: string
  from: Date
  to: Date
  now: Date
  /** The values of dayFields. */
  shown: { [Name in keyof typeof dayFields]: v.InferOutput<(typeof dayFields)[Name]> }
}

/** Throws bad_day for a day that is not over, plan_required or bad_day for one before the plan's history. */
export function requestedDay({ tz, day }: { tz: string; day?: string }, now: Date, caller: Caller): RequestedDay {
  const realToday = zonedDay(now, tz)
  if (day !== undefined && day >= realToday) {
    const detail = `${day} is not over in ${tz}, where today is ${realToday}. Omit day for today.`
    throw new Fault("bad_day", { field: "day", detail })
  }
  if (day !== undefined && day < planFrom(caller, "history", realToday))
    throw unread(caller, { what: "history", day, today: realToday, otherwise: "bad_day", field: "day" })
  const today = day ?? realToday
  const { from, to } = zonedBounds(today, tz)
  const times = { from: from.toISOString(), to: to.toISOString(), at: now.toISOString() }
  return { day: today, from, to, now, shown: { tz, today, past: day !== undefined, realToday, ...times } }
}

export const OWN_FIGURES = [
  "liveUsers",
  "users",
  "newUsers",
  "adRevenue",
  "subscriptionRevenue",
  "trials",
  "adSpend",
] as const
export const MONEY_FIGURES: readonly string[] = ["adRevenue", "subscriptionRevenue", "adSpend"]

const CONNECTIONS = ["analytics", "ads", "subscriptions", "apple_ads"] as const

/** The connections that provide figures no store publishes. */
export const Connections = described(
  v.array(
    named(
      "Connection",
      v.strictObject({
        id: described(
          v.picklist(CONNECTIONS),
          "analytics: an analytics service; ads: reports of an ad network; subscriptions: App Store Connect; " +
            "apple_ads: the account that advertises the app.",
        ),
        connected: described(v.boolean(), "False if the source is not connected; its figures are unknown."),
        gives: described(v.array(v.picklist(OWN_FIGURES)), "Figures from this source."),
        invented: described(v.optional(v.boolean()), "True if all its figures are sample data of the demo."),
      }),
    ),
  ),
  "Sources of the workspace's own figures. Figures of a source that is not connected are null, not zero.",
)

const GIVES: Record<(typeof CONNECTIONS)[number], (typeof OWN_FIGURES)[number][]> = {
  analytics: ["liveUsers", "users", "newUsers"],
  ads: ["adRevenue"],
  subscriptions: ["subscriptionRevenue", "trials"],
  apple_ads: ["adSpend"],
}

/**
 * Returns the connections. `connected` is false for a connection without accounts. `invented` is true if all accounts
 * of the connection belong to the demo.
 */
export function connections(
  connected: Partial<Record<(typeof CONNECTIONS)[number], readonly { isInvented: boolean }[]>>,
): v.InferOutput<typeof Connections> {
  return CONNECTIONS.map((id) => {
    const accounts = connected[id] ?? []
    const invented = accounts.length > 0 && accounts.every(({ isInvented }) => isInvented)
    return { id, connected: accounts.length > 0, gives: GIVES[id], ...(invented && { invented }) }
  })
}

/** Returns whether the key lacks the right to read revenue. */
export function hidesMoney({ scopes }: Caller): boolean {
  return !scopes.includes("revenue:read")
}
