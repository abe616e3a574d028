import { afterEach, beforeAll, beforeEach, expect, setDefaultTimeout } from "bun:test"
import type { Sql } from "../../../src/database/types.ts"
import { localesOf } from "../../../src/lib/locales.ts"
import { STOREFRONTS } from "../../../src/lib/storefronts.ts"
import { freshDatabase } from "../../database.ts"
import { until } from "../../jobs/platform.ts"
import { long } from "../../long.ts"
import { captchaPage } from "../../measuring/store-pages.ts"
import type { Answer } from "../../service.ts"
import { type Live, live } from "../../world/stores.ts"
import { TEXTS } from "./audited.ts"

setDefaultTimeout(120_000)

const OWN_APP = "10001"
const SOLD = ["us", "gb", "de", "jp"]
let sql: Sql
let scene: Live

beforeAll(async () => {
  sql = await freshDatabase()
})

beforeEach(async () => {
  await sql`delete from storefront_audit`
  await sql`delete from listing_run`
  scene = await live(sql, [])
})

afterEach(() => scene[Symbol.asyncDispose]())

const ask = (query = "") => scene.service.call(`/v1/apps/${scene.appId}/storefront-audit${query}`, { key: scene.key })
const requestedStorefronts = () =>
  scene.stores.requests.flatMap(({ url }) => /^\/([a-z]{2})\/app\/id10001$/.exec(url.pathname)?.[1] ?? []).sort()
const due = async () =>
  (await sql<{ storefront: string }[]>`select storefront from due where kind = 'listing' order by storefront`).map(
    ({ storefront }) => storefront,
  )

/** Returns the app's page with the store's embedded data. */
function appPage(storefront: string, description: string, ratings: number): Response {
  const language = localesOf(storefront)[0]
  const shelf = (contentType: string, items: object[]) => ({ $kind: "Shelf", contentType, isHorizontal: false, items })
  const ratingsOf = { $kind: "Ratings", productId: OWN_APP, ratingAverage: 4.5, totalNumberOfRatings: ratings }
  const data = {
    title: "Tea Timer: Steep It Right",
    lockup: {
      $kind: "Lockup",
      adamId: OWN_APP,
      title: "Tea Timer: Steep It Right",
      subtitle: "A quiet clock for your cup",
    },
    titleOfferDisplayProperties: { isFree: true, hasInAppPurchases: false },
    shelfMapping: {
      description: shelf("paragraph", [{ $kind: "Paragraph", text: description }]),
      productRatings: shelf("productRatings", [{ ...ratingsOf, ratingCounts: [ratings, 0, 0, 0, 0] }]),
    },
  }
  const json = JSON.stringify({
    data: [{ intent: { $kind: "ProductPageIntent", id: OWN_APP, storefront, language }, data }],
  })
  return new Response(`<html><script type="application/json" id="serialized-server-data">${json}</script></html>`, {
    headers: { "content-type": "text/html" },
  })
}

/** Polls until the scan ends. Expects every answer before the end to show that the scan is running. */
async function finished(): Promise<Answer> {
  for (;;) {
    const answer = await ask()
    if (answer.status !== 202) return answer
    expect(answer.body).toMatchObject({ measured: false, running: true })
    expect(answer.body.eta).toBeWithin(1, 3_601)
    await Bun.sleep(200)
  }
}

long("a scan reads each storefront once and reports where and in which language the app is sold", async () => {
  for (const storefront of SOLD) {
    const text = storefront === "de" ? TEXTS.de : TEXTS.en
    scene.stores.on("apps.apple.com", `/${storefront}/app/id${OWN_APP}`, () => appPage(storefront, text, 40))
  }
  expect((await ask("?refresh=true")).status).toBe(202)
  const { status, body } = await finished()
  expect(status).toBe(200)
  expect(requestedStorefronts()).toEqual([...STOREFRONTS])
  expect(body.summary).toMatchObject({
    sold: 4,
    notSold: 171,
    notRead: 0,
    localised: 3,
    notLocalised: 1,
    ratings: 160,
  })
  expect(body.rows.slice(0, 4)).toMatchObject([
    { country: "de", textLanguage: "de", localised: true, sameTextAs: null, rating: 4.5, ratings: 40, price: 0 },
    { country: "gb", textLanguage: "en", localised: true, sameTextAs: "jp", pageLanguage: "en-GB" },
    { country: "jp", textLanguage: "en", localised: false, sameTextAs: "gb", findings: ["not_localised"] },
    { country: "us", textLanguage: "en", localised: true },
  ])
  // The page of the tracked storefront is due again.
  expect(await due()).toEqual(["us"])
  expect((await ask("?refresh=true")).body).toEqual(body)
  await Bun.sleep(300)
  expect(requestedStorefronts()).toHaveLength(175)
})

long("a storefront with a CAPTCHA page is not_read instead of not sold when the scan's hour is over", async () => {
  scene.stores.on("apps.apple.com", `/us/app/id${OWN_APP}`, () => appPage("us", TEXTS.en, 40))
  scene.stores.on("apps.apple.com", `/zw/app/id${OWN_APP}`, () => captchaPage())
  await ask("?refresh=true")
  const failed = async () => await sql`select from due where kind = 'listing' and failure = 'blocked'`
  await until(async () => (await failed()).length === 1 && requestedStorefronts().length >= 175)
  await until(async () => (await sql`select from due where kind = 'listing' and lease is not null`).length === 0)
  const { status, body } = await ask()
  expect([status, body.running, body.measured]).toEqual([202, true, false])
  await sql`update storefront_audit set started_at = started_at - interval '1 hour'`
  const over = (await ask()).body
  expect(over.summary).toMatchObject({ sold: 1, notSold: 173, notRead: 1 })
  expect(over.rows[1]).toMatchObject({ country: "zw", state: "not_read", readAt: null, findings: ["not_read"] })
  expect(await due()).toEqual(["us"])
})
