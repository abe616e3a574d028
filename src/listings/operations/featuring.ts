import * as v from "valibot"
import type { Platform } from "../../core/observation/provenance.ts"
import { ofApp, operation } from "../../core/operation.ts"
import { ownId } from "../../core/ranked-app.ts"
import type { TrackedApp } from "../../core/tracked-app.ts"
import type { Sql } from "../../database/types.ts"
import { addDays, dayOf } from "../../lib/days.ts"
import { CountryOrEmpty } from "../../lib/fields.ts"
import { described, extending, named } from "../../lib/schema.ts"
import { Count, Day, Storefront, Time } from "../../tracking/shapes.ts"
import {
  type NeighbourShelves,
  type Placement,
  type Placements,
  readAllShelves,
  readPlacements,
  SHELVED_BY,
  type Shelves,
} from "../read/placements.ts"
import { type PageState, readPageStates } from "../read/store-pages.ts"
import {
  CardShape,
  cardFields,
  cardShape,
  EventShape,
  eventFields,
  eventShape,
  goesOn,
  isCard,
  placeFields,
  ShelfShape,
  seenShape,
  shelfFields,
  shelfShape,
} from "./listing-shapes.ts"

const Place = named(
  "FeaturedPlace",
  v.strictObject({
    ...placeFields,
    tracked: described(v.boolean(), "False if the app does not track this storefront; nothing there is measured."),
    measured: described(v.boolean(), "False if the page was never read there; an empty list then means nothing."),
    measuredAt: described(v.nullable(Time), "Time of the latest reading of the page. Null if never read."),
    firstReadAt: described(v.nullable(Time), "Time of the first reading. What was shown earlier is unknown."),
    hasEditorial: described(
      v.nullable(v.boolean()),
      "True if the latest page shows cards of the editors. False may mean that there are none, because a page " +
        "then omits the section. Null if the page was never read, and for Google Play, whose pages are not read for " +
        "cards and events.",
    ),
    hasEvents: described(
      v.nullable(v.boolean()),
      "True if the latest page has a section of in-app events. Null whenever hasEditorial is null.",
    ),
    similarAt: described(
      v.nullable(Time),
      "Time of the latest reading of the row of similar apps. Null if never read.",
    ),
    shelvesRead: described(
      Count,
      "Number of rows of similar apps that were read and could show this app: the rows of its similar apps and " +
        "rivals.",
    ),
    historyTruncated: described(
      v.boolean(),
      "True if there are more cards and events than listed. The latest seen are listed: at most 200 per " +
        "storefront, fewer for more than ten storefronts.",
    ),
  }),
)

const Past = named(
  "PastPlacement",
  v.strictObject({
    country: Storefront,
    kind: described(v.picklist(["event", "story", "collection"]), "An in-app event, or a card of the editors."),
    id: described(v.string(), "Id in the store."),
    title: described(v.nullable(v.string()), "Title on the page. Null if there is none."),
    dedicated: described(
      v.nullable(v.boolean()),
      "True for a story about one app, false for a collection. Null for an event.",
    ),
    startsAt: described(v.nullable(Time), "Start of an event. Null if unknown."),
    endsAt: described(v.nullable(Time), "End of an event. Null if unknown."),
    firstSeenAt: cardFields.firstSeenAt,
    lastSeenAt: cardFields.lastSeenAt,
    state: described(
      v.picklist(["shown", "gone", "unknown"]),
      "shown: on the latest page and, for an event, not over; gone: missing on a later page that shows others, or " +
        "the event has ended; unknown: later pages have no such section, so it is most likely over.",
    ),
    goneAt: described(
      v.nullable(Time),
      "Time of the first page without it, or the scheduled end of the event. Null unless state is gone.",
    ),
  }),
)

