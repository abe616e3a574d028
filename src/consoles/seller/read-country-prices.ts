import type { Sql } from "../../database/types.ts"
import type { PriceEntry } from "../formulas/price-periods.ts"
import type { AppAccount } from "../read/app-accounts.ts"
import { askTask, readTask, type TaskStanding } from "../tasks.ts"

export interface SoldProduct {
  /** The console's id of the product; for the app itself, the app's id. */
  product: string
  soldAs: "app" | "purchase" | "subscription"
  /** The seller's own id. */
  sku: string
  name: string
  period: string | null
}

const MAX_PRODUCTS = 1_000

/** Returns what an app sells as the console lists it now, subscriptions first. */
export async function readSoldProducts(sql: Sql, { id, outsideId }: AppAccount): Promise<SoldProduct[]> {
  return await sql<SoldProduct[]>`
    select product, sold_as as "soldAs", sku, name, period
    from account_product
    where account_id = ${id} and app = ${outsideId} and listed_at is not null
    order by array_position(array['subscription', 'purchase', 'app'], sold_as), sku, product
    limit ${MAX_PRODUCTS}`
}

interface ProductPrices {
  entries: PriceEntry[]
  /** Time when the console first returned exactly these prices. */
  seenAt: Date
}

/** Returns the latest prices of a product. Null if none were read. */
export async function readProductPrices(
  sql: Sql,
  { id, outsideId }: AppAccount,
  product: string,
): Promise<ProductPrices | null> {
  const [latest] = await sql<ProductPrices[]>`
    select rows as entries, seen_at as "seenAt"
    from price_day
    where account_id = ${id} and app = ${outsideId} and product = ${product}
    order by day desc
    limit 1`
  return latest ?? null
}

/**
 * Returns the status of the task that reads a product's prices, or the app's list of products if `product` is null.
 * Null if there is no such task.
 */
export async function readPriceTask(
  sql: Sql,
  { id, outsideId }: AppAccount,
  product: string | null,
): Promise<TaskStanding | null> {
  return product === null ? await readTask(sql, id, "products", outsideId) : await readTask(sql, id, "prices", product)
}

/** Makes the task the first of the account's tasks to be read. */
export async function putPricesFirst(sql: Sql, { id, outsideId }: AppAccount, product: string | null): Promise<void> {
  if (product === null) await askTask(sql, id, "products", outsideId)
  else await askTask(sql, id, "prices", product)
}

/**
 * Returns true if a running server reads this account: a server uses the key every hour, and the key was accepted
 * within the last two hours.
 */
export async function isAccountRead(sql: Sql, { id }: AppAccount): Promise<boolean> {
  const rows = await sql`
    select
    from connected_account
    where id = ${id} and next_at is not null and last_ok > now() - interval '2 hours'`
  return rows.length > 0
}
