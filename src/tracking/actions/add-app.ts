import * as v from "valibot"
import { action, type Diff } from "../../core/action.ts"
import type { Db } from "../../database/types.ts"
import { Fault } from "../../lib/faults.ts"
import { Country, Term } from "../../lib/fields.ts"
import type { Measure } from "../../lib/live-read.ts"
import { bounded, described } from "../../lib/schema.ts"
import { Storefront } from "../../lib/shapes.ts"
import { isStoreId, STORE_ID_PATTERNS } from "../../lib/store-ids.ts"
import { saidStorefronts } from "../../lib/storefront-names.ts"
import { isStorefront, otherStoreProblem } from "../../lib/storefronts.ts"
import { nameIn } from "../../stores/store/app-names.ts"
import { countUsage, trackApp } from "../apps.ts"
import { isName } from "../checks.ts"
import { counted, lockTracking, refuseOverLimit } from "../limits.ts"
import { shownName } from "../tracked-app.ts"

const storeId = (platform: "ios" | "android", description: string) =>
  v.optional(
    v.pipe(
      bounded(v.string(), { pattern: STORE_ID_PATTERNS[platform] }),
      v.minLength(1),
      v.maxLength(255),
      v.check((id) => isStoreId(platform, id)),
      v.description(description),
    ),
  )

export const addApp = action({
  name: "add_app",
  summary: "Starts tracking an app.",
  description:
    "Requires iosId, androidPkg or both. The preview looks the app up and rejects ids that the stores do not list " +
    "in these storefronts. If a store does not respond in time or is not read by this instance, the preview notes " +
    "that and continues.",
  scope: "track:write",
  plan: "free",
  credits: 2,
  destructive: false,
  args: v.strictObject({
    iosId: storeId("ios", "App Store id, 5 to 12 digits."),
    androidPkg: storeId("android", "Google Play package name."),
    name: v.optional(
      v.pipe(
        v.string(),
        v.minLength(1),
        // JSON Schema counts code points; valibot's own maxLength counts UTF-16 units
        v.metadata({ maxLength: 100 }),
        v.check(isName),
        v.description("Name in the workspace. Default: the name in the store."),
      ),
    ),
    countries: v.optional(
      described(
        v.pipe(v.array(Country), v.minLength(1), v.maxLength(200)),
        "Storefronts. The first is the app's default.",
      ),
      ["us"],
    ),
    keywords: v.optional(
      described(
        v.pipe(v.array(Term), v.maxLength(400)),
        "Up to 400 keywords, tracked in every one of the storefronts.",
      ),
    ),
  }),
  example: { iosId: "1234567890", name: "Tide Times", keywords: ["tides"] },
  state: v.strictObject({
    appId: v.exactOptional(described(v.string(), "The existing app of the workspace.")),
    app: v.exactOptional(
      v.nullable(
        v.strictObject({
          iosId: v.exactOptional(v.string()),
          androidPkg: v.exactOptional(v.string()),
          name: described(v.nullable(v.string()), "Null for the name in the store."),
          countries: v.array(Storefront),
          keywords: v.array(v.string()),
        }),
      ),
    ),
  }),
  result: v.strictObject({ appId: v.string(), countries: v.array(Storefront), keywords: v.array(v.string()) }),
  refine(args) {
    if (args.iosId === undefined && args.androidPkg === undefined)
      throw new Fault("invalid_arguments", {
        field: "iosId",
        detail: "Give iosId, androidPkg or both.",
      })
    const { countries, keywords } = args
    for (const country of countries) {
      const platforms = [...(args.iosId ? ["ios" as const] : []), ...(args.androidPkg ? ["android" as const] : [])]
      const detail = otherStoreProblem(country, platforms)
      if (detail !== null) throw new Fault("bad_country", { field: "countries", detail })
    }
    const name = args.name?.trim()
    return { ...args, ...(name && { name }), countries: [...new Set(countries)], keywords: [...new Set(keywords)] }
  },
  async settle(args, { sql, caller }, measure) {
    if (caller.appList) throw new Fault("app_not_allowed")
    const { iosId, androidPkg, countries } = args
    await Promise.all([
      refuseUnknown(sql, measure, { platform: "ios", field: "iosId", id: iosId, countries }),
      refuseUnknown(sql, measure, { platform: "android", field: "androidPkg", id: androidPkg, countries }),
    ])
    return args
  },
  target: ({ iosId, androidPkg }) => ["store", iosId, androidPkg].filter(Boolean).join(" "),
  async look({ iosId, androidPkg, countries }, { sql, caller, lock }) {
    // a key limited to some apps must not add another
    if (caller.appList) throw new Fault("app_not_allowed")
    if (lock) await lockTracking(sql, caller)
    const [found] = await sql<[StoreMatch]>`
      with store as (
        select s.id, ${nameIn(sql, sql`s.id`, { storefront: countries[0] as string, countries })} as name, platform,
          store_id
        from store_app s
        where (platform, store_id) in (('ios', ${iosId ?? null}), ('android', ${androidPkg ?? null}))
      )
      select
        (
          select json_build_object('id', a.id, 'name', ${shownName(sql)})
          from tracked_app a
          left join store_app i on i.id = a.ios_app
          left join store_app g on g.id = a.android_app
          where a.workspace_id = ${caller.workspaceId}
            and (a.ios_app in (select id from store) or a.android_app in (select id from store))
          order by a.created_at, a.id
          limit 1
        ) as twin,
        (select name from store where name is not null order by platform desc limit 1) as shown,
        array(select platform || ':' || store_id from store where name is not null order by 1) as seen`
    return { ...found, usage: await countUsage(sql, caller.workspaceId), limits: caller.entitlements }
  },
  diff({ twin, shown, seen, usage, limits }, { iosId, androidPkg, name, countries, keywords = [] }) {
    const called = twin?.name ?? name ?? shown ?? iosId ?? androidPkg ?? ""
    const storeIds = [iosId && `ios:${iosId}`, androidPkg && `android:${androidPkg}`].filter((id) => id !== undefined)
    const target: Diff["target"] = { kind: "store_app", id: storeIds.join(" "), name: called }
    if (twin) {
      const note =
        `The workspace already tracks this app, as ${twin.id}; its name, storefronts and stores stay unchanged. ` +
        "Add keywords with add_keywords."
      const before = { appId: twin.id }
      return {
        summary: `Add nothing: ${JSON.stringify(called)} is tracked already.`,
        target,
        before,
        after: before,
        notes: [note],
      }
    }
    refuseOverLimit(limits, usage, { apps: 1, trackedKeywords: keywords.length * countries.length })
    const ids = { ...(iosId && { iosId }), ...(androidPkg && { androidPkg }) }
    const after = { app: { ...ids, name: name ?? null, countries, keywords } }
    const withKeywords = keywords.length > 0 ? ` with ${counted(keywords.length)}` : ""
    return {
      summary: `Track ${JSON.stringify(called)} in ${saidStorefronts(countries)}${withKeywords}.`,
      target,
      before: { app: null },
      after,
      notes: notesOn(storeIds.filter((id) => !seen.includes(id))),
    }
  },
  async write({ iosId, androidPkg, name, countries, keywords = [] }, _, { tx, caller }) {
    const { workspaceId } = caller
    const appId = await trackApp(tx, { workspaceId, iosId, androidPkg, name, countries, keywords, origin: "own" })
    return { appId, countries, keywords }
  },
})

