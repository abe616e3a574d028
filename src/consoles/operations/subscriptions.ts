import * as v from "valibot"
import { ofApp, operation } from "../../core/operation.ts"
import type { Sql } from "../../database/types.ts"
import { described, named } from "../../lib/schema.ts"
import { Count } from "../../tracking/shapes.ts"
import { findService } from "../billing/witnesses.ts"
import { EVENT_GROUPS, type EventGroup } from "../formulas/subscription-events.ts"
import type { ReportQuery } from "../read/app-accounts.ts"
import { type AppAccount, daysUpTo, readStanding } from "../read/app-accounts.ts"
import { readStock, readSubscriptionEvents, summedEvents } from "../read/read-subscriptions.ts"
import {
  findReportingAccounts,
  ReportDay,
  reportFields,
  reportInput,
  reportQuery,
  requireReported,
  sourceShape,
} from "./account-shapes.ts"
import { BillingFigures, readBillingFigures } from "./billing-figures.ts"
import { EventReconciliation, readEventReconciliation } from "./event-reconciliation.ts"

const Quantity = v.pipe(v.number(), v.integer())

const eventFields: Record<EventGroup, v.GenericSchema<number>> = {
  trialStarts: described(Quantity, "Free trials started."),
  trialConversions: described(Quantity, "Free trials converted to paid."),
  paidStarts: described(Quantity, "Subscriptions started with a payment, at any price."),
  reactivations: described(Quantity, "Subscriptions started again by former subscribers."),
  renewals: described(Quantity, "Renewals, including those after a billing issue."),
  planChanges: described(Quantity, "Upgrades, downgrades and crossgrades."),
  cancellations: described(Quantity, "Subscriptions ended, dated at the end of the paid period."),
  refunds: Quantity,
  billingIssues: described(Quantity, "Subscriptions that entered billing retry or a grace period."),
  other: described(Quantity, "Events of all other types."),
}

const EventsShape = named("SubscriptionEvents", v.strictObject(eventFields))

const unknownEvents = Object.fromEntries(
  Object.entries(eventFields).map(([name, schema]) => [name, v.nullable(schema)]),
) as Record<EventGroup, v.NullableSchema<v.GenericSchema<number>, undefined>>

export const getSubscriptions = operation({
  id: "get_subscriptions",
  method: "GET",
  path: "/apps/:appId/subscriptions",
  group: "Revenue and ads",
  toolset: "revenue",
  summary: "Returns subscription events by day and country, and active subscriptions.",
  description: "From the seller's console, which counts events, not people. A day not reported is null, not zero.",
  effect: "reads",
  scope: "revenue:read",
  price: 1,
  faults: ["not_connected", "not_measured", "unsupported_platform"],
  input: ofApp(reportInput),
  narrow: { rows: ["days", "countries"] },
  output: v.strictObject({
    ...reportFields,
    dating: described(v.literal("app-store-connect"), "The dating rule of the events."),
    totals: described(EventsShape, "Sums over the reported days only; see reportedDays of the source."),
    stock: described(
      v.nullable(
        v.strictObject({
          day: ReportDay,
          active: described(Count, "At the standard price."),
          trials: described(Count, "In a free trial."),
          offers: described(Count, "At a paid introductory, promotional, offer code or win-back price."),
          grace: described(Count, "In a grace period."),
          retry: described(Count, "In billing retry."),
        }),
      ),
      "Subscriptions at the end of the last reported day. Null if no day of the period is reported.",
    ),
    days: described(
      v.array(
        v.strictObject({
          day: ReportDay,
          reported: described(v.boolean(), "False if unknown; every figure is then null."),
          ...unknownEvents,
        }),
      ),
      "Every requested day, oldest first.",
    ),
    countries: described(
      v.array(
        v.strictObject({
          country: v.string(),
          ...eventFields,
          days: described(
            v.array(v.strictObject({ day: ReportDay, ...eventFields })),
            "Days with events. Other reported days had none.",
          ),
        }),
      ),
      "Storefronts with events.",
    ),
    billing: BillingFigures,
    reconciliation: described(
      v.nullable(EventReconciliation),
      "The same events as reported by a billing service or the App Store, with the causes of differences. Null " +
        "without such a source.",
    ),
  }),
}).run(async ({ app, ...rest }, ctx) => {
  const { sql } = ctx
  const query = reportQuery(rest, ctx.now())
  const accounts = await findReportingAccounts(app, ctx)
  const { seller: account } = accounts
  const [standing, [standingStock, stock], events, billing, service] = await Promise.all([
    readStanding(sql, account.id, "subscription_events", query),
    readLatestStock(sql, account, query),
    readSubscriptionEvents(sql, account, query),
    readBillingFigures(sql, accounts, query),
    findService(sql, accounts, { workspaceId: ctx.caller.workspaceId, app, days: query, store: "app_store" }),
  ])
  requireReported(
    account,
    { ...standing, report: "subscription_events" },
    { ...standingStock, report: "subscriptions" },
  )
  const byDay = Map.groupBy(events, ({ day }) => day)
  const byCountry = Map.groupBy(events, ({ country }) => country)
  const reported = new Set(standing.reported)
  return {
    dayZone: "America/Los_Angeles" as const,
    ...query,
    sources: [
      sourceShape(account, "subscription_events", standing, rest.days),
      sourceShape(account, "subscriptions", standingStock, rest.days),
    ],
    dating: "app-store-connect" as const,
    totals: summedEvents(events.map(({ counts }) => counts)),
    stock,
    days: daysUpTo(query.to, rest.days).map((day) => {
      if (!reported.has(day)) return { day, reported: false, ...UNKNOWN }
      return { day, reported: true, ...summedEvents((byDay.get(day) ?? []).map(({ counts }) => counts)) }
    }),
    countries: [...byCountry].sort().map(([country, group]) => ({
      country,
      ...summedEvents(group.map(({ counts }) => counts)),
      days: group.map(({ day, counts }) => ({ day, ...counts })),
    })),
    billing,
    reconciliation: await readEventReconciliation(sql, service, { ...query, reported: standing.reported, events }),
  }
})

const UNKNOWN = Object.fromEntries(EVENT_GROUPS.map((group) => [group, null])) as Record<EventGroup, null>

/** Returns the subscriptions of the last reported day, and how completely the report was read. */
async function readLatestStock(sql: Sql, account: AppAccount, query: ReportQuery) {
  const standing = await readStanding(sql, account.id, "subscriptions", query)
  const day = standing.reported.at(-1)
  return [standing, await readStock(sql, account, { day, country: query.country })] as const
}
