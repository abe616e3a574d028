import { json } from "../database/json.ts"
import type { Tx } from "../database/types.ts"
import { type FoundRival, findRivalsToFollow } from "../keywords/read/rivals-to-follow.ts"
import { nameIn } from "../stores/store/app-names.ts"
import type { Place } from "./place.ts"
import type { FollowedRival } from "./rival-facts.ts"

/** Number of rivals followed per app and storefront, in addition to those named by hand. */
const FOLLOWED = 10

/**
 * Updates the followed rivals of a place; unchanged rows are not written. The caller must have locked the identities
 * and the place.
 */
export async function followRivals(tx: Tx, place: Place, manual: readonly string[]): Promise<void> {
  const { appId, platform, storefront, storeAppId } = place
  const rivals = await findRivalsToFollow(tx, { side: { appId, platform, storefront, storeAppId }, manual }, FOLLOWED)
  const previous = new Map((await readFollowed(tx, place)).map((rival) => [rival.rival, rival]))
  const changed = rivals.filter((rival) => !isSame(rival, previous.get(rival.rival)))
  for (const { rival } of rivals) previous.delete(rival)
  if (previous.size > 0) await unfollow(tx, place, [...previous.keys()])
  if (changed.length > 0) await follow(tx, place, changed)
}

async function readFollowed(tx: Tx, { appId, platform, storefront }: Place): Promise<FoundRival[]> {
  return await tx<FoundRival[]>`
    select rival, manual, terms, day
    from app_rival
    where (app_id, platform, storefront) = (${appId}, ${platform}, ${storefront})
    order by rival`
}

function isSame(one: FoundRival, other: FoundRival | undefined): boolean {
  return other?.manual === one.manual && other.terms === one.terms && other.day === one.day
}

async function unfollow(tx: Tx, { appId, platform, storefront }: Place, rivals: readonly number[]): Promise<void> {
  await tx`
    delete from app_rival
    where (app_id, platform, storefront) = (${appId}, ${platform}, ${storefront})
      and rival = any(${rivals as number[]}::int[])`
}

async function follow(tx: Tx, { appId, platform, storefront }: Place, rivals: readonly FoundRival[]): Promise<void> {
  await tx`
    insert into app_rival (app_id, platform, storefront, rival, manual, terms, day)
    select ${appId}, ${platform}, ${storefront}, rival, manual, terms, day
    from jsonb_to_recordset(${json(tx, rivals)}) r (rival int, manual boolean, terms int, day date)
    order by rival
    on conflict (app_id, platform, storefront, rival) do update
    set manual = excluded.manual, terms = excluded.terms, day = excluded.day`
}

export async function readRivals(tx: Tx, place: Place): Promise<FollowedRival[]> {
  const { appId, platform, storefront } = place
  return await tx<FollowedRival[]>`
    select s.id, s.store_id as rival, ${nameAt(tx, place)} as name, r.manual, true as "isFollowed"
    from app_rival r
    join store_app s on s.id = r.rival
    where (r.app_id, r.platform, r.storefront) = (${appId}, ${platform}, ${storefront})
    order by s.id`
}

/** Reads rivals of earlier alerts that are no longer followed. */
export async function readRivalsNamed(
  tx: Tx,
  place: Place,
  rivals: readonly { rival: string; manual: boolean }[],
): Promise<FollowedRival[]> {
  return await tx<FollowedRival[]>`
    select s.id, s.store_id as rival, ${nameAt(tx, place)} as name, r.manual, false as "isFollowed"
    from jsonb_to_recordset(${json(tx, rivals)}) r (rival text, manual boolean)
    join store_app s on (s.platform, s.store_id) = (${place.platform}, r.rival)
    order by s.id`
}

function nameAt(tx: Tx, { appId, storefront }: Place) {
  const countries = tx`(select countries from tracked_app where id = ${appId})`
  return nameIn(tx, tx`s.id`, { storefront, countries })
}
