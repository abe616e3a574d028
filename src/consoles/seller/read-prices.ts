import { Buffer } from "node:buffer"
import { hash } from "node:crypto"
import { json } from "../../database/json.ts"
import type { Sql, Tx } from "../../database/types.ts"
import { dayOf } from "../../lib/days.ts"
import { PutAside } from "../../measuring/parsing/put-aside.ts"
import { rawBody } from "../../measuring/source.ts"
import { type Console, ConsoleProblem } from "../console.ts"
import { entryInForce } from "../formulas/price-periods.ts"
import { reportDigest } from "../kinds/reports-shape.ts"
import { type ProductListing, pricesIn } from "../sources/price-lists.ts"
import {
  equalPricesPath,
  priceListPaths,
  priceSchedulePath,
  purchasesPath,
  subscriptionGroupsPath,
  subscriptionsPath,
} from "../sources/request.ts"
import { type AccountTask, endTask, makeTasks } from "../tasks.ts"
import { type ConsoleParts, hoursLater } from "./console-parts.ts"
import { type Resource, readPages } from "./documents.ts"
import { askOffers, storeOffers } from "./read-offers.ts"

const DAY_HOURS = 24

type Product = Pick<ProductListing, "product" | "soldAs" | "sku" | "name" | "period">

/**
 * Reads what an app sells, including the app itself. If the right to list products is missing, the task is retried a
 * day later.
 */
export async function readProducts(parts: ConsoleParts, task: AccountTask): Promise<void> {
  const { sql, account, now, fence } = parts
  const app = task.subject
  const appProduct = await findOwnApp(sql, account.id, app)
  const products = appProduct && (await unlessRefused(() => listProducts(parts, appProduct)))
  if (!products) return await endTask(sql, account.id, task, { state: "denied", nextAt: hoursLater(now(), DAY_HOURS) })
  await sql.begin(async (tx) => {
    await fence(tx)
    await storeProducts(tx, account.id, app, products)
    const listed = products.map(({ product }) => product)
    await makeTasks(tx, account.id, tx`select 'prices', s, null::date from unnest(${listed}::text[]) s`, {
      isAgain: true,
    })
    await endTask(tx, account.id, task, { state: "read", nextAt: hoursLater(now(), DAY_HOURS) })
  })
}

async function findOwnApp(sql: Sql, account: string, app: string): Promise<Product | null> {
  const [row] = await sql<Product[]>`
    select outside_id as product, 'app' as "soldAs", sku, name
    from account_app
    where account_id = ${account} and outside_id = ${app}`
  return row ?? null
}

async function listProducts({ console, signal }: ConsoleParts, product: Product): Promise<Product[]> {
  const app = product.product
  const read = async (path: string) => ((await readPages(console, path, signal)) ?? []).flatMap(({ data }) => data)
  const purchases = await read(purchasesPath(app))
  const products = [product, ...purchases.flatMap((purchase) => productIn(purchase, "purchase"))]
  for (const { id } of await read(subscriptionGroupsPath(app)))
    products.push(...(await read(subscriptionsPath(id))).flatMap((item) => productIn(item, "subscription")))
  return products
}

/** A product with missing metadata was never sold, so nobody pays its price. */
function productIn({ id, attributes }: Resource, soldAs: Product["soldAs"]): Product[] {
  const { productId: sku, name, state, subscriptionPeriod: period } = attributes
  if (typeof sku !== "string" || sku === "" || state === "MISSING_METADATA") return []
  const words = { name: typeof name === "string" && name !== "" ? name : sku }
  return [{ product: id, soldAs, sku, ...words, ...(typeof period === "string" && { period }) }]
}

async function unlessRefused<Of>(ask: () => Promise<Of>): Promise<Of | null> {
  try {
    return await ask()
  } catch (error) {
    if (error instanceof ConsoleProblem && ["forbidden", "refused"].includes(error.trouble)) return null
    throw error
  }
}

async function storeProducts(tx: Tx, account: string, app: string, products: readonly Product[]): Promise<void> {
  const rows = products.map(({ soldAs, ...rest }) => ({ ...rest, sold_as: soldAs }))
  await tx`
    update account_product
    set listed_at = null
    where account_id = ${account} and app = ${app}`
  await tx`
    insert into account_product (account_id, app, product, sold_as, sku, name, period, listed_at)
    select ${account}, ${app}, product, sold_as, sku, name, period, now()
    from jsonb_populate_recordset(null::account_product, ${json(tx, rows)}) p
    order by product
    on conflict (account_id, app, product) do update
    set sold_as = excluded.sold_as, sku = excluded.sku, name = excluded.name, period = excluded.period,
      listed_at = excluded.listed_at`
}

