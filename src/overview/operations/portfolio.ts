import * as v from "valibot"
import { readAdsDays } from "../../consoles/ads/read/day.ts"
import { readFeedEvents } from "../../consoles/billing/read-feed.ts"
import { Money } from "../../consoles/operations/account-shapes.ts"
import { readAccountDays } from "../../consoles/read/read-day.ts"
import { readStoreDays } from "../../consoles/read/read-store-days.ts"
import { operation } from "../../core/operation.ts"
import type { TrackedApp } from "../../core/tracked-app.ts"
import type { Sql } from "../../database/types.ts"
import { sidesOf } from "../../keywords/read/day-answers.ts"
import { dayCounts, readSideDays, type SideDay } from "../../keywords/read/side-days.ts"
import { dayOf } from "../../lib/days.ts"
import { described, extending, named } from "../../lib/schema.ts"
import { type Expectation, readExpectations } from "../../measuring/under-way.ts"
import { type AppReviews, readAppReviews } from "../../reviews/read/app-day.ts"
import { Count, Rank, RankSource, Source, Store, Storefront, Time, WhyNotMeasuring } from "../../tracking/shapes.ts"
import { Card, readCards } from "./cards.ts"
import {
  Connections,
  connections,
  DayShown,
  dayFields,
  hidesMoney,
  PastDay,
  requestedDay,
  TimeZone,
} from "./day-shapes.ts"
import { oneCurrency, ownFigures, sumOfDollars } from "./own-money.ts"
import { StoreSales, StoreTotals, storeSales, storeTotals } from "./store-sales.ts"

const Figure = v.nullable(v.number())

const figures = {
  liveUsers: described(Figure, "Users at this moment. Null if not connected (see conns)."),
  users: described(Figure, "Users that day. Null if not connected."),
  newUsers: described(Figure, "New users that day. Null if not connected."),
  adRevenue: described(Figure, "US dollars that day. Null if not connected or hidden (see hiddenMoney)."),
  subscriptionRevenue: described(
    Figure,
    "US dollars that day, from the App Store. Null if not connected, not reported, hidden, or partly in other " +
      "currencies (get_revenue lists each currency).",
  ),
  trials: described(Figure, "Trials started that day. Null if not connected or not reported."),
  adSpend: described(
    v.nullable(Money),
    "Spend of Apple Ads campaigns that day, in the time zone of the account. Null if not connected, unknown, " +
      "hidden, or, for a total, in several currencies.",
  ),
  keywordsTracked: described(
    v.nullable(Count),
    "Keywords tracked in all storefronts of both stores. Null for a past day, because earlier tracking is not stored.",
  ),
  keywordsMeasured: described(
    Count,
    "Keywords tracked now with results read on the UTC day of this date. The movement counts cover the same keywords.",
  ),
  keywordsUp: described(
    v.nullable(Count),
    "Keywords that rose since the previous measured day. Null if nothing can be compared.",
  ),
  keywordsDown: described(
    v.nullable(Count),
    "Keywords that fell or dropped out since the previous measured day. Null if nothing can be compared.",
  ),
  bestRank: described(
    v.nullable(Rank),
    "Best rank of the day. Null if the app is absent from all results read, or none were read.",
  ),
  newReviews: described(
    v.nullable(Count),
    "Reviews written that day, counted in readings after its end (for a running day, after its start). Null if " +
      "there is no such reading. Google Play reviews are counted once per language.",
  ),
}

const DayFigures = named("DayFigures", v.strictObject(figures))

const AppRow = named(
  "PortfolioApp",
  extending(
    DayFigures,
    v.strictObject({
      appId: described(v.string(), "Id of the app, as in list_apps."),
      name: described(v.string(), "Name of the app, as in list_apps."),
      icon: described(v.nullable(v.string()), "URL of the store icon. Null if unknown."),
      ...figures,
      sales: v.exactOptional(
        described(v.array(StoreSales), "One row per store with a connected console. Omitted if none or hidden."),
      ),
      rankSources: described(
        v.array(RankSource),
        "Sources of the results behind the keyword figures on the UTC day of this date. Empty if none were read.",
      ),
      reviewSources: described(v.array(Source), "Sources of the reviews. Empty if newReviews is null."),
      reviewsReadAt: described(
        v.nullable(Time),
        "Time of the oldest of the readings behind newReviews. Null if newReviews is null.",
      ),
    }),
  ),
)

