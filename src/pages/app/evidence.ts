import * as v from "valibot"
import { OUTCOMES } from "../../core/observation/attempt.ts"
import { feedOf } from "../../core/observation/feed-name.ts"
import { DEMO } from "../../core/observation/provenance.ts"
import { ofApp, operation } from "../../core/operation.ts"
import { ownId } from "../../core/ranked-app.ts"
import type { TrackedApp } from "../../core/tracked-app.ts"
import type { Sql } from "../../database/types.ts"
import {
  isTracked,
  readAppReadings,
  readFailedReadings,
  readLastDay,
  readMetricsUntil,
  readRatingsUntil,
  readReadingApps,
  readReadingsOn,
} from "../../keywords/read/evidence.ts"
import { urlOf } from "../../keywords/read/keyword-evidence.ts"
import { dayOf } from "../../lib/days.ts"
import { Fault } from "../../lib/faults.ts"
import { AppCountry, Platform, Term } from "../../lib/fields.ts"
import { reviewLanguage } from "../../lib/review-language.ts"
import { described } from "../../lib/schema.ts"
import { Count, Day, Rank, Store, Storefront, Time } from "../../lib/shapes.ts"
import { isRealDay } from "../../lib/time.ts"
import type { Sources } from "../../sources.ts"
import { hasDemoSeller } from "../../tracking/tracked-app.ts"

/** Maximum number of places shown per reading. */
const SHOWN_PLACES = 100

const origin = {
  source: described(v.string(), "The source."),
  seenAt: described(Time, "When it was read."),
  parser: described(v.nullable(Count), "Version of the parser. Null if only the time is stored."),
  sha256: described(v.nullable(v.string()), "SHA-256 of the response, in hex."),
  url: described(v.nullable(v.string()), "The address that was requested. Null for imports."),
  egress: described(v.nullable(v.string()), "Country from which it was requested. Null if unknown or irrelevant."),
  origin: described(v.string(), "own, import or demo."),
}

const Reading = v.strictObject({
  ...origin,
  depth: described(Count, "Number of places read."),
  complete: described(v.boolean(), "False if the reading ended early. Then it gives the day no rank."),
  rank: described(v.nullable(Rank), "Rank of the app. Null if it is absent."),
})

const Place = v.strictObject({
  place: Rank,
  id: described(v.string(), "Store id."),
  name: described(v.nullable(v.string()), "Null until a name was read."),
  own: described(v.boolean(), "Whether it is the tracked app."),
})

const Metric = v.strictObject({
  metric: v.string(),
  day: Day,
  source: v.string(),
  seenAt: Time,
  score: described(v.nullable(v.number()), "Null if it cannot be calculated."),
  formula: described(Count, "Version of the formula. 0 for published figures."),
  restsOn: v.array(v.strictObject({ source: v.string(), seenAt: Time, sha256: v.nullable(v.string()) })),
})

const Ratings = v.strictObject({ ...origin, day: Day, ratings: v.nullable(Count), rating: v.nullable(v.number()) })

/** Returns the operation get_evidence. `sources` gives the addresses of the readings. */
export const getEvidence = (sources: Sources) =>
  operation({
    id: "get_evidence",
    method: "GET",
    path: "/page/:appId/evidence",
    group: "Your apps",
    toolset: "keywords",
    summary: "The readings behind the figures of a tracked keyword.",
    effect: "reads",
    scope: "apps:read",
    price: 0,
    faults: [],
    names: "term",
    input: ofApp({
      country: AppCountry,
      platform: Platform,
      term: Term,
      day: v.optional(v.pipe(v.string(), v.check(isRealDay), v.description("Default: the latest measured day."))),
    }),
    output: v.strictObject({
      term: v.string(),
      country: Storefront,
      platform: Store,
      day: Day,
      readings: described(
        v.array(Reading),
        "Readings of the day. If the first is complete, the day's rank is from it.",
      ),
      places: described(v.array(Place), `The first ${SHOWN_PLACES} places of the first reading.`),
      metrics: v.array(Metric),
      ratings: v.array(Ratings),
    }),
  }).run(async ({ app, storefront, platform, term, day: requestedDay }, { sql, now }) => {
    const list = { platform, storefront, term }
    // the readings of a keyword are evidence only if the app tracks the keyword
    if (!(await isTracked(sql, app.id, storefront, term))) throw new Fault("not_found")
    const today = dayOf(now())
    const day = requestedDay ?? (await readLastDay(sql, list)) ?? today
    const storeAppId = ownId(app, list) ?? 0
    const readings = await readReadingsOn(sql, { list, day, app: storeAppId })
    const first = readings[0]
    return {
      term,
      country: storefront,
      platform,
      day,
      readings: readings.map((one) => ({
        ...one,
        ...timed(one),
        url: urlOf(sources, one.source, { storefront, term }),
      })),
      places: first ? await readPlaces(sql, app, { ...list, day, storeAppId, seenAt: first.seenAt }) : [],
      metrics: (await readMetricsUntil(sql, list, requestedDay ?? today)).map(({ parts, ...one }) => ({
        ...one,
        ...timed(one),
        restsOn: restsOn(parts),
      })),
      ratings: (await readRatingsUntil(sql, { app: storeAppId, storefront, day: requestedDay ?? today })).map(
        ({ term: of, ...one }) => ({
          ...one,
          ...timed(one),
          url: urlOf(sources, one.source, { storefront, term: of, ids: [idOf(app, platform)] }),
        }),
      ),
    }
  })

