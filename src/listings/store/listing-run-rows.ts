import { json } from "../../database/json.ts"
import type { Tx } from "../../database/types.ts"
import type { ListingObservation } from "../../stores/kinds/listing-shape.ts"
import { type Moment, type Releases, type Run, releaseKey, type Series } from "./listing-runs.ts"

export interface ReadListing extends Series {
  from: ListingObservation
  key: string
  sections: ReadSection[]
}

export interface ReadSection {
  name: "page" | "similar" | "developer"
  content: unknown
  moment: Moment
  /** Identifies app, storefront, source and section. */
  key: string
}

interface RunKey extends Series {
  section: string
}

export type StoredRun = Run & RunKey

/**
 * Returns runs by section key: the last run that begins before the earliest reading, which may be extended or split,
 * and all later runs. The stale runs of a page have the key of the page.
 */
export async function readRuns(tx: Tx, pages: readonly ReadListing[]): Promise<Map<string, StoredRun[]>> {
  const sections = [...Map.groupBy(sectionsOf(pages), ({ section: { key } }) => key).values()].map((same) => {
    const [{ page, section }] = same as [(typeof same)[number]]
    const earliest = Math.min(...same.map((reading) => reading.section.moment.at))
    const { appId: app_id, storefront, source } = page
    return { app_id, storefront, source, section: section.name, earliest: new Date(earliest).toISOString() }
  })
  const rows = await tx<(Omit<StoredRun, "moments"> & { moments: string[] })[]>`
    select r.app_id as "appId", r.storefront, r.source, r.section, encode(r.digest, 'hex') as digest, r.parser,
      r.origin, to_json(r.moments) as moments, (extract(epoch from r.released_at) * 1000)::float8 as "releasedAt",
      array(select encode(sha256, 'hex') from unnest(r.sha256s) with ordinality u (sha256, place)
        order by place) as sha256s
    from jsonb_to_recordset(${tx.json(sections)}) k (
      app_id int, storefront text, source text, section text, earliest timestamptz
    )
    cross join lateral (
      select coalesce(max(first_seen_at), '-infinity') as first
      from listing_run
      where (app_id, storefront, source, section) = (k.app_id, k.storefront, k.source, k.section)
        and first_seen_at < k.earliest
    ) b
    cross join lateral (
      select *
      from listing_run
      where (app_id, storefront, source, section) = (k.app_id, k.storefront, k.source, k.section)
        and first_seen_at >= b.first
      union all
      -- A stale run may begin earlier and continue.
      select *
      from listing_run
      where k.section = 'page' and (app_id, storefront, source, section) = (k.app_id, k.storefront, k.source, 'stale')
        and seen_at >= b.first
    ) r
    order by r.app_id, r.storefront, r.source, r.section, r.first_seen_at`
  const runs = rows.map((row): StoredRun => ({ ...row, moments: row.moments.map((at) => Date.parse(at)) }))
  return Map.groupBy(
    runs,
    ({ appId, storefront, source, section }) =>
      `${appId} ${storefront} ${source} ${section === "stale" ? "page" : section}`,
  )
}

/**
 * Returns, by series key, the latest releases on pages before the first of the runs that readRuns returns for the
 * series.
 */
export async function readReleases(tx: Tx, pages: readonly ReadListing[]): Promise<Map<string, Releases>> {
  const dated = pages.filter(({ sections }) => sections.some(({ moment }) => moment.releasedAt !== null))
  const series = [...Map.groupBy(dated, ({ key }) => key).values()].map((same) => {
    const [{ appId: app_id, storefront, source }] = same as [ReadListing]
    const earliest = Math.min(...same.map(({ from }) => from.seenAt.getTime()))
    return { app_id, storefront, source, earliest: new Date(earliest).toISOString() }
  })
  if (series.length === 0) return new Map()
  const rows = await tx<(Series & { parser: number; origin: string; releasedAt: number })[]>`
    select k.app_id as "appId", k.storefront, k.source, r.parser, r.origin,
      (extract(epoch from max(r.released_at)) * 1000)::float8 as "releasedAt"
    from jsonb_to_recordset(${tx.json(series)}) k (app_id int, storefront text, source text, earliest timestamptz)
    join listing_run r using (app_id, storefront, source)
    where r.section = 'page' and r.first_seen_at < k.earliest and r.released_at is not null
    group by k.app_id, k.storefront, k.source, r.parser, r.origin
    order by k.app_id, k.storefront, k.source, r.parser, r.origin`
  const bySeries = Map.groupBy(rows, ({ appId, storefront, source }) => `${appId} ${storefront} ${source}`)
  return new Map(
    [...bySeries].map(([key, same]) => [key, new Map(same.map((row) => [releaseKey(row), row.releasedAt]))]),
  )
}

export function sectionsOf(pages: readonly ReadListing[]): { page: ReadListing; section: ReadSection }[] {
  return pages.flatMap((page) => page.sections.map((section) => ({ page, section })))
}

/** The stored runs of a section, and its runs with the new readings. */
export interface MergedSection extends RunKey {
  /** Contents of new readings. */
  contents: readonly { digest: string; content: unknown }[]
  /** Digests of stored contents that belonged to readings of another section. */
  moved: { from: string; digests: readonly string[] }
  storedRuns: readonly StoredRun[]
  runs: readonly Run[]
  gone: readonly Run[]
  written: readonly Run[]
}

