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
    tracked: described(v.boolean(), "False = the app does not track this storefront: nothing of it is measured."),
    measured: described(v.boolean(), "False = the page was never read there: that nothing is listed says nothing."),
    measuredAt: described(v.nullable(Time), "The latest reading of the page; null = never."),
    firstReadAt: described(v.nullable(Time), "The first reading: what was shown before it is not known."),
    hasEditorial: described(
      v.nullable(v.boolean()),
      "The latest page shows cards of the editors. Where false it may be that there are none, for a page then leaves them out. Null = the page was never read, or it is Google Play's, which is not read for cards and events.",
    ),
    hasEvents: described(
      v.nullable(v.boolean()),
      "The latest page has a section of in-app events; null as hasEditorial.",
    ),
    similarAt: described(v.nullable(Time), "When the row of similar apps was read last; null = never."),
    shelvesRead: described(
      Count,
      "How many rows of similar apps were read that could show this app: of the apps on its own row and of its rivals.",
    ),
    historyTruncated: described(
      v.boolean(),
      "There are more cards and events than are listed, which are the latest seen: at most 200 of a storefront, fewer of more than ten storefronts at once.",
    ),
  }),
)

const Past = named(
  "PastPlacement",
  v.strictObject({
    country: Storefront,
    kind: described(v.picklist(["event", "story", "collection"]), "An in-app event, or a card of the editors."),
    id: described(v.string(), "The store's own."),
    title: described(v.nullable(v.string()), "As the page writes it; null where it has none."),
    dedicated: described(v.nullable(v.boolean()), "As in editorial; null for an event."),
    startsAt: described(v.nullable(Time), "Of an event; null where the page does not say."),
    endsAt: described(v.nullable(Time), "Of an event; null where the page does not say."),
    firstSeenAt: cardFields.firstSeenAt,
    lastSeenAt: cardFields.lastSeenAt,
    state: described(
      v.picklist(["shown", "gone", "unknown"]),
      "shown: the latest page shows it, and an event is not over; gone: a later page showed others but not this one, or the event's own end has passed; unknown: later pages have no such section at all, so it is most likely over.",
    ),
    goneAt: described(
      v.nullable(Time),
      "When a page was first without it, or else when the event ended by its own date. Null unless gone.",
    ),
  }),
)

export const getFeaturing = operation({
  id: "get_featuring",
  method: "GET",
  path: "/apps/:appId/featuring",
  group: "Your apps",
  toolset: "page",
  summary: "Where the stores show the app: editors' cards, in-app events and rows of similar apps.",
  description:
    "As the app's own store pages say, storefront by storefront; what a store shows only within its app, such as its Today page, is not read. `storefronts` says what was read and when.",
  effect: "reads",
  scope: "apps:read",
  plan: "free",
  price: 1,
  faults: [],
  input: ofApp({
    country: described(
      v.optional(CountryOrEmpty),
      "Two-letter storefront code; every storefront that the app tracks when empty or left out.",
    ),
  }),
  narrow: "parts",
  output: v.strictObject({
    from: described(
      Day,
      "The first UTC day of the plan's history: what was last seen before it is not listed, unless the latest page shows it.",
    ),
    storefronts: described(v.array(Place), "Every storefront asked for, on each store that the app is on."),
    editorial: described(
      v.array(extending(CardShape, v.strictObject({ country: Storefront, ...cardFields }))),
      "Cards that the latest page shows, the newest first.",
    ),
    events: described(
      v.array(extending(EventShape, v.strictObject({ country: Storefront, ...eventFields }))),
      "In-app events that the latest page shows and that are not over.",
    ),
    similar: described(
      v.array(extending(ShelfShape, v.strictObject({ ...placeFields, ...shelfFields }))),
      "The row of similar apps on the app's own page.",
    ),
    standsOn: described(
      v.array(
        extending(
          ShelfShape,
          v.strictObject({ ...placeFields, ...shelfFields, seenAt: described(Time, "When that row was read last.") }),
        ),
      ),
      "On whose row of similar apps the app stands, with its place there; only rows that were read (shelvesRead).",
    ),
    history: described(v.array(Past), "Every card and event that was seen, the latest seen first."),
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
    standsOn: sides.flatMap(({ platform, beside }) =>
      beside.map((shelfApp) => {
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
  beside: NeighbourShelves["apps"]
  shelvesRead: number
}

interface FeaturingQuery {
  platform: Platform
  storefronts: readonly string[]
  from: string
}

/** Returns one side per storefront of one store. Empty if the app is not in that store. */
async function readSides(sql: Sql, app: TrackedApp, { platform, storefronts, from }: FeaturingQuery): Promise<Side[]> {
  const appId = platform === "ios" ? app.iosApp : app.androidApp
  if (appId === null) return []
  const tracked = storefronts.filter((storefront) => ownId(app, { platform, storefront }) !== null)
  const [pages, { placements, truncated }, { own, beside }] = await Promise.all([
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
      shelf: { ...own, apps: here(own.apps) },
      beside: here(beside.apps),
      shelvesRead: beside.read.get(storefront) ?? 0,
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
