import * as v from "valibot"
import type { Tx } from "../../database/types.ts"
import { termPairs } from "../../history/term-days.ts"
import { sourceOf } from "../../observations/types.ts"
import { inStore } from "../../vocabulary/storefront-names.ts"
import { alertType, type FindingOf } from "../alert-type.ts"
import { compared } from "../compared.ts"
import { type PlaceDays, readParts } from "../place.ts"
import { type FollowedRival, nameOf, rivalFacts, rivalFields } from "../rival-facts.ts"
import { placeIn, quoted, type Wording } from "../wording.ts"

/** Where an app and one of its rivals stand on a keyword's measured day; null = absent, as far as was read. */
interface RankPair {
  source: string
  ours: number | null
  theirs: number | null
}

/** The place that was won is among these, for rivals named by hand and found: below, lists are shuffled every day. */
const RIVAL_PLACES = { manual: 50, found: 10 }

/**
 * Null = neither. Days of different sources are not compared. An absent app is below a present one; of two absent
 * nothing is known.
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
  ...{ rival: "9990000104", name: "Moodleaf", manual: true, term: "tea" },
  ...{ depth: 200, wasDepth: 200, source: "apple-web-search", against: "2025-11-19" },
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

/** "4 vs 7 (before: 5 vs 4)", the winner first. */
function versus(facts: Facts, [winner, other]: readonly ["ours" | "theirs", "ours" | "theirs"], { earlier }: Wording) {
  const { depth, wasDepth } = facts
  const now = `${placeIn(facts[winner], depth)} vs ${placeIn(facts[other], depth)}`
  const was = `${placeIn(facts[`${winner}Was`], wasDepth)} vs ${placeIn(facts[`${other}Was`], wasDepth)}`
  return `${now} (${earlier === null ? "before" : `on ${earlier}`}: ${was})`
}

async function findPassings(tx: Tx, days: PlaceDays): Promise<FindingOf[]> {
  const rivals = new Map(days.rivals.map((rival) => [rival.id, rival]))
  if (rivals.size === 0) return []
  const passings = await readParts(days, (terms) => readPassings(tx, days, terms, [...rivals.keys()]))
  return passings.flatMap((one) => passingOf(one, rivals.get(one.id) as FollowedRival))
}

interface PassingRow {
  id: number
  term: string
  day: string
  at: Date
  source: number
  depth: number
  ours: number | null
  theirs: number | null
  wasDay: string
  wasSource: number
  wasDepth: number
  oursWas: number | null
  theirsWas: number | null
}

/** Only the places that decide are searched: 14 ms of 250 keywords, where all of every list took 65 ms. */
async function readPassings(
  tx: Tx,
  { place, from, to }: PlaceDays,
  terms: readonly string[],
  rivals: number[],
): Promise<PassingRow[]> {
  return await tx<PassingRow[]>`
    with ${termPairs(tx, { ...place, from, to, terms })}, met as materialized (
      select *, app_ids[1:least(${RIVAL_PLACES.manual}::int, coalesce(rank - 1, 250))] as above,
        was_ids[1:coalesce(was_rank - 1, 250)] as was_above
      from pair
      where source = was_source
    ), crossed as (
      select m.*, r.id
      from met m
      cross join unnest(${rivals}::int[]) r (id)
      where case
          when array_position(m.above, r.id) is not null
            then m.was_rank is not null and array_position(m.was_above, r.id) is null
          else m.rank <= ${RIVAL_PLACES.manual}::int and array_position(m.was_above, r.id) is not null
        end
    )
    select id, term, day, seen_at as at, source, depth, rank as ours, array_position(app_ids, id) as theirs,
      was_day as "wasDay", was_source as "wasSource", was_depth as "wasDepth", was_rank as "oursWas",
      array_position(was_ids, id) as "theirsWas"
    from crossed
    order by term, day, id
    limit 20000`
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
  return [{ type, subject: `${rival} ${term}`, day, at, facts, ...(!isFollowed && { keepsOnly: true }) }]
}
