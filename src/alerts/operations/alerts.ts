import * as v from "valibot"
import { inOrder, RangeDay } from "../../core/day-range.ts"
import { operation } from "../../core/operation.ts"
import { cursorOf, placeIn } from "../../lib/cursor.ts"
import { Fault } from "../../lib/faults.ts"
import { wholeNumber } from "../../lib/fields.ts"
import { coded, described, named } from "../../lib/schema.ts"
import { Count, Day, Store, Storefront, Time } from "../../lib/shapes.ts"
import { findApp } from "../../tracking/tracked-app.ts"
import { alertRow } from "../alert.ts"
import { AlertFields } from "../alert-fields.ts"
import { CHANNELS } from "../delivery/channel-kinds.ts"
import { DELIVERY_STATES, type FeedAlert, type FeedPlace, MAX_ALERTS, readFeed, UNREAD_COUNTED } from "../feed.ts"
import { endOf, Moment, sinceBeforeUntil } from "../feed-times.ts"
import { FEED_TYPES } from "../types.ts"

/** Counts of the feed end at this number. */
const COUNTED = UNREAD_COUNTED.toLocaleString("en")

export const FeedRow = named(
  "Alert",
  v.strictObject({
    id: described(v.pipe(v.number(), v.integer(), v.minValue(1)), "Id of the alert. Later alerts have higher ids."),
    type: described(v.picklist(FEED_TYPES.map(({ name }) => name)), "Alert type, as in alert rules."),
    appId: described(v.nullable(v.string()), "The app. Null if the alert concerns the whole workspace."),
    appName: described(
      v.nullable(v.string()),
      "Name of the app, as in list_apps. Null if the alert concerns the whole workspace.",
    ),
    platform: described(v.nullable(Store), "Null if the alert concerns no single store."),
    country: described(
      v.nullable(Storefront),
      "Null if the alert concerns no single storefront. Google Play reviews belong to a language.",
    ),
    day: described(Day, "The measured UTC day of the finding. For review_wave, the day when the reviews were written."),
    at: described(Time, "Time of the reading behind the alert."),
    read: described(v.boolean(), "True if marked as read with mark_alerts_read."),
    history: described(
      v.boolean(),
      "True if the alert comes from imported days that were already more than two UTC days past. It is listed at " +
        "its day, marked as read, and was not delivered.",
    ),
    withdrawnAt: described(
      v.nullable(Time),
      "Time when later readings disproved the alert. It stays listed because it was queued for a channel or read. " +
        "Null if it holds.",
    ),
    sentence: described(
      v.string(),
      'One English sentence for the owner of the app, addressed as "you". `day` has its date; the sentence names ' +
        "the earlier day of a comparison unless that is the day before.",
    ),
    ...AlertFields.entries,
    deliveries: described(
      v.array(
        v.strictObject({
          channel: described(v.picklist(CHANNELS), "The channel."),
          state: described(
            v.picklist(DELIVERY_STATES),
            "waiting: to be delivered or retried; undelivered: given up after ten attempts over three days, or " +
              "because the channel is disabled.",
          ),
        }),
      ),
      "Delivery to each channel of a matching rule. Empty if no rule matches.",
    ),
  }),
)

