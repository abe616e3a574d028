import * as v from "valibot"
import { ofApp, operation } from "../../core/operation.ts"
import type { TrackedApp } from "../../core/tracked-app.ts"
import type { Sql } from "../../database/types.ts"
import { type SideApp, sidesOf } from "../../keywords/read/day-answers.ts"
import { readStanding, type SideStanding } from "../../keywords/read/standings.ts"
import { described, extending, named } from "../../lib/schema.ts"
import {
  AppShape,
  appShape,
  Count,
  Day,
  Rank,
  Store,
  Storefront,
  Time,
  trackedAppFields,
} from "../../tracking/shapes.ts"
import { readAppsWithTerms, readTerms } from "../../tracking/tracked-app.ts"

export const listApps = operation({
  id: "list_apps",
  method: "GET",
  path: "/apps",
  group: "Your apps",
  toolset: "apps",
  summary: "The apps that the workspace tracks.",
  description: "Call it first: its ids are the appId of every other call about an app.",
  effect: "reads",
  scope: "apps:read",
  plan: "free",
  price: 1,
  faults: [],
  input: v.strictObject({}),
  narrow: { rows: ["apps"] },
  table: "apps",
  output: v.strictObject({
    apps: described(v.array(AppShape), "Oldest first; those that the key may see."),
  }),
}).run(async (_, { sql, caller }) => ({ apps: (await readAppsWithTerms(sql, caller)).map(appShape) }))

const Measurement = named(
  "AppSnapshot",
  v.strictObject({
    country: Storefront,
    platform: Store,
    day: described(v.nullable(Day), "The latest UTC day on which any tracked keyword was measured; null = never."),
    measuredAt: described(v.nullable(Time), "When the latest of that day's results was seen; null = never."),
    tracked: described(Count, "Tracked keywords."),
    measured: described(Count, "Of these, measured on that day."),
    ranked: described(Count, "Of these, with the app among the results read."),
    top3: described(Count, "Of these, at rank 1 to 3."),
    top10: described(Count, "Of these, at rank 1 to 10."),
    best: described(v.nullable(Rank), "The best rank of that day; null = the app was found nowhere."),
  }),
)

export const AppRecord = named(
  "AppRecord",
  extending(
    AppShape,
    v.strictObject({
      ...trackedAppFields,
      snapshot: described(v.array(Measurement), "The latest measurement of each tracked storefront and store."),
    }),
  ),
)

export const getApp = operation({
  id: "get_app",
  method: "GET",
  path: "/apps/:appId",
  group: "Your apps",
  toolset: "apps",
  summary: "One tracked app with its latest measurement.",
  description: "Its day is in get_today, its ranks in list_keyword_ranks.",
  effect: "reads",
  scope: "apps:read",
  plan: "free",
  price: 1,
  faults: [],
  input: ofApp({}),
  output: AppRecord,
}).run(async ({ app }, { sql }) => readApp(sql, app))

/** Reads an app with its keywords and its latest measurement. */
export async function readApp(sql: Sql, app: TrackedApp): Promise<v.InferOutput<typeof AppRecord>> {
  const [terms, ...snapshot] = await Promise.all([
    readTerms(sql, app.id),
    ...sidesOf(app).map(async (side) => snapshotOf(side, await readStanding(sql, side))),
  ])
  return { ...appShape({ ...app, terms }), snapshot }
}

function snapshotOf({ storefront, platform }: SideApp, standing: SideStanding): v.InferOutput<typeof Measurement> {
  const { day, measuredAt, tracked, measured, ranked, top3, top10, best } = standing
  return {
    country: storefront,
    platform,
    day,
    measuredAt: measuredAt?.toISOString() ?? null,
    tracked,
    measured,
    ranked,
    top3,
    top10,
    best,
  }
}
