import { type AdsCommand, readCommands } from "../consoles/ads/read/commands.ts"
import { type ChangedAdsApp, findChangedApps, readCampaignNames } from "../consoles/ads/read/watched.ts"
import { json } from "../database/json.ts"
import { takeLock } from "../database/locks.ts"
import type { Sql, Tx } from "../database/types.ts"
import { ADS_ACTIONS } from "../lib/accounts/ads-actions.ts"
import { addDays, dayOf } from "../lib/days.ts"
import { type AdsChanges, SHOWN_CHANGES } from "./ads-changes.ts"
import type { FactsOf } from "./alert.ts"
import { firstNewsDay } from "./place.ts"

/** Limit per app. It is high because a day of changes is always read to its end. */
const MAX_CHANGES = 2_000

/**
 * Adds to the feed what other programs changed in the workspace's ads accounts: one alert per campaign for all new
 * changes. Ignores writes of this program, and changes before the account was connected. `looked` caches the latest
 * processed reading by app and account. Returns the number of alerts added.
 */
export async function tellAdsRules(sql: Sql, now: Date, looked: Map<string, number>): Promise<number> {
  const since = new Date(`${firstNewsDay(now)}T00:00:00Z`)
  let added = 0
  for (const app of await findChangedApps(sql, since)) {
    const [key, readAt] = [`${app.appId} ${app.account}`, app.readAt?.getTime() ?? 0]
    if (looked.get(key) === readAt) continue
    added += await sql.begin(async (tx) => await tellApp(tx, app, since))
    looked.set(key, readAt)
  }
  return added
}

/** Locks the app's ads findings, so that simultaneous processes do not add the same changes. */
async function tellApp(tx: Tx, { workspaceId, appId, account, app }: ChangedAdsApp, since: Date): Promise<number> {
  const tracked = await tx`
    select
    from tracked_app
    where id = ${appId}
    for key share`
  if (tracked.length === 0) return 0
  await takeLock(tx, "findings", appId, "ads", account)
  const { connectedAt, names } = await readCampaignNames(tx, account)
  const query = { workspaceId, appId, account, app, limit: MAX_CHANGES, after: null }
  const reported = await readReportedChanges(tx, appId, since)
  const fresh = (await readCommands(tx, query, ADS_ACTIONS)).filter(({ by, at, key, campaign }) => {
    return by === "other_api" && campaign !== null && at >= since && at >= connectedAt && !reported.has(key)
  })
  const byCampaign = [...Map.groupBy(fresh, ({ campaign }) => campaign as string)]
  for (const [campaign, changes] of byCampaign) {
    const [newest] = changes as [AdsCommand]
    const facts = factsOf(changes, { account, campaign, campaignName: names.get(campaign) ?? null })
    await tx`
      insert into alert (workspace_id, app_id, type, platform, subject, day, at, facts)
      values (
        ${workspaceId}, ${appId}, 'asa_rule', 'ios', ${`${campaign} ${newest.key}`}, ${dayOf(newest.at)}::date,
          ${newest.at},
        ${json(tx, facts)}
      )
      on conflict do nothing`
  }
  return byCampaign.length
}

/** Expects the changes newest first. */
function factsOf(
  changes: readonly AdsCommand[],
  about: Pick<AdsChanges, "account" | "campaign" | "campaignName">,
): FactsOf["asa_rule"] {
  const fields = changes.flatMap(({ event, entity, name, changes: fields }) => {
    const named = { event, entity, name: name === "" ? null : name }
    if (event !== "UPDATE") return [{ ...named, field: null, from: null, to: null }]
    return fields.map(({ field, from, to }) => ({ ...named, field: field === "all" ? null : field, from, to }))
  })
  const from = (changes.at(-1) as AdsCommand).at.toISOString()
  const ads = { ...about, count: fields.length, from, shown: fields.slice(0, SHOWN_CHANGES) }
  return { ads, ids: changes.map(({ key }) => key).sort() }
}

async function readReportedChanges(tx: Tx, appId: string, since: Date): Promise<Set<string>> {
  const rows = await tx<{ ids: string[] }[]>`
    select facts -> 'ids' as ids
    from alert
    where app_id = ${appId} and type = 'asa_rule' and at >= ${`${addDays(dayOf(since), -1)}T00:00:00Z`}::timestamptz
    order by at, id`
  return new Set(rows.flatMap(({ ids }) => ids))
}
