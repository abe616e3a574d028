import type { Role, StandIn } from "./stand-in.ts"

/** A price as the console lists it. */
export interface StandInPrice {
  /** For example "DEU". */
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
  /** The prices that Apple equates in other territories. */
  equal?: Record<string, string>
  /** By the name of their list. */
  offers?: Partial<Record<"introductoryOffers" | "promotionalOffers" | "offerCodes", StandInOffer[]>>
}

export interface StandInOffer {
  id: string
  /** For example "DEU"; only for introductory offers. */
  territory?: string
  attributes: Record<string, unknown>
}

const SCHEDULES = {
  app: ["appPrices", "appPricePoints", "appPricePoint"],
  purchase: ["inAppPurchasePrices", "inAppPurchasePricePoints", "inAppPurchasePricePoint"],
  subscription: ["subscriptionPrices", "subscriptionPricePoints", "subscriptionPricePoint"],
} as const
const LIMIT = 200

/** Null for other paths. */
export function priceAnswer(
  { products, url }: StandIn,
  { pathname, searchParams }: URL,
  role: Role,
  refusal: (status: number, code: string, detail: string) => Response,
): Response | null {
  const of = (kind: StandInProduct["soldAs"], app?: string) =>
    products.filter((one) => one.soldAs === kind && (app === undefined || one.app === app))
  const list = (data: unknown[], rest: object = {}) => Response.json({ data, links: { self: pathname }, ...rest })
  const page = (own: StandInProduct, prices: StandInPrice[]) => {
    const from = Number(searchParams.get("cursor") ?? 0)
    const [type, points, point] = SCHEDULES[own.soldAs]
    const shown = prices.slice(from, from + LIMIT)
    const next = from + LIMIT < prices.length ? `${url}${pathname}?cursor=${from + LIMIT}&limit=${LIMIT}` : undefined
    const idOf = (one: StandInPrice) => `${own.id}-${one.territory}-${one.price}`
    return Response.json({
      data: shown.map((one, place) => ({
        type,
        id: `${own.id}-${from + place}`,
        attributes: {
          startDate: one.startDate ?? null,
          ...(own.soldAs === "subscription"
            ? { preserved: one.preserved ?? false }
            : { manual: one.manual ?? false, endDate: null }),
        },
        relationships: {
          territory: { data: { type: "territories", id: one.territory } },
          [point]: { data: { type: points, id: idOf(one) } },
        },
      })),
      included: [
        ...shown.map(({ territory, currency }) => ({ type: "territories", id: territory, attributes: { currency } })),
        ...shown.map((one) => ({
          type: points,
          id: idOf(one),
          attributes: {
            customerPrice: one.price,
            proceeds: (Number(one.price) * 0.7).toFixed(2),
            ...(own.soldAs === "subscription" && { proceedsYear2: (Number(one.price) * 0.85).toFixed(2) }),
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
          of("purchase", app).map(({ id, sku, name }) => ({
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
          of("subscription", app).length > 0
            ? [{ type: "subscriptionGroups", id: `g${app}`, attributes: { referenceName: "Pro" } }]
            : [],
        ),
    ],
    [
      /^\/v1\/subscriptionGroups\/g(\d+)\/subscriptions$/,
      (app) =>
        list(
          of("subscription", app).map(({ id, sku, name }) => ({
            type: "subscriptions",
            id,
            attributes: { productId: sku, name, state: "APPROVED", subscriptionPeriod: "ONE_YEAR" },
          })),
        ),
    ],
    [
      /^\/v1\/apps\/(\d+)\/appPriceSchedule$/,
      (id) =>
        of("app").some((one) => one.id === id) ? Response.json({ data: { type: "appPriceSchedules", id } }) : null,
    ],
    [
      /^\/v2\/inAppPurchases\/(\d+)\/iapPriceSchedule$/,
      (id) => Response.json({ data: { type: "inAppPurchasePriceSchedules", id } }),
    ],
    [
      /^\/v1\/(?:app|inAppPurchase)PriceSchedules\/(\d+)\/(manual|automatic)Prices$/,
      (id, which) => {
        const own = products.find((one) => one.id === id)
        if (!own) return null
        return page(
          own,
          own.prices.filter(({ manual = false }) => manual === (which === "manual")),
        )
      },
    ],
    [
      /^\/v1\/subscriptions\/(\d+)\/prices$/,
      (id) => {
        const own = products.find((one) => one.id === id)
        if (!own) return null
        return page(own, own.prices)
      },
    ],
    [
      /^\/v[12]\/(?:subscriptions|inAppPurchases)\/(\d+)\/(introductoryOffers|promotionalOffers|offerCodes)$/,
      (id, which) => {
        const offers = products.find((one) => one.id === id)?.offers?.[which as "offerCodes"] ?? []
        return list(
          offers.map(({ id: offer, territory, attributes }) => ({
            type: which,
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
        const own = products.find(({ id }) => point.startsWith(`${id}-`))!
        const [, type] = SCHEDULES[own.soldAs]
        return list(
          Object.entries(own.equal ?? {}).map(([territory, customerPrice]) => ({
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
    const [, id, which = ""] = path.exec(pathname) ?? []
    if (id === undefined) continue
    if (!may) return refusal(403, "FORBIDDEN_ERROR", "This request is forbidden for security reasons")
    return answer(id, which) ?? refusal(404, "NOT_FOUND", "The specified resource does not exist")
  }
  return null
}
