import { takeLocks } from "../database/locks.ts"
import type { Tx } from "../database/types.ts"
import { hexOf, latestOf } from "./latest.ts"
import { DEMO, type GenresObservation } from "./types.ts"

/**
 * Holds the latest tree of a store's genres in each storefront (see latestOf), as a whole: none is left of an earlier one.
 * Returns those that took their place.
 */
export async function storeGenres(tx: Tx, readings: readonly GenresObservation[]): Promise<GenresObservation[]> {
  if (readings.length === 0) return []
  const trees = latestOf(readings.map((from) => ({ from, key: `${from.platform} ${from.storefront}` })))
  await takeLocks(
    tx,
    "genres",
    trees.map(({ key }) => [key]),
  )
  const placed: GenresObservation[] = []
  for (const { from } of trees) if (await replaceTree(tx, from)) placed.push(from)
  return placed
}

/** False where what is held goes before it. */
async function replaceTree(tx: Tx, { genres, ...from }: GenresObservation): Promise<boolean> {
  const { platform, storefront, seenAt, source, parser, origin } = from
  const sha256 = hexOf(from.sha256)
  const held = await tx`
    select
    from genre
    where platform = ${platform} and storefront = ${storefront}
      and (origin <> ${DEMO}, seen_at, parser, sha256)
        >= (${origin}::text <> ${DEMO}, ${seenAt}::timestamptz, ${parser}::smallint, decode(${sha256}, 'hex'))
    limit 1`
  if (held.length > 0) return false
  await tx`
    delete from genre
    where platform = ${platform} and storefront = ${storefront}`
  const rows = genres.map(({ id, name, parent = null }, place) => ({ genre: id, name, parent, place }))
  await tx`
    insert into genre (platform, storefront, genre, name, parent, place, seen_at, source, parser, origin, sha256)
    select ${platform}, ${storefront}, genre, name, parent, place, ${seenAt}::timestamptz, ${source}, ${parser}::smallint,
      ${origin}, decode(${sha256}, 'hex')
    from jsonb_to_recordset(${tx.json(rows)}) r (genre text, name text, parent text, place smallint)
    order by place`
  return true
}
