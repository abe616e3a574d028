import * as v from "valibot"
import { kind, type ObservationOf, type StoredRange } from "../../core/kind.ts"
import { checkIds, hold, isDeveloperId } from "../../core/observation/invariants.ts"
import { Flag, LookedUpApp, list, Text } from "../../core/observation/line-parts.ts"
import { rule, ruleBy } from "../../core/observation/shape.ts"
import type { Sql } from "../../database/types.ts"
import { type BestOptions, pagesOf, provenanceOf, storeBest } from "../../measuring/record/best-rows.ts"
import { checkApp, checkGenre } from "../../measuring/record/check-app.ts"
import { differenceOf } from "../../measuring/record/differences.ts"

const NO_DEVELOPER = "the developer must be a number of the App Store"

const shape = v.strictObject({
  developerId: v.pipe(Text, rule("bad_text", NO_DEVELOPER, isDeveloperId)),
  apps: v.pipe(
    list(LookedUpApp),
    ruleBy((apps, { platform, seenAt }) => {
      checkIds(
        platform,
        apps.map(({ id }) => id),
        "apps",
      )
      for (const app of apps) checkApp(app, seenAt)
      for (const app of apps) checkGenre(platform, app)
    }),
  ),
  /** False when the response has the maximum length, so more apps may exist. */
  complete: v.pipe(
    Flag,
    rule("bad_depth", "complete must be true or false", (complete) => typeof complete === "boolean"),
  ),
})

export type DeveloperAppsObservation = ObservationOf<"developer", "itunes-developer", typeof shape>

export interface DeveloperQuestion {
  storefront: string
  developerId: string
}

/** The apps that a developer sells in one storefront. The latest answer of each source is stored. */
export const developer = kind<DeveloperAppsObservation, DeveloperQuestion>({
  name: "developer",
  sources: ["itunes-developer"],
  private: false,
  shape,
  question: {
    about: ({ developerId }) => developerId,
    checkSubject: (subject) => hold(isDeveloperId(subject), "bad_text", NO_DEVELOPER),
  },
  names: (seen) => ({ apps: idsIn(seen) }),
  weight: ({ apps }) => apps.length,
  async store(tx, readings, { appOf }) {
    const idsOf = (from: DeveloperAppsObservation) => idsIn(from).map((id) => appOf(from.platform, id))
    const rows = readings.map((from) => {
      const { platform, storefront, developerId, complete } = from
      const columns = { developer_id: developerId, complete, app_ids: idsOf(from) }
      return { from, row: { platform, storefront, ...columns, ...provenanceOf(from) } }
    })
    const placed = await storeBest(tx, TABLE, rows)
    // Rating counts come from the readings of each app itself.
    const shownApps = readings.map((from) => {
      const apps = from.apps.map(({ ratings: _ratings, rating: _rating, ...app }) => app)
      return { from, apps, appIds: idsOf(from), placed: placed.includes(from) }
    })
    return { placed, shown: shownApps }
  },
  stored: storedShelves,
  replay: {
    subjects: ({ developerId }) => [developerId],
    toQuestion: ({ storefront }, developerId) => ({ storefront, developerId }),
    compare: (stored, now) => [
      differenceOf("apps", idsIn(stored), idsIn(now), [
        stored.complete !== now.complete && (now.complete ? "complete now" : "has the maximum length now"),
      ]),
    ],
    isStored: (sql) => sql`
      select
      from developer_shelf d
      where (d.platform, d.storefront, d.developer_id) = (a.platform, a.storefront, a.subject)
        and d.source = a.source and d.seen_at >= a.at`,
  },
  latest: (sql, { platform, storefront, subject }, since) => sql`
    select max(seen_at) as "seenAt"
    from developer_shelf
    where (platform, storefront, developer_id) = (${platform}, ${storefront}, ${subject}) and seen_at >= ${since}`,
  example: {
    source: "itunes-developer",
    platform: "ios",
    storefront: "us",
    developerId: "897446218",
    seenAt: "2025-10-25T03:25:01Z",
    complete: true,
    apps: [{ id: "897446215", name: "Canva" }],
  },
})

function idsIn({ apps }: DeveloperAppsObservation): string[] {
  return apps.map(({ id }) => id)
}

const TABLE: BestOptions = { table: "developer_shelf", key: ["platform", "storefront", "developer_id", "source"] }
const PAGE = 50

function storedShelves(sql: Sql, { since, sources }: StoredRange): AsyncIterable<DeveloperAppsObservation[]> {
  return pagesOf(
    (after: DeveloperAppsObservation | null) => sql<DeveloperAppsObservation[]>`
      select 'developer' as kind, d.platform, d.storefront, d.developer_id as "developerId", d.source,
        d.seen_at as "seenAt", d.complete, d.parser, d.origin, d.sha256, coalesce(a.apps, '[]') as apps
      from developer_shelf d
      cross join lateral (
        select jsonb_agg(jsonb_build_object('id', s.store_id) order by u.place) as apps
        from unnest(d.app_ids) with ordinality u (id, place)
        join store_app s on s.id = u.id
      ) a
      where d.seen_at >= ${since ?? "-infinity"}::date::timestamp at time zone 'utc'
        and d.source = any(${sources as string[]}::text[])
        and (d.platform, d.storefront, d.developer_id, d.source) > (
          ${after?.platform ?? ""}, ${after?.storefront ?? ""}, ${after?.developerId ?? ""}, ${after?.source ?? ""}
        )
      order by d.platform, d.storefront, d.developer_id, d.source
      limit ${PAGE}`,
  )
}
