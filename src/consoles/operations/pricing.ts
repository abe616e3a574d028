import * as v from "valibot"
import { type Context, ofApp, operation } from "../../core/operation.ts"
import type { TrackedApp } from "../../core/tracked-app.ts"
import { addDays, dayOf } from "../../lib/days.ts"
import { Fault } from "../../lib/faults.ts"
import { Country } from "../../lib/fields.ts"
import { described, named } from "../../lib/schema.ts"
import { isStorable } from "../../lib/text.ts"
import { BILLING_SOURCES } from "../../lib/upstreams.ts"
import { Count, Day, Storefront, Time } from "../../tracking/shapes.ts"
import {
  type BillingAccount,
  findBillingAccounts,
  type ListedPrice,
  type PaidRow,
  readListedPrices,
  readOffers,
  readPaid,
} from "../billing/read-billing.ts"
import { type AppAccount, findMoneyAccounts, type MoneyAccounts } from "../read/app-accounts.ts"
import { ANSWERED_STATES } from "../state.ts"
import { AccountSource, Money } from "./account-shapes.ts"
import { OfferedPrice, RedeemedOffer, readOffered } from "./offer-shapes.ts"

const DAYS = 365

const Amount = v.pipe(v.string(), v.regex(/^-?\d+(\.\d+)?$/))

const Witness = named(
  "PricingSource",
  v.strictObject({
    id: described(v.string(), "The connected account, as in `appmeter account list`."),
    kind: v.picklist(["app-store-connect", ...BILLING_SOURCES]),
    state: v.picklist(ANSWERED_STATES),
    counted: described(
      v.boolean(),
      "True if the figures of this source are shown. If several sources report the same purchases, only one is " +
        "counted.",
    ),
    since: described(
      v.nullable(Time),
      "Time of the source's first message. Earlier purchases are unknown. Null if there is none.",
    ),
    asOf: described(v.nullable(Time), "Time of the source's last message. Null if there is none."),
    events: described(
      v.nullable(Count),
      "Messages about App Store purchases in that period. Null if the source sends no messages.",
    ),
    sandbox: described(v.nullable(Count), "Messages about test purchases, not counted."),
    otherStores: described(v.nullable(Count), "Messages about other stores, not counted."),
    familyShared: described(
      v.nullable(Count),
      "Messages about family members of buyers, who pay nothing; not counted.",
    ),
    unknownTypes: described(v.nullable(Count), "Messages of types that are not counted."),
  }),
)

const counts = {
  sales: described(Count, "Payments at this price: starts, conversions, renewals and purchases."),
  refunds: described(Count, "Refunds at this price."),
}

const Price = named(
  "PaidPrice",
  v.strictObject({
    price: described(Money, "Price of one unit in the message."),
    firstDay: described(Day, "First UTC day with a payment or refund at this price."),
    lastDay: described(Day, "Last UTC day with a payment or refund at this price."),
    ...counts,
    revenue: described(Amount, "Payments minus refunds at this price, before commission."),
  }),
)

const Paid = named(
  "PaidProduct",
  v.strictObject({
    product: described(v.string(), "Id of the product."),
    country: described(v.nullable(Storefront), "Null if the messages have none."),
    countryIs: described(
      v.nullable(v.picklist(["storefront", "last_contact"])),
      "last_contact: the country of the device's last contact, which may differ from the country of the account.",
    ),
    trialStarts: Count,
    paidStarts: Count,
    trialConversions: Count,
    renewals: Count,
    oneTime: described(Count, "True for a one-time purchase."),
    cancellations: described(Count, "Number of times that renewal was turned off, dated at that time."),
    refunds: Count,
    prices: described(v.array(Price), "The prices that were paid, the most recent one first."),
  }),
)

const Listed = named(
  "ListedPrice",
  v.strictObject({
    product: described(v.string(), "SKU of the seller."),
    name: v.string(),
    soldAs: v.picklist(["app", "purchase", "subscription"]),
    country: Storefront,
    from: described(Day, "First day of the price."),
    sinceKnown: described(
      v.boolean(),
      "False if the console names no day; `from` is then the first reading with the price.",
    ),
    price: described(v.nullable(Money), "Null if the product is not sold there from that day on."),
    proceeds: described(v.nullable(Amount), "Proceeds of the seller, in the same currency."),
    automatic: described(
      v.nullable(v.boolean()),
      "True if Apple derives the price from another storefront. Null if price is null.",
    ),
  }),
)

