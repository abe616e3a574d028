import { hash } from "node:crypto"
import { takeLocks } from "../database/locks.ts"
import type { Tx } from "../database/types.ts"
import { foldReview } from "../formulas/review-text.ts"
import type { Identified } from "./identified.ts"
import { hexOf, latestOf } from "./latest.ts"
import { feedOf } from "./review-feeds.ts"
import type { ReviewsObservation, StoreReview } from "./types.ts"

/**
 * Stores reviews, each form of a review once, and how far readings came; returns the pages of which anything was new. Of
 * each review the form of the latest reading is the current one (see latestOf), whichever came first; earlier forms are
 * kept. A page without reviews that no reading ended with leaves nothing.
 */
export async function storeReviews(
  tx: Tx,
  pages: readonly ReviewsObservation[],
  { appOf }: Identified,
): Promise<ReviewsObservation[]> {
  const placed = pages.map((from) => ({ from, appId: appOf(from.platform, from.storeId), feed: feedOf(from) }))
  if (placed.length === 0) return []
  // forms of one review are weighed against each other, which nobody may do beside somebody else
  await takeLocks(
    tx,
    "reviews",
    placed.map(({ appId, feed }) => [appId, feed]),
  )
  const shown = await storeForms(tx, placed)
  const read = await storeEnds(tx, placed)
  return [...new Set([...shown, ...read])]
}

interface Placed {
  from: ReviewsObservation
  appId: number
  feed: string
}

interface Form extends Placed {
  review: StoreReview
  digest: string
  key: string
  firstSeenAt: Date
}

async function storeForms(tx: Tx, placed: readonly Placed[]): Promise<ReviewsObservation[]> {
  const forms = formsOf(placed)
  if (forms.length === 0) return []
  const written = await upsertForms(tx, forms)
  await chooseCurrent(tx, written)
  const keys = new Set(written.map(keyOf))
  return forms.filter(({ key }) => keys.has(key)).map(({ from }) => from)
}

interface FormKey {
  appId: number
  feed: string
  reviewId: string
  digest: string
}

function keyOf({ appId, feed, reviewId, digest }: FormKey): string {
  return `${appId} ${feed} ${reviewId} ${digest}`
}

/** Each form once, of the latest reading that shows it, with the moment when the first of them did. */
function formsOf(placed: readonly Placed[]): Form[] {
  const shown = placed.flatMap(({ from, appId, feed }) =>
    from.reviews.map((review): Form => {
      const digest = digestOf(review)
      const key = keyOf({ appId, feed, reviewId: review.id, digest })
      return { from, appId, feed, review, digest, key, firstSeenAt: from.seenAt }
    }),
  )
  const first = new Map<string, Date>()
  for (const { key, from } of shown) {
    const known = first.get(key)
    if (!known || from.seenAt < known) first.set(key, from.seenAt)
  }
  return latestOf(shown).map((form) => ({ ...form, firstSeenAt: first.get(form.key) as Date }))
}

function digestOf({ stars, title = "", text, at }: StoreReview): string {
  return hash("sha256", JSON.stringify([stars, title, text, at.getTime()])).slice(0, 32)
}

/** Which of them are current is decided afterwards, but for a review that has no other form. */
async function upsertForms(tx: Tx, forms: readonly Form[]): Promise<FormKey[]> {
  const shown = Map.groupBy(forms, ({ appId, feed, review }) => `${appId} ${feed} ${review.id}`)
  const rows = [...shown.values()].flatMap((each) => each.map((form) => stored(form, each.length === 1)))
  return await tx<FormKey[]>`
    insert into review_version as held (
      app_id, feed, review_id, digest, current, stars, title, text, version, at, first_seen_at, seen_at, source, parser,
      origin, sha256, folded
    )
    select app_id, feed, review_id, decode(digest, 'hex'),
      alone and not exists (
        select
        from review_version h
        where (h.app_id, h.feed, h.review_id) = (r.app_id, r.feed, r.review_id)
      ),
      stars, title, text, version, at, first_seen_at, seen_at, source, parser, origin, decode(sha256, 'hex'), folded
    from jsonb_to_recordset(${tx.json(rows)}) r (
      app_id int, feed text, review_id text, digest text, alone boolean, stars smallint, title text, text text,
      version text, at timestamptz, first_seen_at timestamptz, seen_at timestamptz, source text, parser smallint,
      origin text, sha256 text, folded text
    )
    order by app_id, feed, review_id, digest
    on conflict (app_id, feed, review_id, digest) do update
    set (version, seen_at, source, parser, origin, sha256) = (
        select v.version, v.seen_at, v.source, v.parser, v.origin, v.sha256
        from (values
          (held.version, held.seen_at, held.source, held.parser, held.origin, held.sha256),
          (excluded.version, excluded.seen_at, excluded.source, excluded.parser, excluded.origin, excluded.sha256)
        ) v (version, seen_at, source, parser, origin, sha256)
        order by v.seen_at desc, v.parser desc, v.sha256 desc
        limit 1
      ),
      first_seen_at = least(held.first_seen_at, excluded.first_seen_at),
      folded = excluded.folded
    where (excluded.seen_at, excluded.parser, excluded.sha256) > (held.seen_at, held.parser, held.sha256)
      or excluded.first_seen_at < held.first_seen_at
    returning app_id as "appId", feed, review_id as "reviewId", encode(digest, 'hex') as digest`
}

