import * as v from "valibot"
import type { ChartKey } from "../../core/observation/subjects.ts"
import { ofApp, operation } from "../../core/operation.ts"
import { ownId } from "../../core/ranked-app.ts"
import type { TrackedApp } from "../../core/tracked-app.ts"
import type { Sql } from "../../database/types.ts"
import { CHARTS } from "../../lib/charts.ts"
import { AppCountry, wholeNumber } from "../../lib/fields.ts"
import { coded, described, extending, named } from "../../lib/schema.ts"
import { parseRival } from "../../lib/store-ids.ts"
import { nameIn } from "../../stores/store/app-names.ts"
import { Count, Day, Rank, Storefront, Time } from "../../tracking/shapes.ts"
import { type ChartMovers, type ChartStanding, type MeasuredDay, readChartMovers } from "../read/chart-movers.ts"
import { Genre, genreId, readCategory, readGenreNames, refuseUnknownGenre } from "./chart-genres.ts"
import { ChartStore, Depth, Source } from "./charts.ts"
import { readMoverNames } from "./shown-movers.ts"

/** The minimum number of places of a riser or a faller. */
const PLACES = 3
const MAX_RIVALS = 50

const Kind = v.optional(coded(v.pipe(v.picklist(CHARTS), v.description("The iPhone chart.")), "bad_kind"), "free")

const GenreId = v.optional(genreId("The App Store's genre id; 36 means all apps. Default: the app's category."))

const Days = v.optional(
  wholeNumber(1, 90, "Days between the latest measured day and the day to compare with.", "bad_days"),
  1,
)

const Limit = v.optional(
  wholeNumber(1, 100, "Maximum number of apps in each of the four lists.", "invalid_arguments"),
  25,
)

const Measured = named(
  "ChartReading",
  v.strictObject({
    day: Day,
    measuredAt: described(Time, "Time of the reading."),
    depth: Depth,
    source: Source,
  }),
)

const appFields = {
  id: described(v.string(), "App Store id."),
  name: described(v.string(), "Name in the store, or the store id if unknown."),
}
const later = { rank: described(Rank, "Rank on `day`.") }
const earlier = { was: described(Rank, "Rank on `against`.") }
const Moved = named("ChartMove", v.strictObject({ ...appFields, ...later, ...earlier }))

const stood = {
  rank: described(
    v.nullable(Rank),
    "Rank on `day`. Null if absent from the places read or the chart is not measured (see state).",
  ),
  was: described(
    v.nullable(Rank),
    "Rank on `against`. Null if absent from the places read or nothing can be compared (see state).",
  ),
}

const Standing = named("ChartStanding", v.strictObject({ ...appFields, ...stood }))

const bucket = <S extends Parameters<typeof v.array>[0]>(row: S, text: string) =>
  described(v.nullable(v.array(row)), `${text} Null if nothing can be compared (see state).`)

