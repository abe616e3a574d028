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

const Kind = v.optional(
  coded(v.pipe(v.picklist(CHARTS), v.description("Which list; the iPhone's.")), "bad_kind"),
  "free",
)

const GenreId = v.optional(genreId("The App Store's id of a genre, 36 for all apps; the app's category when left out."))

const Days = v.optional(wholeNumber(1, 90, "Compare with so many days before the latest measured day.", "bad_days"), 1)

const Limit = v.optional(wholeNumber(1, 100, "The most of each of the four.", "invalid_arguments"), 25)

const Measured = named(
  "ChartReading",
  v.strictObject({
    day: Day,
    measuredAt: described(Time, "When the day's answer was seen."),
    depth: Depth,
    source: Source,
  }),
)

const appFields = {
  id: described(v.string(), "App Store id."),
  name: described(v.string(), "The store's name of it, or the id until one was seen."),
}
const later = { rank: described(Rank, "On `day`.") }
const earlier = { was: described(Rank, "On `against`.") }
const Moved = named("ChartMove", v.strictObject({ ...appFields, ...later, ...earlier }))

const stood = {
  rank: described(v.nullable(Rank), "On `day`; null = not among the places read, or the list is not measured (state)."),
  was: described(
    v.nullable(Rank),
    "On `against`; null = not among the places read, or there is nothing to compare with (state).",
  ),
}

const Standing = named("ChartStanding", v.strictObject({ ...appFields, ...stood }))

const bucket = <S extends Parameters<typeof v.array>[0]>(row: S, text: string) =>
  described(v.nullable(v.array(row)), `${text} Null = there is nothing to compare with (state).`)

export const getChartMovers = operation({
  id: "get_chart_movers",
  method: "GET",
  path: "/apps/:appId/chart-movers",
  group: "Your apps",
  toolset: "charts",
  summary: "What moved on a top chart of the App Store, and where the app and its rivals stood.",
  description:
    "The latest measured day of an iPhone list against the day so many days before it, or the last that was measured before that. Readings of two sources are never compared. An app counts as new or gone only as far down as the other day was read; on the first measured day of a list nobody is new. get_chart_positions follows the app alone.",
  effect: "reads",
  scope: "apps:read",
  plan: "pro",
  price: 1,
  faults: [],
  input: ofApp({ country: AppCountry, kind: Kind, genre: GenreId, days: Days, limit: Limit }),
  output: v.strictObject({
    country: Storefront,
    platform: ChartStore,
    device: described(v.picklist(["iphone"]), "Whose chart: always the iPhone's."),
    kind: described(v.picklist(CHARTS), "Which chart was asked for."),
    genre: described(v.nullable(Genre), "The list's genre; null = the app's category is not known yet."),
    days: described(Rank, "How many days back were asked for."),
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
      "compared = the four lists are there; nothing_before = no measured day so far back (measuredSince); source_changed = the two days come from different sources; not_measured = nobody read the list yet; not_tracked = the app does not track this storefront; category_unknown = the store did not tell the app's category yet: name a genre; no_ios_app = the app is on Google Play alone.",
    ),
    day: described(v.nullable(Measured), "The later day; null = the list is not measured."),
    against: described(v.nullable(Measured), "The earlier day; null = there is none."),
    measuredSince: described(v.nullable(Day), "The first day on which the list was measured; null = never."),
    risers: bucket(Moved, `Up ${PLACES} places or more, the most first.`),
    fallers: bucket(Moved, `Down ${PLACES} places or more, the most first.`),
    entrants: bucket(v.strictObject({ ...appFields, ...later }), "On the list on `day` and not on `against`, by rank."),
    dropouts: bucket(
      v.strictObject({ ...appFields, ...earlier }),
      "On the list on `against` and not on `day`, by last rank.",
    ),
    counts: described(
      v.nullable(
        v.strictObject({
          risers: described(Count, `Up ${PLACES} places or more.`),
          fallers: described(Count, `Down ${PLACES} places or more.`),
          entrants: described(Count, "New on the list."),
          dropouts: described(Count, "Gone from it."),
        }),
      ),
      "How many there are of each, whatever the limit. Null = there is nothing to compare with (state).",
    ),
    app: described(v.nullable(Standing), "Where the app stood; null without an iOS side."),
    rivals: described(
      v.array(
        extending(
          Standing,
          v.strictObject({ ...appFields, manual: described(v.boolean(), "Named by hand."), ...stood }),
        ),
      ),
      `Where its rivals stood: those named by hand, then those above it on the most keywords; at most ${MAX_RIVALS}.`,
    ),
    rivalsTruncated: described(v.boolean(), "It has more rivals, which are left out."),
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
  /** Its store_app id. Null if no reading has shown it, so that it is on no chart. */
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
