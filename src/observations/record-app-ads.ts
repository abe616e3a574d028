import type { Tx } from "../database/types.ts"
import { dayOf } from "../formulas/days.ts"
import type { Identified } from "./identified.ts"
import { hexOf } from "./latest.ts"
import { type AppAdsObservation, DEMO } from "./types.ts"

/**
 * Holds a look for an app's app-ads.txt for each day: any before the demo's, one that could tell before one that could not,
 * then the latest. Returns those that took their place.
 */
export async function storeAppAds(
  tx: Tx,
  looks: readonly AppAdsObservation[],
  { appOf }: Identified,
): Promise<AppAdsObservation[]> {
  if (looks.length === 0) return []
  const rows = new Map<string, Row>()
  for (const row of looks.map((from) => rowOf(from, appOf(from.platform, from.id)))) {
    const held = rows.get(row.key)
    if (!held || row.order > held.order) rows.set(row.key, row)
  }
  const written = await tx<{ appId: number; day: string }[]>`
    insert into app_ads as held (app_id, day, seen_at, source, domain, state, records, variables, parser, origin, sha256)
    select app_id, day, seen_at, source, domain, state, records, variables, parser, origin, decode(sha256, 'hex')
    from jsonb_to_recordset(${tx.json([...rows.values()].map(stored) as never)}) r (
      app_id int, day date, seen_at timestamptz, source text, domain text, state text, records jsonb, variables jsonb,
      parser smallint, origin text, sha256 text
    )
    order by app_id, day
    on conflict (app_id, day) do update
    set seen_at = excluded.seen_at, source = excluded.source, domain = excluded.domain, state = excluded.state,
      records = excluded.records, variables = excluded.variables, parser = excluded.parser, origin = excluded.origin,
      sha256 = excluded.sha256
    where (
      excluded.origin <> ${DEMO}, excluded.state <> 'unreachable', excluded.seen_at, excluded.parser, excluded.sha256
    ) > (held.origin <> ${DEMO}, held.state <> 'unreachable', held.seen_at, held.parser, held.sha256)
    returning app_id as "appId", day`
  const keys = new Set(written.map(({ appId, day }) => `${appId} ${day}`))
  return [...rows.values()].filter(({ key }) => keys.has(key)).map(({ from }) => from)
}

interface Row {
  from: AppAdsObservation
  appId: number
  key: string
  /** What the statement above says again: the greater goes before. */
  order: string
}

function rowOf(from: AppAdsObservation, appId: number): Row {
  const { origin, state, seenAt, parser, sha256 } = from
  const told = [origin !== DEMO, state !== "unreachable"].map(Number).join("")
  const order = `${told} ${seenAt.toISOString()} ${String(parser).padStart(5, "0")} ${hexOf(sha256)}`
  return { from, appId, key: `${appId} ${dayOf(seenAt)}`, order }
}

function stored({ from, appId }: Row) {
  const { seenAt, source, domain, state, records, variables, parser, origin, sha256 } = from
  return {
    app_id: appId,
    day: dayOf(seenAt),
    seen_at: seenAt.toISOString(),
    source,
    domain,
    state,
    records,
    variables,
    parser,
    origin,
    sha256: hexOf(sha256),
  }
}
