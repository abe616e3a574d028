import { isDeepStrictEqual } from "node:util"
import * as v from "valibot"
import type { Tx } from "../../database/types.ts"
import { addDays, dayOf } from "../../lib/days.ts"
import { readSeenChanges, type SeenChange } from "../../listings/read/seen-changes.ts"
import { RIVAL_CHANGES } from "../alert-fields.ts"
import { alertType, type FindingOf, keyOf } from "../alert-type.ts"
import { type FollowedRival, nameOf, rivalFacts, rivalFields } from "../rival-facts.ts"
import type { PlaceDays } from "../search-days.ts"
import { quoted, sinceIn } from "../wording.ts"

/** `before` and `after` are the values of the change (listings/changes.ts). */
const facts = v.strictObject({
  ...rivalFacts,
  change: v.picklist(RIVAL_CHANGES),
  before: v.unknown(),
  after: v.unknown(),
  source: v.string(),
  /** Time of the last reading with the earlier value, ISO 8601. */
  beforeSeenAt: v.string(),
})
type Facts = v.InferOutput<typeof facts>

export const rivalEvent = alertType({
  name: "rival_event",
  options: ["rivalScope"],
  facts,
  example: {
    rival: "9990000104",
    name: "Moodleaf",
    manual: true,
    change: "version",
    before: "4.0",
    after: "4.1",
    source: "itunes-lookup",
    beforeSeenAt: "2025-11-19T10:00:00.000Z",
  },
  find: findEvents,
  sentence: (facts, place) => `${nameOf(facts)} ${textOf(facts)} ${sinceIn(place)}`,
  fields(facts) {
    const { change, source, before, after } = facts
    const { currency = null } = (change === "price" ? after : {}) as { currency?: string }
    return { ...rivalFields(facts), change, currency, before: flat(before), after: flat(after), source }
  },
})

function textOf({ change, before, after }: Facts): string {
  switch (change) {
    case "version":
      return `updated from version ${before} to ${after}`
    case "price":
      return `changed its price from ${priceOf(before)} to ${priceOf(after)}`
    case "name":
      return `changed its name from ${quoted(String(before))} to ${quoted(String(after))}`
    case "rating_jump":
      return `${Number(after) < Number(before) ? "fell" : "rose"} from ${before} to ${after} stars`
    default:
      return `changed its ${change.replaceAll("_", " ")}`
  }
}

function priceOf(value: unknown): string {
  const { price, currency } = value as { price: number; currency?: string }
  if (price === 0) return "free"
  return currency === undefined ? String(price) : `${price} ${currency}`
}

/** Converts a value to a flat field: a price to its amount, pictures to their number. */
function flat(value: unknown): string | number | null {
  if (typeof value === "string" || typeof value === "number") return value
  if (typeof value !== "object" || value === null) return null
  if ("price" in value) return Number(value.price)
  return Object.values(value).flat().length
}

type RivalEvent = FindingOf<"rival_event", Facts>

async function findEvents(tx: Tx, days: PlaceDays): Promise<RivalEvent[]> {
  const rivals = new Map(days.rivals.map((rival) => [rival.id, rival]))
  if (rivals.size === 0) return []
  const events = (await readOverlapping(tx, days, [...rivals.keys()]))
    .map((change) => ({ ...eventOf(change, rivals.get(change.appId) as FollowedRival), isOfPage: change.isOfPage }))
    .filter((event) => !event.isOfPage || days.standing.has(keyOf(event)))
    .map(({ isOfPage: _, ...event }) => event)
  const bySubject = Map.groupBy(events, ({ subject }) => subject)
  return [...bySubject.values()].flatMap(withoutRepeats).filter(({ day }) => day >= days.from)
}

function eventOf(
  { kind, before, after, at, beforeSeenAt, source }: RivalChange,
  { rival, name, manual, isFollowed }: FollowedRival,
): RivalEvent {
  const facts = { rival, name, manual, change: kind, before, after, source, beforeSeenAt: beforeSeenAt.toISOString() }
  const event = { type: "rival_event" as const, subject: `${rival} ${kind}`, day: dayOf(at), at, facts }
  return { ...event, ...(!isFollowed && { keepsOnly: true }) }
}

type RivalChange = SeenChange<Facts["change"]>

/** Reads earlier changes that overlap these days too, because two sources may show the same change. */
async function readOverlapping(tx: Tx, days: PlaceDays, rivals: readonly number[]): Promise<RivalChange[]> {
  const since = addDays(days.from, -OVERLAP_DAYS)
  const span = { apps: rivals, storefront: days.place.storefront, kinds: RIVAL_CHANGES, to: days.to }
  const changes = await readSeenChanges(tx, { ...span, from: since })
  const bySubject = Map.groupBy(changes, ({ appId, kind }) => `${appId} ${kind}`)
  const isWhole = [...bySubject.values()].every((all) => overlapFrom(all, days.from) >= new Date(since))
  return isWhole ? changes : await readSeenChanges(tx, { ...span, from: "1970-01-01" })
}

const OVERLAP_DAYS = 35

/**
 * Returns the start of the earliest change that overlaps the changes since `from`, directly or through other changes.
 */
function overlapFrom(changes: readonly RivalChange[], from: string): Date {
  let start = new Date(from)
  for (const { at, beforeSeenAt } of changes.toReversed()) if (at >= start && beforeSeenAt < start) start = beforeSeenAt
  return start
}

/** Orders changes by time and removes those that the other source already showed. */
function withoutRepeats(events: readonly RivalEvent[]): RivalEvent[] {
  const distinct: RivalEvent[] = []
  for (const event of events) if (!distinct.some((item) => isTheSame(item, event))) distinct.push(event)
  return distinct
}

/**
 * Kinds of changes whose values are the same in both sources. Pictures have a different URL in each source, and
 * averages have different digits.
 */
const COMPARABLE_CHANGES: readonly string[] = ["version", "name", "price"] satisfies readonly Facts["change"][]

function isTheSame(previous: RivalEvent, { at, facts }: RivalEvent): boolean {
  const isAcross = previous.at > new Date(facts.beforeSeenAt) && new Date(previous.facts.beforeSeenAt) < at
  if (previous.facts.source === facts.source || !isAcross) return false
  return !COMPARABLE_CHANGES.includes(facts.change) || isDeepStrictEqual(previous.facts.after, facts.after)
}
