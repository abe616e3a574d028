import type { MarketFacts } from "../../core/observation/line-parts.ts"
import { hexOf, latestOf } from "../../core/observation/precedence.ts"
import type { StoreObservation } from "../../core/observation/provenance.ts"
import type { SurrogateIds } from "../../core/observation/subjects.ts"
import type { MarketReading } from "../../core/recording.ts"
import type { Tx } from "../../database/types.ts"
import { dayOf } from "../../lib/days.ts"

/**
 * Stores the latest market facts of each source, storefront and day (latestOf). Returns the readings that were stored.
 */
export async function storeMarket(
  tx: Tx,
  readings: readonly MarketReading[],
  ids: SurrogateIds,
): Promise<StoreObservation[]> {
  const rows = latestOf(readings.flatMap((reading) => rowsOf(reading, ids)))
  if (rows.length === 0) return []
  const written = await tx<MarketKey[]>`
    insert into market_fact as held (
      app_id, storefront, source, day, seen_at, installs, has_in_app_purchases, in_app_least, in_app_most,
      in_app_currency, parser, origin, sha256
    )
    select app_id, storefront, source, day, seen_at, installs, has_in_app_purchases, in_app_least, in_app_most,
      in_app_currency, parser, origin, decode(sha256, 'hex')
    from jsonb_to_recordset(${tx.json(rows.map(stored))}) r (
      app_id int, storefront text, source text, day date, seen_at timestamptz, installs bigint,
      has_in_app_purchases boolean, in_app_least numeric, in_app_most numeric, in_app_currency text, parser smallint,
      origin text, sha256 text
    )
    order by app_id, storefront, source, day
    on conflict (app_id, storefront, source, day) do update
    set seen_at = excluded.seen_at, installs = excluded.installs, has_in_app_purchases = excluded.has_in_app_purchases,
      in_app_least = excluded.in_app_least, in_app_most = excluded.in_app_most,
      in_app_currency = excluded.in_app_currency, parser = excluded.parser, origin = excluded.origin,
      sha256 = excluded.sha256
    where (excluded.seen_at, excluded.parser, excluded.sha256) > (held.seen_at, held.parser, held.sha256)
    returning app_id as "appId", storefront, source, day`
  const keys = new Set(written.map(keyOf))
  return rows.filter(({ key }) => keys.has(key)).map(({ from }) => from)
}

interface MarketKey {
  appId: number
  storefront: string
  source: string
  day: string
}

function keyOf({ appId, storefront, source, day }: MarketKey): string {
  return `${appId} ${storefront} ${source} ${day}`
}

interface MarketRow {
  from: StoreObservation
  key: string
  appId: number
  facts: MarketFacts
}

function rowsOf({ from, apps }: MarketReading, { appOf }: SurrogateIds): MarketRow[] {
  const { platform, storefront = "", source, seenAt } = from
  return apps.flatMap(({ id, facts }) => {
    if (Object.values(facts).every((fact) => fact === undefined)) return []
    const appId = appOf(platform, id)
    return [{ from, key: keyOf({ appId, storefront, source, day: dayOf(seenAt) }), appId, facts }]
  })
}

function stored({ from, appId, facts }: MarketRow) {
  const { storefront, source, seenAt, parser, origin, sha256 } = from
  return {
    app_id: appId,
    storefront,
    source,
    day: dayOf(seenAt),
    seen_at: seenAt.toISOString(),
    installs: facts.installs ?? null,
    has_in_app_purchases: facts.hasInAppPurchases ?? null,
    in_app_least: facts.inAppLeast ?? null,
    in_app_most: facts.inAppMost ?? null,
    in_app_currency: facts.inAppCurrency ?? null,
    parser,
    origin,
    sha256: hexOf(sha256),
  }
}
