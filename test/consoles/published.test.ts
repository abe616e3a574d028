import { afterEach, beforeEach, expect } from "bun:test"
import { readFileSync } from "node:fs"
import { createAccountReading } from "../../src/consoles/worker.ts"
import { silentLog } from "../../src/lib/log.ts"
import { recording } from "../../src/recording.ts"
import { sealer } from "../alerts/delivery/scene.ts"
import { freshDatabase } from "../database.ts"
import { slow } from "../long.ts"
import { type AccountScene, accountScene, TEA } from "./scene.ts"

/**
 * The console's published OpenAPI document states no licence, so it is not in the repository. If ASC_OPENAPI names its
 * file, the test checks against it; otherwise against the excerpt below, which describes the same requests.
 */
const DOCUMENT = process.env.ASC_OPENAPI

let scene: AccountScene
beforeEach(async () => {
  scene = await accountScene(await freshDatabase())
})
afterEach(() => scene.standIn.stop())

interface Parameter {
  name: string
  in: string
  required?: boolean
  schema?: { items?: { enum?: string[] }; maximum?: number }
}
interface Published {
  paths: Record<string, { get?: { parameters?: Parameter[] }; parameters?: Parameter[] }>
}

const query = (name: string, allowed: string[] | null, required = false): Parameter => {
  return { name, in: "query", required, schema: { items: allowed ? { enum: allowed } : {} } }
}
const limit: Parameter = { name: "limit", in: "query", schema: { maximum: 200 } }

const RESOURCES: Record<string, Parameter[]> = {
  "/v1/analyticsReportRequests/{id}/reports": [limit],
  "/v1/analyticsReports/{id}/instances": [query("filter[granularity]", ["DAILY", "WEEKLY", "MONTHLY"]), limit],
  "/v1/analyticsReportInstances/{id}/segments": [limit],
  "/v1/apps/{id}/inAppPurchasesV2": [
    query("fields[inAppPurchases]", ["name", "productId", "inAppPurchaseType", "state"]),
    limit,
  ],
  "/v1/apps/{id}/subscriptionGroups": [query("fields[subscriptionGroups]", ["referenceName"]), limit],
  "/v1/subscriptionGroups/{id}/subscriptions": [
    query("fields[subscriptions]", ["name", "productId", "state", "subscriptionPeriod"]),
    limit,
  ],
  "/v2/inAppPurchases/{id}/iapPriceSchedule": [],
  "/v1/subscriptions/{id}/prices": [query("include", ["territory", "subscriptionPricePoint"]), limit],
  "/v1/subscriptions/{id}/introductoryOffers": [query("include", ["subscription", "territory"]), limit],
  "/v1/subscriptions/{id}/promotionalOffers": [limit],
  "/v1/subscriptions/{id}/offerCodes": [limit],
  "/v2/inAppPurchases/{id}/offerCodes": [limit],
  "/v1/appPriceSchedules/{id}/manualPrices": [query("include", ["appPricePoint", "territory"]), limit],
  "/v1/appPriceSchedules/{id}/automaticPrices": [query("include", ["appPricePoint", "territory"]), limit],
  "/v1/inAppPurchasePriceSchedules/{id}/manualPrices": [
    query("include", ["inAppPurchasePricePoint", "territory"]),
    limit,
  ],
  "/v1/inAppPurchasePriceSchedules/{id}/automaticPrices": [
    query("include", ["inAppPurchasePricePoint", "territory"]),
    limit,
  ],
  "/v1/subscriptionPricePoints/{id}/equalizations": [query("include", ["territory"]), limit],
  "/v1/inAppPurchasePricePoints/{id}/equalizations": [query("include", ["territory"]), limit],
  "/v3/appPricePoints/{id}/equalizations": [query("include", ["territory"]), limit],
}
const CONSOLE: Published["paths"] = Object.fromEntries(
  Object.entries(RESOURCES).map(([path, parameters]) => [path, { get: { parameters } }]),
)

