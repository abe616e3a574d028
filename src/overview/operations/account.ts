import * as v from "valibot"
import { type AnyAllowance, countUsedAllowances } from "../../access/allowances.ts"
import { type Balance, refreshCredits } from "../../access/credits.ts"
import { hivePerDay, PLANS } from "../../access/plans.ts"
import { SCOPES } from "../../access/scopes.ts"
import { type Context, operation } from "../../core/operation.ts"
import type { TrackedApp } from "../../core/tracked-app.ts"
import type { Sql } from "../../database/types.ts"
import { nextMidnight } from "../../lib/days.ts"
import { described, named } from "../../lib/schema.ts"
import { Count, Storefront, Time } from "../../tracking/shapes.ts"

const PlanName = v.picklist(PLANS)
const PerDay = described(Count, "Hive calls per day: 10,000 with Explorer, 500 while a credit pack lasts, otherwise 0.")
const PerSecond = described(Count, "Requests per second that one key can make.")

const Account = v.strictObject({
  plan: described(PlanName, "Plan of the workspace."),
  auth: described(v.picklist(["live key", "test key", "sign-in"]), "How the caller authenticated."),
  scopes: described(v.array(v.picklist(SCOPES)), "Scopes of the key."),
  apps: described(
    v.array(
      v.strictObject({
        id: described(v.string(), "The appId for other calls."),
        name: described(v.string(), "Name given by the workspace, or the name in the store."),
        countries: described(
          v.array(Storefront),
          "Tracked storefronts. The first is the default of calls about the app.",
        ),
      }),
    ),
    "Apps that this key can see, oldest first.",
  ),
  appRestriction: described(v.boolean(), "True if the key is limited to the listed apps."),
  credits: described(
    v.strictObject({
      used: described(Count, "Credits used this month."),
      limit: described(Count, "Credits available this month."),
      resetsAt: described(v.nullable(Time), "Start of the next month (UTC)."),
    }),
    "Credits of the workspace this month. limit includes the plan and what is left of packs. Remaining = limit - used.",
  ),
  hive: described(v.strictObject({ perDay: PerDay }), "Daily allowance of Hive calls."),
  ratePerSecond: PerSecond,
  docs: described(v.pipe(v.string(), v.url()), "Address of the reference."),
})

const AUTH = { live: "live key", test: "test key", grant: "sign-in" } as const

export const whoami = operation({
  id: "whoami",
  method: "GET",
  path: "/account",
  group: "Account",
  toolset: "account",
  summary: "Returns the caller's plan, scopes, apps and credits.",
  effect: "reads",
  scope: null,
  price: 0,
  faults: [],
  input: v.strictObject({}),
  output: Account,
}).run(async (_, ctx) => {
  const { caller, publicUrl } = ctx
  const [apps, balance] = await Promise.all([ctx.visibleApps(), refreshCredits(ctx.sql, caller)])
  const { used, limit, resetsAt } = balance
  return {
    plan: caller.plan,
    auth: AUTH[caller.kind],
    scopes: SCOPES.filter((scope) => caller.scopes.includes(scope)),
    apps: apps.map(({ id, name, countries }) => ({ id, name, countries })),
    appRestriction: caller.appList !== null,
    credits: { used, limit, resetsAt },
    hive: { perDay: hivePerDay(caller.explorer, balance.packCredits > 0) },
    ratePerSecond: caller.entitlements.ratePerSecond,
    docs: `${publicUrl}/docs`,
  }
})

const QUOTA_KEYS = [
  "trackedKeywords",
  "apps",
  "discovery",
  "aiQuestions",
  "reviewAi",
  "aiVisibility",
  "spy",
  "apiCredits",
  "hive",
  "ratePerSecond",
  "aiWriting",
  "listingWrites",
] as const

const Quota = named(
  "Quota",
  v.strictObject({
    key: described(
      v.picklist(QUOTA_KEYS),
      "trackedKeywords counts a keyword once per storefront and app: a keyword tracked in three storefronts " +
        "counts three times.",
    ),
    kind: described(
      v.picklist(["stock", "month", "day", "rate", "total"]),
      "stock: held at one time; month and day: renewed in UTC; rate: per second; total: never renewed.",
    ),
    used: described(v.nullable(Count), "Null if not metered. This does not mean zero."),
    limit: described(v.nullable(Count), "Null if unlimited."),
    byApp: v.optional(
      described(
        v.array(
          v.strictObject({
            appId: described(v.string(), "Id of the app, as in list_apps."),
            name: described(v.string(), "Name of the app, as in list_apps."),
            used: described(Count, "Use by this app."),
          }),
        ),
        "Use by each app that this key can see, oldest first. used and limit cover the whole workspace.",
      ),
    ),
  }),
)

const Left = described(Count, "Credits left in packs.")

