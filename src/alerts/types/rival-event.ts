import { isDeepStrictEqual } from "node:util"
import * as v from "valibot"
import type { Tx } from "../../database/types.ts"
import { readChanges, type StoredChange } from "../../history/changes.ts"
import { RIVAL_CHANGES } from "../alert-fields.ts"
import { alertType, type FindingOf } from "../alert-type.ts"
import { type Place, type PlaceDays, trackedFrom, whereOf } from "../place.ts"
import { type FollowedRival, nameOf, rivalFacts, rivalFields } from "../rival-facts.ts"

/** Before and after as the change has them (listing/changes.ts). */
const facts = v.strictObject({
  ...rivalFacts,
  change: v.picklist(RIVAL_CHANGES),
  before: v.unknown(),
  after: v.unknown(),
  source: v.string(),
  /** When the last reading that still said what was before was seen, ISO 8601. */
  beforeSeenAt: v.string(),
})
type Facts = v.InferOutput<typeof facts>

export const rivalEvent = alertType({
  name: "rival_event",
  options: ["rivalScope"],
  facts,
  example: {
    ...{ rival: "9990000104", name: "Moodleaf", manual: true, change: "version", before: "4.0", after: "4.1" },
    ...{ source: "itunes-lookup", beforeSeenAt: "2025-11-19T10:00:00.000Z" },
  },
  days: "between",
  find: findEvents,
  sentence: (facts, place) => `${nameOf(facts)} ${saidOf(facts)} ${whereOf(place)}`,
  fields(facts) {
    const { change, source, before, after } = facts
    const { currency = null } = (change === "price" ? after : {}) as { currency?: string }
    return { ...rivalFields(facts), change, currency, before: flat(before), after: flat(after), source }
  },
})

function saidOf({ change, before, after }: Facts): string {
  switch (change) {
    case "version":
      return `went from version ${before} to ${after}`
    case "price":
      return `changed its price from ${priceOf(before)} to ${priceOf(after)}`
    case "name":
      return `changed its name from '${before}' to '${after}'`
    case "rating_jump":
      return `went from ${before} to ${after} stars`
    default:
      return `changed its ${change}`
  }
}

function priceOf(value: unknown): string {
  const { price, currency } = value as { price: number; currency?: string }
  if (price === 0) return "free"
  return currency === undefined ? String(price) : `${price} ${currency}`
}

/** A price is its figure, pictures are their number. */
function flat(value: unknown): string | number | null {
  if (typeof value === "string" || typeof value === "number") return value
  if (typeof value !== "object" || value === null) return null
  if ("price" in value) return Number(value.price)
  return Object.values(value).flat().length
}

const MOST_EVENTS = 500

async function findEvents(tx: Tx, days: PlaceDays): Promise<RivalEvent[]> {
  const { place, to } = days
  const rivals = new Map(days.rivals.map((rival) => [rival.id, rival]))
  if (rivals.size === 0) return []
  const span = { storefront: place.storefront, from: trackedFrom(days), to }
  const changes = await readChanges(tx, { apps: [...rivals.keys()], ...span, kinds: RIVAL_CHANGES, limit: MOST_EVENTS })
  const events = changes.map((change) => eventOf(change, rivals.get(change.appId) as FollowedRival))
  return events.length > 0 ? await dropTold(tx, place, events) : []
}

type RivalEvent = FindingOf<"rival_event", Facts>

function eventOf(
  { kind, before, after, at, beforeSeenAt, source, day }: StoredChange,
  { rival, name, manual }: FollowedRival,
): RivalEvent {
  const change = kind as Facts["change"]
  const facts = { rival, name, manual, change, before, after, source, beforeSeenAt: beforeSeenAt.toISOString() }
  return { type: "rival_event", subject: `${rival} ${kind}`, day, at, facts }
}

/** Left out: what the other source told of the same, with days that lie across this one. */
async function dropTold(tx: Tx, { appId, platform, storefront }: Place, events: RivalEvent[]): Promise<RivalEvent[]> {
  const earliest = events.map(({ facts }) => facts.beforeSeenAt).sort()[0] as string
  const told = await tx<Pick<RivalEvent, "subject" | "at" | "facts">[]>`
    select subject, at, facts
    from alert
    where app_id = ${appId} and at > ${earliest}::timestamptz and type = 'rival_event'
      and (platform, storefront) = (${platform}, ${storefront})
    order by at desc, id desc
    limit 10000`
  const bySubject = Map.groupBy(told, ({ subject }) => subject)
  return events.filter((event) => !bySubject.get(event.subject)?.some((one) => isTheSame(one, event)))
}

/** Pictures have other addresses in each source, and averages other digits. */
const SAID_ALIKE: readonly string[] = ["version", "name", "price"] satisfies readonly Facts["change"][]

function isTheSame(told: Pick<RivalEvent, "at" | "facts">, { at, facts }: RivalEvent): boolean {
  const isAcross = told.at > new Date(facts.beforeSeenAt) && new Date(told.facts.beforeSeenAt) < at
  if (told.facts.source === facts.source || !isAcross) return false
  return !SAID_ALIKE.includes(facts.change) || isDeepStrictEqual(told.facts.after, facts.after)
}
