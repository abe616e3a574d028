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
  summary: "Lists the tracked apps of the workspace.",
  description: "Call this first: other calls take the app ids from here.",
  effect: "reads",
  scope: "apps:read",
  plan: "free",
  price: 1,
  faults: [],
  input: v.strictObject({}),
  narrow: { rows: ["apps"] },
  table: "apps",
  output: v.strictObject({
    apps: described(v.array(AppShape), "Apps that the key can see, oldest first."),
  }),
}).run(async (_, { sql, caller }) => ({ apps: (await readAppsWithTerms(sql, caller)).map(appShape) }))

const Measurement = named(
  "AppSnapshot",
  v.strictObject({
    country: Storefront,
    platform: Store,
    day: described(v.nullable(Day), "The latest UTC day on which any tracked keyword was measured. Null if never."),
    measuredAt: described(v.nullable(Time), "Time of that day's latest reading. Null if never measured."),
    tracked: described(Count, "Tracked keywords."),
    measured: described(Count, "Tracked keywords measured on that day."),
    ranked: described(Count, "Tracked keywords with the app among the results read."),
    top3: described(Count, "Tracked keywords with the app at rank 1 to 3."),
    top10: described(Count, "Tracked keywords with the app at rank 1 to 10."),
    best: described(v.nullable(Rank), "Best rank of that day. Null if the app is absent from all results read."),
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
  summary: "Returns one tracked app with its latest measurement.",
  description: "get_today has the figures of its day, list_keyword_ranks its ranks.",
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
