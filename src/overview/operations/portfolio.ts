import * as v from "valibot"
import { readAdsDays } from "../../consoles/ads/read/day.ts"
import { readToldEvents } from "../../consoles/billing/read-feed.ts"
import { Money } from "../../consoles/operations/account-shapes.ts"
import { readAccountDays } from "../../consoles/read/read-day.ts"
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
  askedDay,
  askedDayFields,
  Connections,
  connections,
  DayShown,
  hidesMoney,
  PastDay,
  TimeZone,
} from "./day-shapes.ts"
import { oneCurrency, ownFigures, sumOfDollars } from "./own-money.ts"

const Figure = v.nullable(v.number())

const figures = {
  liveUsers: described(Figure, "Users just now. Null = not connected (conns)."),
  users: described(Figure, "Users that day. Null = not connected."),
  newUsers: described(Figure, "Users that were new that day. Null = not connected."),
  adRevenue: described(Figure, "US dollars that day. Null = not connected, or hidden (hiddenMoney)."),
  subscriptionRevenue: described(
    Figure,
    "US dollars that day. Null = not connected, not reported, hidden, or not all in US dollars (get_revenue has each currency).",
  ),
  trials: described(Figure, "Trials begun that day. Null = not connected, or not reported."),
  adSpend: described(
    v.nullable(Money),
    "What campaigns of Apple Ads cost that day of their account's zone. Null = not connected, not known, hidden, or of a total not all in one currency.",
  ),
  keywordsTracked: described(
    v.nullable(Count),
    "Over all storefronts and both stores. Null for a past day: which keywords were tracked then is not kept.",
  ),
  keywordsMeasured: described(
    Count,
    "Of the keywords tracked now, those whose results were read on the UTC day of this date; so are all that moved.",
  ),
  keywordsUp: described(v.nullable(Count), "Moved up since the measured day before; null = nothing can be compared."),
  keywordsDown: described(v.nullable(Count), "Moved down, dropped out included; null = nothing can be compared."),
  bestRank: described(v.nullable(Rank), "Null = on no keyword among the results read that day, or none read."),
  newReviews: described(
    v.nullable(Count),
    "Written that day, of the reviews that were read since it ended, or, of a day that is not over, since it began; null = none were. Google Play's are counted once a language.",
  ),
}

const DayFigures = named("DayFigures", v.strictObject(figures))

const AppRow = named(
  "PortfolioApp",
  extending(
    DayFigures,
    v.strictObject({
      appId: described(v.string(), "As in list_apps."),
      name: described(v.string(), "As list_apps names it."),
      icon: described(v.nullable(v.string()), "Address of the store icon; null where none was seen yet."),
      ...figures,
      rankSources: described(
        v.array(RankSource),
        "Who read the results that the keyword figures come from, on the UTC day of this date. Empty where none were read.",
      ),
      reviewSources: described(v.array(Source), "Who read the reviews. Empty where newReviews is null."),
      reviewsReadAt: described(
        v.nullable(Time),
        "When the list of reviews that was read longest ago was read; null where newReviews is.",
      ),
    }),
  ),
)

const SubscriptionEvent = named(
  "SubscriptionEvent",
  v.strictObject({
    at: described(v.pipe(v.string(), v.isoTimestamp()), "When it happened."),
    appId: described(v.string(), "As in list_apps."),
    event: described(v.string(), "What happened, as its source calls it."),
    country: described(v.nullable(Storefront), "Null = not said."),
    revenue: described(Figure, "US dollars; null = none came with it."),
  }),
)

const Pending = named(
  "PendingReading",
  v.strictObject({
    appId: described(v.string(), "As in list_apps."),
    platform: Store,
    country: Storefront,
    keywords: described(Count, "Keywords tracked now whose results of the day shown were not read."),
    expected: described(
      Count,
      "Of them, those that will still be read that day: something reads this store and storefront now.",
    ),
    notMeasuring: described(WhyNotMeasuring, "Why most of the others will not; null where all will."),
  }),
)

const MAX_EVENTS = 50

export const getPortfolioOverview = operation({
  id: "get_portfolio_overview",
  method: "GET",
  path: "/portfolio",
  group: "Account",
  toolset: "account",
  summary: "One day across all apps.",
  description:
    "A row for each app that this key may see, and their totals. A figure that was not measured is null; a total is that of the apps that have the figure. get_today has one app in full.",
  effect: "reads",
  scope: "apps:read",
  price: 2,
  faults: ["bad_day"],
  input: v.strictObject({ tz: TimeZone, day: PastDay }),
  narrow: { rows: ["apps"] },
  output: extending(
    DayShown,
    v.strictObject({
      ...askedDayFields,
      apps: described(v.array(AppRow), "Oldest first."),
      totals: described(
        extending(
          DayFigures,
          v.strictObject({
            apps: described(Count, "Apps that this key may see."),
            ...figures,
            subscriptionRevenueWithout: v.exactOptional(
              described(
                v.array(v.string()),
                "Apps that are not in subscriptionRevenue, by appId: not all of what they sold is in US dollars, or the day is not reported. Left out where none are.",
              ),
            ),
          }),
        ),
        "Over the apps that have the figure; of bestRank the best. Null = no app has it.",
      ),
      pending: described(
        v.array(Pending),
        "What was not read of the day shown; the day waits for what is `expected` of it, and for nothing else.",
      ),
      cards: described(v.array(Card), "The day by the hour, and by storefront."),
      feed: described(
        v.array(SubscriptionEvent),
        `What a billing service or the App Store told of purchases that day, newest first, at most ${MAX_EVENTS}. Empty where nobody tells of each: a console counts them by the day (get_subscriptions).`,
      ),
      conns: Connections,
      hiddenMoney: described(v.boolean(), "This key may not read revenue: money is hidden."),
    }),
  ),
}).run(async ({ tz, day }, ctx) => {
  const { sql, caller } = ctx
  const requested = askedDay({ tz, day }, ctx.now(), caller)
  const apps = await ctx.visibleApps()
  const sides = await readSideDays(sql, apps.flatMap(sidesOf), requested.day)
  const reviews = await readAppReviews(sql, apps, requested)
  const byApp = Map.groupBy(sides, ({ appId }) => appId)
  const hiddenMoney = hidesMoney(caller)
  const accountDays = await readAccountDays(sql, caller.workspaceId, apps, requested.day)
  const ads = await readAdsDays(sql, caller.workspaceId, apps, requested.day)
  const { from, to } = requested
  const events = await readToldEvents(sql, { workspaceId: caller.workspaceId, apps, from, to }, MAX_EVENTS)
  const rowOf = ({ id, name, icon }: TrackedApp, at: number) => ({
    appId: id,
    name,
    icon,
    ...NOT_CONNECTED,
    ...ownFigures(accountDays.get(id), ads.get(id), hiddenMoney),
    ...keywordFigures(byApp.get(id) ?? [], requested.shown),
    ...(reviews[at] as AppReviews),
  })
  const rows = apps.map(rowOf)
  return {
    ...requested.shown,
    apps: rows,
    totals: {
      apps: rows.length,
      ...totalsOf(rows, requested.shown),
      ...(!hiddenMoney && leftOut(rows, [...accountDays.keys()])),
    },
    pending: await countPending(sql, sides, { day: requested.day, today: dayOf(ctx.now()) }),
    cards: await readCards(sql, { workspaceId: caller.workspaceId, hiddenMoney }, apps, requested.day),
    feed: events.map((one) => ({ ...one, at: one.at.toISOString(), revenue: hiddenMoney ? null : one.revenue })),
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

/** Stores are read once per UTC day, so a day that is over gets no more readings. */
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
