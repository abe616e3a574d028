import * as v from "valibot"
import { type Context, ofApp, operation, pending } from "../../../core/operation.ts"
import {
  NOT_THERE,
  READING_DEADLINE_MS,
  READING_FAULTS,
  readOnRequest,
  retainedSince,
} from "../../../core/read-on-request.ts"
import type { Sql } from "../../../database/types.ts"
import { Fault } from "../../../lib/faults.ts"
import { Platform } from "../../../lib/fields.ts"
import type { LiveSubject } from "../../../lib/live-read.ts"
import { described, named } from "../../../lib/schema.ts"
import { adSystemName } from "../../../listings/formulas/ad-systems.ts"
import type { AppAdsRecord } from "../../../listings/kinds/app-ads.ts"
import { APP_ADS_STATES } from "../../../listings/kinds/app-ads.ts"
import { type AppAds, readStoredAppAds } from "../../../listings/read/app-ads.ts"
import { LOOKUP_SOURCES } from "../../../stores/kinds/apps-shape.ts"
import { Count, Rank, Store, Time } from "../../../tracking/shapes.ts"
import { findRival, type Rival, RivalId, readStoreApp, rivalFields } from "./find-rival.ts"

const KEPT_DAYS = 14
const MAX_NETWORKS = 1_000

const Network = named(
  "AdNetwork",
  v.strictObject({
    system: described(v.string(), "Domain of the ad system in the file."),
    name: described(v.nullable(v.string()), "Name of the ad system, if its domain identifies it. Null if unknown."),
    relation: described(
      v.picklist(["DIRECT", "RESELLER"]),
      "DIRECT: an account of the developer; RESELLER: an account of a company that may sell for the developer. A " +
        "system with both is listed twice.",
    ),
    accounts: described(Rank, "Accounts with this relation in the file."),
  }),
)

const OfRecords = "Null unless state is records or no_file."

export const getRivalAdNetworks = operation({
  id: "get_rival_ad_networks",
  method: "GET",
  path: "/apps/:appId/rivals/:rivalId/adnetworks",
  group: "Your apps",
  toolset: "rivals",
  summary: "Lists the ad networks that may sell a rival's ad space, from its developer's app-ads.txt.",
  description:
    `Read on request from the developer's site and cached for ${KEPT_DAYS} days. If it takes longer than a few ` +
    "seconds, the answer is 202 with eta.",
  effect: "measures",
  scope: "apps:read",
  plan: "free",
  price: 1,
  faults: READING_FAULTS,
  pending: true,
  deadlineMs: READING_DEADLINE_MS,
  input: ofApp({ rivalId: RivalId, platform: Platform }),
  table: "networks",
  output: v.strictObject({
    platform: Store,
    ...rivalFields,
    state: described(
      v.picklist([...APP_ADS_STATES, "measuring"]),
      "records: the file lists ad networks; no_file: the developer publishes no file; no_site: the listing has no " +
        "developer website; unreachable: the check failed, and the file is unknown; measuring: the check is running " +
        "(202).",
    ),
    domain: described(v.nullable(v.string()), "The host that was requested. Null if there is none or it is unknown."),
    direct: described(v.nullable(Count), `Ad systems with a DIRECT account. ${OfRecords}`),
    reseller: described(v.nullable(Count), `Ad systems with a RESELLER account. ${OfRecords}`),
    networks: described(
      v.nullable(v.array(Network)),
      `DIRECT first, then most accounts first; at most ${MAX_NETWORKS}. ${OfRecords}`,
    ),
    measuredAt: described(v.nullable(Time), "Time of the request to the site. Null if not requested yet."),
    eta: v.optional(described(Count, "With 202: expected seconds until the answer.")),
  }),
}).run(async ({ app, storefront, platform, rivalId }, ctx) => {
  const rival = await findRival(ctx, app, { rivalId, platform, storefront })
  const since = retainedSince(ctx.now(), KEPT_DAYS)
  const stored = await readAds(ctx.sql, rival)
  if (stored && stored.seenAt >= since) return shown(rival, stored)
  const subject = { platform, storefront, subject: rival.storeId }
  const eta =
    (await lookUp(ctx, subject)) ?? (await readOnRequest(ctx, { kind: "app_ads", ...subject }, { keptDays: KEPT_DAYS }))
  if (eta !== null) return pending({ eta }, { ...aboutOf(rival), ...MEASURING })
  const read = await readAds(ctx.sql, rival)
  if (!read) throw new Fault("not_measured", { detail: NOT_THERE })
  return shown(rival, read)
})

const NOT_KNOWN = { direct: null, reseller: null, networks: null }
const MEASURING = { state: "measuring", domain: null, ...NOT_KNOWN, measuredAt: null }

function aboutOf({ platform, storeId: id, name }: Rival) {
  return { platform, id, name }
}

interface RivalAds extends AppAds {
  /** The app's current name. */
  name: string | null
}

async function readAds(sql: Sql, rival: Rival): Promise<RivalAds | null> {
  const app = await readStoreApp(sql, rival)
  const ads = app ? await readStoredAppAds(sql, app.appId) : null
  return ads && { ...ads, name: app?.name ?? null }
}

/** Fresh for one day only, because a listing without a website may get one. */
const SITE_DAYS = 1

/**
 * Reads the developer's website from the store. Returns the seconds until it may be known, or null if it is known.
 * Throws as readOnRequest does.
 */
async function lookUp(ctx: Context, subject: Omit<LiveSubject, "kind">): Promise<number | null> {
  if ((await readLookUp(ctx.sql, subject))?.hasSite) return null
  const eta = await readOnRequest(ctx, { kind: "app", ...subject }, { keptDays: SITE_DAYS })
  if (eta !== null) return eta
  if ((await readLookUp(ctx.sql, subject))?.available) return null
  throw new Fault("not_measured", { detail: NOT_THERE })
}

async function readLookUp(sql: Sql, { platform, storefront, subject }: Omit<LiveSubject, "kind">) {
  const [row] = await sql<{ hasSite: boolean; available: boolean }[]>`
    select a.developer_site is not null as "hasSite", exists (
      select
      from app_storefront
      where app_id = a.id and storefront = ${storefront} and available
        and source = any(${LOOKUP_SOURCES as string[]}::text[])
    ) as available
    from store_app a
    where (a.platform, a.store_id) = (${platform}, ${subject})`
  return row
}

function shown(rival: Rival, { name, state, domain, seenAt, records }: RivalAds) {
  const isRead = state === "records" || state === "no_file"
  const found = isRead ? networksIn(records) : NOT_KNOWN
  const about = { ...aboutOf(rival), name: name ?? rival.storeId }
  return { ...about, state, domain, ...found, measuredAt: seenAt.toISOString() }
}

function networksIn(records: readonly AppAdsRecord[]) {
  const accounts = Map.groupBy(records, ({ relation, system }) => `${relation} ${system}`)
  const networks = [...accounts.values()].map((same): v.InferOutput<typeof Network> => {
    const [{ system, relation }] = same as [AppAdsRecord]
    return { system, name: adSystemName(system), relation, accounts: same.length }
  })
  networks.sort((a, b) => order(a.relation, b.relation) || b.accounts - a.accounts || order(a.system, b.system))
  const count = (relation: AppAdsRecord["relation"]) =>
    networks.filter((network) => network.relation === relation).length
  return { direct: count("DIRECT"), reseller: count("RESELLER"), networks: networks.slice(0, MAX_NETWORKS) }
}

function order(a: string, b: string): number {
  return a < b ? -1 : Number(a > b)
}
