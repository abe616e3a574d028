import { cutText } from "../../lib/text.ts"
import { jsonOrNothing } from "../../measuring/parsing/json.ts"
import { checkedRow, PutAside } from "../../measuring/parsing/put-aside.ts"
import { type About, ReadFailure } from "../../measuring/source.ts"
import { PriceRow, type PricesObservation } from "../kinds/prices.ts"
import { MAX_NAME, MAX_SKU, MAX_WORD } from "../kinds/reports-shape.ts"
import { storefrontOfTerritory } from "./territories.ts"

/** A product as it was listed when its prices were requested. */
export interface ProductListing {
  account: string
  app: string
  product: string
  soldAs: PricesObservation["soldAs"]
  sku: string
  name: string
  period?: string | undefined
}

const PARSER = 1

/**
 * Parses the pages of one product's prices, given as a list of documents, which may include Apple's equivalent prices
 * for comparison. In a territory without an entry the product is not sold: the entry is absent, not free. Unreadable
 * prices are skipped. Throws ReadFailure when no price can be read, or when the pages are not a list.
 */
export function pricesIn(
  bytes: Uint8Array,
  { account, app, product, soldAs, sku, name, period }: ProductListing,
  { seenAt, sha256 }: About,
  aside = new PutAside(),
): PricesObservation {
  const pages = jsonOrNothing(new TextDecoder().decode(bytes))
  if (!Array.isArray(pages)) throw new ReadFailure("changed", "the prices are not a list of documents")
  const things = pages.flatMap((page) => resourcesIn(page?.included))
  const all = pages.flatMap((page) => resourcesIn(page?.data))
  const byTypeAndId = new Map([...things, ...all].map((item) => [`${item.type} ${item.id}`, item]))
  const apple = applePrices(all, byTypeAndId)
  const rows: PricesObservation["rows"] = []
  for (const price of all.filter(({ type }) => /Prices$/.test(type)))
    aside.row(`price ${cutText(price.id, 40)}`, () => {
      for (const row of entryOf(price, byTypeAndId)) rows.push(priceRow({ ...row, apple: apple.get(row.country) }))
    })
  aside.assertSome(rows)
  const head = { kind: "prices", source: "asc-prices", platform: "ios", seenAt, parser: PARSER, origin: "own", sha256 }
  return {
    ...head,
    account,
    app,
    product,
    soldAs,
    sku: cutText(sku, MAX_SKU),
    name: cutText(name, MAX_NAME),
    period,
    day: seenAt.toISOString().slice(0, 10),
    rows,
  } as PricesObservation
}

const priceRow = checkedRow<PricesObservation["rows"][number]>(PriceRow)

interface Resource {
  type: string
  id: string
  attributes: Record<string, unknown>
  relationships: Record<string, { data?: { type?: unknown; id?: unknown } | null }>
}

function resourcesIn(data: unknown): Resource[] {
  const list = Array.isArray(data) ? data : []
  return list.flatMap((item) =>
    typeof item?.type === "string" && typeof item?.id === "string"
      ? [{ type: item.type, id: item.id, attributes: item.attributes ?? {}, relationships: item.relationships ?? {} }]
      : [],
  )
}

type ResourceIndex = ReadonlyMap<string, Resource>

function related(one: Resource, kind: RegExp, resources: ResourceIndex): Resource | undefined {
  const [, of] = Object.entries(one.relationships).find(([name]) => kind.test(name)) ?? []
  return of?.data ? resources.get(`${of.data.type} ${of.data.id}`) : undefined
}

function entryOf(price: Resource, resources: ResourceIndex): PricesObservation["rows"] {
  const [territory, point] = [related(price, /^territory$/, resources), related(price, /PricePoint$/, resources)]
  if (!territory || !point) throw new ReadFailure("changed", "a price has no territory or no price point")
  const country = storefrontOfTerritory(territory.id)
  if (country === undefined) return []
  const { startDate, endDate, manual, preserved, planType } = price.attributes
  return [
    {
      country,
      currency: text(territory.attributes.currency),
      price: text(point.attributes.customerPrice),
      proceeds: text(point.attributes.proceeds),
      point: point.id,
      ...definedFields({
        proceedsYear2: point.attributes.proceedsYear2,
        startsAt: startDate,
        endsAt: endDate,
        plan: planType,
      }),
      ...(typeof manual === "boolean" && { automatic: !manual }),
      ...(preserved === true && { preserved: true }),
    } as PricesObservation["rows"][number],
  ]
}

function text(value: unknown): string {
  if (typeof value !== "string" || value === "") throw new ReadFailure("changed", "a price has no amount")
  return value
}

function definedFields(fields: Record<string, unknown>): Record<string, string> {
  const texts = Object.entries(fields).filter((field): field is [string, string] => typeof field[1] === "string")
  return Object.fromEntries(texts.map(([name, text]) => [name, cutText(text, MAX_WORD)]))
}

/** Returns, by storefront, the price that Apple considers equivalent. */
function applePrices(all: readonly Resource[], resources: ResourceIndex): ReadonlyMap<string, string> {
  const points = all.filter(({ type }) => /PricePoints$/.test(type))
  return new Map(
    points.flatMap((point): [string, string][] => {
      const country = storefrontOfTerritory(related(point, /^territory$/, resources)?.id ?? "")
      const { customerPrice } = point.attributes
      return country === undefined || typeof customerPrice !== "string" || !DECIMAL.test(customerPrice)
        ? []
        : [[country, customerPrice]]
    }),
  )
}

const DECIMAL = /^\d{1,12}(\.\d{1,6})?$/
