import { hexOf, latestOf } from "../../core/observation/precedence.ts"
import type { Tx } from "../../database/types.ts"
import type { EditorialCard, InAppEvent } from "../../stores/kinds/listing-shape.ts"
import type { ReadListing } from "./listing-run-rows.ts"

/**
 * Stores the events and editors' cards of pages. Each has the first and last time it was on a page, and its latest
 * content.
 */
export async function storeItems(tx: Tx, pages: readonly ReadListing[]): Promise<void> {
  const items = pages.flatMap(itemsOf)
  if (items.length === 0) return
  const first = new Map<string, Date>()
  for (const { key, from } of items) {
    const earliest = first.get(key)
    if (!earliest || from.seenAt < earliest) first.set(key, from.seenAt)
  }
  const rows = latestOf(items).map((item) => stored(item, first.get(item.key) as Date))
  await tx`
    insert into listing_item as held (
      app_id, storefront, source, kind, item_id, first_seen_at, seen_at, title, label, text, starts_at, ends_at, parser,
      origin, sha256
    )
    select app_id, storefront, source, kind, item_id, first_seen_at, seen_at, title, label, text, starts_at, ends_at,
      parser, origin, decode(sha256, 'hex')
    from jsonb_to_recordset(${tx.json(rows)}) r (
      app_id int, storefront text, source text, kind text, item_id text, first_seen_at timestamptz, seen_at timestamptz,
      title text, label text, text text, starts_at timestamptz, ends_at timestamptz, parser smallint, origin text,
      sha256 text
    )
    order by app_id, storefront, source, kind, item_id
    on conflict (app_id, storefront, source, kind, item_id) do update
    set first_seen_at = least(held.first_seen_at, excluded.first_seen_at),
      (seen_at, title, label, text, starts_at, ends_at, parser, origin, sha256) = (
        select v.seen_at, v.title, v.label, v.text, v.starts_at, v.ends_at, v.parser, v.origin, v.sha256
        from (values
          (held.seen_at, held.title, held.label, held.text, held.starts_at, held.ends_at, held.parser, held.origin,
            held.sha256),
          (excluded.seen_at, excluded.title, excluded.label, excluded.text, excluded.starts_at, excluded.ends_at,
            excluded.parser, excluded.origin, excluded.sha256)
        ) v (seen_at, title, label, text, starts_at, ends_at, parser, origin, sha256)
        order by v.seen_at desc, v.parser desc, v.sha256 desc
        limit 1
      )
    where (excluded.seen_at, excluded.parser, excluded.sha256) > (held.seen_at, held.parser, held.sha256)
      or excluded.first_seen_at < held.first_seen_at`
}

interface PageItem extends ReadListing {
  kind: "event" | EditorialCard["kind"]
  item: InAppEvent | EditorialCard
}

function itemsOf(page: ReadListing): PageItem[] {
  const { events = [], editorial = [] } = page.from.listing
  const items = [
    ...events.map((item) => ({ ...page, kind: "event" as const, item })),
    ...editorial.map((item) => ({ ...page, kind: item.kind, item })),
  ].map((item): PageItem => ({ ...item, key: `${page.key} ${item.kind} ${item.item.id}` }))
  return [...new Map(items.toReversed().map((item) => [item.key, item])).values()].toReversed()
}

function stored({ from, appId, storefront, source, kind, item }: PageItem, firstSeenAt: Date) {
  const { seenAt, parser, origin, sha256 } = from
  const event = (kind === "event" ? item : {}) as Partial<InAppEvent>
  return {
    app_id: appId,
    storefront,
    source,
    kind,
    item_id: item.id,
    first_seen_at: firstSeenAt.toISOString(),
    seen_at: seenAt.toISOString(),
    title: item.title ?? null,
    label: event.kind ?? null,
    text: event.text ?? null,
    starts_at: event.startsAt?.toISOString() ?? null,
    ends_at: event.endsAt?.toISOString() ?? null,
    parser,
    origin,
    sha256: hexOf(sha256),
  }
}
