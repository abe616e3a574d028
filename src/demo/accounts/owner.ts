import { setTimeout as sleep } from "node:timers/promises"
import { lastAdsDay, WINDOW_DAYS } from "../../consoles/ads/days.ts"
import { type DemoAccounts, makeDemoAccounts } from "../../consoles/demo-accounts.ts"
import { pacificDay, REPORT_ZONE } from "../../consoles/pacific.ts"
import { publishedSunday } from "../../consoles/sources/ads/requests.ts"
import { ADS_TASKS } from "../../consoles/tasks.ts"
import type { Recording } from "../../core/recording.ts"
import { json } from "../../database/json.ts"
import type { Sql, Tx } from "../../database/types.ts"
import type { Observation } from "../../kinds.ts"
import { addDays } from "../../lib/days.ts"
import { ANALYTICS_REPORTS } from "../../lib/upstreams.ts"
import { COUNTRY, campaignOf, campaignRows, changeRows, dayRows, popularityRows, termRows, thingRows } from "./ads.ts"
import { provenance, reviewReadings } from "./reviews.ts"
import {
  type DemoApp,
  downloadRowsOn,
  engagementRowsOn,
  eventsOn,
  productOf,
  STOREFRONTS,
  salesOn,
  skuOf,
  stockOn,
  TITLE,
} from "./seller.ts"

/** The default range of the operations that show these figures. */
const DAYS = 90
/** The day on which prices were first seen. */
const PRICED_ON = "2025-10-25"
/** Days per transaction, about 500 rows. */
const AT_ONCE = 3
/** Pause between transactions, so that other work can use the only backend of the embedded database. */
const PAUSE_MS = 20

interface OwnerOptions {
  workspaceId: number
  apps: readonly DemoApp[]
  now: () => Date
  /** Number of days up to yesterday. */
  days?: number | undefined
}

export interface LoadedOwner {
  recorded: number
  alreadyStored: number
}

/**
 * Generates console, ads and review data for the demo's apps up to yesterday, newest days first, a few days per
 * transaction. Repeating it changes nothing; on a later day it adds the missing days. It stops if `assert` throws in a
 * transaction. Does nothing if the workspace has a real account.
 */
export async function loadDemoOwner(
  recording: Recording,
  sql: Sql,
  { workspaceId, apps, now, days = DAYS }: OwnerOptions,
  assert: (tx: Tx) => Promise<void> = async () => {},
): Promise<LoadedOwner> {
  const loaded = { recorded: 0, alreadyStored: 0 }
  const accounts = await makeDemoAccounts(sql, workspaceId, assert)
  if (!accounts) return loaded
  const today = now()
  await sql.begin(async (tx) => {
    await assert(tx)
    await storeApps(tx, accounts, apps, today)
  })
  for (const readings of readingsOf(accounts, apps, { now: today, days })) {
    const { recorded, alreadyStored } = await recording.record(sql, readings, now, { all: true, finish: assert })
    loaded.recorded += recorded
    loaded.alreadyStored += alreadyStored
    await sleep(PAUSE_MS)
  }
  return loaded
}

interface DemoAppRow {
  store: string
  app: string
  name: string
  sku: string
  product: string
  sold: string
  campaign: string
}

/** Stores the accounts' apps and products, and marks all tasks as read up to now. */
async function storeApps(tx: Tx, accounts: DemoAccounts, apps: readonly DemoApp[], now: Date): Promise<void> {
  const rows = apps.map((app): DemoAppRow => {
    const { sku, id: product } = productOf(app)
    const { id, iosId: store, name } = app
    return { store, app: id, name, sku: skuOf(app), product, sold: sku, campaign: campaignOf(app) }
  })
  await tx`
    insert into account_app (account_id, outside_id, sku, name, bundle_id, app_id)
    select c.id, a.store, a.sku, a.name, 'invented.' || a.store, a.app
    from ${rowsIn(tx, rows)} a
    cross join unnest(${[accounts.console, accounts.ads]}::text[]) c (id)
    order by 1, 2
    on conflict do nothing`
  await storeProducts(tx, accounts.console, rows, now)
  await tx`
    insert into account_task (account_id, task, subject, state, read_at, next_at)
    select ${accounts.ads}, t.task, s.subject, 'read', ${now}::timestamptz, null::timestamptz
    from unnest(${[...ADS_TASKS]}::text[]) t (task)
    cross join ${rowsIn(tx, rows)} a
    cross join lateral (
      select case when t.task in ('campaigns', 'changes') then '' when t.task = 'popularity' then ${COUNTRY}
        else a.campaign end
        as subject
    ) s
    union
    select ${accounts.console}, t.task, t.subject, 'read', ${now}::timestamptz, null::timestamptz
    from ${rowsIn(tx, rows)} a
    cross join lateral (values ('analytics', a.store), ('products', a.store), ('prices', a.product)) t (task, subject)
    order by 1, 2, 3
    on conflict (account_id, task, subject) do update
    set read_at = excluded.read_at`
}

