import * as v from "valibot"
import type { Tx } from "../../database/types.ts"
import { sourceOf } from "../../lib/rank-sources.ts"
import { inStore } from "../../lib/storefront-names.ts"
import { alertType, type FindingOf } from "../alert-type.ts"
import { compared } from "../compared.ts"
import { type FollowedRival, nameOf, rivalFacts, rivalFields } from "../rival-facts.ts"
import { type PassingRow, type PlaceDays, RIVAL_PLACES } from "../search-days.ts"
import { placeIn, quoted, type Wording } from "../wording.ts"

/** Ranks of an app and a rival for a keyword on a measured day. Null if absent from the results that were read. */
interface RankPair {
  source: string
  ours: number | null
  theirs: number | null
}

/**
 * Returns whether the rival passed the app or was passed. Null if neither, or if the sources differ. An absent app is
 * below a present one; two absent apps cannot be compared.
 */
export function passing(
  before: RankPair,
  after: RankPair,
  { manual }: { manual: boolean },
): "rival_passed" | "rival_beaten" | null {
  const places = manual ? RIVAL_PLACES.manual : RIVAL_PLACES.found
  if (before.source !== after.source) return null
  if (before.ours !== null && isAbove(before.ours, before.theirs) && isAbove(after.theirs, after.ours))
    return (after.theirs as number) <= places ? "rival_passed" : null
  if (isAbove(before.theirs, before.ours) && isAbove(after.ours, after.theirs))
    return (after.ours as number) <= places ? "rival_beaten" : null
  return null
}

function isAbove(one: number | null, other: number | null): boolean {
  return one !== null && (other === null || one < other)
}

const facts = v.strictObject({
  ...rivalFacts,
  term: v.string(),
  ours: v.nullable(v.number()),
  theirs: v.nullable(v.number()),
  oursWas: v.nullable(v.number()),
  theirsWas: v.nullable(v.number()),
  ...compared,
})
type Facts = v.InferOutput<typeof facts>

const example = {
  rival: "9990000104",
  name: "Moodleaf",
  manual: true,
  term: "tea",
  depth: 200,
  wasDepth: 200,
  source: "apple-web-search",
  against: "2025-11-19",
}

const passingType = {
  facts,
  options: ["keywordScope", "rivalScope"],
  find: findPassings,
  fields(facts: Facts) {
    const { term, ours, oursWas, theirs, theirsWas, against, depth, source } = facts
    const ranks = { before: oursWas, after: ours, rivalBefore: theirsWas, rivalAfter: theirs }
    return { ...rivalFields(facts), term, ...ranks, against, depth, source }
  },
} as const

export const rivalPassed = alertType({
  ...passingType,
  name: "rival_passed",
  example: { ...example, ours: 4, theirs: 3, oursWas: 3, theirsWas: 5 },
  sentence(facts, place) {
    return `${nameOf(facts)} passed you ${onTerm(facts, place)}: ${versus(facts, ["theirs", "ours"], place)}`
  },
})

export const rivalBeaten = alertType({
  ...passingType,
  name: "rival_beaten",
  example: { ...example, ours: 3, theirs: 4, oursWas: 5, theirsWas: 3 },
  sentence(facts, place) {
    return `You passed ${nameOf(facts)} ${onTerm(facts, place)}: ${versus(facts, ["ours", "theirs"], place)}`
  },
})

function onTerm({ term }: Facts, place: Wording): string {
  return `on ${quoted(term)} ${inStore(place)}`
}

/** Returns "4 vs 7 (before: 5 vs 4)", with the better app first. */
function versus(facts: Facts, [winner, other]: readonly ["ours" | "theirs", "ours" | "theirs"], { earlier }: Wording) {
  const { depth, wasDepth } = facts
  const now = `${placeIn(facts[winner], depth)} vs ${placeIn(facts[other], depth)}`
  const was = `${placeIn(facts[`${winner}Was`], wasDepth)} vs ${placeIn(facts[`${other}Was`], wasDepth)}`
  return `${now} (${earlier === null ? "before" : `on ${earlier}`}: ${was})`
}

async function findPassings(_: Tx, { rivals, searches }: PlaceDays): Promise<FindingOf[]> {
  if (rivals.length === 0) return []
  const followed = new Map(rivals.map((rival) => [rival.id, rival]))
  return (await searches()).passings.flatMap((item) => passingOf(item, followed.get(item.id) as FollowedRival))
}

function passingOf(one: PassingRow, { rival, name, manual, isFollowed }: FollowedRival): FindingOf[] {
  const { term, day, at, depth, wasDay, wasDepth, ours, theirs, oursWas, theirsWas } = one
  const source = sourceOf(one.source)
  const type = passing(
    { source: sourceOf(one.wasSource), ours: oursWas, theirs: theirsWas },
    { source, ours, theirs },
    { manual },
  )
  if (type === null) return []
  const places = { ours, theirs, oursWas, theirsWas }
  const facts = { rival, name, manual, term, ...places, depth, wasDepth, source, against: wasDay }
  return [{ type, subject: `${rival} ${term}`, day, at: new Date(at), facts, ...(!isFollowed && { keepsOnly: true }) }]
}