export const getPricing = operation({
  id: "get_pricing",
  method: "GET",
  path: "/apps/:appId/pricing",
  group: "Revenue and ads",
  toolset: "revenue",
  summary: "Returns the prices paid for each product and the listed prices.",
  description:
    "Covers the last 365 days. Paid prices come from billing services and the App Store, in the currency of the " +
    "payment; listed prices come from the seller's console. Nothing is converted. Without a country, listed " +
    "prices are those of the app's storefronts.",
  effect: "reads",
  scope: "revenue:read",
  price: 1,
  faults: ["not_connected", "not_measured", "unsupported_platform"],
  input: ofApp({
    country: described(v.optional(Country), "Two-letter storefront code. Default: all."),
    product: described(
      v.optional(v.pipe(v.string(), v.minLength(1), v.maxLength(100), v.check(isStorable))),
      "Only this product, by its id (SKU).",
    ),
  }),
  narrow: { rows: ["paid", "listed", "offers", "offered"] },
  output: v.strictObject({
    from: described(Day, "First UTC day searched."),
    to: described(Day, "Last day: yesterday."),
    country: described(v.nullable(Storefront), "The requested storefront. Null for all."),
    product: described(v.nullable(v.string()), "The requested product. Null for all."),
    sources: described(v.array(Witness), "Sources of purchases, the counted one first, and the console."),
    paid: described(
      v.nullable(v.array(Paid)),
      "Paid prices by product and country. Null if no source reports purchases.",
    ),
    listed: described(
      v.nullable(v.array(Listed)),
      "Prices in the console, now and earlier in the period. Null if no console is connected.",
    ),
    offers: described(
      v.nullable(v.array(RedeemedOffer)),
      "Offers used for starts and payments, most used first. Null if paid is null.",
    ),
    offered: described(
      v.nullable(v.array(OfferedPrice)),
      "Offers in the console, current ones and those of earlier in the period. Null if listed is null. Empty if " +
        "there are none or they were not read yet.",
    ),
    redeemed: described(
      v.nullable(AccountSource),
      "How completely the report of redemptions was read. Null if listed is null.",
    ),
  }),
}).run(async ({ app, country = null, product = null }, ctx) => {
  const { sql } = ctx
  const to = addDays(dayOf(ctx.now()), -1)
  const days = { from: addDays(to, 1 - DAYS), to }
  const query = { ...days, country, product }
  const countries = country === null ? app.countries : [country]
  // Today is included for prices and offers, because a console that was connected this morning has already listed them.
  const until = { ...days, to: dayOf(ctx.now()), product }
  const { isBilled, seller } = await findWitnesses(app, ctx)
  const [billing, prices, offered] = await Promise.all([
    isBilled ? findBillingAccounts(sql, { workspaceId: ctx.caller.workspaceId, app, days }) : [],
    seller ? readListedPrices(sql, sellerApp(seller), { ...until, countries }) : [],
    readOffered(seller, { ...until, country, days: DAYS }, ctx),
  ])
  const counted = billing.find(({ firstAt }) => firstAt !== null)
  if (!counted && prices.length === 0) throw new Fault("not_measured", { detail: waitingFor(billing, seller) })
  const payments =
    counted && (await Promise.all([readPaid(sql, counted.id, query), readOffers(sql, counted.id, query)]))
  return {
    ...query,
    ...offered,
    sources: [
      ...billing.map((account) => billingShape(account, account === counted)),
      ...(seller ? [sellerShape(seller)] : []),
    ],
    paid: payments ? paidProducts(payments[0]) : null,
    listed: seller ? prices.map(listedShape) : null,
    offers: payments ? payments[1] : null,
  }
})

/** Returns the accounts that report the app's purchases or prices. Throws unsupported_platform or not_connected. */
async function findWitnesses(
  app: TrackedApp,
  { sql, caller }: Pick<Context, "sql" | "caller">,
): Promise<MoneyAccounts> {
  if (app.iosId === null)
    throw new Fault("unsupported_platform", {
      detail: "The app is only on Google Play, and prices and purchases are shown only for the App Store.",
    })
  const accounts = await findMoneyAccounts(sql, caller.workspaceId, app)
  if (accounts.isBilled || accounts.seller) return accounts
  throw new Fault("not_connected", {
    detail:
      `No connected account has data of app ${app.iosId}. Connect one with: appmeter account add revenuecat (adapty, ` +
      "superwall, app-store-notifications) for paid prices, app-store-connect for listed prices.",
  })
}

function sellerApp({ id, outsideId }: AppAccount) {
  return { account: id, app: outsideId }
}

function waitingFor(billing: readonly BillingAccount[], seller: AppAccount | null): string {
  const [first] = billing
  const waiting = first
    ? `${first.id} has been connected since ${minute(first.createdAt)}, ` +
      `and no message has arrived at /in/${first.id} yet. `
    : ""
  if (!seller) return waiting.trim()
  const { id, state, why } = seller
  const stands =
    why === null ? "the right to read prices may be missing, see appmeter account list" : `${state}: ${why}`
  return `${waiting}No price has been read from the console (${id}) yet; ${stands}.`
}

