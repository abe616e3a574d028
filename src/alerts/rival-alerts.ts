import { isDeepStrictEqual } from "node:util"
import type { Tx } from "../database/types.ts"
import { passing, RIVAL_PLACES } from "../formulas/alerts.ts"
import { nameIn } from "../names.ts"
import { changesOf, type StoredChange } from "../observations/changes.ts"
import { termPairs } from "../observations/term-days.ts"
import { sourceOf } from "../observations/types.ts"
import { type Finding, type Looked, type Place, RIVAL_CHANGES, type RivalEventFacts } from "./alert.ts"

/** rival_passed and rival_beaten, of every rival that is followed and every tracked keyword (see passing); rival_event. */
export async function rivalFindings(tx: Tx, looked: Looked): Promise<Finding[]> {
  const rivals = new Map((await readRivals(tx, looked)).map((rival) => [rival.id, rival]))
  if (rivals.size === 0) return []
  const found: Finding[] = []
  for (const first of looked.parts) {
    const passings = await readPassings(tx, looked, first, [...rivals.keys()])
    found.push(...passings.flatMap((one) => passingOf(one, rivals.get(one.id) as Followed)))
  }
  return [...found, ...(await eventsOf(tx, looked, rivals))]
}

interface Followed {
  id: number
  rival: string
  name: string | null
  manual: boolean
}

async function readRivals(tx: Tx, { place: { appId, platform, storefront } }: Looked): Promise<Followed[]> {
  const countries = tx`(select countries from tracked_app where id = ${appId})`
  return await tx<Followed[]>`
    select s.id, s.store_id as rival, ${nameIn(tx, tx`s.id`, { storefront, countries })} as name, r.manual
    from app_rival r
    join store_app s on s.id = r.rival
    where (r.app_id, r.platform, r.storefront) = (${appId}, ${platform}, ${storefront})
    order by s.id
    limit 10000`
}

interface Passing {
  /** store_app id of the rival. */
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

/**
 * No more than may be told. Only the places that decide are searched: all of every list taken apart took the embedded
 * database 65 ms and more of 250 keywords, this 14.
 */
async function readPassings(tx: Tx, { place, from, to }: Looked, first: string, rivals: number[]): Promise<Passing[]> {
  return await tx<Passing[]>`
    with ${termPairs(tx, { ...place, from, to, first }, place.since)}, met as materialized (
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

function passingOf(one: Passing, { rival, name, manual }: Followed): Finding[] {
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
  return [{ type, subject: `${rival} ${term}`, day, at, facts }]
}

const MOST_EVENTS = 500

async function eventsOf(tx: Tx, looked: Looked, rivals: ReadonlyMap<number, Followed>): Promise<Finding[]> {
  const { place, from, to } = looked
  const changes = await changesOf(tx, {
    apps: [...rivals.keys()],
    storefront: place.storefront,
    from: place.since !== null && place.since > from ? place.since : from,
    to,
    kinds: RIVAL_CHANGES,
    limit: MOST_EVENTS,
  })
  const events = changes.map((change) => eventOf(change, rivals.get(change.appId) as Followed))
  return events.length > 0 ? await withoutTold(tx, place, events) : []
}

type RivalEvent = Extract<Finding, { type: "rival_event" }>

function eventOf(
  { kind, before, after, at, beforeSeenAt, source, day }: StoredChange,
  { rival, name, manual }: Followed,
): RivalEvent {
  const change = kind as RivalEventFacts["change"]
  const facts = { rival, name, manual, change, before, after, source, beforeSeenAt: beforeSeenAt.toISOString() }
  return { type: "rival_event", subject: `${rival} ${kind}`, day, at, facts }
}

/**
 * A change that a look-up showed is in the feed when the page, which was not read in time, shows it on a later day: those of
 * one source that lie across the same of the other are left out.
 */
async function withoutTold(
  tx: Tx,
  { appId, platform, storefront }: Place,
  events: RivalEvent[],
): Promise<RivalEvent[]> {
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
const SAID_ALIKE: readonly string[] = ["version", "name", "price"] satisfies readonly RivalEventFacts["change"][]

function isTheSame(told: Pick<RivalEvent, "at" | "facts">, { at, facts }: RivalEvent): boolean {
  const isAcross = told.at > new Date(facts.beforeSeenAt) && new Date(told.facts.beforeSeenAt) < at
  if (told.facts.source === facts.source || !isAcross) return false
  return !SAID_ALIKE.includes(facts.change) || isDeepStrictEqual(told.facts.after, facts.after)
}
