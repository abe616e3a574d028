import { withoutUndefined } from "../../../lib/objects.ts"
import { at, count, list, text } from "../../../measuring/parsing/json.ts"
import { fact, required } from "../../../measuring/parsing/required.ts"
import type { EditorialCard, InAppEvent } from "../../../stores/kinds/listing-shape.ts"
import { moment } from "./moments.ts"
import type { Shelves } from "./shelves.ts"

/**
 * Returns the app's events from any shelf. Undefined if no shelf contains events. Events are found by the types of
 * shelf and card, because promotion shelves contain other cards too.
 */
export function eventsOf(shelves: Shelves): InAppEvent[] | undefined {
  const holding = Object.values(shelves).filter(
    (shelf) => at(shelf, "contentType") === "appEvent" || list(at(shelf, "items")).some(isEvent),
  )
  if (holding.length === 0) return undefined
  const events = holding.flatMap((shelf) => list(at(shelf, "items")).filter(isEvent).map(eventOf))
  return onceEach(events, ({ id }) => id)
}

function isEvent(item: unknown): boolean {
  return at(item, "$kind") === "AppEvent"
}

function eventOf(item: unknown): InAppEvent {
  return withoutUndefined<InAppEvent>({
    id: required(at(item, "appEventId") ?? at(item, "id"), numeral),
    title: required(at(item, "title"), text),
    kind: fact(at(item, "kind"), text),
    text: fact(at(item, "subtitle"), text) ?? fact(at(item, "detail"), text),
    startsAt: fact(at(item, "startDate"), moment),
    endsAt: fact(at(item, "endDate"), moment),
  })
}

function numeral(value: unknown): string | undefined {
  return typeof value === "string" && /^[1-9]\d{0,18}$/.test(value) ? value : count(value)?.toString()
}

/** Returns the cards that link to a story or a collection. Undefined if there is none. */
export function editorialOf(shelves: Shelves): EditorialCard[] | undefined {
  const items = Object.values(shelves).flatMap((shelf) => list(at(shelf, "items")))
  const cards = onceEach(items.flatMap(cardOf), ({ kind, id }) => `${kind} ${id}`)
  return cards.length > 0 ? cards : undefined
}

function cardOf(item: unknown): EditorialCard[] {
  const [, kind, id] = EDITORIAL.exec(text(at(item, "clickAction", "pageUrl")) ?? "") ?? []
  if (kind === undefined || id === undefined) return []
  return [
    withoutUndefined<EditorialCard>({
      id,
      kind: kind === "story" ? "story" : "collection",
      title: fact(at(item, "title"), text),
    }),
  ]
}

// https://apps.apple.com/us/iphone/story/id1400000001, …/us/collection/editors-picks/id1400000002, …/us/room/1400000003
const EDITORIAL = new RegExp(
  [
    String.raw`^https://apps\.apple\.com/[a-z]{2}/(?:(?:iphone|ipad)/)?(story|collections?|room)/(?:[^/?#]+/)?`,
    String.raw`(?:id)?([1-9]\d{4,18})(?:[?#]|$)`,
  ].join(""),
  "",
)

function onceEach<T>(all: readonly T[], key: (item: T) => string): T[] {
  return [...new Map(all.toReversed().map((item) => [key(item), item])).values()].toReversed()
}