function stored({ from, appId, feed, review, digest, firstSeenAt }: Form, alone: boolean) {
  const { seenAt, source, parser, origin, sha256 } = from
  const { title = null, text } = review
  return {
    app_id: appId,
    feed,
    review_id: review.id,
    digest,
    alone,
    stars: review.stars,
    title,
    text,
    folded: foldReview({ title, text }),
    version: review.version ?? null,
    at: review.at.toISOString(),
    first_seen_at: firstSeenAt.toISOString(),
    seen_at: seenAt.toISOString(),
    source,
    parser,
    origin,
    sha256: hexOf(sha256),
  }
}

/** Of reviews with several forms. The one that was current gives way first: there are never two. */
async function chooseCurrent(tx: Tx, written: readonly FormKey[]): Promise<void> {
  const keys = [
    written.map(({ appId }) => appId),
    written.map(({ feed }) => feed),
    written.map(({ reviewId }) => reviewId),
  ] as const
  const chosen = await tx<FormKey[]>`
    select distinct on (v.app_id, v.feed, v.review_id)
      v.app_id as "appId", v.feed, v.review_id as "reviewId", encode(v.digest, 'hex') as digest
    from (
      select distinct app_id, feed, review_id
      from unnest(${keys[0]}::int[], ${keys[1]}::text[], ${keys[2]}::text[]) w (app_id, feed, review_id)
    ) w
    join review_version v using (app_id, feed, review_id)
    where exists (
      select
      from review_version o
      where (o.app_id, o.feed, o.review_id) = (v.app_id, v.feed, v.review_id) and o.digest <> v.digest
    )
    order by v.app_id, v.feed, v.review_id, v.seen_at desc, v.parser desc, v.sha256 desc,
      v.digest`
  if (chosen.length === 0) return
  await setCurrent(tx, chosen, false)
  await setCurrent(tx, chosen, true)
}

/** Makes the chosen forms current; or, before, all others of their reviews not current. */
async function setCurrent(tx: Tx, chosen: readonly FormKey[], current: boolean): Promise<void> {
  await tx`
    update review_version v
    set current = ${current}
    from unnest(
      ${chosen.map(({ appId }) => appId)}::int[], ${chosen.map(({ feed }) => feed)}::text[],
      ${chosen.map(({ reviewId }) => reviewId)}::text[], ${chosen.map(({ digest }) => digest)}::text[]
    ) c (app_id, feed, review_id, digest)
    where (v.app_id, v.feed, v.review_id) = (c.app_id, c.feed, c.review_id)
      and (v.digest = decode(c.digest, 'hex')) = ${current}
      and v.current <> ${current}`
}

async function storeEnds(tx: Tx, placed: readonly Placed[]): Promise<ReviewsObservation[]> {
  const ends = placed.flatMap(({ from, appId, feed }) => {
    const { end, source } = from
    return end ? [{ from, appId, feed, ...end, key: endKey({ appId, feed, source, complete: end.complete }) }] : []
  })
  if (ends.length === 0) return []
  const latest = latestOf(ends)
  const written = await tx<EndKey[]>`
    insert into review_read as held (app_id, feed, source, complete, seen_at, pages, empty, parser, origin, sha256)
    select app_id, feed, source, complete, seen_at, pages, empty, parser, origin, decode(sha256, 'hex')
    from jsonb_to_recordset(${tx.json(latest.map(storedEnd))}) r (
      app_id int, feed text, source text, complete boolean, seen_at timestamptz, pages smallint, empty boolean,
      parser smallint, origin text, sha256 text
    )
    order by app_id, feed, source, complete
    on conflict (app_id, feed, source, complete) do update
    set seen_at = excluded.seen_at, pages = excluded.pages, empty = excluded.empty, parser = excluded.parser,
      origin = excluded.origin, sha256 = excluded.sha256
    where (excluded.seen_at, excluded.parser, excluded.sha256) > (held.seen_at, held.parser, held.sha256)
    returning app_id as "appId", feed, source, complete`
  const keys = new Set(written.map(endKey))
  return latest.filter(({ key }) => keys.has(key)).map(({ from }) => from)
}

interface EndKey {
  appId: number
  feed: string
  source: string
  complete: boolean
}

function endKey({ appId, feed, source, complete }: EndKey): string {
  return `${appId} ${feed} ${source} ${complete}`
}

function storedEnd({ from, appId, feed, ...end }: Placed & { pages: number; complete: boolean; empty: boolean }) {
  const { source, seenAt, parser, origin, sha256 } = from
  const { pages, complete, empty } = end
  return {
    app_id: appId,
    feed,
    source,
    complete,
    seen_at: seenAt.toISOString(),
    pages,
    empty,
    parser,
    origin,
    sha256: hexOf(sha256),
  }
}