const SubscriptionEvent = named(
  "SubscriptionEvent",
  v.strictObject({
    at: described(v.pipe(v.string(), v.isoTimestamp()), "Time of the event."),
    appId: described(v.string(), "Id of the app, as in list_apps."),
    event: described(v.string(), "Type of the event, in the terms of its source."),
    country: described(v.nullable(Storefront), "Null if unknown."),
    revenue: described(Figure, "US dollars. Null if the event has no amount."),
  }),
)

const Pending = named(
  "PendingReading",
  v.strictObject({
    appId: described(v.string(), "Id of the app, as in list_apps."),
    platform: Store,
    country: Storefront,
    keywords: described(Count, "Keywords tracked now whose results for the day shown were not read."),
    expected: described(
      Count,
      "Those of them that will still be read that day, because this store and storefront are being read.",
    ),
    notMeasuring: described(
      WhyNotMeasuring,
      "The most frequent reason why the others will not be read. Null if all will.",
    ),
  }),
)

const MAX_EVENTS = 50

export const getPortfolioOverview = operation({
  id: "get_portfolio_overview",
  method: "GET",
  path: "/portfolio",
  group: "Account",
  toolset: "account",
  summary: "Returns one day's figures for every app.",
  description:
    "One row for each app that this key can see, and totals. An unmeasured figure is null; a total covers the " +
    "apps that have the figure. For one app in full, use get_today.",
  effect: "reads",
  scope: "apps:read",
  price: 2,
  faults: ["bad_day"],
  input: v.strictObject({ tz: TimeZone, day: PastDay }),
  narrow: { rows: ["apps"] },
  output: extending(
    DayShown,
    v.strictObject({
      ...dayFields,
      apps: described(v.array(AppRow), "Oldest first."),
      totals: described(
        extending(
          DayFigures,
          v.strictObject({
            apps: described(Count, "Number of apps that this key can see."),
            ...figures,
            sales: v.exactOptional(
              described(v.array(StoreTotals), "One row per store with a connected console. Omitted if none or hidden."),
            ),
            subscriptionRevenueWithout: v.exactOptional(
              described(
                v.array(v.string()),
                "Ids of apps missing from subscriptionRevenue: their sales are partly in other currencies, or the " +
                  "day is not reported. Omitted if there are none.",
              ),
            ),
          }),
        ),
        "Sums over the apps that have the figure; for bestRank, the best. Null if no app has it.",
      ),
      pending: described(v.array(Pending), "What was not read for the day shown. Only `expected` is still to come."),
      cards: described(v.array(Card), "The day by hour and by storefront."),
      feed: described(
        v.array(SubscriptionEvent),
        "Purchases of that day reported by a billing service or the App Store, newest first, at most " +
          `${MAX_EVENTS}. Empty without such a source; a console reports daily counts only (get_subscriptions).`,
      ),
      conns: Connections,
      hiddenMoney: described(v.boolean(), "True if this key cannot read revenue; amounts are hidden."),
    }),
  ),
}).run(async ({ tz, day }, ctx) => {
  const { sql, caller } = ctx
  const requested = requestedDay({ tz, day }, ctx.now(), caller)
  const apps = await ctx.visibleApps()
  const sides = await readSideDays(sql, apps.flatMap(sidesOf), requested.day)
  const reviews = await readAppReviews(sql, apps, requested)
  const byApp = Map.groupBy(sides, ({ appId }) => appId)
  const hiddenMoney = hidesMoney(caller)
  const accountDays = await readAccountDays(sql, caller.workspaceId, apps, requested.day)
  const ads = await readAdsDays(sql, caller.workspaceId, apps, requested.day)
  const storeDays = hiddenMoney ? [] : await readStoreDays(sql, caller.workspaceId, apps, requested.day)
  const storesOf = Map.groupBy(storeDays, ({ appId }) => appId)
  const { from, to } = requested
  const events = await readFeedEvents(sql, { workspaceId: caller.workspaceId, apps, from, to }, MAX_EVENTS)
  const rowOf = ({ id, name, icon }: TrackedApp, at: number) => ({
    appId: id,
    name,
    icon,
    ...NOT_CONNECTED,
    ...ownFigures(accountDays.get(id), ads.get(id), hiddenMoney),
    ...keywordFigures(byApp.get(id) ?? [], requested.shown),
    ...writtenOf(reviews[at] as AppReviews),
    ...(storesOf.has(id) && { sales: storesOf.get(id)!.map(storeSales) }),
  })
  const rows = apps.map(rowOf)
  return {
    ...requested.shown,
    apps: rows,
    totals: {
      apps: rows.length,
      ...totalsOf(rows, requested.shown),
      ...(storeDays.length > 0 && { sales: storeTotals(storeDays) }),
      ...(!hiddenMoney && leftOut(rows, [...accountDays.keys()])),
    },
    pending: await countPending(sql, sides, { day: requested.day, today: dayOf(ctx.now()) }),
    cards: await readCards(sql, { workspaceId: caller.workspaceId, hiddenMoney }, apps, requested.day),
    feed: events.map((event) => ({
      ...event,
      at: event.at.toISOString(),
      revenue: hiddenMoney ? null : event.revenue,
    })),
    conns: connections({ subscriptions: [...accountDays.values()], apple_ads: [...ads.values()] }),
    hiddenMoney,
  }
})

