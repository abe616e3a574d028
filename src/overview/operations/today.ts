import * as v from "valibot"
import { planCovers } from "../../access/plans.ts"
import { type AdsDay, readAdsDays } from "../../consoles/ads/read/day.ts"
import {
  type AccountDay,
  type CountryProceeds,
  readAccountDays,
  readCountryProceeds,
} from "../../consoles/read/read-day.ts"
import { readStoreDays, type StoreDay } from "../../consoles/read/read-store-days.ts"
import type { Platform } from "../../core/observation/provenance.ts"
import { ofApp, operation } from "../../core/operation.ts"
import type { TrackedApp } from "../../core/tracked-app.ts"
import type { Sql } from "../../database/types.ts"
import { type SideApp, sidesOf } from "../../keywords/read/day-answers.ts"
import { readRatingsOn, readStorefrontReviews } from "../../keywords/read/day-facts.ts"
import { readSideDays, type SideDay } from "../../keywords/read/side-days.ts"
import { described, extending, named } from "../../lib/schema.ts"
import { PAGE_CHANGES } from "../../listings/changes.ts"
import { ChangeShape, changeFields, changeShape, PageChangeKind } from "../../listings/operations/listing-shapes.ts"
import { readChanges } from "../../listings/read/changes.ts"
import { Count, Day, Store, Storefront, Time } from "../../tracking/shapes.ts"
import { Move, movesOf } from "./day-moves.ts"
import {
  Connections,
  connections,
  DayShown,
  dayFields,
  hidesMoney,
  MONEY_FIGURES,
  OWN_FIGURES,
  PastDay,
  type RequestedDay,
  requestedDay,
  TimeZone,
} from "./day-shapes.ts"
import { StoreSales, storeSales } from "./store-sales.ts"

const PUBLIC_FIGURES = [
  "keywordsTracked",
  "keywordsMeasured",
  "keywordsRanked",
  "keywordsUp",
  "keywordsDown",
  "keywordsEntered",
  "keywordsDropped",
  "bestRank",
  "rating",
  "ratings",
  "newReviews",
  "lowReviews",
  "newReviewsAverage",
] as const

const Figure = named(
  "DayFigure",
  v.strictObject({
    key: described(
      v.picklist([...OWN_FIGURES, "proceeds", ...PUBLIC_FIGURES]),
      "proceeds: proceeds of the seller per storefront and currency, on Google Play settled; keywords…: keywords of " +
        "the storefront that are tracked now, by state: measured that day, ranked among the results read, moved " +
        "since the previous measured day; rating: average of all ratings; ratings: their number; lowReviews: " +
        "reviews with 1 or 2 stars.",
    ),
    platform: described(v.nullable(Store), "Null if the figure covers the whole app."),
    country: described(v.nullable(Storefront), "Null if the figure covers the whole app."),
    value: described(
      v.nullable(v.number()),
      "Null unless state is measured. Also null if a measured day has no value, for example the average of no " +
        "reviews, or subscriptionRevenue partly in other currencies (get_revenue lists each currency).",
    ),
    currency: described(v.nullable(v.string()), "ISO 4217 code of an amount. Null for other figures and if unknown."),
    was: described(
      v.nullable(v.number()),
      "Ratings on the previous measured day, from the same source. Null if there is none.",
    ),
    against: described(v.nullable(Day), "The UTC day of `was`."),
    state: described(
      v.picklist(["measured", "not_measured", "not_connected", "hidden"]),
      "not_measured: not read that day, or, for keywordsTracked of a past day, not stored; not_connected: from a " +
        "source that the workspace has not connected; hidden: this key cannot read money.",
    ),
    source: described(v.nullable(v.string()), "Source of the figure. Null if there is none."),
    measuredAt: described(
      v.nullable(Time),
      "Time of the reading, if the figure has a single one. Null for keywords, which are read at different times " +
        "of the UTC day; list_keyword_ranks has the latest.",
    ),
  }),
)
type FigureRow = v.InferOutput<typeof Figure>