const Usage = v.strictObject({
  plan: described(PlanName, "Plan of the workspace."),
  quotas: described(v.array(Quota), "Use and limit of each quota."),
  packs: described(
    v.strictObject({
      ask: Left,
      reviewAi: Left,
      aiText: Left,
      aiVisibility: Left,
      apiCredits: Left,
      explorer: described(v.boolean(), "True if the workspace has Explorer."),
      prices: described(v.record(v.string(), v.number()), "The operator's price of each pack. Empty if none is set."),
    }),
    "Credit packs and Explorer.",
  ),
  hive: described(
    v.strictObject({
      perDay: PerDay,
      usedToday: described(v.nullable(Count), "Null while the counter is unavailable."),
      resetsAt: described(Time, "00:00 UTC of the next day."),
    }),
    "Daily allowance of Hive calls.",
  ),
  ratePerSecond: PerSecond,
})

type QuotaRow = v.InferOutput<typeof Quota>

export const getUsage = operation({
  id: "get_usage",
  method: "GET",
  path: "/usage",
  group: "Account",
  toolset: "account",
  summary: "Returns what the workspace has used of each quota.",
  effect: "reads",
  scope: null,
  price: 0,
  faults: [],
  input: v.strictObject({}),
  output: Usage,
}).run(async (_, ctx) => {
  const { caller, sql } = ctx
  const apps = await ctx.visibleApps()
  const [balance, tracked, allowances, usedToday] = await Promise.all([
    refreshCredits(sql, caller),
    countTracked(sql, caller.workspaceId),
    countUsedAllowances(sql, caller.workspaceId),
    ctx.hiveUsedToday(),
  ])
  const hive = {
    perDay: hivePerDay(caller.explorer, balance.packCredits > 0),
    usedToday,
    resetsAt: nextMidnight(ctx.now()),
  }
  return {
    plan: caller.plan,
    quotas: quotasOf(ctx, { balance, tracked, apps, allowances, hive }),
    packs: {
      // Only API credits are sold so far.
      ask: 0,
      reviewAi: 0,
      aiText: 0,
      aiVisibility: 0,
      apiCredits: balance.packCredits,
      explorer: caller.explorer,
      prices: {},
    },
    hive,
    ratePerSecond: caller.entitlements.ratePerSecond,
  }
})

/** Counts the tracked pairs of keyword and storefront of each app in the workspace. */
async function countTracked(sql: Sql, workspaceId: number): Promise<ReadonlyMap<string, number>> {
  const rows = await sql<{ appId: string; used: number }[]>`
    select a.id as "appId", (select count(*) from tracked_term where app_id = a.id) as used
    from tracked_app a
    where a.workspace_id = ${workspaceId}
    order by a.id`
  return new Map(rows.map(({ appId, used }) => [appId, used]))
}

interface Figures {
  balance: Balance
  /** Number of tracked keywords by app id, for all apps of the workspace. */
  tracked: ReadonlyMap<string, number>
  /** Only the apps that the key may see. */
  apps: readonly TrackedApp[]
  allowances: ReadonlyMap<AnyAllowance, number>
  hive: { perDay: number; usedToday: number | null }
}

/**
 * Returns the quotas in the order of the API specification. A quota without a meter has null as its use, instead of
 * zero.
 */
function quotasOf({ caller: { entitlements, plan } }: Context, figures: Figures): QuotaRow[] {
  const { balance, tracked, apps, allowances, hive } = figures
  const byApp = apps.map(({ id, name }) => ({ appId: id, name, used: tracked.get(id) ?? 0 }))
  const keywords = tracked.values().reduce((sum, used) => sum + used, 0)
  const written = (of: AnyAllowance) => allowances.get(of) ?? null
  const monthly = ["discovery", "aiQuestions", "reviewAi", "aiVisibility", "spy"] as const
  return [
    { key: "trackedKeywords", kind: "stock", used: keywords, limit: entitlements.trackedKeywords, byApp },
    { key: "apps", kind: "stock", used: tracked.size, limit: entitlements.apps },
    ...monthly.map(
      (key): QuotaRow => ({ key, kind: "month", used: allowances.get(key) ?? null, limit: entitlements[key] }),
    ),
    { key: "apiCredits", kind: "month", used: balance.used, limit: balance.limit },
    { key: "hive", kind: "day", used: hive.usedToday, limit: hive.perDay },
    { key: "ratePerSecond", kind: "rate", used: null, limit: entitlements.ratePerSecond },
    { key: "aiWriting", kind: "month", used: written("aiWriting"), limit: entitlements.aiWriting },
    plan === "free"
      ? { key: "listingWrites", kind: "total", used: written("listingWritesEver"), limit: entitlements.listingWrites }
      : { key: "listingWrites", kind: "month", used: written("listingWrites"), limit: entitlements.listingWrites },
  ]
}
