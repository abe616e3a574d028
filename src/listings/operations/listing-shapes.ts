import * as v from "valibot"
import { described, named } from "../../lib/schema.ts"
import { Day, Rank, Source, Store, Storefront, Time } from "../../tracking/shapes.ts"
import { type ListingChangeKind, PAGE_CHANGES } from "../changes.ts"
import type { StoredChange } from "../read/changes.ts"
import type { Placement, ShelfApp } from "../read/placements.ts"

/** A detected change, as every response shows it. */
export const changeFields = {
  at: described(Time, "When the first reading of the page with it was seen."),
  day: described(Day, "The UTC day of `at`."),
  notYetAt: described(Time, "When the last reading without it was seen: the change was made in between."),
  subjectKind: described(
    v.nullable(v.picklist(["event", "story", "collection"])),
    "What came or went; null where the kind of change says all.",
  ),
  subjectId: described(v.nullable(v.string()), "The store's own id of the event or card; else null."),
  title: described(v.nullable(v.string()), "Of the event or card, as the page writes it; null where it has none."),
  startsAt: described(v.nullable(Time), "Of an event; null where the page does not say."),
  endsAt: described(v.nullable(Time), "Of an event; null where the page does not say."),
  before: described(
    v.nullable(v.string()),
    "A version number, a price with its currency, or the address of an icon; of a promotional text its words, from the Pro plan. Null for all other kinds.",
  ),
  after: described(v.nullable(v.string()), "As before."),
  picturesBefore: described(
    v.nullable(v.array(v.string())),
    "Addresses of the screenshots of the devices whose set changed, the phone's first; null where these did not change.",
  ),
  picturesAfter: described(v.nullable(v.array(v.string())), "As picturesBefore."),
  source: described(Source, "Who read the pages."),
}

/** The kinds of changes of a store page. */
export const PageChangeKind = named(
  "PageChangeKind",
  v.picklist(PAGE_CHANGES),
  "event_…: an in-app event; featured and unfeatured: a card of the store's editors came or went. Of a description, and of the app's own name and subtitle, it is told that they changed, without the words.",
)

/** The fields of every change, without its kind. */
export const ChangeShape = named("ListingChange", v.strictObject(changeFields))

/**
 * Returns the fields of a change without its kind. `promotional` shows the words of promotional texts, `names` those of
 * names and subtitles.
 */
export function changeShape(
  { kind, subject, at, day, beforeSeenAt, before, after, source }: StoredChange,
  { promotional, names = false }: { promotional: boolean; names?: boolean },
): v.InferOutput<typeof ChangeShape> {
  const item = (after ?? before) as { title?: string; startsAt?: string; endsAt?: string } | null
  const [subjectKind, subjectId] = subjectOf(kind, subject)
  const words = names && (kind === "name" || kind === "subtitle") ? asText : WORDS[kind]
  const toWords = words && (kind !== "promotional_text" || promotional) ? words : () => null
  return {
    at: at.toISOString(),
    day,
    notYetAt: beforeSeenAt.toISOString(),
    subjectKind,
    subjectId,
    title: subjectKind ? (item?.title ?? null) : null,
    startsAt: subjectKind ? momentOf(item?.startsAt) : null,
    endsAt: subjectKind ? momentOf(item?.endsAt) : null,
    before: toWords(before),
    after: toWords(after),
    picturesBefore: kind === "screenshots" ? picturesOf(before) : null,
    picturesAfter: kind === "screenshots" ? picturesOf(after) : null,
    source,
  }
}

type SubjectKind = Placement["kind"]

function subjectOf(kind: ListingChangeKind, subject: string): [SubjectKind | null, string | null] {
  if (kind === "event_started" || kind === "event_ended") return ["event", subject]
  if (kind !== "featured" && kind !== "unfeatured") return [null, null]
  const [card, id] = subject.split(" ") as [SubjectKind, string]
  return [card, id]
}

const asText = (value: unknown) => (typeof value === "string" ? value : null)