const NOT_CONNECTED = {
  liveUsers: null,
  users: null,
  newUsers: null,
  adRevenue: null,
  subscriptionRevenue: null,
  trials: null,
  adSpend: null,
}

function writtenOf({ newReviews, reviewSources, reviewsReadAt }: AppReviews) {
  return { newReviews, reviewSources, reviewsReadAt }
}

function keywordFigures(sides: readonly SideDay[], { past }: { past: boolean }) {
  const { tracked, measured, up, down, best, sources } = dayCounts(sides.flatMap(({ terms }) => terms))
  return {
    keywordsTracked: past ? null : tracked,
    keywordsMeasured: measured,
    keywordsUp: up,
    keywordsDown: down,
    bestRank: best,
    rankSources: sources,
  }
}

/**
 * Counts the keywords that were not read on the day, and why. Stores are read once per UTC day, so a day that is over
 * gets no more readings.
 */
async function countPending(sql: Sql, sides: readonly SideDay[], { day, today }: { day: string; today: string }) {
  const unread = sides.flatMap(({ terms, ...side }) => {
    const left = terms.filter(({ measured }) => !measured).map(({ term }) => term)
    return left.length > 0 ? [{ ...side, terms: left }] : []
  })
  const past = { expected: 0, notMeasuring: "past" as const }
  const expectations = day < today ? unread.map(() => past) : await readExpectations(sql, unread, day)
  return unread.map(({ appId, platform, storefront, terms }, at): v.InferOutput<typeof Pending> => {
    return { appId, platform, country: storefront, keywords: terms.length, ...(expectations[at] as Expectation) }
  })
}

type PortfolioRow = v.InferOutput<typeof AppRow>

/** Lists the apps with a connected account whose revenue is missing from the total. */
function leftOut(rows: readonly PortfolioRow[], connected: readonly string[]) {
  const without = rows.filter((row) => row.subscriptionRevenue === null && connected.includes(row.appId))
  return without.length > 0 && { subscriptionRevenueWithout: without.map(({ appId }) => appId) }
}

function totalsOf(rows: readonly PortfolioRow[], { past }: { past: boolean }) {
  const valuesOf = (name: Exclude<keyof typeof figures, "adSpend">) => rows.flatMap((row) => row[name] ?? [])
  const sum = (name: Exclude<keyof typeof figures, "adSpend">) => {
    const values = valuesOf(name)
    return values.length > 0 ? values.reduce((total, value) => total + value, 0) : null
  }
  const ranks = valuesOf("bestRank")
  return {
    ...NOT_CONNECTED,
    subscriptionRevenue: sumOfDollars(valuesOf("subscriptionRevenue")),
    trials: sum("trials"),
    adSpend: oneCurrency(rows.flatMap(({ adSpend }) => adSpend ?? [])),
    keywordsTracked: past ? null : (sum("keywordsTracked") ?? 0),
    keywordsMeasured: sum("keywordsMeasured") ?? 0,
    keywordsUp: sum("keywordsUp"),
    keywordsDown: sum("keywordsDown"),
    bestRank: ranks.length > 0 ? Math.min(...ranks) : null,
    newReviews: sum("newReviews"),
  }
}
