import type { Tx } from "../database/types.ts"
import { cleanText, type ShownApps } from "./facts.ts"
import type { Identified } from "./identified.ts"
import { hexOf, latestOf } from "./latest.ts"
import { type AppsObservation, LOOKUP_SOURCES, type StoreApp } from "./types.ts"

/**
 * Stores what each source said last of each app in each storefront; what a look-up was asked for and did not answer is
 * not available there. Returns all apps that were shown, whether their reading took its place or not: one that is older
 * than what is held still counted the ratings of its day.
 */
export async function storeApps(
  tx: Tx,
  readings: readonly AppsObservation[],
  known: Identified,
): Promise<(ShownApps & { from: AppsObservation })[]> {
  const rows = readings.map((reading) => rowsOf(reading, known))
  const latest = latestOf(rows.flat())
  if (latest.length === 0) return []
  const written = await upsert(tx, latest)
  return readings.flatMap((from, place) => {
    const own = rows[place] as Row[]
    const [placed, others] = [own.filter((row) => written.has(row)), own.filter((row) => !written.has(row))]
    return [...(placed.length > 0 ? [shownOf(from, placed, true)] : []), shownOf(from, others, false)]
  })
}

interface Key {
  appId: number
  storefront: string
  source: string
}

function keyOf({ appId, storefront, source }: Key): string {
  return `${appId} ${storefront} ${source}`
}

interface Row {
  from: AppsObservation
  key: string
  appId: number
  /** Undefined = not available. */
  app: StoreApp | undefined
}

function rowsOf(from: AppsObservation, { appOf }: Identified): Row[] {
  const { platform, storefront, source, asked, apps } = from
  const row = (id: string, app?: StoreApp): Row => {
    const appId = appOf(platform, id)
    return { from, key: keyOf({ appId, storefront, source }), appId, app }
  }
  const answered = new Set(apps.map(({ id }) => id))
  const missing = LOOKUP_SOURCES.includes(source) ? asked.filter((id) => !answered.has(id)) : []
  return [...apps.map((app) => row(app.id, app)), ...missing.map((id) => row(id))]
}

function shownOf(from: AppsObservation, rows: readonly Row[], placed: boolean) {
  const shown = rows.filter((row): row is Row & { app: StoreApp } => row.app !== undefined)
  return { from, apps: shown.map(({ app }) => app), appIds: shown.map(({ appId }) => appId), placed }
}

async function upsert(tx: Tx, rows: readonly Row[]): Promise<Set<Row>> {
  const written = await tx<Key[]>`
    insert into app_storefront as held (
      app_id, storefront, source, seen_at, available, name, version, price, currency, genre, released_at, updated_at,
      parser, origin, sha256
    )
    select app_id, storefront, source, seen_at, available, name, version, price, currency, genre, released_at, updated_at,
      parser, origin, decode(sha256, 'hex')
    from jsonb_to_recordset(${tx.json(rows.map(stored))}) r (
      app_id int, storefront text, source text, seen_at timestamptz, available boolean, name text, version text,
      price numeric, currency text, genre text, released_at timestamptz, updated_at timestamptz, parser smallint,
      origin text, sha256 text
    )
    order by app_id, storefront, source
    on conflict (app_id, storefront, source) do update
    set seen_at = excluded.seen_at, available = excluded.available, name = excluded.name, version = excluded.version,
      price = excluded.price, currency = excluded.currency, genre = excluded.genre, released_at = excluded.released_at,
      updated_at = excluded.updated_at, parser = excluded.parser, origin = excluded.origin, sha256 = excluded.sha256
    where (excluded.seen_at, excluded.parser, excluded.sha256) > (held.seen_at, held.parser, held.sha256)
    returning app_id as "appId", storefront, source`
  const keys = new Set(written.map(keyOf))
  return new Set(rows.filter(({ key }) => keys.has(key)))
}

function stored({ from, appId, app }: Row) {
  const { storefront, source, seenAt, parser, origin, sha256 } = from
  return {
    app_id: appId,
    storefront,
    source,
    seen_at: seenAt.toISOString(),
    available: app !== undefined,
    name: cleanText(app?.name) ?? null,
    version: cleanText(app?.version) ?? null,
    price: app?.price ?? null,
    currency: app?.currency ?? null,
    genre: app?.genre ?? null,
    released_at: app?.releasedAt?.toISOString() ?? null,
    updated_at: app?.updatedAt?.toISOString() ?? null,
    parser,
    origin,
    sha256: hexOf(sha256),
  }
}
