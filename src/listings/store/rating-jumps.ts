import type { AnyObservation } from "../../core/observation/provenance.ts"
import type { SurrogateIds } from "../../core/observation/subjects.ts"
import type { FollowUp } from "../../core/recording.ts"
import type { Tx } from "../../database/types.ts"
import { addDays, dayOf } from "../../lib/days.ts"
import { type AppsObservation, isLookUp } from "../../stores/kinds/apps-shape.ts"
import type { ListingObservation } from "../../stores/kinds/listing-shape.ts"
import { LOOK_BACK, RATING_CHANGES, type RatingDay, ratingChanges } from "../changes.ts"
import { placesWithin, type Replacement, replaceChanges } from "./changes.ts"
import type { Series } from "./listing-runs.ts"

/** A reading with new rating counts. It contains several apps, or one app's page. */
type RatingReading = AppsObservation | ListingObservation

export const ratingJumps: FollowUp = {
  follow: (tx, { rated, ids }) => deriveJumps(tx, rated.filter(isRatingReading), ids),
}

/** Jumps are derived from readings of the app itself, not from lists that contain the app. */
function isRatingReading(reading: AnyObservation): reading is RatingReading {
  return reading.kind === "listing" || (reading.kind === "apps" && isLookUp(reading))
}

/**
 * Derives jumps around the days whose counts came from these readings. The caller must hold the lock of the series or
 * have written the counts. Idempotent.
 */
async function deriveJumps(tx: Tx, counted: readonly RatingReading[], ids: SurrogateIds): Promise<void> {
  const spans = spansOf(counted, ids)
  if (spans.length === 0) return
  const days = await readDaysAround(tx, spans)
  const replacements = spans.map((span, place): Replacement => {
    const { first, last, ...series } = span
    const spanDays = days.get(place) ?? []
    const [from, to] = [new Date(first), new Date(Date.parse(addDays(last, 1)) - 1)]
    const seen = spanDays.map(({ seenAt }) => seenAt)
    const within = placesWithin(seen, { from, to })
    const changes = within.places.flatMap((at) =>
      ratingChanges(spanDays, at).map((change) => ({ ...change, origin: spanDays[at]?.origin as string })),
    )
    return { ...series, from, before: within.before, changes }
  })
  await replaceChanges(tx, RATING_CHANGES, replacements)
}

interface Span extends Series {
  first: string
  last: string
}

function spansOf(counted: readonly RatingReading[], { appOf }: SurrogateIds): Span[] {
  const days = counted.flatMap((reading) => {
    const { platform, storefront, source, seenAt } = reading
    const day = dayOf(seenAt)
    const ids = reading.kind === "listing" ? [reading.id] : reading.apps.map(({ id }) => id)
    return ids.map((id) => ({ appId: appOf(platform, id), storefront, source, day }))
  })
  const series = Map.groupBy(days, ({ appId, storefront, source }) => `${appId} ${storefront} ${source}`)
  return [...series.values()].map((same) => {
    const [{ appId, storefront, source }] = same as [(typeof same)[number]]
    const sorted = same.map(({ day }) => day).sort()
    return { appId, storefront, source, first: sorted[0] as string, last: sorted.at(-1) as string }
  })
}

type StoredDay = RatingDay & { origin: string }

async function readDaysAround(tx: Tx, spans: readonly Span[]): Promise<Map<number, StoredDay[]>> {
  const rows = await tx<(StoredDay & { place: number; earlier: boolean; later: boolean })[]>`
    with span as materialized (
      select *
      from jsonb_to_recordset(${tx.json(spans.map(columnsOf))}) s (
        place int, app_id int, storefront text, source text, first date, last date
      )
    ), reach as materialized (
      select s.*, coalesce(e.day, '-infinity') as since, coalesce(l.day, 'infinity') as until
      from span s
      left join lateral (
        select day
        from rating_count
        where (app_id, storefront, source) = (s.app_id, s.storefront, s.source) and day < s.first
        order by day desc
        offset ${LOOK_BACK - 1}
        limit 1
      ) e on true
      left join lateral (
        select day
        from rating_count
        where (app_id, storefront, source) = (s.app_id, s.storefront, s.source) and day > s.last
        order by day
        offset ${LOOK_BACK}
        limit 1
      ) l on true
    )
    select s.place, d.day < s.first as earlier, d.day > s.last as later, d.seen_at as "seenAt",
      round(d.rating::numeric, 4)::float8 as rating, d.ratings, d.origin
    from reach s
    -- The fence prevents a join, which would unpack every quarter of every app.
    cross join lateral (
      select day, seen_at, rating, ratings, origin
      from rating_day
      where app_id = s.app_id and storefront = s.storefront and source = s.source
        and day between s.since and s.until and until >= s.since and quarter <= s.until
      offset 0
    ) d
    order by s.place, d.day`
  return new Map([...Map.groupBy(rows, ({ place }) => place)].map(([place, days]) => [place, nearest(days)]))
}

/**
 * Returns the days to compare. Days with packed counts may lie between them, so `days` may contain more days than are
 * compared.
 */
function nearest<Day extends { earlier: boolean; later: boolean }>(days: readonly Day[]): Day[] {
  return [
    ...days.filter(({ earlier }) => earlier).slice(-LOOK_BACK),
    ...days.filter(({ earlier, later }) => !earlier && !later),
    ...days.filter(({ later }) => later).slice(0, LOOK_BACK + 1),
  ]
}

function columnsOf({ appId, storefront, source, first, last }: Span, place: number) {
  return { place, app_id: appId, storefront, source, first, last }
}
