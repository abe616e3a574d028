import { Buffer } from "node:buffer"
import { isOutranked, outranks } from "../../core/observation/origins.ts"
import type { ChangedApp } from "../../core/observation/provenance.ts"
import type { NamingApps } from "../../core/observation/shown-apps.ts"
import type { Tx } from "../../database/types.ts"
import { cleanText } from "./facts.ts"

/**
 * Stores names and icons by storefront. All come from one origin (see outranks); among these the latest wins, then the
 * source with the higher weight, the newer parser and the greater text. Requires the apps' lock (lockApps). Returns the
 * apps whose name changed.
 */
export async function storeNames(tx: Tx, readings: readonly NamingApps[]): Promise<ChangedApp[]> {
  const rows = rowsOf(readings)
  if (rows.length === 0) return []
  const [named, pictured] = [isLater(tx, "name", "name"), isLater(tx, "icon_url", "icon")]
  return await tx<ChangedApp[]>`
    with written as (
      insert into store_app_name as held (
        app_id, storefront, origin, name, name_at, name_weight, icon_url, icon_at, icon_weight
      )
      select *
      from jsonb_to_recordset(${tx.json(rows.map(stored))}) r (
        app_id int, storefront text, origin text, name text, name_at timestamptz, name_weight int, icon_url text,
        icon_at timestamptz, icon_weight int
      )
      order by app_id, storefront
      on conflict (app_id, storefront) do update
      set origin = excluded.origin,
        name = case when ${named} then excluded.name else held.name end,
        name_at = case when ${named} then excluded.name_at else held.name_at end,
        name_weight = case when ${named} then excluded.name_weight else held.name_weight end,
        icon_url = case when ${pictured} then excluded.icon_url else held.icon_url end,
        icon_at = case when ${pictured} then excluded.icon_at else held.icon_at end,
        icon_weight = case when ${pictured} then excluded.icon_weight else held.icon_weight end
      where not ${outranks(tx, "held", "excluded")} and (${named} or ${pictured})
      returning app_id, storefront, name
    )
    select w.app_id as "appId", w.storefront
    from written w
    left join lateral (
      -- The value before this statement: the lock excludes other writers.
      select name
      from store_app_name
      where (app_id, storefront) = (w.app_id, w.storefront)
      offset 0
    ) was on true
    where w.name is distinct from was.name
    order by w.app_id, w.storefront
    limit ${rows.length}`
}

/**
 * SQL: true if the new fact replaces the stored one. A row of an outranked origin is replaced as a whole, even by null.
 */
function isLater(tx: Tx, fact: "name" | "icon_url", clock: "name" | "icon") {
  const order = (row: "excluded" | "held") =>
    tx`${tx(`${row}.${clock}_at`)}, ${tx(`${row}.${clock}_weight`)}, ${tx(`${row}.${fact}`)} collate "C"`
  return tx`(
    ${outranks(tx, "excluded", "held")} or ${tx(`excluded.${fact}`)} is not null
      and (${tx(`held.${fact}`)} is null or (${order("excluded")}) > (${order("held")}))
  )`
}

/** A name or an icon URL, with its time and its precedence among values of the same time. */
interface Wording {
  text: string
  at: number
  weight: number
}

interface NameRow {
  appId: number
  storefront: string
  origin: string
  name: Wording | null
  icon: Wording | null
}

/** Returns one row per app and storefront. */
function rowsOf(readings: readonly NamingApps[]): NameRow[] {
  const rows = new Map<string, NameRow>()
  for (const { from, apps, appIds } of readings)
    apps.forEach((app, place) => {
      const weight = weightOf(from, app.id)
      const wording = (text: string | undefined): Wording | null => {
        const cleaned = cleanText(text)
        return cleaned === undefined ? null : { text: cleaned, at: from.seenAt.getTime(), weight }
      }
      const [name, icon] = [wording(app.name), wording(app.icon)]
      if (!name && !icon) return
      const { storefront, origin } = from
      const row = { appId: appIds[place] as number, storefront, origin, name, icon }
      const key = `${row.appId} ${storefront}`
      rows.set(key, merged(rows.get(key), row))
    })
  return [...rows.values()]
}

/**
 * The weight of each source: a look-up of the app outweighs a list, and a list outweighs a row on another page. The
 * weights are stored: never change one.
 */
export const SOURCE_WEIGHTS: Record<NamingApps["from"]["source"], number> = {
  foreign: 10,
  import: 20,
  "itunes-developer": 30,
  "apple-charts": 40,
  "play-search": 50,
  "apple-store-search": 60,
  "apple-web-search": 70,
  "itunes-search": 80,
  "apple-app-page": 90,
  "itunes-lookup": 100,
  "play-details": 110,
}
/** The weight of an app on another app's page. */
const BESIDE = 5
const PARSERS = 10_000

/** Returns the lowest and highest weight of the names of a source, over all its parsers. */
export function weightRange(source: keyof typeof SOURCE_WEIGHTS): { least: number; most: number } {
  const least = SOURCE_WEIGHTS[source] * PARSERS
  return { least, most: least + PARSERS - 1 }
}

function weightOf(from: NamingApps["from"], id: string): number {
  const source = from.kind === "listing" && from.id !== id ? BESIDE : SOURCE_WEIGHTS[from.source]
  return source * PARSERS + Math.min(from.parser, PARSERS - 1)
}

function merged(stored: NameRow | undefined, row: NameRow): NameRow {
  if (!stored || isOutranked(stored.origin, row.origin)) return row
  if (isOutranked(row.origin, stored.origin)) return stored
  return { ...stored, name: later(stored.name, row.name), icon: later(stored.icon, row.icon) }
}

/** Compares in the same order as isLater. */
function later(stored: Wording | null, other: Wording | null): Wording | null {
  if (!stored || !other) return stored ?? other
  const order = other.at - stored.at || other.weight - stored.weight || bytesOrder(other.text, stored.text)
  return order > 0 ? other : stored
}

function bytesOrder(text: string, other: string): number {
  return Buffer.compare(Buffer.from(text), Buffer.from(other))
}

function stored({ appId, storefront, origin, name, icon }: NameRow) {
  return {
    app_id: appId,
    storefront,
    origin,
    name: name?.text ?? null,
    name_at: momentOf(name),
    name_weight: name?.weight ?? null,
    icon_url: icon?.text ?? null,
    icon_at: momentOf(icon),
    icon_weight: icon?.weight ?? null,
  }
}

function momentOf(wording: Wording | null): string | null {
  return wording && new Date(wording.at).toISOString()
}
