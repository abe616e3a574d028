import { json } from "../../database/json.ts"
import type { Sql, Tx } from "../../database/types.ts"
import { type ListedOffer, offersIn } from "../sources/offers.ts"
import { offerListPaths } from "../sources/request.ts"
import type { ConsoleParts } from "./console-parts.ts"
import { readPages } from "./documents.ts"

interface OfferedProduct {
  app: string
  product: string
  soldAs: "app" | "purchase" | "subscription"
}

/** Requests the offers of a product: its prices other than the normal one. Throws ConsoleProblem. */
export async function askOffers(
  { console, signal }: ConsoleParts,
  { product, soldAs }: OfferedProduct,
): Promise<ListedOffer[]> {
  const offers: ListedOffer[] = []
  for (const [kind, path] of offerListPaths(soldAs, product)) {
    const pages = (await readPages(console, path, signal)) ?? []
    offers.push(
      ...offersIn(
        kind,
        pages.flatMap(({ data }) => data),
      ),
    )
  }
  return offers
}

/** Stores the offers. For an offer that is no longer listed, `last_seen` stays as it is. */
export async function storeOffers(
  tx: Tx | Sql,
  account: string,
  { app, product }: OfferedProduct,
  offers: readonly ListedOffer[],
): Promise<void> {
  await tx`
    insert into account_offer
      (account_id, app, product, kind, offer, name, mode, duration, periods, active, codes, countries, starts, ends)
    select ${account}, ${app}, ${product}, kind, offer, name, mode, duration, periods, active, codes, countries, starts,
      ends
    from jsonb_populate_recordset(null::account_offer, ${json(tx, offers)}) o
    order by kind, offer
    on conflict (account_id, app, product, kind, offer) do update
    set name = excluded.name, mode = excluded.mode, duration = excluded.duration, periods = excluded.periods,
      active = excluded.active, codes = excluded.codes, countries = excluded.countries, starts = excluded.starts,
      ends = excluded.ends, last_seen = now()`
}
