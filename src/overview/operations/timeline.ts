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

// names and texts of a page are not in this list, because get_store_page lists their changes
const KINDS = ["version", "screenshots", "event_started", "event_ended", "featured", "unfeatured"] as const

const MAX_CHANGES = 50
const MAX_DAYS = 365

const Move = named(
  "TimelineMove",
  v.strictObject({
    term: described(v.string(), "The keyword."),
    direction: described(
      v.picklist(["up", "down", "entered", "dropped"]),
      "Direction of the movement, as in the counts.",
    ),
    from: described(v.nullable(Rank), "Rank on fromDay. Null if absent from the results read."),
    to: described(v.nullable(Rank), "Rank on toDay. Null if absent from the results read."),
    places: described(
      Rank,
      "Number of places moved. For an entry or a drop, the minimum, counted from just below the places read.",
    ),
    fromDay: described(Day, "Last measured UTC day before the change."),
    toDay: described(Day, "Last measured UTC day of the window after the change."),
    source: described(RankSource, "Source of both days."),
  }),
)

const Change = named(
  "TimelineChange",
  extending(
    ChangeShape,
    v.strictObject({
      kind: described(
        v.picklist([...KINDS, "keyword_field"]),
        "event_…: an in-app event; featured and unfeatured: a card of the store's editors appeared or " +
          "disappeared; keyword_field: only with App Store Connect (see keywordFieldConnected).",
      ),
      ...changeFields,
      windowTo: described(Day, "Last UTC day of the window after the change."),
      windowOver: described(v.boolean(), "False if the window is still running; its figures are preliminary."),
      up: described(
        Count,
        "Tracked keywords that rose. The seven counts add up to all tracked keywords of the storefront.",
      ),
      down: described(Count, "Tracked keywords that fell."),
      entered: described(
        Count,
        "Keywords absent before and ranked after, if the earlier reading was at least as deep as the rank.",
      ),
      dropped: described(
        Count,
        "Keywords ranked before and absent after, if the later reading was at least as deep as the rank.",
      ),
      unchanged: described(Count, "Keywords with the same rank, or absent on both days."),
      uncertain: described(Count, "Keywords absent from a reading that was less deep than the rank on the other day."),
      unmeasured: described(Count, "Keywords not measured on both sides of the change by one source."),
      biggest: described(v.array(Move), "The five biggest movements, biggest first."),
    }),
  ),
)

export const getTimeline = operation({
  id: "get_timeline",
  method: "GET",
  path: "/apps/:appId/timeline",
  group: "Your apps",
  toolset: "page",
  summary: "Returns dated changes of the app's store page and how its keywords moved after each.",
  description:
    "Compares each tracked keyword between its last measured day before the change (at most 30 days earlier) and " +
    "its last measured day in the window after it, from one source. A movement after a change does not prove that " +
    `the change caused it. Covers the plan's history, at most ${MAX_DAYS} days, and lists the newest ` +
    `${MAX_CHANGES} changes, newest first. get_store_page lists changes of names and texts.`,
  effect: "reads",
  scope: "apps:read",
  plan: "free",
  price: 1,
  faults: [],
  input: ofApp({
    country: AppCountry,
    platform: Platform,
    window: v.optional(wholeNumber(1, 30, "Length in days of the window after each change.", "invalid_arguments"), 7),
  }),
  narrow: { rows: ["changes"] },
  table: "changes",
  output: v.strictObject({
    country: Storefront,
    platform: Store,
    window: described(Rank, "Length in days of the window after each change."),
    from: described(Day, "First UTC day of the timeline."),
    to: described(Day, "Last UTC day: today."),
    measured: described(
      v.boolean(),
      "False if the page was never read there; changes are then unknown, and an empty list means nothing.",
    ),
    firstReadAt: described(v.nullable(Time), "Time of the first reading of the page. Earlier changes are unknown."),
    measuredAt: described(v.nullable(Time), "Time of the latest reading of the page."),
    keywordFieldConnected: described(
      v.boolean(),
      "False if App Store Connect is not connected. Edits of the keyword field, which no page shows, are then " +
        "unknown, even if none are listed.",
    ),
    truncated: described(v.boolean(), "True if there are more changes than listed."),
    changes: described(v.array(Change), "Newest first. See `measured` for the meaning of an empty list."),
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

/** Reads the movements of all changes at once. Movements over the same days are computed once. */
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
