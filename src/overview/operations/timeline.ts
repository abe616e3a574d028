import * as v from "valibot"
import type { Side } from "../../core/observation/provenance.ts"
import { ofApp, operation } from "../../core/operation.ts"
import { ownId } from "../../core/ranked-app.ts"
import type { TrackedApp } from "../../core/tracked-app.ts"
import type { Sql } from "../../database/types.ts"
import { type Movements, monthsOf, movementsAround, type Span, spanOf } from "../../keywords/formulas/timeline.ts"
import { readRankMonths } from "../../keywords/read/rank-months.ts"
import { addDays, dayOf } from "../../lib/days.ts"
import { AppCountry, Platform, wholeNumber } from "../../lib/fields.ts"
import { sourceOf } from "../../lib/rank-sources.ts"
import { described, extending, named } from "../../lib/schema.ts"
import { ChangeShape, changeFields, changeShape } from "../../listings/operations/listing-shapes.ts"
import type { StoredChange } from "../../listings/read/changes.ts"
import { PAGE_SOURCES, readNewestChanges, readPageStates } from "../../listings/read/store-pages.ts"
import { Count, Day, Rank, RankSource, Store, Storefront, Time } from "../../tracking/shapes.ts"

// names and texts of a page are not in this list: get_store_page lists their changes
const KINDS = ["version", "screenshots", "event_started", "event_ended", "featured", "unfeatured"] as const

const MAX_CHANGES = 50
const MAX_DAYS = 365

const Move = named(
  "TimelineMove",
  v.strictObject({
    term: described(v.string(), "The keyword."),
    direction: described(v.picklist(["up", "down", "entered", "dropped"]), "As the counts have it."),
    from: described(v.nullable(Rank), "The rank on fromDay; null = absent from the results read."),
    to: described(v.nullable(Rank), "The rank on toDay; null = absent from the results read."),
    places: described(
      Rank,
      "How many places it moved; of an entry or a drop the fewest it can have been, counted from right below the places read.",
    ),
    fromDay: described(Day, "The last measured UTC day before the change."),
    toDay: described(Day, "The last measured UTC day of the window after it."),
    source: described(RankSource, "Who read both days."),
  }),
)

const Change = named(
  "TimelineChange",
  extending(
    ChangeShape,
    v.strictObject({
      kind: described(
        v.picklist([...KINDS, "keyword_field"]),
        "event_…: an in-app event; featured and unfeatured: a card of the store's editors came or went; keyword_field: only with App Store Connect (keywordFieldConnected).",
      ),
      ...changeFields,
      windowTo: described(Day, "The last UTC day of the window after the change."),
      windowOver: described(v.boolean(), "False = the window still runs: its figures are those so far."),
      up: described(
        Count,
        "Tracked keywords that rose. The seven counts add up to all tracked keywords of the storefront.",
      ),
      down: described(Count, "Tracked keywords that fell."),
      entered: described(
        Count,
        "Absent before, ranked after; counted only where the earlier reading went as deep as the rank.",
      ),
      dropped: described(
        Count,
        "Ranked before, absent after; counted only where the later reading went as deep as the rank.",
      ),
      unchanged: described(Count, "At the same rank, or absent on both days."),
      uncertain: described(Count, "Absent from a reading that did not go as deep as the rank on the other day."),
      unmeasured: described(
        Count,
        "Not measured on both sides of the change by one source: nothing can be said of them.",
      ),
      biggest: described(v.array(Move), "The five biggest moves, the most places first."),
    }),
  ),
)

