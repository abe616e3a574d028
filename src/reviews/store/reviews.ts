import { hash } from "node:crypto"
import { hexOf, latestOf } from "../../core/observation/precedence.ts"
import type { Provenance } from "../../core/observation/provenance.ts"
import { takeLocks } from "../../database/locks.ts"
import type { Tx } from "../../database/types.ts"
import type { SourceName } from "../../lib/upstreams.ts"
import { foldReview } from "../formulas/review-text.ts"
import type { StoreReview } from "../kinds/review-shape.ts"

interface ReviewsReading extends Provenance {
  source: SourceName
  reviews: readonly StoreReview[]
}

interface PlacedPage<From> {
  from: From
  appId: number
  feed: string
}

interface Form<From> extends PlacedPage<From> {
  review: StoreReview
  digest: string
  key: string
  firstSeenAt: Date
}

/**
 * Stores the forms of reviews. Returns the pages that contain a new form. The form with the latest edit becomes the
 * current one.
 */
export async function storeForms<From extends ReviewsReading>(
  tx: Tx,
  placed: readonly PlacedPage<From>[],
): Promise<From[]> {
  // Choosing the current form compares all forms of a review, so concurrent writers are excluded.
  await takeLocks(
    tx,
    "reviews",
    placed.map(({ appId, feed }) => [appId, feed]),
  )
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

/**
 * Returns each form once, from the latest reading that contains it, with the time of the first reading that contains
 * it.
 */
function formsOf<From extends ReviewsReading>(placed: readonly PlacedPage<From>[]): Form<From>[] {
  const forms = placed.flatMap(({ from, appId, feed }) =>
    from.reviews.map((review): Form<From> => {
      const digest = digestOf(review)
      const key = keyOf({ appId, feed, reviewId: review.id, digest })
      return { from, appId, feed, review, digest, key, firstSeenAt: from.seenAt }
    }),
  )
  const first = new Map<string, Date>()
  for (const { key, from } of forms) {
    const earliest = first.get(key)
    if (!earliest || from.seenAt < earliest) first.set(key, from.seenAt)
  }
  return latestOf(forms).map((form) => ({ ...form, firstSeenAt: first.get(form.key) as Date }))
}

function digestOf({ stars, title = "", text, at }: StoreReview): string {
  return hash("sha256", JSON.stringify([stars, title, text, at.getTime()])).slice(0, 32)
}

/** Inserts the forms. chooseCurrent decides later which form is current; a review's only form is current at once. */
async function upsertForms(tx: Tx, forms: readonly Form<ReviewsReading>[]): Promise<FormKey[]> {
  const byReview = Map.groupBy(forms, ({ appId, feed, review }) => `${appId} ${feed} ${review.id}`)
  const rows = [...byReview.values()].flatMap((each) => each.map((form) => stored(form, each.length === 1)))
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

function stored({ from, appId, feed, review, digest, firstSeenAt }: Form<ReviewsReading>, alone: boolean) {
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

/**
 * For reviews with several forms, makes the form with the latest edit current: a reading of an earlier edit is a stale
 * response. If a newer parser read a form differently at the same moment, that is not an edit. The previous current
 * form is reset first, so that there are never two.
 */
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
    order by v.app_id, v.feed, v.review_id, exists (
        select
        from review_version n
        where (n.app_id, n.feed, n.review_id, n.seen_at) = (v.app_id, v.feed, v.review_id, v.seen_at)
          and n.parser > v.parser
      ), v.at desc, v.seen_at desc, v.parser desc, v.sha256 desc, v.digest`
  if (chosen.length === 0) return
  await setCurrent(tx, chosen, false)
  await setCurrent(tx, chosen, true)
}

/** Makes the chosen forms current, or makes all other forms of their reviews not current. */
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
