import * as v from "valibot"
import { operation } from "../../core/operation.ts"
import { described } from "../../lib/schema.ts"
import { Storefront } from "../../lib/shapes.ts"
import { STORE_ID_PATTERNS } from "../../lib/store-ids.ts"
import { MarketCountry } from "../../market/operations/inputs.ts"
import { hiveResolveApp } from "../../market/operations/resolve.ts"
import { readStoreFaces } from "../../stores/read/store-faces.ts"

/**
 * Finds apps of the stores for the page that adds an app. Like hive_resolve_app, but free and available on every plan,
 * because an app must be found before it can be tracked.
 */
export const findStoreApps = operation({
  id: "find_store_apps",
  method: "GET",
  path: "/page/store-apps",
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

/** Maximum number of apps. It is enough for every list on a page. */
const MAX_FACES = 500

const StoreAppCode = v.pipe(v.string(), v.regex(new RegExp(STORE_ID_PATTERNS.rival)))

/** Names and icons are public in the stores, so pages show them for any app, tracked or not. */
export const listStoreFaces = operation({
  id: "list_store_faces",
  method: "GET",
  path: "/page/store-faces",
  group: "Your apps",
  toolset: "apps",
  summary: "Names and icons of apps of the stores.",
  effect: "reads",
  scope: "apps:read",
  price: 0,
  faults: [],
  input: v.strictObject({
    apps: v.pipe(v.array(StoreAppCode), v.maxLength(MAX_FACES)),
    country: Storefront,
  }),
  output: v.strictObject({
    faces: v.array(
      v.strictObject({
        app: v.string(),
        name: described(v.nullable(v.string()), "Null if unknown."),
        icon: described(v.nullable(v.string()), "URL of the store icon. Null if unknown."),
      }),
    ),
  }),
}).run(async ({ apps, country }, { sql }) => ({ faces: [...(await readStoreFaces(sql, apps, country))] }))
