import type { ListingVersion } from "../../core/observation/line-parts.ts"
import type { Tx } from "../../database/types.ts"
import type { ReadListing } from "./listing-run-rows.ts"
import { digestOf } from "./listing-runs.ts"

/** Stores the versions on pages. Each form of a version is stored once, with the time of its first reading. */
export async function storeVersions(tx: Tx, pages: readonly ReadListing[]): Promise<void> {
  const forms = new Map<string, Form>()
  for (const form of pages.flatMap(formsOf)) forms.set(form.key, together(forms.get(form.key), form))
  if (forms.size === 0) return
  await tx`
    insert into listing_version as held (
      app_id, storefront, source, version, digest, released_at, notes, language, first_seen_at, parser, origin
    )
    select app_id, storefront, source, version, decode(digest, 'hex'), released_at, notes, language, first_seen_at,
      parser, origin
    from jsonb_to_recordset(${tx.json([...forms.values()].map(stored))}) r (
      app_id int, storefront text, source text, version text, digest text, released_at timestamptz, notes text,
      language text, first_seen_at timestamptz, parser smallint, origin text
    )
    order by app_id, storefront, source, version, digest
    on conflict (app_id, storefront, source, version, digest) do update
    set first_seen_at = least(held.first_seen_at, excluded.first_seen_at),
      parser = greatest(held.parser, excluded.parser),
      origin = case
        when (excluded.first_seen_at, excluded.origin) < (held.first_seen_at, held.origin) then excluded.origin
        else held.origin
      end
    where excluded.parser > held.parser
      or (excluded.first_seen_at, excluded.origin) < (held.first_seen_at, held.origin)`
}

interface Form {
  key: string
  page: ReadListing
  listedVersion: ListingVersion
  digest: string
  firstSeenAt: Date
  parser: number
  origin: string
}

function formsOf(page: ReadListing): Form[] {
  const { seenAt: firstSeenAt, parser, origin, listing } = page.from
  return (listing.versions ?? []).map((listed) => {
    const { version, releasedAt = null, notes = null } = listed
    const digest = digestOf([releasedAt, notes, listing.language ?? null])
    return { key: `${page.key} ${digest} ${version}`, page, listedVersion: listed, digest, firstSeenAt, parser, origin }
  })
}

function together(earlier: Form | undefined, other: Form): Form {
  if (earlier === undefined) return other
  const [first] = [earlier, other].sort(
    (a, b) => a.firstSeenAt.getTime() - b.firstSeenAt.getTime() || (a.origin < b.origin ? -1 : 1),
  ) as [Form, Form]
  return { ...first, parser: Math.max(earlier.parser, other.parser) }
}

function stored({ page, listedVersion, digest, firstSeenAt, parser, origin }: Form) {
  return {
    app_id: page.appId,
    storefront: page.storefront,
    source: page.source,
    version: listedVersion.version,
    digest,
    released_at: listedVersion.releasedAt?.toISOString() ?? null,
    notes: listedVersion.notes ?? null,
    language: page.from.listing.language ?? null,
    first_seen_at: firstSeenAt.toISOString(),
    parser,
    origin,
  }
}
