import * as v from "valibot"
import { action, type LookContext } from "../../core/action.ts"
import type { TrackedApp } from "../../core/tracked-app.ts"
import { Fault } from "../../lib/faults.ts"
import { AppId, Country } from "../../lib/fields.ts"
import { described } from "../../lib/schema.ts"
import { Storefront } from "../../lib/shapes.ts"
import { saidStorefronts } from "../../lib/storefront-names.ts"
import { otherStoreProblem } from "../../lib/storefronts.ts"
import { countUsage, removeApp, setGoal, setName } from "../apps.ts"
import { isName } from "../checks.ts"
import { addCountries, removeCountries } from "../countries.ts"
import { counted, lockTracking, refuseOverLimit } from "../limits.ts"
import { findApp, readTerms } from "../tracked-app.ts"

const shared = {
  scope: "track:write" as const,
  plan: "free" as const,
  credits: 0,
  target: ({ appId }: { appId: string }) => `app ${appId}`,
}

const AppResult = v.strictObject({ appId: v.string() })

export const renameApp = action({
  ...shared,
  name: "rename_app",
  summary: "Renames an app in this workspace.",
  destructive: false,
  args: v.strictObject({
    appId: AppId,
    name: described(
      v.optional(v.pipe(v.string(), v.minLength(1), v.maxLength(100), v.check(isName))),
      "Default: the store's name.",
    ),
  }),
  example: { appId: "app_4fD0Zs81hQbK", name: "Tides" },
  state: v.strictObject({ name: v.nullable(v.string()) }),
  result: AppResult,
  async look({ appId }, looking) {
    const app = await lookAt(appId, looking)
    const [row] = await looking.sql<[{ customName: string | null }]>`
      select name as "customName"
      from tracked_app
      where id = ${appId}`
    return { app, customName: row.customName }
  },
  diff: ({ app, customName }, { name = null }) => ({
    summary: name === null ? `Use the store's name for "${app.name}".` : `Rename "${app.name}" to "${name}".`,
    target: { kind: "app", id: app.id, name: app.name },
    before: { name: customName },
    after: { name },
    notes: [],
  }),
  async write({ appId, name = null }, _, { tx }) {
    await setName(tx, appId, name)
    return { appId }
  },
  undo: {
    needsSameState: true,
    restore: ({ args, before }, { tx }) => setName(tx, String(args.appId), (before as { name: string | null }).name),
  },
})

const Goal = v.picklist(["downloads", "rank", "revenue"])

export const setAppGoal = action({
  ...shared,
  name: "set_app_goal",
  summary: "Sets what an app is optimised for.",
  destructive: false,
  args: v.strictObject({ appId: AppId, goal: described(v.optional(Goal), "Omit to remove the goal.") }),
  example: { appId: "app_4fD0Zs81hQbK", goal: "rank" },
  state: v.strictObject({ goal: v.nullable(Goal) }),
  result: AppResult,
  look: ({ appId }, looking) => lookAt(appId, looking),
  diff: (app, { goal = null }) => ({
    summary: goal === null ? `Remove the goal of "${app.name}".` : `Set the goal of "${app.name}" to ${goal}.`,
    target: { kind: "app", id: app.id, name: app.name },
    before: { goal: app.goal },
    after: { goal },
    notes: [],
  }),
  async write({ appId, goal = null }, _, { tx }) {
    await setGoal(tx, appId, goal)
    return { appId }
  },
  undo: {
    needsSameState: true,
    restore: ({ args, before }, { tx }) => setGoal(tx, String(args.appId), (before as { goal: string | null }).goal),
  },
})

