import { setTimeout as sleep } from "node:timers/promises"
import { popularityIn } from "../../sources/accounts/ads/insights.ts"
import { daysIn, termsIn } from "../../sources/accounts/ads/reports.ts"
import {
  campaignsQuery,
  dailyReport,
  groupsQuery,
  keywordsQuery,
  negativesQuery,
  popularityQuery,
  publishedSunday,
  searchTermsReport,
} from "../../sources/accounts/ads/requests.ts"
import { campaignsIn, thingsIn } from "../../sources/accounts/ads/things.ts"
import { ReadFailure } from "../../sources/source.ts"
import type { AccountTurn } from "../kind.ts"
import { changedDays } from "./changes.ts"
import type { Ads } from "./client.ts"
import { adsWindow, daysToRead } from "./days.ts"
import { AdsProblem } from "./problem.ts"
import { AdsReach, type AdsTurnParts } from "./reach.ts"
import { type AdsReading, storeAdsReadings } from "./store.ts"
import { type AdsTask, type AdsTurn, endAdsTurn, makeAdsTurns, readNextAdsTurn, readZone } from "./turns.ts"

/** So few requests are left to whoever else works with the key. */
const LEAST_LEFT = 10
const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

/** Reads what is due of an ad account. Throws AdsProblem. */
export async function readAds(ads: Ads, turn: AccountTurn): Promise<number | null> {
  const { sql, account, closing, signal, gapMs, atMost } = turn
  const { zone } = await readZone(sql, account.id)
  const pause = () => sleep(gapMs, undefined, { signal: closing }).catch(() => {})
  await makeAdsTurns(sql, account.id)
  for (let asked = 0; asked < atMost && !closing.aborted && !signal.aborted; asked++) {
    const due = await readNextAdsTurn(sql, account.id)
    if (!due) return null
    const reach = new AdsReach(ads, signal, pause)
    await readTurn({ ...turn, reach, zone }, due)
    await turn.noteAnswer()
    if (reach.left !== null && reach.left <= LEAST_LEFT) return reach.resetMs ?? MINUTE_MS
    await pause()
  }
  return null
}

/** What a task reads and when it comes again. */
interface AdsTaskPlan {
  read(parts: AdsTurnParts, turn: AdsTurn): Promise<AdsReading[]>
  againMs(parts: AdsTurnParts): number
  /** Bodies with people in them are not kept. */
  private?: true
}

const PLANS: Record<AdsTask, AdsTaskPlan> = {
  campaigns: { read: readCampaigns, againMs: () => 3 * HOUR_MS },
  changes: { read: changedDays, againMs: () => HOUR_MS, private: true },
  keywords: { read: readKeywords, againMs: () => 6 * HOUR_MS },
  days: { read: readDays, againMs: () => 6 * HOUR_MS },
  terms: { read: readTerms, againMs: () => 12 * HOUR_MS },
  popularity: { read: readPopularity, againMs: ({ now }) => untilPublished(now()) },
}

/** A body that cannot be read, or a question that is refused, ends its own turn alone. */
async function readTurn(parts: AdsTurnParts, due: AdsTurn): Promise<void> {
  const { sql, account, now, keep, reach, fence } = parts
  const plan = PLANS[due.task]
  try {
    const readings = await plan.read(parts, due)
    if (plan.private === undefined) await keep(reach.body(now()))
    await storeAdsReadings(sql, readings, now, async (tx) => {
      await fence(tx)
      await endAdsTurn(tx, account.id, due, { nextMs: plan.againMs(parts) })
    })
    if (due.task === "campaigns") await makeAdsTurns(sql, account.id)
  } catch (error) {
    const isOwn = error instanceof ReadFailure || (error instanceof AdsProblem && error.trouble === "refused")
    if (!isOwn) throw error
    if (reach.bytes.length > 0 && plan.private === undefined) await keep(reach.body(now()))
    await endAdsTurn(sql, account.id, due, { nextMs: HOUR_MS, failure: error.message })
  }
}

async function readCampaigns({ reach, account, now }: AdsTurnParts): Promise<AdsReading[]> {
  const { rows } = await reach.all(campaignsQuery())
  return [campaignsIn(rows, account.id, reach.body(now()))]
}

async function readKeywords({ reach, account, now }: AdsTurnParts, { subject }: AdsTurn): Promise<AdsReading[]> {
  const { rows: groups } = await reach.all(groupsQuery(subject))
  const { rows: keywords } = await reach.all(keywordsQuery(subject))
  const { rows: ofItself } = await reach.all(negativesQuery(subject, null))
  const ids = groups.map(({ id }) => String(id))
  const { rows: ofGroups } = ids.length > 0 ? await reach.all(negativesQuery(subject, ids)) : { rows: [] }
  const about = { account: account.id, campaign: subject }
  return [thingsIn({ groups, keywords, negatives: [...ofItself, ...ofGroups] }, about, reach.body(now()))]
}

async function readDays(parts: AdsTurnParts, { subject, wasRead }: AdsTurn): Promise<AdsReading[]> {
  const { reach, account, now, zone } = parts
  const window = daysToRead(zone, now(), wasRead)
  const campaign = await reach.all(dailyReport("campaigns", subject, window))
  const keywords = await reach.all(dailyReport("keywords", subject, window))
  return daysIn({ campaign, keywords }, { account: account.id, campaign: subject, window }, reach.body(now()))
}

async function readTerms({ reach, account, now, zone }: AdsTurnParts, { subject }: AdsTurn): Promise<AdsReading[]> {
  const window = adsWindow(zone, now())
  const pages = await reach.all(searchTermsReport(subject, window))
  return [termsIn(pages, { account: account.id, campaign: subject, window }, reach.body(now()))]
}

/** A week that is not out yet has no rows: it is late, and not empty. */
async function readPopularity({ reach, account, now }: AdsTurnParts, { subject }: AdsTurn): Promise<AdsReading[]> {
  const sunday = publishedSunday(now())
  const { rows } = await reach.all(popularityQuery(subject, sunday))
  if (rows.length === 0) throw new ReadFailure("not_found", `the week from ${sunday} is not out for ${subject}`)
  return [popularityIn(rows, { account: account.id, country: subject, sunday }, reach.body(now()))]
}

/** The next Monday's afternoon, in UTC. */
function untilPublished(now: Date): number {
  const next = new Date(now)
  next.setUTCDate(now.getUTCDate() + ((8 - now.getUTCDay()) % 7 || 7))
  next.setUTCHours(14, 0, 0, 0)
  return next.getTime() - now.getTime()
}
