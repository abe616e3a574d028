import type { Role, StandIn } from "./stand-in.ts"

/** A price as the console lists it. */
export interface StandInPrice {
  /** Territory, for example "DEU". */
  territory: string
  currency: string
  price: string
  startDate?: string
  manual?: boolean
  preserved?: boolean
}

export interface StandInProduct {
  id: string
  app: string
  soldAs: "app" | "purchase" | "subscription"
  sku: string
  name: string
  prices: StandInPrice[]
  /** The equivalent prices of Apple in other territories. */
  equal?: Record<string, string>
  /** The prices, by the name of their list. */
  offers?: Partial<Record<"introductoryOffers" | "promotionalOffers" | "offerCodes", StandInOffer[]>>
}

export interface StandInOffer {
  id: string
  /** Territory, for example "DEU"; only for introductory offers. */
  territory?: string
  attributes: Record<string, unknown>
}

const SCHEDULES = {
  app: ["appPrices", "appPricePoints", "appPricePoint"],
  purchase: ["inAppPurchasePrices", "inAppPurchasePricePoints", "inAppPurchasePricePoint"],
  subscription: ["subscriptionPrices", "subscriptionPricePoints", "subscriptionPricePoint"],
} as const
const LIMIT = 200

/** Returns null for other paths. */
export function priceAnswer(
  { products, url }: StandIn,
  { pathname, searchParams }: URL,
  role: Role,
  refusal: (status: number, code: string, detail: string) => Response,
): Response | null {
  const productsOf = (kind: StandInProduct["soldAs"], app?: string) =>
    products.filter((product) => product.soldAs === kind && (app === undefined || product.app === app))
  const list = (data: unknown[], rest: object = {}) => Response.json({ data, links: { self: pathname }, ...rest })
  const page = (product: StandInProduct, prices: StandInPrice[]) => {
    const from = Number(searchParams.get("cursor") ?? 0)
    const [type, points, point] = SCHEDULES[product.soldAs]
    const pagePrices = prices.slice(from, from + LIMIT)
    const next = from + LIMIT < prices.length ? `${url}${pathname}?cursor=${from + LIMIT}&limit=${LIMIT}` : undefined
    const idOf = (price: StandInPrice) => `${product.id}-${price.territory}-${price.price}`
    return Response.json({
      data: pagePrices.map((price, place) => ({
        type,
        id: `${product.id}-${from + place}`,
        attributes: {
          startDate: price.startDate ?? null,
          ...(product.soldAs === "subscription"
            ? { preserved: price.preserved ?? false }
            : { manual: price.manual ?? false, endDate: null }),
        },
        relationships: {
          territory: { data: { type: "territories", id: price.territory } },
          [point]: { data: { type: points, id: idOf(price) } },
        },
      })),
      included: [
        ...pagePrices.map(({ territory, currency }) => ({
          type: "territories",
          id: territory,
          attributes: { currency },
        })),
        ...pagePrices.map((price) => ({
          type: points,
          id: idOf(price),
          attributes: {
            customerPrice: price.price,
            proceeds: (Number(price.price) * 0.7).toFixed(2),
            ...(product.soldAs === "subscription" && { proceedsYear2: (Number(price.price) * 0.85).toFixed(2) }),
          },
        })),
      ],
      links: { self: pathname, ...(next && { next }) },
    })
  }
  const may = ["ADMIN", "APP_MANAGER"].includes(role)
  const answers: [RegExp, (id: string, list: string) => Response | null][] = [
    [
      /^\/v1\/apps\/(\d+)\/inAppPurchasesV2$/,
      (app) =>
        list(
          productsOf("purchase", app).map(({ id, sku, name }) => ({
            type: "inAppPurchases",
            id,
            attributes: { productId: sku, name, state: "APPROVED" },
          })),
        ),
    ],
    [
      /^\/v1\/apps\/(\d+)\/subscriptionGroups$/,
      (app) =>
        list(
          productsOf("subscription", app).length > 0
            ? [{ type: "subscriptionGroups", id: `g${app}`, attributes: { referenceName: "Pro" } }]
            : [],
        ),
    ],
    [
      /^\/v1\/subscriptionGroups\/g(\d+)\/subscriptions$/,
      (app) =>
        list(
          productsOf("subscription", app).map(({ id, sku, name }) => ({
            type: "subscriptions",
            id,
            attributes: { productId: sku, name, state: "APPROVED", subscriptionPeriod: "ONE_YEAR" },
          })),
        ),
    ],
    [
      /^\/v1\/apps\/(\d+)\/appPriceSchedule$/,
      (id) =>
        productsOf("app").some((product) => product.id === id)
          ? Response.json({ data: { type: "appPriceSchedules", id } })
          : null,
    ],
    [
      /^\/v2\/inAppPurchases\/(\d+)\/iapPriceSchedule$/,
      (id) => Response.json({ data: { type: "inAppPurchasePriceSchedules", id } }),
    ],
    [
      /^\/v1\/(?:app|inAppPurchase)PriceSchedules\/(\d+)\/(manual|automatic)Prices$/,
      (id, kind) => {
        const product = products.find((candidate) => candidate.id === id)
        if (!product) return null
        return page(
          product,
          product.prices.filter(({ manual = false }) => manual === (kind === "manual")),
        )
      },
    ],
    [
      /^\/v1\/subscriptions\/(\d+)\/prices$/,
      (id) => {
        const product = products.find((candidate) => candidate.id === id)
        if (!product) return null
        return page(product, product.prices)
      },
    ],
    [
      /^\/v[12]\/(?:subscriptions|inAppPurchases)\/(\d+)\/(introductoryOffers|promotionalOffers|offerCodes)$/,
      (id, kind) => {
        const offers = products.find((product) => product.id === id)?.offers?.[kind as "offerCodes"] ?? []
        return list(
          offers.map(({ id: offer, territory, attributes }) => ({
            type: kind,
            id: offer,
            attributes,
            ...(territory && { relationships: { territory: { data: { type: "territories", id: territory } } } }),
          })),
        )
      },
    ],
    [
      /^\/v[13]\/\w+PricePoints\/([\w.-]+)\/equalizations$/,
      (point) => {
        const product = products.find(({ id }) => point.startsWith(`${id}-`))!
        const [, type] = SCHEDULES[product.soldAs]
        return list(
          Object.entries(product.equal ?? {}).map(([territory, customerPrice]) => ({
            type,
            id: `${point}-${territory}`,
            attributes: { customerPrice },
            relationships: { territory: { data: { type: "territories", id: territory } } },
          })),
        )
      },
    ],
  ]
  for (const [path, answer] of answers) {
    const [, id, kind = ""] = path.exec(pathname) ?? []
    if (id === undefined) continue
    if (!may) return refusal(403, "FORBIDDEN_ERROR", "This request is forbidden for security reasons")
    return answer(id, kind) ?? refusal(404, "NOT_FOUND", "The specified resource does not exist")
  }
  return null
}