export const setStorefronts = action({
  ...shared,
  name: "set_storefronts",
  summary: "Sets the storefronts in which an app is tracked.",
  destructive: false,
  args: v.strictObject({
    appId: AppId,
    countries: v.pipe(v.array(Country), v.minLength(1), v.maxLength(200)),
    like: described(v.optional(Country), "Storefront whose keywords the new storefronts get."),
  }),
  example: { appId: "app_4fD0Zs81hQbK", countries: ["us", "gb"], like: "us" },
  state: v.strictObject({
    countries: v.array(Storefront),
    tracked: described(
      v.array(v.strictObject({ countries: v.array(Storefront), keywords: v.array(v.string()) })),
      "Keywords of the storefronts that are added or removed.",
    ),
  }),
  result: v.strictObject({ appId: v.string(), added: v.array(v.string()), removed: v.array(v.string()) }),
  refine: (args) => ({ ...args, countries: [...new Set(args.countries)] }),
  async look({ appId }, looking) {
    const { sql, caller, lock } = looking
    if (lock) await lockTracking(sql, caller)
    const app = await lookAt(appId, looking)
    return {
      app,
      terms: (await readTerms(sql, appId)) ?? {},
      usage: await countUsage(sql, caller.workspaceId),
      limits: caller.entitlements,
    }
  },
  diff({ app, terms, usage, limits }, { countries, like }) {
    const platforms = [...(app.iosId ? (["ios"] as const) : []), ...(app.androidPkg ? (["android"] as const) : [])]
    for (const country of countries) {
      const detail = otherStoreProblem(country, platforms)
      if (detail !== null) throw new Fault("bad_country", { field: "countries", detail })
    }
    const { added, removed } = differenceOf(app.countries, countries)
    const copied = like === undefined ? [] : (terms[like] ?? [])
    refuseOverLimit(limits, usage, { trackedKeywords: copied.length * added.length })
    const groups = (lists: (country: string) => string[]) =>
      [...added, ...removed].map((country) => ({ countries: [country], keywords: lists(country) }))
    const termsOf = (country: string) => terms[country] ?? []
    const lost = removed.reduce((sum, country) => sum + termsOf(country).length, 0)
    return {
      summary: `Track "${app.name}" in ${saidStorefronts(countries)}.`,
      target: { kind: "app", id: app.id, name: app.name },
      before: {
        countries: app.countries,
        tracked: groups((country) => (added.includes(country) ? [] : termsOf(country))),
      },
      after: {
        countries: [...app.countries.filter((code) => countries.includes(code)), ...added],
        tracked: groups((country) => (added.includes(country) ? copied : [])),
      },
      notes: lost > 0 ? [`${counted(lost)} will not be tracked any more. Measured ranks are kept.`] : [],
    }
  },
  async write({ appId, countries, like }, { app }, { tx }) {
    const { added, removed } = differenceOf(app.countries, countries)
    if (added.length > 0) await addCountries(tx, appId, added, like)
    if (removed.length > 0) await removeCountries(tx, appId, removed)
    return { appId, added, removed }
  },
})

function differenceOf(tracked: readonly string[], wanted: readonly string[]) {
  return {
    added: wanted.filter((country) => !tracked.includes(country)),
    removed: tracked.filter((country) => !wanted.includes(country)),
  }
}

export const removeTrackedApp = action({
  ...shared,
  name: "remove_app",
  summary: "Stops tracking an app.",
  destructive: true,
  args: v.strictObject({ appId: AppId }),
  example: { appId: "app_4fD0Zs81hQbK" },
  state: v.strictObject({
    app: v.nullable(
      v.strictObject({ name: v.string(), countries: v.array(Storefront), keywords: v.array(v.string()) }),
    ),
  }),
  result: v.strictObject({ removed: v.string() }),
  async look({ appId }, looking) {
    const app = await lookAt(appId, looking)
    const terms = await readTerms(looking.sql, appId)
    return { app, keywords: [...new Set(Object.values(terms ?? {}).flat())] }
  },
  diff: ({ app, keywords }) => ({
    summary: `Stop tracking "${app.name}".`,
    target: { kind: "app", id: app.id, name: app.name },
    before: { app: { name: app.name, countries: app.countries, keywords } },
    after: { app: null },
    notes: [
      "Its tags, goal and alerts are removed too. Measured ranks are kept and shown again if you add the app again.",
    ],
  }),
  async write({ appId }, _, { tx }) {
    await removeApp(tx, appId)
    return { removed: appId }
  },
})

async function lookAt(appId: string, { sql, caller, lock }: LookContext): Promise<TrackedApp> {
  if (lock) {
    await sql`
      select id
      from tracked_app
      where id = ${appId} and workspace_id = ${caller.workspaceId}
      for update`
  }
  return await findApp(sql, caller, appId)
}