function minute(at: Date): string {
  return `${at.toISOString().slice(0, 16)}Z`
}

function billingShape(account: BillingAccount, counted: boolean): v.InferOutput<typeof Witness> {
  const { id, kind, state, firstAt, asOf, events, sandbox, otherStores, familyShared, unknownTypes } = account
  const span = { since: firstAt?.toISOString() ?? null, asOf: asOf?.toISOString() ?? null }
  return { id, kind, state, counted, ...span, events, sandbox, otherStores, familyShared, unknownTypes }
}

function sellerShape({ id, state }: AppAccount): v.InferOutput<typeof Witness> {
  const nothing = {
    since: null,
    asOf: null,
    events: null,
    sandbox: null,
    otherStores: null,
    familyShared: null,
    unknownTypes: null,
  }
  return { id, kind: "app-store-connect", state, counted: false, ...nothing }
}

const PAYING = ["paid_start", "trial_conversion", "renewal", "one_time", "upgrade"]

/** Groups the payments by product and country, in order. */
function paidProducts(rows: readonly PaidRow[]): v.InferOutput<typeof Paid>[] {
  const groups = Map.groupBy(rows, ({ product, country, countryIs }) => JSON.stringify([product, country, countryIs]))
  return [...groups.values()].map((group) => {
    const { product, country, countryIs } = group[0] as PaidRow
    const count = (...groups: string[]) =>
      group.reduce((sum, { countsAs, events }) => (groups.includes(countsAs) ? sum + events : sum), 0)
    return {
      product,
      country,
      countryIs,
      trialStarts: count("trial_start"),
      paidStarts: count("paid_start"),
      renewals: count("renewal"),
      trialConversions: count("trial_conversion"),
      oneTime: count("one_time"),
      refunds: count("refund"),
      cancellations: count("cancellation"),
      prices: paidPrices(group),
    }
  })
}

/** Leaves out prices without a currency, and events that are not payments. */
function paidPrices(rows: readonly PaidRow[]): v.InferOutput<typeof Price>[] {
  const paid = rows.filter((row) => row.price !== null && row.currency !== null && isMoney(row))
  const groups = Map.groupBy(paid, ({ price, currency }) => `${currency} ${price}`)
  const prices = [...groups.values()].map((group) => {
    const { price, currency } = group[0] as PaidRow
    const count = (isCounted: (row: PaidRow) => boolean) =>
      group.filter(isCounted).reduce((sum, { events }) => sum + events, 0)
    const days = group.flatMap(({ firstDay, lastDay }) => [firstDay, lastDay]).sort()
    const sales = count(({ countsAs }) => PAYING.includes(countsAs))
    const refunds = count(({ countsAs }) => countsAs === "refund")
    const reversed = count(({ countsAs }) => countsAs === "refund_reversed")
    return {
      price: { amount: price as string, currency: currency as string },
      firstDay: days[0] as string,
      lastDay: days.at(-1) as string,
      sales,
      refunds,
      revenue: timesDecimal(price as string, sales - refunds + reversed),
    }
  })
  return prices.sort((a, b) => (a.lastDay < b.lastDay ? 1 : a.lastDay > b.lastDay ? -1 : compared(a, b)))
}

function compared(a: v.InferOutput<typeof Price>, b: v.InferOutput<typeof Price>): number {
  return `${a.price.currency} ${a.price.amount}` < `${b.price.currency} ${b.price.amount}` ? -1 : 1
}

function isMoney({ countsAs }: PaidRow): boolean {
  return countsAs === "refund" || countsAs === "refund_reversed" || PAYING.includes(countsAs)
}

/** Multiplies exactly, in decimal arithmetic without floating-point numbers. */
function timesDecimal(amount: string, times: number): string {
  if (times === 0) return "0"
  const [whole = "0", part = ""] = amount.split(".")
  const product = BigInt(whole + part) * BigInt(times)
  if (part === "") return `${product}`
  const digits = (product < 0n ? -product : product).toString().padStart(part.length + 1, "0")
  return `${product < 0n ? "-" : ""}${digits.slice(0, -part.length)}.${digits.slice(-part.length)}`
}

function listedShape({ sku, currency, price, proceeds, ...row }: ListedPrice): v.InferOutput<typeof Listed> {
  const listPrice = price === null || currency === null ? null : { amount: price, currency }
  return { product: sku, ...row, price: listPrice, proceeds: listPrice && proceeds }
}
