import * as v from "valibot"
import { lookedAt, RangeDay } from "../../core/day-range.ts"
import { ofApp, operation } from "../../core/operation.ts"
import { ownId } from "../../core/ranked-app.ts"
import { AppCountry, Platform } from "../../lib/fields.ts"
import { described } from "../../lib/schema.ts"
import { Day, Store, Storefront } from "../../lib/shapes.ts"
import { PAGE_CHANGES } from "../../listings/changes.ts"
import { changeShape } from "../../listings/operations/listing-shapes.ts"
import { readNewestChanges } from "../../listings/read/store-pages.ts"

const MAX_MARKS = 100

export const listChartMarks = operation({
  id: "list_chart_marks",
  method: "GET",
  path: "/page/:appId/marks",
  group: "Your apps",
  toolset: "page",
  summary: "Returns the app's releases, listing changes and featuring in a period, for the charts of pages.",
  effect: "reads",
  scope: "apps:read",
  price: 0,
  faults: [],
  input: ofApp({
    country: AppCountry,
    platform: Platform,
    from: RangeDay("First UTC day."),
    to: RangeDay("Last UTC day."),
  }),
  output: v.strictObject({
    country: Storefront,
    platform: Store,
    from: Day,
    to: Day,
    marks: described(
      v.array(
        v.strictObject({
          day: Day,
          kind: v.picklist(PAGE_CHANGES),
          title: described(
            v.nullable(v.string()),
            "The title of an event or an editors' card; the new version or price. Null for texts and pictures.",
          ),
        }),
      ),
      "Oldest first. Only the newest ones if there are more than fit a chart.",
    ),
  }),
}).run(async ({ app, storefront, platform, from, to }, { sql, now, caller }) => {
  const days = lookedAt("history", { from, to }, now(), caller)
  const storeAppId = ownId(app, { platform, storefront })
  const apps = storeAppId === null ? [] : [storeAppId]
  const query = { storefront, ...days, apps, kinds: PAGE_CHANGES, limit: MAX_MARKS }
  const { changes } = await readNewestChanges(sql, query)
  return {
    country: storefront,
    platform,
    ...days,
    marks: changes.toReversed().map((change) => {
      const { day, title, after } = changeShape(change, { promotional: false })
      const kind = change.kind as (typeof PAGE_CHANGES)[number]
      return { day, kind, title: title ?? (kind === "version" || kind === "price" ? after : null) }
    }),
  }
})
