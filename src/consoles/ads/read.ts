import { setTimeout as sleep } from "node:timers/promises"
import type { Sql } from "../../database/types.ts"
import { ReadFailure } from "../../measuring/source.ts"
import type { AccountTurn } from "../account-kind.ts"
import { readTasks } from "../read-tasks.ts"
import { popularityIn } from "../sources/ads/insights.ts"
import { daysIn, termsIn } from "../sources/ads/reports.ts"
import {
  campaignsQuery,
  dailyReport,
  groupsQuery,
  keywordsQuery,
  negativesQuery,
  popularityQuery,
  publishedSunday,
  searchTermsReport,
} from "../sources/ads/requests.ts"
import type { PlatformRow } from "../sources/ads/response-fields.ts"
import { campaignsIn, negativeGroups, thingsIn } from "../sources/ads/things.ts"
import { type AccountTask, type AdsTask, endTask, makeTasks } from "../tasks.ts"
import { changedDays } from "./changes.ts"
import type { Ads } from "./client.ts"
import { adsWindow, daysToRead, readZone } from "./days.ts"
import { AdsReach, type AdsTaskParts } from "./reach.ts"
import { type AdsReading, storeAdsReadings } from "./store.ts"

/** Number of requests that are left for other programs that use the key. */
const MIN_REMAINING = 10
const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

/** Reads the due tasks of an ad account. Throws AdsProblem. */
export async function readAds(ads: Ads, turn: AccountTurn): Promise<number | null> {
  const { sql, account, closing, signal, gapMs } = turn
  const zone = await readZone(sql, account.id)
  const pause = () => sleep(gapMs, undefined, { signal: closing }).catch(() => {})
  let reach: AdsReach
  await makeAdsTasks(sql, account.id)
  return await readTasks(turn, {
    async read(task) {
      reach = new AdsReach(ads, signal, pause)
      await readAdsTask({ ...turn, reach, zone }, task as AccountTask<AdsTask>)
    },
    restMs: () => (reach.left !== null && reach.left <= MIN_REMAINING ? (reach.resetMs ?? MINUTE_MS) : null),
  })
}

/**
 * Adds the tasks of the account itself and of each campaign. Also adds a task for the search popularity in each
 * storefront where the workspace tracks an App Store app, advertised or not. Deletes tasks of campaigns that no longer
 * exist.
 */
async function makeAdsTasks(sql: Sql, account: string): Promise<void> {
  await sql`
    delete from account_task t
    where t.account_id = ${account} and t.task in ('keywords', 'days', 'terms') and not exists (
      select from ads_campaign c where c.account_id = t.account_id and c.campaign = t.subject
    )`
  await makeTasks(
    sql,
    account,
    sql`
      select task, '', null::date
      from unnest(array['campaigns', 'changes']) task
      union
      select task, c.campaign, null
      from ads_campaign c
      cross join unnest(array['keywords', 'days', 'terms']) task
      where c.account_id = ${account}
      union
      select 'popularity', country, null
      from connected_account c
      join tracked_app t on t.workspace_id = c.workspace_id
      cross join unnest(t.countries) country
      where c.id = ${account} and t.ios_app is not null`,
  )
}

/** How a task is read, and after what time it is due again. */
interface AdsTaskPlan {
  read(parts: AdsTaskParts, task: AccountTask): Promise<AdsReading[]>
  againMs(parts: AdsTaskParts): number
  /** Bodies of changes name people, so they are not stored. */
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

async function readAdsTask(parts: AdsTaskParts, task: AccountTask<AdsTask>): Promise<void> {
  const { sql, account, now, keep, reach, fence } = parts
  const plan = PLANS[task.task]
  let readings: AdsReading[]
  try {
    readings = await plan.read(parts, task)
  } finally {
    if (reach.bytes.length > 0 && plan.private === undefined) await keep(reach.body(now()))
  }
  await storeAdsReadings(parts, readings, async (tx) => {
    await fence(tx)
    const nextAt = new Date(now().getTime() + plan.againMs(parts))
    await endTask(tx, account.id, task, { state: "read", nextAt, putAside: reach.aside.text() })
  })
  if (task.task === "campaigns") await makeAdsTasks(sql, account.id)
}

async function readCampaigns({ reach, account, now }: AdsTaskParts): Promise<AdsReading[]> {
  const { rows } = await reach.all(campaignsQuery())
  return [campaignsIn(rows, account.id, reach.body(now()), reach.aside)]
}

async function readKeywords({ reach, account, now }: AdsTaskParts, { subject }: AccountTask): Promise<AdsReading[]> {
  const { rows: groups } = await reach.all(groupsQuery(subject))
  const { rows: keywords } = await reach.all(keywordsQuery(subject))
  const negatives = await readNegatives(reach, subject, negativeGroups(groups))
  const about = { account: account.id, campaign: subject }
  return [thingsIn({ groups, keywords, negatives }, about, reach.body(now()), reach.aside)]
}

/**
 * Reads the negative keywords of the campaign, then those of its ad groups in one query. If that query is refused,
 * sends one query for each ad group.
 */
async function readNegatives(reach: AdsReach, campaign: string, groups: readonly string[]): Promise<PlatformRow[]> {
  const ofItself = await reach.unlessRefused(negativesQuery(campaign, null), "negative keywords of the campaign itself")
  const negatives = [...(ofItself?.rows ?? [])]
  if (groups.length === 0) return negatives
  const together = await reach.unlessRefused(negativesQuery(campaign, groups), groups.length > 1 ? null : NEGATIVES)
  if (together) return [...negatives, ...together.rows]
  for (const group of groups.length > 1 ? groups : []) {
    const pages = await reach.unlessRefused(negativesQuery(campaign, [group]), NEGATIVES)
    negatives.push(...(pages?.rows ?? []))
  }
  return negatives
}

const NEGATIVES = "negative keywords of an ad group"

async function readDays(parts: AdsTaskParts, { subject, wasRead }: AccountTask): Promise<AdsReading[]> {
  const { reach, account, now, zone } = parts
  const window = daysToRead(zone, now(), wasRead)
  const campaign = await reach.all(dailyReport("campaigns", subject, window))
  const keywords = await reach.all(dailyReport("keywords", subject, window))
  const about = { account: account.id, campaign: subject, window }
  return daysIn({ campaign, keywords }, about, reach.body(now()), reach.aside)
}

async function readTerms({ reach, account, now, zone }: AdsTaskParts, { subject }: AccountTask): Promise<AdsReading[]> {
  const window = adsWindow(zone, now())
  const pages = await reach.all(searchTermsReport(subject, window))
  return [termsIn(pages, { account: account.id, campaign: subject, window }, reach.body(now()), reach.aside)]
}

/**
 * Reads the popularity of the latest published week. A week without rows is not published yet: it counts as late rather
 * than empty.
 */
async function readPopularity({ reach, account, now }: AdsTaskParts, { subject }: AccountTask): Promise<AdsReading[]> {
  const sunday = publishedSunday(now())
  const { rows } = await reach.all(popularityQuery(subject, sunday))
  if (rows.length === 0)
    throw new ReadFailure("not_found", `the week from ${sunday} is not published yet for ${subject}`)
  return [popularityIn(rows, { account: account.id, country: subject, sunday }, reach.body(now()), reach.aside)]
}

/** Returns the time until next Monday, 14:00 UTC. */
function untilPublished(now: Date): number {
  const next = new Date(now)
  next.setUTCDate(now.getUTCDate() + ((8 - now.getUTCDay()) % 7 || 7))
  next.setUTCHours(14, 0, 0, 0)
  return next.getTime() - now.getTime()
}
