import * as v from "valibot"
import { described, named } from "../../lib/schema.ts"
import { Day, Rank, Source, Store, Storefront, Time } from "../../tracking/shapes.ts"
import { type ListingChangeKind, PAGE_CHANGES } from "../changes.ts"
import type { StoredChange } from "../read/changes.ts"
import type { Placement, ShelfApp } from "../read/placements.ts"

/** A detected change, as every response shows it. */
export const changeFields = {
  at: described(Time, "Time of the first reading with the change."),
  day: described(Day, "The UTC day of `at`."),
  notYetAt: described(Time, "Time of the last reading without the change. The change was made between the two."),
  subjectKind: described(
    v.nullable(v.picklist(["event", "story", "collection"])),
    "Type of the object that appeared or disappeared. Null if the change is not about an event or card.",
  ),
  subjectId: described(v.nullable(v.string()), "The store's id of the event or card. Null for other changes."),
  title: described(v.nullable(v.string()), "Title of the event or card on the page. Null if there is none."),
  startsAt: described(v.nullable(Time), "Start of an event. Null if unknown."),
  endsAt: described(v.nullable(Time), "End of an event. Null if unknown."),
  before: described(
    v.nullable(v.string()),
    "A version number, a price with its currency, or an icon URL; the promotional text on the Pro plan and above. " +
      "Null for other kinds.",
  ),
  after: described(v.nullable(v.string()), "Like `before`."),
  picturesBefore: described(
    v.nullable(v.array(v.string())),
    "Screenshot URLs of the devices whose set changed, phone first. Null if unchanged.",
  ),
  picturesAfter: described(v.nullable(v.array(v.string())), "Like picturesBefore."),
  source: described(Source, "Source of the readings."),
}

/** The kinds of changes of a store page. */
export const PageChangeKind = named(
  "PageChangeKind",
  v.picklist(PAGE_CHANGES),
  "event_…: an in-app event; featured and unfeatured: a card of the store's editors appeared or disappeared. A " +
    "changed description, name or subtitle of the app is listed without its text.",
)

/** The fields of every change, without its kind. */
export const ChangeShape = named("ListingChange", v.strictObject(changeFields))

/**
 * Returns the fields of a change without its kind. If `promotional` is true, they include the words of promotional
 * texts; if `names` is true, those of names and subtitles.
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

// Descriptions are never shown; names and subtitles are shown only if `names` is true.
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
  firstSeenAt: described(Time, "Time of the first reading with it."),
  lastSeenAt: described(Time, "Time of the latest reading with it."),
}

/** A card of the store's editors. */
export const cardFields = {
  kind: described(v.picklist(["story", "collection"]), "See dedicated."),
  id: described(v.string(), "Id in the store."),
  title: described(v.nullable(v.string()), "Title on the page. Null if there is none."),
  dedicated: described(
    v.boolean(),
    "True: a story about an app; false: a collection with several apps. The page shows no more about a card.",
  ),
  ...shownFields,
}

/** An event that has not ended. */
export const eventFields = {
  id: described(v.string(), "Id in the store."),
  title: described(v.nullable(v.string()), "Title on the page."),
  kind: described(
    v.nullable(v.string()),
    "Type of the event as shown on the page, in its language, for example Special Event.",
  ),
  text: described(v.nullable(v.string()), "Description on the page. Null if there is none."),
  state: described(v.nullable(v.picklist(EVENT_STATES)), "Current state of the event. Null if the start is unknown."),
  startsAt: described(v.nullable(Time), "Null if unknown."),
  endsAt: described(v.nullable(Time), "Null if unknown."),
  ...shownFields,
}

/** An app in a row of similar apps. */
export const shelfFields = {
  place: described(Rank, "Position, from 1."),
  id: described(v.string(), "Store id."),
  name: described(v.nullable(v.string()), "Null if unknown."),
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

/** Returns whether an event has not ended, according to the dates on its page. */
export function goesOn({ kind, endsAt }: Placement, now: Date): boolean {
  return kind === "event" && (endsAt === null || endsAt > now)
}

export function eventShape(event: Placement, now: Date): v.InferOutput<typeof EventShape> {
  const { id, title, label, text, startsAt, endsAt } = event
  return {
    id,
    title,
    kind: label,
    text,
    state: startsAt && (startsAt > now ? "scheduled" : "live"),
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