const AppReadingShape = v.strictObject({
  of: described(v.string(), "What was read."),
  source: v.string(),
  seenAt: Time,
  sameSince: described(v.nullable(Time), "Time since which the content is unchanged."),
  parser: v.nullable(Count),
  sha256: v.nullable(v.string()),
  origin: v.string(),
})

const FailedReadingShape = v.strictObject({
  of: described(v.picklist(["page", "reviews"]), "What could not be read."),
  failedAt: described(Time, "When the last attempt failed."),
  outcome: described(v.picklist(OUTCOMES), "How it failed."),
})

export const listReadings = operation({
  id: "list_readings",
  method: "GET",
  path: "/page/:appId/readings",
  group: "Your apps",
  toolset: "page",
  summary: "The latest readings of an app's page, its reviews and its charts.",
  effect: "reads",
  scope: "apps:read",
  price: 0,
  faults: [],
  input: ofApp({ country: AppCountry, platform: Platform }),
  output: v.strictObject({
    country: Storefront,
    platform: Store,
    readings: v.array(AppReadingShape),
    failed: v.array(FailedReadingShape),
  }),
}).run(async ({ app, storefront, platform }, { sql }) => {
  const storeAppId = ownId(app, { platform, storefront })
  const place = { platform, storefront, language: reviewLanguage(storefront) }
  const hiddenFeeds = (await hasDemoSeller(sql, app.id)) ? [] : [feedOf({ ...place, origin: DEMO })]
  const readings =
    storeAppId === null ? [] : await readAppReadings(sql, { app: storeAppId, storefront, platform, hiddenFeeds })
  const failed = await readFailedReadings(sql, { id: idOf(app, platform), storefront, platform })
  return {
    country: storefront,
    platform,
    readings: readings.map((one) => ({ ...one, ...timed(one), sameSince: one.sameSince?.toISOString() ?? null })),
    failed: failed.map(({ failedAt, ...one }) => ({ ...one, failedAt: failedAt.toISOString() })),
  }
})

const timed = ({ seenAt }: { seenAt: Date }) => ({ seenAt: seenAt.toISOString() })

const idOf = (app: TrackedApp, platform: "ios" | "android") => (platform === "ios" ? app.iosId : app.androidPkg) ?? ""

type ReadingPlace = Parameters<typeof readReadingApps>[1] & { storeAppId: number }

async function readPlaces(sql: Sql, app: TrackedApp, reading: ReadingPlace): Promise<v.InferInput<typeof Place>[]> {
  const apps = await readReadingApps(sql, reading, { most: SHOWN_PLACES, countries: app.countries })
  return apps.map(({ place, id, storeId, name }) => ({ place, id: storeId, name, own: id === reading.storeAppId }))
}

/** Returns the report that contains a published figure, or the readings from which a figure was calculated. */
function restsOn(parts: Record<string, unknown>) {
  const { read } = parts as { read?: { source: string; seenAt: string; sha256?: string }[] }
  if (!Array.isArray(read)) return []
  return read.map(({ source, seenAt, sha256 = null }) => ({ source, seenAt, sha256 }))
}
