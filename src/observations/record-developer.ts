import type { Tx } from "../database/types.ts"
import type { ShownApps } from "./facts.ts"
import type { Identified } from "./identified.ts"
import { hexOf, latestOf } from "./latest.ts"
import type { DeveloperAppsObservation } from "./types.ts"

/**
 * Holds what each source said last of a developer's shelf in each storefront (see latestOf). Returns all shelves with what
 * they showed of apps but for rating counts, which are other apps' own to tell; `placed` are those that took their place.
 */
export async function storeDevelopers(
  tx: Tx,
  readings: readonly DeveloperAppsObservation[],
  known: Identified,
): Promise<(ShownApps & { from: DeveloperAppsObservation })[]> {
  if (readings.length === 0) return []
  const written = await upsert(tx, readings, known)
  return readings.map((from) => {
    const apps = from.apps.map(({ ratings: _ratings, rating: _rating, ...app }) => app)
    return { from, apps, appIds: idsOf(from, known), placed: written.has(from) }
  })
}

function idsOf({ platform, apps }: DeveloperAppsObservation, { appOf }: Identified): number[] {
  return apps.map(({ id }) => appOf(platform, id))
}

async function upsert(tx: Tx, readings: readonly DeveloperAppsObservation[], known: Identified) {
  const rows = latestOf(readings.map((from) => ({ from, key: keyOf(from) })))
  const written = await tx<Key[]>`
    insert into developer_shelf as held (
      platform, storefront, developer_id, source, seen_at, complete, app_ids, parser, origin, sha256
    )
    select platform, storefront, developer_id, source, seen_at, complete, app_ids, parser, origin, decode(sha256, 'hex')
    from jsonb_to_recordset(${tx.json(rows.map(({ from }) => stored(from, known)))}) r (
      platform text, storefront text, developer_id text, source text, seen_at timestamptz, complete boolean, app_ids int[],
      parser smallint, origin text, sha256 text
    )
    order by platform, storefront, developer_id, source
    on conflict (platform, storefront, developer_id, source) do update
    set seen_at = excluded.seen_at, complete = excluded.complete, app_ids = excluded.app_ids, parser = excluded.parser,
      origin = excluded.origin, sha256 = excluded.sha256
    where (excluded.seen_at, excluded.parser, excluded.sha256) > (held.seen_at, held.parser, held.sha256)
    returning platform, storefront, developer_id as "developerId", source`
  const keys = new Set(written.map(keyOf))
  return new Set(rows.filter(({ key }) => keys.has(key)).map(({ from }) => from))
}

type Key = Pick<DeveloperAppsObservation, "platform" | "storefront" | "developerId" | "source">

function keyOf({ platform, storefront, developerId, source }: Key): string {
  return `${platform} ${storefront} ${source} ${developerId}`
}

function stored(from: DeveloperAppsObservation, known: Identified) {
  const { platform, storefront, developerId, source, seenAt, complete, parser, origin, sha256 } = from
  return {
    platform,
    storefront,
    developer_id: developerId,
    source,
    seen_at: seenAt.toISOString(),
    complete,
    app_ids: idsOf(from, known),
    parser,
    origin,
    sha256: hexOf(sha256),
  }
}