const Change = named(
  "DayChange",
  extending(
    ChangeShape,
    v.strictObject({ country: Storefront, platform: Store, kind: PageChangeKind, ...changeFields }),
  ),
)

const MAX_MOVES = 10
const MAX_CHANGES = 50

export const getToday = operation({
  id: "get_today",
  method: "GET",
  path: "/apps/:appId/today",
  group: "Your apps",
  toolset: "apps",
  summary: "Returns one app's figures for a day, each with its source.",
  description:
    "What moved, changed and was measured on one day in every storefront and store of the app. Stores are read " +
    "once per UTC day; reviews and changes belong to the day in the requested time zone. No figure is guessed: " +
    "`state` gives the reason for a missing value. get_portfolio_overview has one row for each app.",
  effect: "reads",
  scope: "apps:read",
  plan: "free",
  price: 1,
  faults: ["bad_day"],
  input: ofApp({ tz: TimeZone, day: PastDay }),
  narrow: { rows: ["figures"] },
  output: extending(
    DayShown,
    v.strictObject({
      appId: described(v.string(), "Id of the app, as in list_apps."),
      name: described(v.string(), "Name of the app, as in list_apps."),
      ...dayFields,
      figures: described(
        v.array(Figure),
        "The workspace's own figures first, then keywords, ratings and reviews, per storefront and store.",
      ),
      moves: described(
        v.array(Move),
        `Keywords that moved since the previous measured day: the ${MAX_MOVES} biggest movements.`,
      ),
      movesOmitted: described(Count, "Number of smaller movements not listed."),
      changes: described(
        v.array(Change),
        `Changes of the app's store pages seen that day, newest first, at most ${MAX_CHANGES}.`,
      ),
      changesOmitted: described(Count, "Number of earlier changes of the day not listed."),
      sales: v.exactOptional(
        described(v.array(StoreSales), "One row per store with a connected console. Omitted if none or hidden."),
      ),
      conns: Connections,
      hiddenMoney: described(v.boolean(), "True if this key cannot read revenue; amounts are hidden."),
    }),
  ),
}).run(async ({ app, tz, day }, { sql, now, caller }) => {
  const requested = requestedDay({ tz, day }, now(), caller)
  const accountDay = (await readAccountDays(sql, caller.workspaceId, [app], requested.day)).get(app.id)
  const ads = (await readAdsDays(sql, caller.workspaceId, [app], requested.day)).get(app.id)
  const sides = sidesOf(app)
  const ranked = await readSideDays(sql, sides, requested.day)
  const [ratings, reviews, changes] = [
    await readRatingFigures(sql, sides, requested.day),
    await readReviewFigures(sql, sides, requested),
    await readChangesSeen(sql, app, requested, { promotional: planCovers(caller.plan, "pro") }),
  ]
  const moves = movesOf(ranked)
  const hiddenMoney = hidesMoney(caller)
  const stores = hiddenMoney ? [] : await readStoreDays(sql, caller.workspaceId, [app], requested.day)
  const readProceeds = (store: Platform) => readCountryProceeds(sql, caller.workspaceId, [app], requested.day, store)
  const play = stores.find(({ platform }) => platform === "android")
  return {
    appId: app.id,
    name: app.name,
    ...requested.shown,
    figures: [
      ...ownFigures(accountDay, ads, hiddenMoney),
      ...(hiddenMoney
        ? [{ ...figure("proceeds", null), state: "hidden" as const }]
        : play && app.iosId === null
          ? []
          : proceedsFigures(await readProceeds("ios"), accountDay)),
      ...(play ? playProceeds(await readProceeds("android"), play) : []),
      ...ranked.flatMap((side) => keywordFigures(side, requested.shown)),
      ...ratings,
      ...reviews,
    ],
    moves: moves.slice(0, MAX_MOVES),
    movesOmitted: Math.max(0, moves.length - MAX_MOVES),
    changes: changes.slice(0, MAX_CHANGES),
    changesOmitted: Math.max(0, changes.length - MAX_CHANGES),
    ...(stores.length > 0 && { sales: stores.map(storeSales) }),
    conns: connections({ subscriptions: accountDay ? [accountDay] : [], apple_ads: ads ? [ads] : [] }),
    hiddenMoney,
  }
})

