import * as v from "valibot"
import { ofApp, operation } from "../../core/operation.ts"
import { ownId } from "../../core/ranked-app.ts"
import { addDays, dayOf } from "../../lib/days.ts"
import { AppCountry, Platform } from "../../lib/fields.ts"
import { described } from "../../lib/schema.ts"
import { Store, Storefront, Time } from "../../lib/shapes.ts"
import { readNewestChanges } from "../../listings/read/store-pages.ts"

const KINDS = ["name", "subtitle", "description"] as const
/** Maximum number of changes. Equals the maximum length of the list of changes on the store page. */
const MAX_CHANGES = 100

/** Returns the texts that get_store_page leaves out. The app's owner may read them; programs may not. */
export const listChangedTexts = operation({
  id: "list_changed_texts",
  method: "GET",
  path: "/page/:appId/changed-texts",
  group: "Your apps",
  toolset: "page",
  summary: "The words of the app's own name, subtitle and description, before and after each change.",
  effect: "reads",
  scope: "apps:read",
  price: 0,
  faults: [],
  input: ofApp({ country: AppCountry, platform: Platform }),
  output: v.strictObject({
    country: Storefront,
    platform: Store,
    changes: described(
      v.array(
        v.strictObject({
          kind: v.picklist(KINDS),
          at: described(Time, "The time of the change, as in get_store_page."),
          source: v.string(),
          before: described(v.nullable(v.string()), "Null if the page showed no text."),
          after: v.nullable(v.string()),
        }),
      ),
      "Newest first.",
    ),
  }),
}).run(async ({ app, storefront, platform }, { sql, now, caller }) => {
  const storeAppId = ownId(app, { platform, storefront })
  const to = dayOf(now())
  const span = { from: addDays(to, 1 - caller.entitlements.historyDays), to }
  const filter = { storefront, ...span, kinds: KINDS, limit: MAX_CHANGES }
  const { changes } = await readNewestChanges(sql, { ...filter, apps: storeAppId === null ? [] : [storeAppId] })
  return {
    country: storefront,
    platform,
    changes: changes.map(({ kind, at, source, before, after }) => ({
      kind: kind as (typeof KINDS)[number],
      at: at.toISOString(),
      source,
      before: asText(before),
      after: asText(after),
    })),
  }
})

const asText = (value: unknown) => (typeof value === "string" ? value : null)