/** Published after version 3.8, so older documents do not contain these paths. */
const LATER = ["/v2/inAppPurchases/{id}/offerCodes"]

const OWN: Published = {
  paths: {
    ...CONSOLE,
    "/v1/apps": { get: { parameters: [query("fields[apps]", ["name", "bundleId", "sku", "primaryLocale"]), limit] } },
    "/v1/apps/{id}/analyticsReportRequests": {
      get: { parameters: [query("filter[accessType]", ["ONGOING", "ONE_TIME_SNAPSHOT"]), limit] },
    },
    "/v1/apps/{id}/appPriceSchedule": { get: { parameters: [] } },
    "/v1/apps/{id}/customerReviews": { get: { parameters: [limit] } },
    "/v1/salesReports": {
      get: {
        parameters: [
          query("filter[vendorNumber]", null, true),
          query(
            "filter[reportType]",
            ["SALES", "SUBSCRIPTION", "SUBSCRIPTION_EVENT", "SUBSCRIPTION_OFFER_CODE_REDEMPTION"],
            true,
          ),
          query("filter[reportSubType]", ["SUMMARY", "DETAILED"], true),
          query("filter[frequency]", ["DAILY", "WEEKLY", "MONTHLY", "YEARLY"], true),
          query("filter[reportDate]", null),
          query("filter[version]", null),
        ],
      },
    },
  },
}

slow("every request to the console uses only paths, queries and values that Apple has published", async () => {
  const { paths } = DOCUMENT ? (JSON.parse(readFileSync(DOCUMENT, "utf8")) as Published) : OWN
  addEverything()
  await scene.add(scene.standIn.key("ADMIN"))
  // Three sessions of daily reports, then everything that is read automatically.
  const parts = { sql: scene.sql, sealer, log: silentLog, reach: scene.register.reach }
  await createAccountReading({ recording, ...parts, gapMs: 0, atMost: 40 }).runOnce()
  const kinds = new Set<string>()
  for (const request of scene.standIn.requests) {
    const { pathname, searchParams } = new URL(request, "https://console.example")
    const template = pathname.replace(/\/(?!v\d)[^/]*[\d-][^/]*(?=\/|$)/, "/{id}")
    kinds.add(template)
    const published = paths[template] ?? (LATER.includes(template) ? OWN.paths[template] : undefined)
    const documented = published?.get?.parameters
    expect([template, documented !== undefined]).toEqual([template, true])
    const parameters = new Map(documented!.map((parameter) => [parameter.name, parameter]))
    for (const [name, value] of searchParams) {
      expect([template, name, parameters.has(name)]).toEqual([template, name, true])
      const { items, maximum } = parameters.get(name)!.schema ?? {}
      if (items?.enum)
        for (const part of value.split(",")) expect([name, items.enum.includes(part) && part]).toEqual([name, part])
      if (maximum !== undefined) expect(Number(value)).toBeLessThanOrEqual(maximum)
    }
    const needed = documented!
      .filter((parameter) => parameter.in === "query" && parameter.required)
      .map(({ name }) => name)
    expect(needed.filter((name) => !searchParams.has(name))).toEqual([])
  }
  expect([...kinds].sort()).toEqual(Object.keys(OWN.paths).sort())
})

/** Gives the app one resource of every type that is requested. */
function addEverything(): void {
  const { analytics, products } = scene.standIn
  const day = new Date().toISOString().slice(0, 10)
  analytics.requests.push({ id: "request-1", app: TEA.id })
  analytics.files.push({ app: TEA.id, report: "App Downloads Standard", processed: day, parts: [] })
  const prices = [{ territory: "USA", currency: "USD", price: "1.00", manual: true }]
  const product = { app: TEA.id, sku: "thing", name: "Thing", prices }
  products.push({ ...product, id: "77", soldAs: "subscription" }, { ...product, id: "88", soldAs: "purchase" })
  products.push({ ...product, id: TEA.id, soldAs: "app" })
}
