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
  summary: "What the app's store pages show, and what changed there.",
  description: `Version, in-app events, editorial placements, similar apps and screenshots of the App Store's page, and the data of Google Play's; name and subtitle are not included. \`timeline\` holds the detected changes of both, newest first, as far back as the plan's history goes, at most ${MAX_CHANGES}; get_timeline sets ranks beside them.`,
  effect: "reads",
  scope: "apps:read",
  plan: "free",
  price: 1,
  faults: [],
  input: ofApp({ country: AppCountry }),
  narrow: "parts",
  output: v.strictObject({
    country: Storefront,
    tracked: described(
      v.boolean(),
      "False = the app does not track this storefront: nothing of it is measured, whatever its pages show.",
    ),
    ios: described(v.nullable(IosPage), "Null = the app is not on the App Store, as far as the workspace says."),
    android: described(v.nullable(AndroidPage), "Null = the app is not on Google Play, as far as the workspace says."),
    timelineFrom: described(Day, "The first UTC day whose changes are listed."),
    timelineTruncated: described(v.boolean(), "There are more changes than are listed."),
    timeline: described(
      v.array(Change),
      "Empty where nothing changed since the first reading, and where no page was read (measured).",
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
