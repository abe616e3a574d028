import { expect, test } from "bun:test"
import { alertEntry } from "../../src/alerts/alert-type.ts"
import { rankDrop } from "../../src/alerts/types/keyword-moves.ts"
import { chart } from "../../src/charts/kinds/chart.ts"
import { appleCharts } from "../../src/charts/sources/apple-charts.ts"
import { pauseCampaign } from "../../src/consoles/actions/ads/status.ts"
import { updateListing } from "../../src/consoles/actions/update-listing.ts"
import { sales } from "../../src/consoles/kinds/sales.ts"
import { writeEntry } from "../../src/core/action.ts"
import { kindEntry } from "../../src/core/kind.ts"
import { hintsOnPlay } from "../../src/keywords/due/hints.ts"
import { playSuggest } from "../../src/keywords/sources/play-suggest.ts"
import { dueEntry } from "../../src/measuring/due-kind.ts"
import { sourceEntry } from "../../src/measuring/source.ts"

// `bun run types` fails if the compiler accepts one of the wrong lines below.
test("a registry entry returns its declaration, and does not compile if it contradicts the declaration", () => {
  // @ts-expect-error: the price is 5
  expect(writeEntry("update_listing", updateListing, 4, "studio", "listing:write")).toBe(updateListing)
  // @ts-expect-error: the plan is studio
  expect(writeEntry("update_listing", updateListing, 5, "pro", "listing:write")).toBe(updateListing)
  // @ts-expect-error: the scope is listing:write
  expect(writeEntry("update_listing", updateListing, 5, "studio", "ads:write")).toBe(updateListing)
  // @ts-expect-error: the name is pause_campaign
  expect(writeEntry("resume_campaign", pauseCampaign, 2, "studio", "ads:write")).toBe(pauseCampaign)
  // @ts-expect-error: sales belong to the workspace
  expect(kindEntry("sales", sales, "everyone")).toBe(sales)
  // @ts-expect-error: charts belong to everyone
  expect(kindEntry("chart", chart, "workspace")).toBe(chart)
  // @ts-expect-error: the upstream is itunes.apple.com
  expect(sourceEntry("apple-charts", appleCharts, "apps.apple.com")).toBe(appleCharts)
  // @ts-expect-error: the interval is 7 days
  expect(dueEntry("hints", "android", 6, "egress", [playSuggest], hintsOnPlay).kindOf(() => true)).toBe(hintsOnPlay)
  // @ts-expect-error: the store is Google Play
  expect(dueEntry("hints", "ios", 7, "egress", [playSuggest], hintsOnPlay).kindOf(() => false)).toBeNull()
  // @ts-expect-error: a rule of this type also takes dropBy
  expect(alertEntry("rank_drop", rankDrop, "keywordScope")).toBe(rankDrop)
})