interface StoreMatch {
  /** The workspace's app that already has one of the store apps. */
  twin: { id: string; name: string } | null
  /** The app's name in a store. */
  shown: string | null
  /** The ids that a reading has shown, as "ios:…" and "android:…". */
  seen: string[]
}

function notesOn(unseen: readonly string[]): string[] {
  return unseen.map(
    (id) =>
      `No store has shown ${id} here yet, so the id is not checked: name and icon appear with its first measurement.`,
  )
}

interface LookUpQuery {
  platform: "ios" | "android"
  field: "iosId" | "androidPkg"
  id: string | undefined
  countries: readonly string[]
}

/** An app is not sold in every storefront, so several are checked before its id is refused. */
const STOREFRONTS_ASKED = 3
/** A look-up is reused for a day, and awaited only briefly, because the preview must end within its deadline. */
const LOOK_UP = { maxAgeMs: 86_400_000, waitMs: 2_500, onlyWhileWaiting: true } as const

/** Throws if the store reports that it does not have the app. Accepts an id that cannot be checked in time. */
async function refuseUnknown(
  sql: Db,
  measure: Measure,
  { platform, field, id, countries }: LookUpQuery,
): Promise<void> {
  if (id === undefined) return
  const served = countries.filter((country) => isStorefront(country, platform))
  const checked = served.slice(0, STOREFRONTS_ASKED)
  const ends = await Promise.all(
    checked.map((storefront) => measure({ kind: "app", platform, storefront, subject: id }, LOOK_UP)),
  )
  if (ends.some(({ state }) => state !== "fresh") || served.length > checked.length) return
  const [row] = await sql<{ sold: boolean; askedAt: Date | null }[]>`
    select coalesce(bool_or(f.available), true) as sold, max(f.seen_at) as "askedAt"
    from store_app a
    join app_storefront f on f.app_id = a.id
    where a.platform = ${platform} and a.store_id = ${id} and f.storefront = any(${checked as string[]}::text[])`
  if (!row || row.sold) return
  const store = platform === "ios" ? "The App Store" : "Google Play"
  const time = row.askedAt?.toISOString()
  const detail = `${store} does not list app ${id} in ${saidStorefronts(checked)} (checked ${time}).`
  throw new Fault("invalid_arguments", { field, detail })
}
