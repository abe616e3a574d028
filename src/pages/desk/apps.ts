import { hash } from "node:crypto"
import * as v from "valibot"
import { ofApp, operation } from "../../core/operation.ts"
import type { TrackedApp } from "../../core/tracked-app.ts"
import type { Sql } from "../../database/types.ts"
import { sidesOf } from "../../keywords/read/day-answers.ts"
import { dayCounts, readSideDays, type SideDay } from "../../keywords/read/side-days.ts"
import { readStanding } from "../../keywords/read/standings.ts"
import { dayOf } from "../../lib/days.ts"
import { described } from "../../lib/schema.ts"
import { Count, Day, Rank, Store, Storefront } from "../../lib/shapes.ts"
import { isInventedId } from "../../lib/store-ids.ts"
import { DAY_MS } from "../../lib/time.ts"
import { type AppReviews, readAppReviews } from "../../reviews/read/app-day.ts"

const headFields = {
  id: v.string(),
  name: v.string(),
  iosId: v.nullable(v.string()),
  androidPkg: v.nullable(v.string()),
  countries: v.array(Storefront),
  icon: described(v.nullable(v.string()), "URL of the store icon. Null if unknown."),
}

export const AppHead = v.strictObject({
  ...headFields,
  tags: v.record(v.string(), v.array(v.string())),
  goal: v.nullable(v.picklist(["downloads", "rank", "revenue"])),
  hiddenRivals: v.array(v.string()),
  version: described(v.string(), "The same as long as nothing of the app is changed that pages edit."),
  isInvented: described(v.boolean(), "The demo made it up. It is in no store."),
})

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
  return {
    ...head(app),
    tags: app.keywordTags ?? {},
    goal: app.goal,
    hiddenRivals: app.hiddenRivals ?? [],
    version: versionOf(app),
    isInvented: isInventedId(app.iosId ?? ""),
  }
}

/** Hashes what pages edit besides keywords, whose own state a write of keywords compares. */
function versionOf({ name, countries, keywordTags, goal, manualRivals, hiddenRivals }: TrackedApp): string {
  const state = JSON.stringify([name, countries, keywordTags, goal, manualRivals, hiddenRivals])
  return hash("sha256", state, "base64url").slice(0, 16)
}

/** Maximum number of apps whose standing is read. Further apps are only listed by name. */
const MAX_STANDINGS = 25

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

const Today = v.strictObject({
  tracked: described(Count, "Over all storefronts and both stores."),
  measured: Count,
  up: described(v.nullable(Count), "Null = nothing can be compared."),
  down: v.nullable(Count),
  best: v.nullable(Rank),
  newReviews: described(v.nullable(Count), "Null = no list of reviews was read since the day began."),
})

const Standing = v.strictObject({
  ...headFields,
  sides: described(v.nullable(v.array(Side)), `Null beyond the first ${MAX_STANDINGS} apps.`),
  today: described(Today, "The UTC day so far."),
})

export const listStandings = operation({
  id: "list_standings",
  method: "GET",
  path: "/desk/standings",
  group: "Your apps",
  toolset: "apps",
  summary: "Where each app stands: when its keywords were last measured, and today.",
  effect: "reads",
  scope: "apps:read",
  price: 0,
  faults: [],
  input: v.strictObject({}),
  output: v.strictObject({ apps: v.array(Standing) }),
}).run(async (_, { sql, now, visibleApps }) => {
  const apps = await visibleApps()
  const today = dayOf(now())
  const days = Map.groupBy(await readSideDays(sql, apps.flatMap(sidesOf), today), ({ appId }) => appId)
  const from = new Date(today)
  const reviews = await readAppReviews(sql, apps, { from, to: new Date(from.getTime() + DAY_MS), now: now() })
  const standings: v.InferInput<typeof Standing>[] = []
  for (const [place, app] of apps.entries()) {
    const sides = days.get(app.id) ?? []
    const { sources: _, ...counts } = dayCounts(sides.flatMap(({ terms }) => terms))
    const { newReviews } = reviews[place] as AppReviews
    const firstSides = place < MAX_STANDINGS ? await readFirstSides(sql, app, sides) : null
    standings.push({ ...head(app), sides: firstSides, today: { ...counts, newReviews } })
  }
  return { apps: standings }

  /** Reads the first storefront only. The app's own page has the others. */
  async function readFirstSides(sql: Sql, { countries }: TrackedApp, sides: readonly SideDay[]) {
    const standingsOfSides: v.InferInput<typeof Side>[] = []
    for (const side of sides.filter(({ storefront }) => storefront === countries[0]))
      standingsOfSides.push(await readShownStanding(sql, side, today))
    return standingsOfSides
  }
})

/**
 * Counts today's keywords from the loaded terms if any of them was measured today, otherwise from the latest measured
 * day.
 */
async function readShownStanding(sql: Sql, side: SideDay, today: string): Promise<v.InferInput<typeof Side>> {
  const { storefront: country, platform, terms } = side
  if (!terms.some(({ measured }) => measured)) {
    const { day, tracked, measured, ranked, top10, best } = await readStanding(sql, side)
    return { country, platform, day, tracked, measured, ranked, top10, best }
  }
  const { tracked, measured, best } = dayCounts(terms)
  const ranks = terms.flatMap(({ rank }) => rank ?? [])
  const top10 = ranks.filter((rank) => rank <= 10).length
  return { country, platform, day: today, tracked, measured, ranked: ranks.length, top10, best }
}

function head({ id, name, iosId, androidPkg, countries, icon }: TrackedApp) {
  return { id, name, iosId, androidPkg, countries, icon }
}
