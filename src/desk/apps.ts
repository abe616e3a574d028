import * as v from "valibot"
import { sidesOf } from "../history/day-answers.ts"
import { readRanksOn, type SideRanks } from "../history/ranks.ts"
import { ofApp, operation } from "../operation.ts"
import type { TrackedApp } from "../tracking/tracked-app.ts"
import { described } from "../vocabulary/schema.ts"
import { Count, Day, Rank, Store, Storefront } from "../vocabulary/shapes.ts"

const headFields = {
  id: v.string(),
  name: v.string(),
  iosId: v.nullable(v.string()),
  androidPkg: v.nullable(v.string()),
  countries: v.array(Storefront),
}

export const AppHead = v.strictObject({ ...headFields, tags: v.record(v.string(), v.array(v.string())) })

export const getAppHead = operation({
  id: "get_app_head",
  method: "GET",
  path: "/desk/:appId",
  group: "Your apps",
  toolset: "apps",
  summary: "What an app is called, where it is tracked, and the tags of its keywords.",
  effect: "reads",
  scope: "apps:read",
  price: 0,
  faults: [],
  input: ofApp({}),
  output: AppHead,
}).run(async ({ app }) => headOf(app))

export function headOf(app: TrackedApp): v.InferOutput<typeof AppHead> {
  return { ...head(app), tags: app.keywordTags ?? {} }
}

/** Apps whose standing is read; the others are named. */
const MOST_STANDINGS = 25

const Side = v.strictObject({
  country: Storefront,
  platform: Store,
  day: described(v.nullable(Day), "The latest on which a keyword was measured; null = never."),
  tracked: Count,
  measured: Count,
  ranked: Count,
  top10: Count,
  best: v.nullable(Rank),
})

const Standing = v.strictObject({
  ...headFields,
  sides: described(v.nullable(v.array(Side)), `Null beyond the first ${MOST_STANDINGS} apps.`),
})

export const listStandings = operation({
  id: "list_standings",
  method: "GET",
  path: "/desk/standings",
  group: "Your apps",
  toolset: "apps",
  summary: "Where each app stood when its keywords were last measured.",
  effect: "reads",
  scope: "apps:read",
  price: 0,
  faults: [],
  input: v.strictObject({}),
  output: v.strictObject({ apps: v.array(Standing) }),
}).run(async (_, { sql, visibleApps, pause }) => {
  const standings: v.InferInput<typeof Standing>[] = []
  for (const app of await visibleApps()) {
    const isRead = standings.length < MOST_STANDINGS
    // only where its first storefront is: others are on the app's own page
    const sides = isRead ? sidesOf(app).filter(({ storefront }) => storefront === app.countries[0]) : []
    const ranks = await readRanksOn(sql, app, sides, pause)
    standings.push({ ...head(app), sides: isRead ? ranks.map(sideStanding) : null })
  }
  return { apps: standings }
})

function head({ id, name, iosId, androidPkg, countries }: TrackedApp) {
  return { id, name, iosId, androidPkg, countries }
}

function sideStanding({ storefront: country, platform, day, terms }: SideRanks): v.InferInput<typeof Side> {
  const ranks = terms.flatMap(({ rank }) => rank ?? [])
  return {
    ...{ country, platform, day, tracked: terms.length },
    measured: terms.filter(({ measured }) => measured).length,
    ranked: ranks.length,
    top10: ranks.filter((rank) => rank <= 10).length,
    best: ranks.length > 0 ? Math.min(...ranks) : null,
  }
}
