import * as v from "valibot"
import { operation } from "../../core/operation.ts"
import { MarketCountry } from "../../market/operations/inputs.ts"
import { hiveResolveApp } from "../../market/operations/resolve.ts"

/**
 * Finds apps of the stores for the page that adds one. Like hive_resolve_app, but free and on every plan, because an app
 * cannot be tracked without finding it.
 */
export const findStoreApps = operation({
  id: "find_store_apps",
  method: "GET",
  path: "/desk/store-apps",
  group: "Your apps",
  toolset: "apps",
  summary: "Apps of the stores by name, link or id.",
  effect: "measures",
  scope: "track:write",
  price: 0,
  faults: [...hiveResolveApp.faults],
  ...(hiveResolveApp.deadlineMs !== undefined && { deadlineMs: hiveResolveApp.deadlineMs }),
  input: v.strictObject({
    q: v.pipe(v.string(), v.minLength(1), v.maxLength(500)),
    country: MarketCountry,
  }),
  output: hiveResolveApp.output as typeof hiveResolveApp.output,
}).run(async (input, ctx) => (await hiveResolveApp.run({ ...input, limit: 12 }, ctx)) as never)
