import * as v from "valibot"
import { inOrder, RangeDay } from "../../core/day-range.ts"
import { operation } from "../../core/operation.ts"
import { cursorOf, placeIn } from "../../lib/cursor.ts"
import { Fault } from "../../lib/faults.ts"
import { wholeNumber } from "../../lib/fields.ts"
import { coded, described, named } from "../../lib/schema.ts"
import { Count, Day, Store, Storefront, Time } from "../../lib/shapes.ts"
import { isRealDay } from "../../lib/time.ts"
import { findApp } from "../../tracking/tracked-app.ts"
import { alertRow } from "../alert.ts"
import { AlertFields } from "../alert-fields.ts"
import { DELIVERY_STATES, type FeedPlace, MAX_ALERTS, readFeed, UNREAD_COUNTED } from "../feed.ts"
import { CHANNELS } from "../rules.ts"
import { FEED_TYPES } from "../types.ts"

const Row = named(
  "Alert",
  v.strictObject({
    id: described(v.pipe(v.number(), v.integer(), v.minValue(1)), "The alert's own; later findings have higher ones."),
    type: described(v.picklist(FEED_TYPES.map(({ name }) => name)), "What happened, by the names that rules go by."),
    appId: described(v.nullable(v.string()), "The app it is about; null = the whole workspace."),
    appName: described(v.nullable(v.string()), "As list_apps names it; null = the whole workspace."),
    platform: described(v.nullable(Store), "Null = of no store alone."),
    country: described(
      v.nullable(Storefront),
      "Null = of no storefront alone: reviews on Google Play are of a language.",
    ),
    day: described(Day, "The measured UTC day that shows it; of a review_wave the day when the reviews were written."),
    at: described(Time, "When the reading that shows it was seen."),
    read: described(v.boolean(), "Marked as read, by mark_alerts_read."),
    history: described(
      v.boolean(),
      "Found in days that were imported when they were history already, more than two UTC days past: it stands here at its day, read, and was delivered nowhere.",
    ),
    withdrawnAt: described(
      v.nullable(Time),
      "When later readings showed that it does not hold: it stays here because it was queued for a channel or read. Null if it holds.",
    ),
    sentence: described(
      v.string(),
      'One English sentence to the owner of the app, who is "you". Its day is in `day`; it names the earlier day of a comparison unless that is the day before.',
    ),
    ...AlertFields.entries,
    deliveries: described(
      v.array(
        v.strictObject({
          channel: described(v.picklist(CHANNELS), "Where it is told."),
          state: described(
            v.picklist(DELIVERY_STATES),
            "waiting = to be told, or tried again; undelivered = given up: the receiver did not take it in ten attempts over three days, or the channel is disabled.",
          ),
        }),
      ),
      "How it was told on each channel that a rule names for it; empty where no rule wants it.",
    ),
  }),
)

export const listAlerts = operation({
  id: "list_alerts",
  method: "GET",
  path: "/alerts",
  group: "Account",
  toolset: "account",
  summary: "The alert feed, newest first.",
  description:
    "What measured days show against the measured days before them: keywords that moved by 3 places or more, came or went; rivals that passed the app or were passed, within the first 50 for those named by hand and the first 10 for others; rivals' changes; charts, features, waves of one-star reviews, keywords whose results are of other categories, and what programs other than this one changed in a connected ads account. Nothing is told of days that were not measured, and never across a change of source.",
  effect: "reads",
  scope: "apps:read",
  price: 1,
  faults: ["not_found", "app_not_allowed"],
  input: v.strictObject({
    limit: v.optional(wholeNumber(1, MAX_ALERTS, "The most alerts to give."), 50),
    appId: described(v.optional(v.pipe(v.string(), v.minLength(1), v.maxLength(64))), "Only alerts of this app."),
    type: described(
      v.optional(
        v.pipe(v.array(v.picklist(FEED_TYPES.map(({ name }) => name))), v.minLength(1), v.maxLength(FEED_TYPES.length)),
      ),
      "Only these types, comma-separated.",
    ),
    from: RangeDay("First UTC day of the alerts, YYYY-MM-DD."),
    to: RangeDay("Last UTC day of the alerts, YYYY-MM-DD."),
    since: described(
      v.optional(
        v.pipe(
          v.union([v.pipe(v.string(), v.isoDate()), v.pipe(v.string(), v.isoTimestamp())]),
          v.check((text) => !Number.isNaN(Date.parse(text)) && isRealDay(text)),
        ),
      ),
      "Only alerts whose `at` is not before it: a UTC day, or an ISO 8601 time with its zone.",
    ),
    read: described(v.optional(v.boolean()), "Only alerts that are marked as read, or with false only unread ones."),
    cursor: v.optional(
      coded(
        v.pipe(
          v.string(),
          v.minLength(1),
          v.maxLength(500),
          v.description("nextCursor of the page before, with the same filters."),
        ),
        "bad_cursor",
      ),
    ),
  }),
  refine: inOrder,
  narrow: { rows: ["alerts"] },
  table: "alerts",
  output: v.strictObject({
    unread: described(
      Count,
      `Unread alerts of all apps this key may see, also of those not listed here; ${UNREAD_COUNTED.toLocaleString("en")} = that many or more.`,
    ),
    alerts: described(v.array(Row), "Newest first, by when what shows it was seen."),
    omitted: described(
      Count,
      `Older alerts that pass the filters, beyond limit; ${UNREAD_COUNTED.toLocaleString("en")} = that many or more.`,
    ),
    nextCursor: described(v.nullable(v.string()), "The cursor of the next page. Null if there is none."),
  }),
}).run(async ({ limit, appId, type: types, from, to, since, read, cursor }, { sql, caller, visibleApps }) => {
  const called = [appId, types, from, to, since, read]
  const after = cursor === undefined ? undefined : placeOf(called, cursor)
  const apps = await visibleApps()
  const names = new Map(apps.map(({ id, name }) => [id, name]))
  // throws if the key may not see the app
  if (appId !== undefined && !names.has(appId)) await findApp(sql, caller, appId)
  const seen = caller.appList === null ? null : [...names.keys()]
  const { unread, alerts, omitted } = await readFeed(sql, {
    workspaceId: caller.workspaceId,
    appIds: seen,
    limit,
    only: { appId, types, from, to, since: since === undefined ? undefined : new Date(since), read },
    after,
  })
  const last = alerts.at(-1)
  const nextCursor = omitted > 0 && last ? cursorOf(called, [last.at.toISOString(), last.id]) : null
  const rows = alerts.map((alert) => {
    const { withdrawnAt, deliveries } = alert
    return {
      ...alertRow(alert, names.get(alert.appId) ?? alert.appId),
      withdrawnAt: withdrawnAt?.toISOString() ?? null,
      deliveries,
    }
  })
  return { unread, alerts: rows, omitted, nextCursor }
})

const Place = v.strictTuple([v.pipe(v.string(), v.isoTimestamp()), v.pipe(v.number(), v.integer(), v.minValue(1))])

/** Throws bad_cursor unless the cursor belongs to the same call. */
function placeOf(called: unknown, cursor: string): FeedPlace {
  const place = v.safeParse(Place, placeIn(called, cursor))
  if (!place.success) throw new Fault("bad_cursor", { field: "cursor", detail: NO_CURSOR })
  const [at, id] = place.output
  return { at: new Date(at), id }
}

const NO_CURSOR =
  "cursor must be the nextCursor of a page of this very call: only limit and fields may differ. " +
  "Leave it out for the first page."
