import { hash } from "node:crypto"
import * as v from "valibot"
import { ofApp, operation } from "../../core/operation.ts"
import type { TrackedApp } from "../../core/tracked-app.ts"
import { described } from "../../lib/schema.ts"
import { Storefront } from "../../lib/shapes.ts"
import { isInventedId } from "../../lib/store-ids.ts"

export const headFields = {
  id: v.string(),
  name: v.string(),
  iosId: v.nullable(v.string()),
  androidPkg: v.nullable(v.string()),
  countries: v.array(Storefront),
  icon: described(v.nullable(v.string()), "URL of the store icon. Null if unknown."),
}

export const AppHead = v.strictObject({
  ...headFields,
  tags: v.record(v.string(), v.array(v.string())),
  goal: v.nullable(v.picklist(["downloads", "rank", "revenue"])),
  hiddenRivals: v.array(v.string()),
  version: described(v.string(), "Changes whenever something of the app changes that pages edit, except its keywords."),
  isInvented: described(v.boolean(), "True if the demo made the app up, so that it is in no store."),
})

export const getAppHead = operation({
  id: "get_app_head",
  method: "GET",
  path: "/page/:appId",
  group: "Your apps",
  toolset: "apps",
  summary: "What an app is called, where it is tracked, and the tags of its keywords.",
  effect: "reads",
  scope: "apps:read",
  price: 0,
  faults: [],
  input: ofApp({}),
  output: AppHead,
}).run(async ({ app }) => headOf(app))

export function headOf(app: TrackedApp): v.InferOutput<typeof AppHead> {
  return {
    ...head(app),
    tags: app.keywordTags ?? {},
    goal: app.goal,
    hiddenRivals: app.hiddenRivals ?? [],
    version: versionOf(app),
    isInvented: isInventedId(app.iosId ?? ""),
  }
}

/**
 * Returns a hash of everything about the app that pages edit, except keywords. A write of keywords compares their state
 * itself.
 */
function versionOf({ name, countries, keywordTags, goal, manualRivals, hiddenRivals }: TrackedApp): string {
  const state = JSON.stringify([name, countries, keywordTags, goal, manualRivals, hiddenRivals])
  return hash("sha256", state, "base64url").slice(0, 16)
}

export const listAppHeads = operation({
  id: "list_app_heads",
  method: "GET",
  path: "/page/apps",
  group: "Your apps",
  toolset: "apps",
  summary: "What each app is called, and where it is tracked.",
  effect: "reads",
  scope: "apps:read",
  price: 0,
  faults: [],
  input: v.strictObject({}),
  output: v.strictObject({ apps: described(v.array(v.strictObject(headFields)), "Oldest first.") }),
}).run(async (_, { visibleApps }) => ({ apps: (await visibleApps()).map(head) }))

export function head({ id, name, iosId, androidPkg, countries, icon }: TrackedApp) {
  return { id, name, iosId, androidPkg, countries, icon }
}