export const listAlerts = operation({
  id: "list_alerts",
  method: "GET",
  path: "/alerts",
  group: "Account",
  toolset: "account",
  summary: "Returns the alert feed, newest first.",
  description:
    "Alerts compare each measured day with the measured day before it: keywords that moved by 3 places or more, " +
    "entered or dropped out; rivals that passed the app or were passed (manual rivals within the first 50 " +
    "results, others within the first 10); changes by rivals; charts, featuring, waves of one-star reviews, " +
    "keywords whose results belong to other categories, and changes by other programs in a connected ads account. " +
    "Unmeasured days and changes of source raise no alert.",
  effect: "reads",
  scope: "apps:read",
  price: 1,
  faults: ["not_found", "app_not_allowed"],
  input: v.strictObject({
    limit: v.optional(wholeNumber(1, MAX_ALERTS, "Maximum number of alerts."), 50),
    appId: described(v.optional(v.pipe(v.string(), v.minLength(1), v.maxLength(64))), "Only alerts about this app."),
    type: described(
      v.optional(
        v.pipe(v.array(v.picklist(FEED_TYPES.map(({ name }) => name))), v.minLength(1), v.maxLength(FEED_TYPES.length)),
      ),
      "Only these types, comma-separated.",
    ),
    from: RangeDay("First UTC day, YYYY-MM-DD."),
    to: RangeDay("Last UTC day, YYYY-MM-DD."),
    since: Moment("Only alerts with `at` from then on: YYYY-MM-DD (UTC), or an ISO 8601 time with its zone."),
    until: Moment("Only alerts up to this time, written like `since`. A day includes its end."),
    read: described(v.optional(v.boolean()), "The opposite of `unread`."),
    unread: described(v.optional(v.boolean()), "True: only unread alerts; false: only read."),
    cursor: v.optional(
      coded(
        v.pipe(
          v.string(),
          v.minLength(1),
          v.maxLength(500),
          v.description("nextCursor of the previous page, with the same filters."),
        ),
        "bad_cursor",
      ),
    ),
  }),
  refine: (range) => sinceBeforeUntil(inOrder(range)),
  instead: { unread: ["read"] },
  narrow: { rows: ["alerts"] },
  table: "alerts",
  output: v.strictObject({
    unread: described(
      Count,
      `Unread alerts of all apps that this key can see, including those not listed here. ${COUNTED} means ` +
        `${COUNTED} or more.`,
    ),
    alerts: described(v.array(FeedRow), "Newest first, by `at`."),
    omitted: described(
      Count,
      `Older alerts that match the filters, beyond limit. ${COUNTED} means ${COUNTED} or more.`,
    ),
    nextCursor: described(v.nullable(v.string()), "Cursor of the next page. Null if this is the last page."),
  }),
}).run(async ({ limit, appId, type: types, from, to, since, until, cursor, ...state }, context) => {
  const { sql, caller, visibleApps } = context
  const read = state.unread === undefined ? state.read : !state.unread
  const called = [appId, types, from, to, since, until, read]
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
    rights: caller.scopes,
    only: {
      appId,
      types,
      from,
      to,
      since: since === undefined ? undefined : new Date(since),
      before: until === undefined ? undefined : endOf(until),
      read,
    },
    after,
  })
  const last = alerts.at(-1)
  const nextCursor = omitted > 0 && last ? cursorOf(called, [last.at.toISOString(), last.id]) : null
  return { unread, alerts: alerts.map((alert) => feedRow(alert, names)), omitted, nextCursor }
})

/** Converts an alert to a row of the feed. `names` are those of the apps by id. */
export function feedRow(alert: FeedAlert, names: ReadonlyMap<string, string>): v.InferOutput<typeof FeedRow> {
  const { appId, withdrawnAt, deliveries } = alert
  return {
    ...alertRow(alert, names.get(appId) ?? appId),
    withdrawnAt: withdrawnAt?.toISOString() ?? null,
    deliveries,
  } as v.InferOutput<typeof FeedRow>
}

const Place = v.strictTuple([v.pipe(v.string(), v.isoTimestamp()), v.pipe(v.number(), v.integer(), v.minValue(1))])

/** Throws bad_cursor unless the cursor belongs to the same call. */
function placeOf(called: unknown, cursor: string): FeedPlace {
  const place = v.safeParse(Place, placeIn(called, cursor))
  if (!place.success) throw new Fault("bad_cursor", { field: "cursor", detail: NO_CURSOR })
  const [at, id] = place.output
  return { at: new Date(at), id }
}

const NO_CURSOR =
  "cursor must be the nextCursor of a page of the same call; only limit and fields may differ. Omit it for the " +
  "first page."
