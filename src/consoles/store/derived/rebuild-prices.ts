import type { Sql, Tx } from "../../../database/types.ts"
import { derivePrices, type PricedProduct } from "./prices.ts"

const AT_ONCE = 20

/** Derives all price periods again. Returns the number of products whose periods changed. */
export async function rebuildPrices(sql: Sql, pause: () => Promise<void>): Promise<number> {
  let mended = 0
  for (let page = await readNext(sql, null); page.length > 0; page = await readNext(sql, page.at(-1)!)) {
    for (const product of page) {
      const isMended = await sql.begin(async (tx) => {
        // Takes the lock that storing takes, so that no new prices are stored meanwhile.
        await tx`
          select id
          from connected_account
          where id = ${product.account}
          for no key update`
        const before = await readPeriods(tx, product)
        await derivePrices(tx, [product])
        return (await readPeriods(tx, product)) !== before
      })
      if (isMended) mended++
    }
    await pause()
  }
  return mended
}

async function readPeriods(tx: Tx, { account, app, product }: PricedProduct): Promise<string> {
  const [row] = await tx<{ periods: string | null }[]>`
    select md5(string_agg(p::text, ' ' order by country, from_day)) as periods
    from price_period p
    where account_id = ${account} and app = ${app} and product = ${product}`
  return row?.periods ?? ""
}

async function readNext(sql: Sql, after: PricedProduct | null): Promise<PricedProduct[]> {
  return await sql<PricedProduct[]>`
    select distinct account_id as account, app, product
    from price_day
    where (account_id, app, product) > (${after?.account ?? ""}, ${after?.app ?? ""}, ${after?.product ?? ""})
    order by account_id, app, product
    limit ${AT_ONCE}`
}