/** Reads the prices of one product. Stores them if they changed. */
export async function readPrices(parts: ConsoleParts, task: AccountTask): Promise<void> {
  const { sql, record, account, now, keep, fence } = parts
  const thing = await findProduct(sql, account.id, task.subject)
  const pages = thing && (await unlessRefused(() => readPriceLists(parts, thing, dayOf(now()))))
  const nextAt = hoursLater(now(), DAY_HOURS)
  if (!thing) return await endTask(sql, account.id, task, { state: "gone", nextAt: null })
  if (!pages) return await endTask(sql, account.id, task, { state: "denied", nextAt })
  // The product has no prices, or the console no longer lists it. This differs from a price of zero.
  if (pages.length === 0) return await endTask(sql, account.id, task, { state: "gone", nextAt })
  const bytes = listOf(pages)
  const body = rawBody({ bytes, sha256: hash("sha256", bytes, "buffer"), url: "", seenAt: now() })
  await keep(body)
  const aside = new PutAside()
  const seen = pricesIn(bytes, thing, body, aside)
  const isNew = !(await isStanding(sql, thing, reportDigest(seen.rows)))
  await record(sql, isNew ? [seen] : [], now, {
    all: true,
    async finish(tx) {
      await fence(tx)
      await endTask(tx, account.id, task, { state: "read", nextAt, putAside: aside.text() })
    },
  })
  // A caller that waits for prices does not need the offers, so they are read later.
  if (!task.isAsked) await readOffers(parts, thing)
}

async function readOffers(parts: ConsoleParts, thing: ProductListing): Promise<void> {
  const offers = await unlessRefused(() => askOffers(parts, thing))
  if (!offers || offers.length === 0) return
  await parts.sql.begin(async (tx) => {
    await parts.fence(tx)
    await storeOffers(tx, parts.account.id, thing, offers)
  })
}

async function findProduct(sql: Sql, account: string, product: string): Promise<ProductListing | null> {
  const [thing] = await sql<ProductListing[]>`
    select account_id as account, app, product, sold_as as "soldAs", sku, name, period
    from account_product
    where account_id = ${account} and product = ${product} and listed_at is not null
    order by app
    limit 1`
  return thing ? { ...thing, period: thing.period ?? undefined } : null
}

/** Returns the pages of a product's prices. Returns no pages if the product was never priced. */
async function readPriceLists({ console, signal }: ConsoleParts, thing: ProductListing, today: string) {
  const { product, soldAs } = thing
  const id = soldAs === "subscription" ? product : await findSchedule(console, soldAs, product, signal)
  const pages: Uint8Array[] = []
  if (id === null) return pages
  for (const path of priceListPaths(soldAs, id))
    pages.push(...((await readPages(console, path, signal)) ?? []).map(({ bytes }) => bytes))
  const about = { seenAt: new Date(`${today}T00:00:00Z`), sha256: new Uint8Array(32) }
  const usEntries = pricesIn(listOf(pages), thing, about).rows.filter(({ country }) => country === "us")
  const point = entryInForce(usEntries, today)?.point
  const equal = point === undefined ? null : await readPages(console, equalPricesPath(soldAs, point), signal)
  return [...pages, ...(equal ?? []).map(({ bytes }) => bytes)]
}

async function findSchedule(console: Console, soldAs: "app" | "purchase", product: string, signal: AbortSignal) {
  const [page] = (await readPages(console, priceSchedulePath(soldAs, product), signal)) ?? []
  return page?.data[0]?.id ?? null
}

/** Joins the documents into one JSON list, without changing them. */
function listOf(pages: readonly Uint8Array[]): Uint8Array {
  const parts = pages.flatMap((bytes, place) => (place === 0 ? [bytes] : [Buffer.from(","), bytes]))
  return Buffer.concat([Buffer.from("["), ...parts, Buffer.from("]")])
}

/** Returns true if the last stored prices are the same. */
async function isStanding(sql: Sql, { account, app, product }: ProductListing, digest: Buffer): Promise<boolean> {
  const [last] = await sql<{ rows: object[] }[]>`
    select rows
    from price_day
    where account_id = ${account} and app = ${app} and product = ${product}
    order by day desc
    limit 1`
  return last !== undefined && reportDigest(last.rows).equals(digest)
}
