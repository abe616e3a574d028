import { afterEach, beforeEach, expect } from "bun:test"
import { createAccountReading } from "../../src/consoles/worker.ts"
import { silentLog } from "../../src/lib/log.ts"
import { recording } from "../../src/recording.ts"
import { sealer } from "../alerts/delivery/scene.ts"
import { freshDatabase } from "../database.ts"
import { slow } from "../long.ts"
import { type AccountScene, accountScene, isReport, TEA } from "./scene.ts"

const NOW = new Date()

let scene: AccountScene
let key: string
beforeEach(async () => {
  scene = await accountScene(await freshDatabase(), NOW)
  key = await scene.service.key(scene.workspaceId)
  const prices = [
    { territory: "USA", currency: "USD", price: "20.00" },
    { territory: "DEU", currency: "EUR", price: "22.00" },
  ]
  const trial = { offerMode: "FREE_TRIAL", duration: "ONE_WEEK", numberOfPeriods: 1, startDate: null, endDate: null }
  const offerTerms = { name: "Welcome back", offerMode: "PAY_AS_YOU_GO", duration: "ONE_MONTH", numberOfPeriods: 3 }
  scene.standIn.products.push(
    {
      id: "77",
      app: TEA.id,
      soldAs: "subscription",
      sku: "tea.year",
      name: "Tea Pro",
      prices,
      offers: {
        introductoryOffers: [
          { id: "i1", territory: "USA", attributes: trial },
          { id: "i2", territory: "DEU", attributes: trial },
          { id: "i3", territory: "JPN", attributes: { ...trial, duration: "ONE_MONTH" } },
          // A territory where nothing is sold any more.
          { id: "i4", territory: "ANT", attributes: trial },
        ],
        promotionalOffers: [{ id: "p1", attributes: { ...offerTerms, offerCode: "back3" } }],
        offerCodes: [
          { id: "c1", attributes: { ...offerTerms, name: "SPRING", active: true, totalNumberOfCodes: 500 } },
        ],
      },
    },
    {
      id: "88",
      app: TEA.id,
      soldAs: "purchase",
      sku: "tea.cup",
      name: "A cup",
      prices,
      offers: { offerCodes: [{ id: "c2", attributes: { name: "CUP", active: false, productionCodeCount: 20 } }] },
    },
  )
})
afterEach(() => scene.standIn.stop())

async function readAll(): Promise<void> {
  await scene.sql`update account_task set next_at = null where ${isReport(scene.sql)}`
  await scene.sql`update connected_account set next_at = now()`
  const parts = { sql: scene.sql, sealer, log: silentLog, reach: scene.register.reach, now: () => scene.clock.now }
  await createAccountReading({ recording, ...parts, gapMs: 0, atMost: 40 }).runOnce()
}

const readPricing = async (query = "") =>
  (await scene.service.call(`/v1/apps/${scene.appId}/pricing${query}`, { key })).body
type Offered = Record<string, unknown>
const rowOf = ({ product, kind, name, mode, duration, periods, active, codes, countries }: Offered) => {
  return [product, kind, name, mode, duration, periods, active, codes, countries]
}

slow(
  "pricing lists the console's introductory offers by storefront, its promotional offers and its offer codes",
  async () => {
    await scene.add(scene.standIn.key("ADMIN"))
    await readAll()
    const { offered, offers } = await readPricing()
    expect(offered.map(rowOf)).toEqual([
      ["tea.cup", "code", "CUP", null, null, null, false, 20, null],
      ["tea.year", "code", "SPRING", "PAY_AS_YOU_GO", "ONE_MONTH", 3, true, 500, null],
      ["tea.year", "introductory", null, "FREE_TRIAL", "ONE_MONTH", 1, null, null, ["jp"]],
      ["tea.year", "introductory", null, "FREE_TRIAL", "ONE_WEEK", 1, null, null, ["de", "us"]],
      ["tea.year", "promotional", "Welcome back", "PAY_AS_YOU_GO", "ONE_MONTH", 3, null, null, null],
    ])
    // Without messages about purchases the number of redemptions is unknown, not zero.
    expect(offers).toBeNull()
    expect((await readPricing("?product=tea.cup")).offered.map(({ name }: Offered) => name)).toEqual(["CUP"])
    const german = (await readPricing("?country=de&product=tea.year")).offered
    expect(german.map(({ kind, duration }: Offered) => `${kind} ${duration}`)).toEqual([
      ...["code ONE_MONTH", "introductory ONE_WEEK", "promotional ONE_MONTH"],
    ])
  },
)

slow("a removed offer keeps the day when it was last seen, and a changed offer shows its latest terms", async () => {
  await scene.add(scene.standIn.key("ADMIN"))
  await readAll()
  const [before] = (await readPricing("?product=tea.cup")).offered
  await scene.sql`
    update account_offer set last_seen = now() - interval '2 days', first_seen = now() - interval '9 days'`
  scene.standIn.products[0]!.offers!.promotionalOffers = []
  scene.standIn.products[1]!.offers!.offerCodes![0]!.attributes.active = true
  await scene.sql`update account_task set next_at = now() where not ${isReport(scene.sql)}`
  await readAll()
  const all = (await readPricing()).offered
  const offerNamed = (name: string) => all.find((offer: Offered) => offer.name === name)
  expect(Date.now() - Date.parse(offerNamed("Welcome back").lastSeen)).toBeGreaterThan(86_400_000)
  expect(offerNamed("CUP")).toMatchObject({ active: true, codes: before.codes })
  expect(Date.parse(offerNamed("CUP").lastSeen) - Date.parse(offerNamed("CUP").firstSeen)).toBeGreaterThan(
    8 * 86_400_000,
  )
  // The offer was not available within the last year.
  await scene.sql`update account_offer set last_seen = now() - interval '400 days' where name = 'Welcome back'`
  expect((await readPricing()).offered.map(({ name }: Offered) => name)).not.toContain("Welcome back")
})

slow("a requested read of prices does not read the product's offers", async () => {
  await scene.add(scene.standIn.key("ADMIN"))
  await readAll()
  scene.standIn.requests.length = 0
  await scene.sql`update account_task set next_at = null`
  await scene.sql`update account_task set asked_at = now(), next_at = now() where task = 'prices' and subject = '77'`
  await readAll()
  const requests = scene.standIn.requests.filter((path) => path.startsWith("/v1/subscriptions/77/"))
  expect(requests.map((path) => new URL(path, "http://a").pathname)).toEqual(["/v1/subscriptions/77/prices"])
})
