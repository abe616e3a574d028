import * as v from "valibot"
import { action } from "../../../core/action.ts"
import type { Port, SendPort } from "../../../jobs/outside.ts"
import { described, named } from "../../../lib/schema.ts"
import {
  Amount,
  AppOfCampaign,
  CampaignId,
  Currency,
  KeywordId,
  OF_ADS,
  outsideOf,
  proofOf,
  sendChange,
} from "./declared.ts"
import { refuseBid, refuseBudget, refuseCurrency, refused } from "./guardrails.ts"
import { openCampaign, readHighestBid, readKeyword, type SeenCampaign, type SeenKeyword } from "./things.ts"

const Money = v.nullable(v.string())

const BudgetArgs = v.strictObject({ appId: AppOfCampaign, campaignId: CampaignId, amount: Amount, currency: Currency })
type BudgetArguments = v.InferOutput<typeof BudgetArgs>

interface SeenBudget extends SeenCampaign {
  highestBid: number | null
}

export const setDailyBudget = action({
  ...OF_ADS,
  name: "set_daily_budget",
  summary: "Sets the daily budget of a campaign.",
  description:
    "Changes the budget by at most half of its current value, up to the account's limit and not below a bid. " +
    "Rejected if the campaign uses a shared budget.",
  destructive: true,
  args: BudgetArgs,
  example: { appId: "app_4fD0Zs81hQbK", campaignId: "444555666", amount: 25 },
  state: named(
    "AdsBudget",
    v.strictObject({ dailyBudget: described(Money, "Decimal number, in the account's currency.") }),
  ),
  result: v.strictObject({ id: v.string(), dailyBudget: v.string() }),
  target: ({ campaignId }) => `campaign ${campaignId}`,
  diff({ writer }, { campaignId, amount, currency }, seen) {
    const { budget, sharedBudget, highestBid } = seen as SeenBudget
    refuseCurrency(currency, writer.currency)
    if (sharedBudget) throw refused("The campaign uses a shared budget, so it has no budget of its own.")
    refuseBudget(amount, { before: budget === null ? null : Number(budget), highestBid }, writer.limits)
    const after = decimal(amount, budget)
    return {
      summary: `Set the daily budget of campaign ${campaignId} to ${after}${inCurrency(writer.currency)}.`,
      target: { kind: "campaign", id: campaignId, name: `campaign ${campaignId}` },
      before: { dailyBudget: budget },
      after: { dailyBudget: after },
      notes: [],
    }
  },
  outside: outsideOf({
    async read(args: BudgetArguments, port: Port): Promise<SeenBudget> {
      const { way, campaign } = await openCampaign(args, port)
      return { ...campaign, highestBid: await readHighestBid(way, args.campaignId, port.signal) }
    },
    async send({ amount, ...args }: BudgetArguments, port: SendPort, { budget }: SeenCampaign) {
      const { way } = await openCampaign(args, port)
      const { campaignId: id } = args
      const to = decimal(amount, null)
      await sendChange(
        { thing: "campaigns", id, field: "dailyBudget", from: budget, to, currency: way.currency },
        way,
        port,
      )
      return { id, dailyBudget: to }
    },
    proof: proofOf<BudgetArguments>(({ campaignId: id, amount }, before) => {
      const to = decimal(amount, null)
      return { thing: "campaigns", id, field: "dailyBudget", from: (before as SeenCampaign).budget, to }
    }),
  }),
})

const BidArgs = v.strictObject({
  appId: AppOfCampaign,
  campaignId: CampaignId,
  keywordId: KeywordId,
  amount: Amount,
  currency: Currency,
})
type BidArguments = v.InferOutput<typeof BidArgs>

interface SeenBid {
  keyword: SeenKeyword
  bidStrategy: string
}

export const setKeywordBid = action({
  ...OF_ADS,
  name: "set_keyword_bid",
  summary: "Sets the bid of a keyword.",
  description:
    "Changes the bid by at most half of its current value, within the account's limits. Rejected if the campaign " +
    "sets bids automatically.",
  destructive: true,
  args: BidArgs,
  example: { appId: "app_4fD0Zs81hQbK", campaignId: "444555666", keywordId: "777888999", amount: 1.2 },
  state: named(
    "AdsBid",
    v.strictObject({ bid: described(Money, "Bid of the keyword. Null if it uses the ad group's bid.") }),
  ),
  result: v.strictObject({ id: v.string(), bid: v.string() }),
  target: ({ keywordId }) => `keyword ${keywordId}`,
  diff({ writer }, { keywordId, amount, currency }, seen) {
    const { keyword, bidStrategy } = seen as SeenBid
    refuseCurrency(currency, writer.currency)
    if (bidStrategy === "MAX_CONVERSIONS")
      throw refused("The campaign sets bids automatically (MAX_CONVERSIONS), so a keyword bid has no effect.")
    const currentBid = keyword.bid ?? keyword.groupBid
    refuseBid(amount, currentBid === null ? null : Number(currentBid), writer.limits)
    const after = decimal(amount, keyword.bid)
    return {
      summary: `Set the bid of keyword ${keywordId} to ${after}${inCurrency(writer.currency)}.`,
      target: { kind: "ads_keyword", id: keywordId, name: `keyword ${keywordId}` },
      before: { bid: keyword.bid },
      after: { bid: after },
      notes: keyword.bid === null && currentBid !== null ? [`The current bid is the ad group's, ${currentBid}.`] : [],
    }
  },
  outside: outsideOf({
    async read(args: BidArguments, port: Port): Promise<SeenBid> {
      const { way, campaign } = await openCampaign(args, port)
      return { keyword: await readKeyword(way, args, port.signal), bidStrategy: campaign.bidStrategy }
    },
    async send({ amount, ...args }: BidArguments, port: SendPort, { keyword }: SeenBid) {
      const { way } = await openCampaign(args, port)
      const { keywordId: id } = args
      const to = decimal(amount, null)
      await sendChange(
        { thing: "keywords", id, field: "bid", from: keyword.bid, to, currency: way.currency },
        way,
        port,
      )
      return { id, bid: to }
    },
    proof: proofOf<BidArguments>(({ keywordId: id, amount }, before) => {
      return { thing: "keywords", id, field: "bid", from: (before as SeenBid).keyword.bid, to: decimal(amount, null) }
    }),
  }),
})

/** Returns the amount with two decimals. If the existing text is the same amount, returns that text. */
function decimal(amount: number, current: string | null): string {
  return current !== null && Number(current) === Number(amount.toFixed(2)) ? current : amount.toFixed(2)
}

function inCurrency(currency: string | null): string {
  return currency === null ? "" : ` ${currency}`
}
