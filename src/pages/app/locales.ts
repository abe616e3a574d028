import * as v from "valibot"
import { ofApp, operation } from "../../core/operation.ts"
import { described } from "../../lib/schema.ts"
import { Count, Time } from "../../lib/shapes.ts"
import { localesToWrite } from "../../listings/audits/locales-to-write.ts"
import { auditState } from "../../listings/audits/storefront-audits.ts"

export const listLocales = operation({
  method: "GET",
  id: "list_locales",
  path: "/page/:appId/locales",
  group: "Your apps",
  toolset: "page",
  summary: "The locales that the app's listing can be written in, by its last storefront audit.",
  effect: "reads",
  scope: "apps:read",
  price: 0,
  faults: [],
  input: ofApp({}),
  output: v.strictObject({
    auditedAt: described(
      v.nullable(Time),
      "Null if there was no audit, so that the storefronts that sell the app are unknown.",
    ),
    isFailed: described(v.boolean(), "The latest audit read too few storefronts."),
    eta: described(v.nullable(Count), "Seconds until the running audit may be finished. Null if none is running."),
    locales: v.array(
      v.strictObject({
        locale: v.string(),
        code: described(v.string(), "As localize_listing takes it."),
        storefronts: described(Count, "Storefronts that sell the app and read the locale."),
        unservedRatings: described(
          v.nullable(Count),
          "Total ratings of storefronts whose first locale this is and whose page is in another language. Null if " +
            "no count is known.",
        ),
      }),
    ),
  }),
}).run(async ({ app }, { sql }) => {
  if (app.iosApp === null) return { auditedAt: null, isFailed: false, eta: null, locales: [] }
  const { last, failed, eta } = await auditState(sql, app.iosApp)
  return {
    auditedAt: last?.finishedAt.toISOString() ?? null,
    isFailed: failed,
    eta,
    locales: last ? localesToWrite(last.rows) : [],
  }
})