export const getChartMovers = operation({
  id: "get_chart_movers",
  method: "GET",
  path: "/apps/:appId/chart-movers",
  group: "Your apps",
  toolset: "charts",
  summary: "Returns what moved on a top chart of the App Store, and the positions of the app and its rivals.",
  description:
    "Compares the latest measured day of an iPhone chart with the day the given number of days earlier, or the " +
    "last measured day before that. Readings from different sources are never compared. An app counts as new or " +
    "gone only down to the depth read on the other day; on the first measured day of a chart no app is new. " +
    "get_chart_positions has the app's own history.",
  effect: "reads",
  scope: "apps:read",
  plan: "pro",
  price: 1,
  faults: [],
  input: ofApp({ country: AppCountry, kind: Kind, genre: GenreId, days: Days, limit: Limit }),
  output: v.strictObject({
    country: Storefront,
    platform: ChartStore,
    device: described(v.picklist(["iphone"]), "Device of the chart: always iPhone."),
    kind: described(v.picklist(CHARTS), "The requested chart."),
    genre: described(v.nullable(Genre), "Genre of the chart. Null if the app's category is unknown."),
    days: described(Rank, "The requested number of days."),
    state: described(
      v.picklist([
        "compared",
        "nothing_before",
        "source_changed",
        "not_measured",
        "not_tracked",
        "category_unknown",
        "no_ios_app",
      ]),
      "compared: the four lists are filled; nothing_before: no measured day that early (see measuredSince); " +
        "source_changed: the two days come from different sources; not_measured: the chart was not read yet; " +
        "not_tracked: the app does not track this storefront; category_unknown: the app's category is unknown, so " +
        "specify a genre; no_ios_app: the app is only on Google Play.",
    ),
    day: described(v.nullable(Measured), "The later day. Null if the chart is not measured."),
    against: described(v.nullable(Measured), "The earlier day. Null if there is none."),
    measuredSince: described(v.nullable(Day), "First measured day of the chart. Null if never measured."),
    risers: bucket(Moved, `Apps up ${PLACES} places or more, biggest rise first.`),
    fallers: bucket(Moved, `Apps down ${PLACES} places or more, biggest fall first.`),
    entrants: bucket(
      v.strictObject({ ...appFields, ...later }),
      "Apps on the chart on `day` but not on `against`, by rank.",
    ),
    dropouts: bucket(
      v.strictObject({ ...appFields, ...earlier }),
      "Apps on the chart on `against` but not on `day`, by last rank.",
    ),
    counts: described(
      v.nullable(
        v.strictObject({
          risers: described(Count, `Apps up ${PLACES} places or more.`),
          fallers: described(Count, `Apps down ${PLACES} places or more.`),
          entrants: described(Count, "Apps new on the chart."),
          dropouts: described(Count, "Apps gone from the chart."),
        }),
      ),
      "Full counts of the four lists, regardless of the limit. Null if nothing can be compared (see state).",
    ),
    app: described(v.nullable(Standing), "Ranks of the app. Null without an iOS app."),
    rivals: described(
      v.array(
        extending(
          Standing,
          v.strictObject({ ...appFields, manual: described(v.boolean(), "True if added by hand."), ...stood }),
        ),
      ),
      "Ranks of its rivals: first those added by hand, then those above it on the most keywords; at most " +
        `${MAX_RIVALS}.`,
    ),
    rivalsTruncated: described(v.boolean(), "True if there are more rivals than listed."),
  }),
}).run(async ({ app, storefront, kind, genre, days, limit }, { sql }) => {
  const { iosApp } = app
  const id = genre ?? (iosApp === null ? null : await readCategory(sql, iosApp))
  const key = id === null ? null : { ...LISTS, storefront, chart: kind, genre: id }
  if (key && genre !== undefined) await refuseUnknownGenre(sql, key)
  const storeAppId = ownId(app, { platform: "ios", storefront })
  const rivals = storeAppId === null ? [] : await readRivals(sql, app, storefront)
  const apps = [storeAppId, ...rivals.map(({ app }) => app)].filter((id) => id !== null)
  const found = key && storeAppId !== null ? await readChartMovers(sql, key, { days, places: PLACES, apps }) : null
  const moved = found?.movers
    ? await readMoverNames(sql, found.movers, limit, { storefront, countries: app.countries })
    : NOTHING
  const stoodOf = stoodIn(found)
  return {
    country: storefront,
    platform: "ios" as const,
    device: LISTS.device,
    kind,
    genre: id === null ? null : { id, name: (await readGenreNames(sql, storefront, [id])).get(id) ?? null },
    days,
    state: stateOf(app, { storeAppId, key, found }),
    day: found && shownDay(found.day),
    against: found?.against ? shownDay(found.against) : null,
    measuredSince: found?.day.firstDay ?? null,
    ...moved,
    app: iosApp === null ? null : { id: app.iosId as string, name: app.name, ...stoodOf(storeAppId) },
    rivalsTruncated: rivals.length > MAX_RIVALS,
    rivals: rivals.slice(0, MAX_RIVALS).map(({ app, ...rival }) => ({ ...rival, ...stoodOf(app) })),
  }
})

const LISTS = { platform: "ios", device: "iphone" } as const

interface RivalApp {
  id: string
  name: string
  manual: boolean
  /** The rival's store_app id. Null if no reading has shown the rival, so that it is on no chart. */
  app: number | null
}

/** Returns the rivals that are followed with the app, and those added by hand since. */
async function readRivals(sql: Sql, app: TrackedApp, storefront: string): Promise<RivalApp[]> {
  const named = (app.manualRivals ?? []).map(parseRival)
  const manual = named.flatMap((rival) => (rival?.platform === "ios" ? [rival.id] : []))
  const name = nameIn(sql, sql`a.id`, { storefront, countries: app.countries })
  return await sql<RivalApp[]>`
    select coalesce(n.store_id, a.store_id) as id, coalesce(${name}, n.store_id, a.store_id) as name,
      n.store_id is not null as manual, a.id as app
    from (
      select rival, terms
      from app_rival
      where (app_id, platform, storefront) = (${app.id}, 'ios', ${storefront})
    ) r
    full join (
      select m.id as store_id, s.id as app_id
      from (select distinct unnest(${manual}::text[])) m (id)
      left join store_app s on (s.platform, s.store_id) = ('ios', m.id)
    ) n on n.app_id = r.rival
    left join store_app a on a.id = coalesce(n.app_id, r.rival)
    where (n.store_id is not null or r.terms > 0)
      and 'ios:' || coalesce(n.store_id, a.store_id) <> all(${app.hiddenRivals ?? []}::text[])
    order by manual desc, coalesce(r.terms, 0) desc, coalesce(n.store_id, a.store_id) collate "C"
    limit ${MAX_RIVALS + 1}`
}

const NOTHING = { risers: null, fallers: null, entrants: null, dropouts: null, counts: null }

function stoodIn(found: ChartMovers | null) {
  const byApp = new Map((found?.stood ?? []).map(({ app, rank, was }) => [app, { rank, was }]))
  return (app: number | null): Omit<ChartStanding, "app"> =>
    (app === null ? undefined : byApp.get(app)) ?? { rank: null, was: null }
}

interface MoversReading {
  storeAppId: number | null
  key: ChartKey | null
  found: ChartMovers | null
}

function stateOf({ iosApp }: TrackedApp, { storeAppId, key, found }: MoversReading) {
  if (iosApp === null) return "no_ios_app" as const
  if (storeAppId === null) return "not_tracked" as const
  if (key === null) return "category_unknown" as const
  if (found === null) return "not_measured" as const
  if (found.against === null) return "nothing_before" as const
  return found.movers === null ? ("source_changed" as const) : ("compared" as const)
}

function shownDay({ day, seenAt, depth, source }: MeasuredDay) {
  return { day, measuredAt: seenAt.toISOString(), depth, source }
}
