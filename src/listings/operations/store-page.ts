import * as v from "valibot"
import { planCovers } from "../../access/plans.ts"
import { ofApp, operation } from "../../core/operation.ts"
import { ownId } from "../../core/ranked-app.ts"
import { addDays, dayOf } from "../../lib/days.ts"
import { AppCountry } from "../../lib/fields.ts"
import { described, extending, named } from "../../lib/schema.ts"
import { Day, Store, Storefront } from "../../tracking/shapes.ts"
import { PAGE_CHANGES } from "../changes.ts"
import { readNewestChanges } from "../read/store-pages.ts"
import { ChangeShape, changeFields, changeShape, PageChangeKind } from "./listing-shapes.ts"
import { AndroidPage, readAndroidPage } from "./store-page-android.ts"
import { IosPage, readIosPage } from "./store-page-ios.ts"

const MAX_CHANGES = 100

const Change = named(
  "StorePageChange",
  extending(ChangeShape, v.strictObject({ platform: Store, kind: PageChangeKind, ...changeFields })),
)

export const getStorePage = operation({
  id: "get_store_page",
  method: "GET",
  path: "/apps/:appId/page",
  group: "Your apps",
  toolset: "page",
  summary: "Returns the app's store pages and their changes.",
  description:
    "Version, in-app events, editorial placements, similar apps and screenshots of the App Store page, and the " +
    `data of the Google Play page; without name and subtitle. \`timeline\` lists detected changes of both pages, ` +
    `newest first, within the history that the plan includes, at most ${MAX_CHANGES}. get_timeline adds rank ` +
    "movements.",
  effect: "reads",
  scope: "apps:read",
  plan: "free",
  price: 1,
  faults: [],
  input: ofApp({ country: AppCountry }),
  narrow: "parts",
  output: v.strictObject({
    country: Storefront,
    tracked: described(v.boolean(), "False if the app does not track this storefront; nothing there is measured."),
    ios: described(v.nullable(IosPage), "Null if the workspace has no App Store app here."),
    android: described(v.nullable(AndroidPage), "Null if the workspace has no Google Play app here."),
    timelineFrom: described(Day, "First UTC day of the timeline."),
    timelineTruncated: described(v.boolean(), "True if there are more changes than listed."),
    timeline: described(
      v.array(Change),
      "Detected changes. Empty if nothing changed since the first reading, or the page was never read (see measured).",
    ),
  }),
}).run(async ({ app, storefront }, { sql, now, caller }) => {
  const free = !planCovers(caller.plan, "pro")
  const to = dayOf(now())
  const from = addDays(to, 1 - caller.entitlements.historyDays)
  const pageQuery = { storefront, since: from, now: now(), free }
  const [ios, android] = PLATFORMS.map((platform) => ownId(app, { platform, storefront }))
  const apps = [ios, android].filter((id) => id != null)
  const changesQuery = { storefront, from, to, kinds: PAGE_CHANGES, limit: MAX_CHANGES }
  const [{ changes, truncated }, iosPage, androidPage] = await Promise.all([
    readNewestChanges(sql, { ...changesQuery, apps }),
    readIosPage(sql, app, pageQuery),
    readAndroidPage(sql, app, pageQuery),
  ])
  return {
    country: storefront,
    tracked: app.countries.includes(storefront),
    ios: iosPage,
    android: androidPage,
    timelineFrom: from,
    timelineTruncated: truncated,
    timeline: changes.map((change) => ({
      platform: change.appId === ios ? ("ios" as const) : ("android" as const),
      kind: change.kind as (typeof PAGE_CHANGES)[number],
      ...changeShape(change, { promotional: !free }),
    })),
  }
})

const PLATFORMS = ["ios", "android"] as const