/** Figures of the app's own accounts, for the day in the account's time zone. */
function ownFigures(account: AccountDay | undefined, ads: AdsDay | undefined, hiddenMoney: boolean): FigureRow[] {
  const reported: Partial<Record<(typeof OWN_FIGURES)[number], FigureRow>> = {
    ...(account && {
      trials: reportedFigure("trials", account.trials, "asc-subscription-events", account.trialsReadAt),
      subscriptionRevenue: {
        ...reportedFigure("subscriptionRevenue", account.dollars, "asc-sales", account.salesReadAt),
        currency: account.dollars === null ? null : "USD",
      },
    }),
    ...(ads && {
      adSpend: {
        ...reportedFigure("adSpend", ads.spend && Number(ads.spend.amount), "apple-ads-days", ads.readAt),
        currency: ads.spend?.currency ?? null,
      },
    }),
  }
  return OWN_FIGURES.map((key) => {
    if (hiddenMoney && MONEY_FIGURES.includes(key)) return { ...figure(key, null), state: "hidden" }
    return reported[key] ?? { ...figure(key, null), state: "not_connected" }
  })
}

/** Returns one figure per storefront with proceeds. Without any, a single figure has the reason. */
function proceedsFigures(
  { state, rows }: Awaited<ReturnType<typeof readCountryProceeds>>,
  account: AccountDay | undefined,
): FigureRow[] {
  if (state !== "measured") return [{ ...figure("proceeds", null), state }]
  const reading = reportedFigure("proceeds", null, "asc-sales", account?.salesReadAt ?? null)
  const figures = countryFigures(rows, { ...reading, platform: "ios" })
  return figures.length > 0 ? figures : [{ ...reading, value: 0 }]
}

/** Returns the settled earnings, which Google Play Console reports in the next month. */
function playProceeds({ rows }: Awaited<ReturnType<typeof readCountryProceeds>>, { proceeds }: StoreDay): FigureRow[] {
  const platform = "android" as const
  const reading = { ...reportedFigure("proceeds", null, "play-earnings", proceeds.readAt), platform }
  if (proceeds.readAt === null) return [reading]
  const figures = countryFigures(rows, reading)
  return figures.length > 0 ? figures : [{ ...reading, value: 0 }]
}

function countryFigures(rows: readonly CountryProceeds[], reading: FigureRow): FigureRow[] {
  return rows.flatMap(({ country, proceeds }) =>
    proceeds.map(({ amount, currency }) => ({ ...reading, country, value: Number(amount), currency })),
  )
}

function reportedFigure(key: FigureRow["key"], value: number | null, source: string, readAt: Date | null): FigureRow {
  if (readAt === null) return figure(key, null)
  return { ...figure(key, null), value, source, measuredAt: readAt.toISOString(), state: "measured" }
}

function figure(key: FigureRow["key"], side: Pick<SideApp, "platform" | "storefront"> | null): FigureRow {
  const place = { platform: side?.platform ?? null, country: side?.storefront ?? null }
  const unknown = { value: null, currency: null, was: null, against: null, source: null, measuredAt: null }
  return { key, ...place, ...unknown, state: "not_measured" }
}

/**
 * Returns the keyword figures of a storefront. The number of tracked keywords is known only for today, all other
 * figures only for measured days.
 */