// Descriptions are never shown; names and subtitles only with `names`.
const WORDS: Partial<Record<ListingChangeKind, (value: unknown) => string | null>> = {
  version: asText,
  icon: asText,
  promotional_text: asText,
  price: (value) => {
    const { price, currency } = (value ?? {}) as { price?: number; currency?: string }
    return price === undefined ? null : [price, currency].filter((part) => part !== undefined).join(" ")
  },
}

function momentOf(text: string | undefined): string | null {
  const moment = new Date(text ?? "")
  return Number.isNaN(moment.getTime()) ? null : moment.toISOString()
}

function picturesOf(value: unknown): string[] {
  const { phone = [], pad = [] } = (value ?? {}) as { phone?: string[]; pad?: string[] }
  return [...phone, ...pad]
}

const EVENT_STATES = ["live", "scheduled"] as const

const shownFields = {
  firstSeenAt: described(Time, "The first reading of the page that showed it."),
  lastSeenAt: described(Time, "The latest reading that showed it."),
}

/** A card of the store's editors. */
export const cardFields = {
  kind: described(v.picklist(["story", "collection"]), "See dedicated."),
  id: described(v.string(), "The store's own."),
  title: described(v.nullable(v.string()), "As the page writes it; null where it has none."),
  dedicated: described(
    v.boolean(),
    "True = a story, which the editors write about an app; false = a collection, which shows the app among others. The page tells no more of a card.",
  ),
  ...shownFields,
}

/** An event that is not over. */
export const eventFields = {
  id: described(v.string(), "The store's own."),
  title: described(v.nullable(v.string()), "As the page writes it."),
  kind: described(v.nullable(v.string()), "What the page calls it, in its language: Special Event."),
  text: described(v.nullable(v.string()), "What the page says of it; null = nothing."),
  state: described(
    v.nullable(v.picklist(EVENT_STATES)),
    "By now: it runs, or it begins later. Null = the page does not say when it begins.",
  ),
  startsAt: described(v.nullable(Time), "Null where the page does not say."),
  endsAt: described(v.nullable(Time), "Null where the page does not say."),
  ...shownFields,
}

/** An app in a row of similar apps. */
export const shelfFields = {
  place: described(Rank, "From 1, in the order shown."),
  id: described(v.string(), "Store id."),
  name: described(v.nullable(v.string()), "Null = no store showed one yet."),
}

export const CardShape = named("EditorialCard", v.strictObject(cardFields))
export const EventShape = named("InAppEvent", v.strictObject(eventFields))
export const ShelfShape = named("ShelfApp", v.strictObject(shelfFields))

export const placeFields = { country: Storefront, platform: Store }

export function isCard(placement: Placement): placement is Placement & { kind: "story" | "collection" } {
  return placement.kind !== "event"
}

export function cardShape(card: Placement & { kind: "story" | "collection" }): v.InferOutput<typeof CardShape> {
  const { kind, id, title } = card
  return { kind, id, title, dedicated: kind === "story", ...seenShape(card) }
}

/** Whether an event is not over yet, according to its page. */
export function goesOn({ kind, endsAt }: Placement, now: Date): boolean {
  return kind === "event" && (endsAt === null || endsAt > now)
}

export function eventShape(event: Placement, now: Date): v.InferOutput<typeof EventShape> {
  const { id, title, label, text, startsAt, endsAt } = event
  return {
    ...{ id, title, kind: label, text, state: startsAt && (startsAt > now ? "scheduled" : "live") },
    startsAt: startsAt?.toISOString() ?? null,
    endsAt: endsAt?.toISOString() ?? null,
    ...seenShape(event),
  }
}

export function seenShape({ firstSeenAt, lastSeenAt }: Placement) {
  return { firstSeenAt: firstSeenAt.toISOString(), lastSeenAt: lastSeenAt.toISOString() }
}

export function shelfShape({ place, storeId, name }: ShelfApp): v.InferOutput<typeof ShelfShape> {
  return { place, id: storeId, name }
}