export const getTimeline = operation({
  id: "get_timeline",
  method: "GET",
  path: "/apps/:appId/timeline",
  group: "Your apps",
  toolset: "page",
  summary: "Dated changes of the app's store page, and how its keywords moved after each.",
  description: `Each tracked keyword is compared from its last measured day before the change (at most 30 days back) to its last measured day within the window after it, of one source. That a keyword moved after a change does not say that it moved because of it. As far back as the plan's history goes and at most ${MAX_DAYS} days; the newest ${MAX_CHANGES} changes, newest first. get_store_page has the pages themselves.`,
  effect: "reads",
  scope: "apps:read",
  plan: "free",
  price: 1,
  faults: [],
  input: ofApp({
    country: AppCountry,
    platform: Platform,
    window: v.optional(wholeNumber(1, 30, "How many days after each change are looked at.", "invalid_arguments"), 7),
  }),
  narrow: { rows: ["changes"] },
  table: "changes",
  output: v.strictObject({
    country: Storefront,
    platform: Store,
    window: described(Rank, "Days after each change."),
    from: described(Day, "The first UTC day whose changes are listed."),
    to: described(Day, "The last: today."),
    measured: described(
      v.boolean(),
      "False = the page was never read there, so no change can be known; an empty list then says nothing.",
    ),
    firstReadAt: described(v.nullable(Time), "The first reading of the page: changes before it cannot be known."),
    measuredAt: described(v.nullable(Time), "The latest reading of the page."),
    keywordFieldConnected: described(
      v.boolean(),
      "False = App Store Connect is not connected, and edits of the keyword field, which no page shows, are not known: that none are listed does not say that there were none.",
    ),
    truncated: described(v.boolean(), "There are more changes than are listed."),
    changes: described(v.array(Change), "Newest first; see measured for what an empty list says."),
  }),
}).run(async ({ app, storefront, platform, window }, { sql, now, caller }) => {
  const side = { storefront, platform }
  const to = dayOf(now())
  const from = addDays(to, 1 - Math.min(caller.entitlements.historyDays, MAX_DAYS))
  const appId = ownId(app, side)
  const pages = appId === null ? null : await readPageStates(sql, appId, [storefront], PAGE_SOURCES[platform])
  const page = pages?.get(storefront)
  const query = { storefront, from, to, kinds: KINDS, limit: MAX_CHANGES }
  const history = page && appId !== null ? await readNewestChanges(sql, { ...query, apps: [appId] }) : NOTHING
  const around = await readMovements(sql, app, { side, window, changes: history.changes })
  return {
    country: storefront,
    platform,
    window,
    from,
    to,
    measured: page !== undefined,
    firstReadAt: page?.firstReadAt.toISOString() ?? null,
    measuredAt: page?.seenAt.toISOString() ?? null,
    keywordFieldConnected: false,
    truncated: history.truncated,
    changes: history.changes.map((change, place) => {
      const windowTo = addDays(change.day, window)
      return { ...shown(change), windowTo, windowOver: windowTo < to, ...(around[place] as TimelineMovements) }
    }),
  }
})

const NOTHING = { changes: [], truncated: false }

type TimelineMovements = Omit<Movements, "biggest"> & { biggest: v.InferInput<typeof Move>[] }

interface TimelineQuery {
  side: Side
  window: number
  changes: readonly StoredChange[]
}

/** Returns the movements of each change with one read. Changes with the same days are computed once. */
async function readMovements(
  sql: Sql,
  app: TrackedApp,
  { side, window, changes }: TimelineQuery,
): Promise<TimelineMovements[]> {
  const spans = changes.map(({ day, beforeSeenAt }) => spanOf({ day, beforeDay: dayOf(beforeSeenAt) }, window))
  if (spans.length === 0) return []
  const terms = await readRankMonths(sql, app, side, monthsOf(spans))
  const around = new Map<string, TimelineMovements>()
  const movedIn = (span: Span): TimelineMovements => {
    const key = Object.values(span).join()
    const moved = around.get(key) ?? withSources(movementsAround(terms, span))
    around.set(key, moved)
    return moved
  }
  return spans.map(movedIn)
}

function withSources({ biggest, ...counts }: Movements): TimelineMovements {
  return { ...counts, biggest: biggest.map(({ source, ...move }) => ({ ...move, source: sourceOf(source) })) }
}

function shown(change: StoredChange) {
  return { kind: change.kind as (typeof KINDS)[number], ...changeShape(change, { promotional: false }) }
}
