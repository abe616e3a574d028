import * as v from "valibot"
import { lookedAt, RangeDay } from "../../core/day-range.ts"
import { ofApp, operation } from "../../core/operation.ts"
import { ownId } from "../../core/ranked-app.ts"
import { passingsOf } from "../../keywords/formulas/passings.ts"
import { isTracked } from "../../keywords/read/evidence.ts"
import { type DayResults, readDays } from "../../keywords/read/term-results.ts"
import { Fault } from "../../lib/faults.ts"
import { AppCountry, Platform, Term } from "../../lib/fields.ts"
import { FIRST } from "../../lib/figure.ts"
import { described } from "../../lib/schema.ts"
import { Count, Day, Rank, Store, Storefront } from "../../lib/shapes.ts"
import { readStoreApps } from "../../stores/read/store-apps.ts"

/** Maximum number of places compared per day: the depth of the deepest search. */
const MAX_PLACES = 250
const MAX_PASSINGS = 30
/** Maximum number of apps named per day. */
const MAX_NAMED = 5

const App = { id: described(v.string(), "Store id."), name: described(v.nullable(v.string()), "Null if unknown.") }

const TopTen = v.strictObject({
  day: Day,
  source: v.string(),
  depth: Count,
  places: v.array(v.strictObject({ place: Rank, ...App, own: v.boolean() })),
})

const Passer = v.strictObject({ ...App, was: v.nullable(Rank), rank: v.nullable(Rank) })
const Passers = v.strictObject({ count: Count, apps: v.array(Passer) })

export const getKeywordDays = operation({
  id: "get_keyword_days",
  method: "GET",
  path: "/page/:appId/keyword-days",
  group: "Your apps",
  toolset: "keywords",
  summary: "Returns the first ten apps of a keyword on two days, and which apps passed the app in between.",
  effect: "reads",
  scope: "apps:read",
  plan: "pro",
  price: 0,
  faults: [],
  names: "term",
  input: ofApp({
    country: AppCountry,
    platform: Platform,
    term: Term,
    from: RangeDay("First UTC day."),
    to: RangeDay("Last UTC day."),
    day: RangeDay("The earlier day. Default: the first measured one."),
  }),
  output: v.strictObject({
    term: v.string(),
    country: Storefront,
    platform: Store,
    from: Day,
    to: Day,
    days: described(v.array(Day), "Measured days, newest first."),
    latest: described(v.nullable(TopTen), "The last measured day. Null if there is none."),
    earlier: described(
      v.nullable(TopTen),
      "The requested day or the measured day before it, else the first measured day. Null without two measured days.",
    ),
    passings: described(
      v.array(
        v.strictObject({
          day: Day,
          before: Day,
          was: v.nullable(Rank),
          rank: v.nullable(Rank),
          passedBy: Passers,
          passed: Passers,
        }),
      ),
      "Newest first, between measured days of one source. A null rank is absent.",
    ),
  }),
}).run(async ({ app, storefront, platform, term, from, to, day }, { sql, now, caller }) => {
  if (!(await isTracked(sql, app.id, storefront, term))) throw new Fault("not_found")
  const range = lookedAt("history", { from, to }, now(), caller)
  const storeAppId = ownId(app, { platform, storefront }) ?? 0
  const days = await readDays(sql, { platform, storefront, term }, { ...range, top: MAX_PLACES })
  const passings = passingsOf(days.toReversed(), storeAppId).slice(0, MAX_PASSINGS)
  const latest = days[0]
  const before = days.slice(1)
  const then = before.find((one) => one.day <= (day ?? range.from)) ?? before.at(-1)
  const named = passings.flatMap(({ passedBy, passed }) => [
    ...passedBy.slice(0, MAX_NAMED),
    ...passed.slice(0, MAX_NAMED),
  ])
  const ids = [...[latest, then].flatMap((one) => one?.appIds.slice(0, FIRST) ?? []), ...named.map(({ app }) => app)]
  const apps = await readStoreApps(sql, ids, { storefront, countries: app.countries })
  const appOf = (id: number) => apps.get(id) ?? { id: "", name: null }
  const topTen = ({ day, source, depth, appIds }: DayResults) => ({
    day,
    source,
    depth,
    places: appIds.slice(0, FIRST).map((id, at) => ({ place: at + 1, ...appOf(id), own: id === storeAppId })),
  })
  const passers = (list: (typeof passings)[number]["passed"]) => ({
    count: list.length,
    apps: list.slice(0, MAX_NAMED).map(({ app, was, rank }) => ({ ...appOf(app), was, rank })),
  })
  return {
    term,
    country: storefront,
    platform,
    ...range,
    days: days.map(({ day }) => day),
    latest: latest ? topTen(latest) : null,
    earlier: then ? topTen(then) : null,
    passings: passings.map(({ passedBy, passed, ...passing }) => ({
      ...passing,
      passedBy: passers(passedBy),
      passed: passers(passed),
    })),
  }
})
