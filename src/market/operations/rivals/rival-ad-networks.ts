import * as v from "valibot"
import { type Context, ofApp, operation, pending } from "../../../core/operation.ts"
import {
  keptSince,
  NOT_THERE,
  READING_DEADLINE_MS,
  READING_FAULTS,
  readOnRequest,
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
    system: described(v.string(), "The ad system's domain, as the file names it."),
    name: described(
      v.nullable(v.string()),
      "What the ad system calls itself, where the domain leaves no doubt; else null.",
    ),
    relation: described(
      v.picklist(["DIRECT", "RESELLER"]),
      "DIRECT = the developer's own account there; RESELLER = somebody else's who may sell for it. A system with both stands twice.",
    ),
    accounts: described(Rank, "Accounts of this relation that the file names there."),
  }),
)

const OfRecords = "Null = not known: the state is neither records nor no_file."

export const getRivalAdNetworks = operation({
  id: "get_rival_ad_networks",
  method: "GET",
  path: "/apps/:appId/rivals/:rivalId/adnetworks",
  group: "Your apps",
  toolset: "rivals",
  summary: "The ad networks that a rival's developer lets sell in its apps, by its app-ads.txt.",
  description: `Read on request from the developer's site and kept ${KEPT_DAYS} days; what takes longer than a few seconds answers 202 with eta.`,
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
      "records = the file names ad networks; no_file = the developer declares none; no_site = the listing has no developer website; unreachable = the check could not be completed, which says nothing of the file; measuring = the check goes on (202).",
    ),
    domain: described(v.nullable(v.string()), "The host that answered, or failed to; null = none, or not known yet."),
    direct: described(v.nullable(Count), `Ad systems with a DIRECT account. ${OfRecords}`),
    reseller: described(v.nullable(Count), `Ad systems with a RESELLER account. ${OfRecords}`),
    networks: described(
      v.nullable(v.array(Network)),
      `DIRECT first, then the most accounts; at most ${MAX_NETWORKS}. ${OfRecords}`,
    ),
    measuredAt: described(v.nullable(Time), "When the site was asked; null = not yet."),
    eta: v.optional(described(Count, "With 202: seconds until the answer may be there.")),
  }),
}).run(async ({ app, storefront, platform, rivalId }, ctx) => {
  const rival = await findRival(ctx, app, { rivalId, platform, storefront })
  const since = keptSince(ctx.now(), KEPT_DAYS)
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

/** Kept for one day only, since a listing without a website may get one. */
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
  const isKnown = state === "records" || state === "no_file"
  const found = isKnown ? networksIn(records) : NOT_KNOWN
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
  const count = (relation: AppAdsRecord["relation"]) => networks.filter((one) => one.relation === relation).length
  return { direct: count("DIRECT"), reseller: count("RESELLER"), networks: networks.slice(0, MAX_NETWORKS) }
}

function order(a: string, b: string): number {
  return a < b ? -1 : Number(a > b)
}