export async function writeRuns(tx: Tx, merged: readonly MergedSection[]): Promise<void> {
  const changed = merged.filter(({ gone, written }) => gone.length + written.length > 0)
  if (changed.length === 0) return
  await insertContents(tx, changed)
  await copyContents(tx, changed)
  await deleteRuns(tx, changed)
  await upsertRuns(tx, changed)
  await forgetContents(tx, changed)
}

async function insertContents(tx: Tx, merged: readonly MergedSection[]): Promise<void> {
  const rows = merged.flatMap(({ contents, ...key }) =>
    contents.map(({ digest, content }) => ({ ...columnsOf(key), digest, content })),
  )
  await tx`
    insert into listing_content (app_id, storefront, source, section, digest, content)
    select app_id, storefront, source, section, decode(digest, 'hex'), content
    from jsonb_to_recordset(${json(tx, rows)}) r (
      app_id int, storefront text, source text, section text, digest text, content jsonb
    )
    order by app_id, storefront, source, section, digest
    on conflict do nothing`
}

async function copyContents(tx: Tx, merged: readonly MergedSection[]): Promise<void> {
  const rows = merged.flatMap(({ moved, ...key }) =>
    moved.digests.map((digest) => ({ ...columnsOf(key), from_section: moved.from, digest })),
  )
  if (rows.length === 0) return
  await tx`
    insert into listing_content (app_id, storefront, source, section, digest, content)
    select r.app_id, r.storefront, r.source, r.section, c.digest, c.content
    from jsonb_to_recordset(${tx.json(rows)}) r (
      app_id int, storefront text, source text, section text, from_section text, digest text
    )
    join listing_content c on (c.app_id, c.storefront, c.source, c.section, c.digest)
      = (r.app_id, r.storefront, r.source, r.from_section, decode(r.digest, 'hex'))
    order by r.app_id, r.storefront, r.source, r.section, c.digest
    on conflict do nothing`
}

function columnsOf({ appId, storefront, source, section }: RunKey) {
  return { app_id: appId, storefront, source, section }
}

async function deleteRuns(tx: Tx, merged: readonly MergedSection[]): Promise<void> {
  const rows = merged.flatMap(({ gone, ...key }) =>
    gone.map(({ moments }) => ({ ...columnsOf(key), first_seen_at: timeOf(moments[0]) })),
  )
  if (rows.length === 0) return
  await tx`
    delete from listing_run
    where (app_id, storefront, source, section, first_seen_at) in (
      select app_id, storefront, source, section, first_seen_at
      from jsonb_to_recordset(${tx.json(rows)}) r (
        app_id int, storefront text, source text, section text, first_seen_at timestamptz
      )
    )`
}

function timeOf(at: number | undefined): string {
  return new Date(at as number).toISOString()
}

async function upsertRuns(tx: Tx, merged: readonly MergedSection[]): Promise<void> {
  const rows = merged.flatMap(({ written, ...key }) =>
    written.map(({ digest, releasedAt, parser, origin, moments, sha256s }) => {
      return {
        ...columnsOf(key),
        digest,
        released_at: releasedAt === null ? null : timeOf(releasedAt),
        parser,
        origin,
        moments: moments.map(timeOf),
        sha256s: [...sha256s],
      }
    }),
  )
  await tx`
    insert into listing_run (
      app_id, storefront, source, section, first_seen_at, seen_at, moments, sha256s, digest, released_at, parser, origin
    )
    select app_id, storefront, source, section, moments[1], moments[cardinality(moments)], moments,
      array(select decode(sha256, 'hex') from unnest(sha256s) with ordinality u (sha256, place) order by place),
      decode(digest, 'hex'), released_at, parser, origin
    from jsonb_to_recordset(${tx.json(rows)}) r (
      app_id int, storefront text, source text, section text, moments timestamptz[], sha256s text[], digest text,
      released_at timestamptz, parser smallint, origin text
    )
    order by app_id, storefront, source, section, moments[1]
    on conflict (app_id, storefront, source, section, first_seen_at) do update
    set seen_at = excluded.seen_at, moments = excluded.moments, sha256s = excluded.sha256s, digest = excluded.digest,
      released_at = excluded.released_at, parser = excluded.parser, origin = excluded.origin`
}

/** Deletes contents that no reading has any more, because a better reading of the same moment replaced theirs. */
async function forgetContents(tx: Tx, merged: readonly MergedSection[]): Promise<void> {
  const rows = merged.flatMap(({ storedRuns, runs, ...key }) => {
    const digests = new Set(runs.map(({ digest }) => digest))
    return storedRuns.filter(({ digest }) => !digests.has(digest)).map(({ digest }) => ({ ...columnsOf(key), digest }))
  })
  if (rows.length === 0) return
  await tx`
    delete from listing_content c
    using jsonb_to_recordset(${tx.json(rows)}) r (app_id int, storefront text, source text, section text, digest text)
    where (c.app_id, c.storefront, c.source, c.section, c.digest)
        = (r.app_id, r.storefront, r.source, r.section, decode(r.digest, 'hex'))
      and not exists (
        select
        from listing_run h
        where (h.app_id, h.storefront, h.source, h.section, h.digest)
          = (c.app_id, c.storefront, c.source, c.section, c.digest)
      )`
}