export const getFeaturing = operation({
  id: "get_featuring",
  method: "GET",
  path: "/apps/:appId/featuring",
  group: "Your apps",
  toolset: "page",
  summary: "Returns where the stores feature the app: editors' cards, in-app events and rows of similar apps.",
  description:
    "Based on the app's own store pages in each storefront. Content shown only inside a store app, such as the " +
    "Today page, is not read. `storefronts` lists what was read and when.",
  effect: "reads",
  scope: "apps:read",
  plan: "free",
  price: 1,
  faults: [],
  input: ofApp({
    country: described(
      v.optional(CountryOrEmpty),
      "Two-letter storefront code. Default, or if empty: every storefront tracked for the app.",
    ),
  }),
  narrow: "parts",
  output: v.strictObject({
    from: described(
      Day,
      "First UTC day of the plan's history. Entries last seen before it are listed only if the latest page shows them.",
    ),
    storefronts: described(v.array(Place), "Every requested storefront, per store of the app."),
    editorial: described(
      v.array(extending(CardShape, v.strictObject({ country: Storefront, ...cardFields }))),
      "Cards on the latest page, newest first.",
    ),
    events: described(
      v.array(extending(EventShape, v.strictObject({ country: Storefront, ...eventFields }))),
      "In-app events on the latest page that are not over.",
    ),
    similar: described(
      v.array(extending(ShelfShape, v.strictObject({ ...placeFields, ...shelfFields }))),
      "The row of similar apps on the app's own page.",
    ),
    standsOn: described(
      v.array(
        extending(
          ShelfShape,
          v.strictObject({
            ...placeFields,
            ...shelfFields,
            seenAt: described(Time, "Time of the latest reading of that row."),
          }),
        ),
      ),
      "Apps with this app in their row of similar apps, and its position; only rows that were read (see shelvesRead).",
    ),
    history: described(v.array(Past), "Every card and event seen, latest first."),
  }),
}).run(async ({ app, country }, { sql, now, caller }) => {
  const storefronts = country === undefined ? app.countries : [country]
  const from = addDays(dayOf(now()), 1 - caller.entitlements.historyDays)
  const sides = (
    await Promise.all(PLATFORMS.map((platform) => readSides(sql, app, { platform, storefronts, from })))
  ).flat()
  const placements = sides.flatMap((side) => side.placements)
  const current = placements.filter((placement) => placement.shown)
  return {
    from,
    storefronts: sides.toSorted((a, b) => a.order - b.order).map(placeShape),
    editorial: current.filter(isCard).map((card) => ({ country: card.storefront, ...cardShape(card) })),
    events: current
      .filter((event) => goesOn(event, now()))
      .map((event) => ({ country: event.storefront, ...eventShape(event, now()) })),
    similar: sides.flatMap(({ platform, shelf }) =>
      shelf.apps.map((shelfApp) => ({ country: shelfApp.storefront, platform, ...shelfShape(shelfApp) })),
    ),
    standsOn: sides.flatMap(({ platform, neighbours }) =>
      neighbours.map((shelfApp) => {
        return {
          country: shelfApp.storefront,
          platform,
          ...shelfShape(shelfApp),
          seenAt: shelfApp.seenAt.toISOString(),
        }
      }),
    ),
    history: placements.toSorted(latestFirst).map((placement) => pastShape(placement, now())),
  }
})

const PLATFORMS = ["ios", "android"] as const
const NONE: Placements = { placements: [], truncated: new Set() }

interface Side {
  platform: Platform
  storefront: string
  /** Sort key: storefronts in the app's order, with both stores of a storefront next to each other. */
  order: number
  tracked: boolean
  page: PageState | undefined
  placements: Placement[]
  truncated: boolean
  shelf: Shelves
  neighbours: NeighbourShelves["apps"]
  shelvesRead: number
}

interface FeaturingQuery {
  platform: Platform
  storefronts: readonly string[]
  from: string
}

/** Returns one side per storefront of one store. Empty if the app does not exist in that store. */
async function readSides(sql: Sql, app: TrackedApp, { platform, storefronts, from }: FeaturingQuery): Promise<Side[]> {
  const appId = platform === "ios" ? app.iosApp : app.androidApp
  if (appId === null) return []
  const tracked = storefronts.filter((storefront) => ownId(app, { platform, storefront }) !== null)
  const [pages, { placements, truncated }, { ownShelves, neighbourShelves }] = await Promise.all([
    readPageStates(sql, appId, tracked, [SHELVED_BY[platform]]),
    platform === "ios" ? readPlacements(sql, appId, tracked, from) : NONE,
    readAllShelves(sql, { id: app.id, platform, appId, countries: app.countries }, tracked),
  ])
  return storefronts.map((storefront, place) => {
    const here = <One extends { storefront: string }>(all: readonly One[]) =>
      all.filter((item) => item.storefront === storefront)
    return {
      platform,
      storefront,
      order: place * PLATFORMS.length + PLATFORMS.indexOf(platform),
      tracked: tracked.includes(storefront),
      page: pages.get(storefront),
      placements: here(placements),
      truncated: truncated.has(storefront),
      shelf: { ...ownShelves, apps: here(ownShelves.apps) },
      neighbours: here(neighbourShelves.apps),
      shelvesRead: neighbourShelves.read.get(storefront) ?? 0,
    }
  })
}

function placeShape(side: Side): v.InferInput<typeof Place> {
  const { platform, storefront, tracked, page, truncated, shelf, shelvesRead } = side
  return {
    country: storefront,
    platform,
    tracked,
    measured: page !== undefined,
    measuredAt: page?.seenAt.toISOString() ?? null,
    firstReadAt: page?.firstReadAt.toISOString() ?? null,
    hasEditorial: platform === "ios" && page ? page.hasEditorial : null,
    hasEvents: platform === "ios" && page ? page.hasEvents : null,
    similarAt: shelf.readAt.get(storefront)?.toISOString() ?? null,
    shelvesRead,
    historyTruncated: truncated,
  }
}

function pastShape(placement: Placement, now: Date): v.InferInput<typeof Past> {
  const { storefront, kind, id, title, startsAt, endsAt, shown, goneAt } = placement
  const over = kind === "event" && endsAt !== null && endsAt <= now ? endsAt : null
  const gone = goneAt ?? over
  return {
    country: storefront,
    kind,
    id,
    title,
    dedicated: kind === "event" ? null : kind === "story",
    startsAt: startsAt?.toISOString() ?? null,
    endsAt: endsAt?.toISOString() ?? null,
    ...seenShape(placement),
    state: gone ? "gone" : shown ? "shown" : "unknown",
    goneAt: gone?.toISOString() ?? null,
  }
}

function latestFirst(placement: Placement, other: Placement): number {
  return other.lastSeenAt.getTime() - placement.lastSeenAt.getTime()
}
