import type { Tx } from "../../database/types.ts"
import { INVENTED_IDS } from "../../vocabulary/store-ids.ts"
import { INVENTED_TERMS } from "../../vocabulary/term.ts"
import { deriveKeywordNow } from "../derived/now.ts"
import { DEMO } from "../provenance.ts"
import { lockLists } from "./identities.ts"
import { lockSeries } from "./listing.ts"

/** Clears pages, popularity and answers of the demo's own world. Returns how many readings went, and their apps. */
export async function removeInvented(tx: Tx): Promise<{ count: number; apps: number[] }> {
  const named = await tx<{ id: number }[]>`
    select id
    from store_app
    where platform = 'ios' and starts_with(store_id, ${INVENTED_IDS}) and length(store_id) = 10
    order by id`
  if (named.length === 0) return { count: 0, apps: [] }
  const apps = named.map(({ id }) => id)
  const pages = await removePages(tx, apps)
  const figures = await removePopularity(tx)
  const { count: answers } = await tx`
    delete from assistant_answer
    where origin = ${DEMO}`
  return { count: pages + figures + answers, apps }
}

async function removePages(tx: Tx, apps: number[]): Promise<number> {
  await lockSeries(tx, apps)
  const [held] = await tx<[{ count: number }]>`
    select coalesce(sum(cardinality(moments)), 0)::int as count
    from listing_run
    where app_id = any(${apps}::int[]) and origin = ${DEMO}`
  for (const table of ["listing_change", "listing_run", "listing_item", "listing_version", "listing_content"])
    await tx`
      delete from ${tx(table)}
      where app_id = any(${apps}::int[])`
  return held.count
}

async function removePopularity(tx: Tx): Promise<number> {
  const lists = await tx<{ id: number }[]>`
    select id
    from list
    where platform = 'ios' and storefront = 'us' and starts_with(term, ${INVENTED_TERMS})
    order by id`
  const ids = lists.map(({ id }) => id)
  await lockLists(tx, ids)
  const { count } = await tx`
    delete from keyword_metric
    where list_id = any(${ids}::int[]) and metric = 'popularity' and parts ->> 'origin' = ${DEMO}`
  await deriveKeywordNow(tx, ids)
  return count
}