async function storeProducts(tx: Tx, account: string, rows: readonly DemoAppRow[], now: Date): Promise<void> {
  await tx`
    insert into account_product (account_id, app, product, sold_as, sku, name, period, listed_at)
    select ${account}, a.store, a.product, 'subscription', a.sold, ${TITLE}, 'ONE_MONTH', ${now}
    from ${rowsIn(tx, rows)} a
    order by 2, 3
    on conflict do nothing`
  await tx`
    insert into account_offer
      (account_id, app, product, kind, offer, mode, duration, periods, countries, first_seen, last_seen)
    select ${account}, a.store, a.product, 'introductory', 'FREE_TRIAL ONE_WEEK 1', 'FREE_TRIAL', 'ONE_WEEK', 1,
      ${STOREFRONTS.map(({ country }) => country).sort()}::text[], ${now}, ${now}
    from ${rowsIn(tx, rows)} a
    order by 2, 3
    on conflict do nothing`
  await tx`
    insert into analytics_instance (account_id, app, report, processed, instance, read_at)
    select ${account}, a.store, r.report, ${pacificDay(now)}, 'invented', ${now}
    from ${rowsIn(tx, rows)} a
    cross join unnest(${[...ANALYTICS_REPORTS]}::text[]) r (report)
    order by 2, 3
    on conflict do nothing`
}

function rowsIn(tx: Tx, rows: readonly DemoAppRow[]) {
  return tx`(
    select *
    from jsonb_to_recordset(${json(tx, rows)})
      r (store text, app text, name text, sku text, product text, sold text, campaign text)
  )`
}

/** Yields the readings in batches that are stored together. None is later than `now`. */
export function* readingsOf(
  accounts: DemoAccounts,
  apps: readonly DemoApp[],
  { now, days: count }: { now: Date; days: number },
): Generator<Observation[]> {
  const last = addDays(pacificDay(now), -1)
  const lastOfAds = lastAdsDay(REPORT_ZONE, now)
  yield reviewReadings(apps, last)
  yield standingOf(accounts, apps, { lastOfAds, week: publishedSunday(now) })
  for (let ago = 0; ago < count; ago += AT_ONCE) {
    const days = Array.from({ length: Math.min(AT_ONCE, count - ago) }, (_, place) => ago + place)
    yield days.flatMap((ago) => [
      ...consoleDay(accounts.console, apps, addDays(last, -ago)),
      ...(ago <= WINDOW_DAYS ? adsDay(accounts.ads, apps, addDays(lastOfAds, -ago)) : []),
    ])
  }
}

function consoleDay(account: string, apps: readonly DemoApp[], day: string): Observation[] {
  const head = { ...provenance(day), account, day }
  const processed = addDays(day, 1)
  return [
    { kind: "sales", source: "asc-sales", ...head, rows: salesOn(apps, day) },
    { kind: "subscriptions", source: "asc-subscriptions", ...head, rows: stockOn(apps, day) },
    { kind: "subscription_events", source: "asc-subscription-events", ...head, rows: eventsOn(apps, day) },
    { kind: "offer_redemptions", source: "asc-offer-redemptions", ...head, rows: [] },
    ...apps.flatMap(
      (app): Observation[] =>
        [
          ...[
            {
              kind: "downloads",
              source: "asc-downloads",
              ...head,
              app: app.iosId,
              processed,
              rows: downloadRowsOn(app, day),
            },
          ],
          ...[
            {
              kind: "engagement",
              source: "asc-engagement",
              ...head,
              app: app.iosId,
              processed,
              rows: engagementRowsOn(app, day),
            },
          ],
        ] as Observation[],
    ),
  ]
}

function adsDay(account: string, apps: readonly DemoApp[], day: string): Observation[] {
  const head = { ...provenance(day), account, day }
  return apps.map((app) => {
    return { kind: "ads_days", source: "apple-ads-days", ...head, campaign: campaignOf(app), rows: dayRows(app, day) }
  })
}

/**
 * Returns readings that occur once: campaigns and their keywords, search terms of four weeks, one change, popularities
 * of a week, and prices.
 */
function standingOf(
  { console, ads }: DemoAccounts,
  apps: readonly DemoApp[],
  { lastOfAds: day, week }: { lastOfAds: string; week: string },
): Observation[] {
  const head = { ...provenance(day), account: ads, day }
  const changedOn = addDays(day, -9)
  const changed = { ...provenance(changedOn), account: ads, day: changedOn }
  // the week ends on a Saturday and is published as the following Monday begins
  const seenAt = new Date(`${addDays(week, 8)}T00:00:00Z`)
  const searched = { ...provenance(addDays(week, 7)), seenAt, account: ads, day: week, country: COUNTRY }
  return [
    { kind: "ads_campaigns", source: "apple-ads-campaigns", ...head, rows: campaignRows(apps) },
    ...apps.flatMap((app): Observation[] => {
      const base = { ...head, campaign: campaignOf(app) }
      return [
        { kind: "ads_keywords", source: "apple-ads-keywords", ...base, rows: thingRows(app) },
        { kind: "ads_terms", source: "apple-ads-terms", ...base, rows: termRows(app, day) },
      ]
    }),
    {
      kind: "ads_changes",
      source: "apple-ads-changes",
      ...changed,
      rows: apps.flatMap((app) => changeRows(app, changedOn)),
    },
    { kind: "ads_popularity", source: "apple-ads-popularity", ...searched, rows: popularityRows(apps) },
    ...apps.map((app) => pricesOf(console, app)),
  ]
}

function pricesOf(account: string, app: DemoApp): Observation {
  const { id, sku } = productOf(app)
  const about = {
    account,
    app: app.iosId,
    product: id,
    day: PRICED_ON,
    soldAs: "subscription" as const,
    sku,
    name: TITLE,
  }
  const rows = STOREFRONTS.map(({ country, currency, price, proceeds }) => {
    return { country, currency, price, proceeds, point: `invented-${country}`, automatic: country !== "us" }
  })
  return { kind: "prices", source: "asc-prices", ...provenance(PRICED_ON), ...about, period: "ONE_MONTH", rows }
}
