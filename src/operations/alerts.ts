import * as v from "valibot"
import { type Alert, FINDINGS, RIVAL_CHANGES } from "../alerts/alert.ts"
import { alertsOf, DELIVERY_STATES, type FeedAlert, UNREAD_COUNTED } from "../alerts/feed.ts"
import { CHANNELS } from "../alerts/rules.ts"
import { shownAlert } from "../alerts/shown.ts"
import { dayOf } from "../formulas/days.ts"
import { CHARTS, DEVICES } from "../observations/types.ts"
import { operation } from "../operation.ts"
import { described } from "../schema.ts"
import { Week } from "./alert-week.ts"
import { Count, Day, Rank, Store, Storefront, Time } from "./shapes.ts"

const Value = v.nullable(v.union([v.number(), v.string()]))

const Row = v.strictObject({
  id: described(v.pipe(v.number(), v.integer(), v.minValue(1)), "The alert's own; later findings have higher ones."),
  type: described(v.picklist([...FINDINGS, "weekly"]), "What happened, by the names that rules go by."),
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
  sentence: described(
    v.string(),
    "The whole of it in one English sentence, which names both days where they are not yesterday and today (UTC).",
  ),
  term: described(v.nullable(v.string()), "The keyword; null where it is about none."),
  rivalId: described(v.nullable(v.string()), "Store id of the rival; null where it is about none."),
  rivalName: described(v.nullable(v.string()), "The rival's name at the time; null until one was seen."),
  rivalManual: described(v.nullable(v.boolean()), "Whether the rival was named by hand; null where it is about none."),
  rivalBefore: described(
    v.nullable(Rank),
    "rival_passed, rival_beaten: the rival's rank before; null = absent from the results read.",
  ),
  rivalAfter: described(
    v.nullable(Rank),
    "rival_passed, rival_beaten: the rival's rank that day; null = absent from the results read.",
  ),
  change: described(v.nullable(v.picklist(RIVAL_CHANGES)), "rival_event: what changed; null elsewhere."),
  currency: described(
    v.nullable(v.string()),
    "ISO 4217, of a changed price; null elsewhere and where the store did not say.",
  ),
  device: described(v.nullable(v.picklist(DEVICES)), "chart_drop, chart_enter: whose chart; null elsewhere."),
  chart: described(v.nullable(v.picklist(CHARTS)), "chart_drop, chart_enter: which chart; null elsewhere."),
  genre: described(
    v.nullable(v.string()),
    "chart_drop, chart_enter, off_topic: the store's own id of the app's category; null elsewhere.",
  ),
  before: described(
    Value,
    "What was. The app's rank of keywords, rivals and charts, null = absent from the places read; of a rival_event the version, name, price, average of stars, address of the icon or number of screenshots; of a review_wave the mean of the days before; null elsewhere.",
  ),
  after: described(
    Value,
    "What is: as before; of a review_wave the day's reviews of one star; of a featured app the title of the story or collection, null until one was seen.",
  ),
  against: described(
    v.nullable(Day),
    "The measured UTC day that it is compared with: the last before, of the same source. Null where days are not compared, or there was none.",
  ),
  depth: described(
    v.nullable(Rank),
    "How many places were read that day; null where it is about no rank. An app that is absent may stand on any below.",
  ),
  source: described(v.nullable(v.string()), "Where it was read; null where it comes from several readings."),
  week: described(v.nullable(Week), "weekly: the app's week in figures; null elsewhere."),
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
})

export const listAlerts = operation({
  id: "list_alerts",
  method: "GET",
  path: "/alerts",
  group: "Account",
  toolset: "account",
  summary: "The alert feed, newest first.",
  description:
    "What measured days show against the measured days before them: keywords that moved by 3 places or more, came or went; rivals that passed the app or were passed, within the first 50 for those named by hand and the first 10 for others; rivals' changes; charts, features, waves of one-star reviews, and keywords whose results are of other categories. Nothing is told of days that were not measured, and never across a change of source.",
  effect: "reads",
  scope: "apps:read",
  price: 1,
  faults: [],
  input: v.strictObject({
    limit: v.optional(
      described(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(500)), "The most alerts to give."),
      50,
    ),
  }),
  output: v.strictObject({
    unread: described(
      Count,
      `Unread alerts of all apps this key may see, also of those not listed here; ${UNREAD_COUNTED.toLocaleString("en")} = that many or more.`,
    ),
    alerts: described(v.array(Row), "Newest first, by when what shows it was seen."),
    omitted: described(Count, `Older alerts beyond limit; ${UNREAD_COUNTED.toLocaleString("en")} = that many or more.`),
  }),
}).run(async ({ limit }, { sql, now, caller, visibleApps }) => {
  const apps = await visibleApps()
  const names = new Map(apps.map(({ id, name }) => [id, name]))
  const appIds = caller.appList === null ? null : [...names.keys()]
  const { unread, alerts, omitted } = await alertsOf(sql, { workspaceId: caller.workspaceId, appIds, limit })
  return { unread, alerts: alerts.map((alert) => rowOf(alert, names.get(alert.appId), dayOf(now()))), omitted }
})

function rowOf(
  { deliveries, ...alert }: FeedAlert,
  appName: string | undefined,
  today: string,
): v.InferInput<typeof Row> {
  return { ...shownAlert(alert as Alert, appName ?? alert.appId, today), deliveries }
}