function keywordFigures(side: SideDay, { past }: { past: boolean }): FigureRow[] {
  const measured = side.terms.filter((term) => term.measured)
  const ranks = measured.flatMap(({ rank }) => rank ?? [])
  const moved = (direction: string) => measured.filter(({ move }) => move?.direction === direction).length
  const comparable = measured.some(({ move }) => move !== null)
  const sources = [...new Set(measured.flatMap(({ source }) => source ?? []))].join(", ")
  const tracked = (key: FigureRow["key"], value: number): FigureRow => {
    return { ...figure(key, side), value, state: "measured", source: "appmeter" }
  }
  const counted = (key: FigureRow["key"], value: number | null, isKnown = measured.length > 0): FigureRow =>
    isKnown ? { ...figure(key, side), value, state: "measured", source: sources } : figure(key, side)
  return [
    past ? figure("keywordsTracked", side) : tracked("keywordsTracked", side.terms.length),
    tracked("keywordsMeasured", measured.length),
    counted("keywordsRanked", ranks.length),
    counted("keywordsUp", moved("up"), comparable),
    counted("keywordsDown", moved("down"), comparable),
    counted("keywordsEntered", moved("entered"), comparable),
    counted("keywordsDropped", moved("dropped"), comparable),
    counted("bestRank", ranks.length > 0 ? Math.min(...ranks) : null),
  ]
}

async function readRatingFigures(sql: Sql, sides: readonly SideApp[], day: string): Promise<FigureRow[]> {
  const places = sides.map(({ storeAppId, storefront }) => ({ app: storeAppId as number, storefront }))
  const days = await readRatingsOn(sql, places, day)
  return sides.flatMap((side, at) =>
    (["rating", "ratings"] as const).map((key): FigureRow => {
      const seen = days[at]
      if (!seen || seen[key] === null) return figure(key, side)
      const { source, seenAt, before } = seen
      const against = before && before[key] !== null ? before.day : null
      const was = before?.[key] ?? null
      const reading = { value: seen[key], was, against, source, measuredAt: seenAt.toISOString() }
      return { ...figure(key, side), ...reading, state: "measured" }
    }),
  )
}

async function readReviewFigures(sql: Sql, sides: readonly SideApp[], span: RequestedDay): Promise<FigureRow[]> {
  const places = sides.map(({ platform, storefront, storeAppId }) => ({
    platform,
    storefront,
    app: storeAppId as number,
  }))
  const written = await readStorefrontReviews(sql, places, span)
  return sides.flatMap((side, at) => {
    const { measured, readAt, source, count, low, average } = written[at] as (typeof written)[number]
    const values = [
      ["newReviews", count],
      ["lowReviews", low],
      ["newReviewsAverage", average],
    ] as const
    return values.map(([key, value]): FigureRow => {
      if (!measured || readAt === null) return figure(key, side)
      const reading = {
        value: value === null ? null : Math.round(value * 100) / 100,
        source,
        measuredAt: readAt.toISOString(),
      }
      return { ...figure(key, side), ...reading, state: "measured" }
    })
  })
}

async function readChangesSeen(
  sql: Sql,
  app: TrackedApp,
  { from, to }: RequestedDay,
  { promotional }: { promotional: boolean },
): Promise<v.InferOutput<typeof Change>[]> {
  const apps = [app.iosApp, app.androidApp].filter((id) => id !== null)
  // a day of a time zone overlaps two UTC days, or three near the date line
  const days = { from: from.toISOString().slice(0, 10), to: to.toISOString().slice(0, 10) }
  const found = await readChanges(sql, { apps, ...days, kinds: PAGE_CHANGES, limit: 1_000 })
  return found
    .filter(({ at, storefront }) => at >= from && at < to && app.countries.includes(storefront))
    .map((change) => ({
      country: change.storefront,
      platform: change.appId === app.iosApp ? ("ios" as const) : ("android" as const),
      kind: change.kind as (typeof PAGE_CHANGES)[number],
      ...changeShape(change, { promotional }),
    }))
}
